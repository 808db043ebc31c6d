import algorithms.kmanonymity.Apriori;
import data.Data;
import hierarchy.Hierarchy;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;

/** Amnesia's apriori on a file of baskets: numbers of items, and after an empty line "node parent" for each node. */
public class Main {
    static final Map<Double, Double> parents = new HashMap<>();
    static final Map<Double, Set<Double>> children = new HashMap<>();
    static final Map<Double, Integer> weights = new HashMap<>();

    static int level(double node) {
        Set<Double> below = children.get(node);
        return below == null ? 0 : 1 + level(below.iterator().next());
    }

    public static void main(String[] given) throws Exception {
        List<double[]> baskets = new ArrayList<>();
        boolean inTree = false;
        double root = -1;
        for (String line : Files.readAllLines(Path.of(given[0]))) {
            if (line.isEmpty()) {
                inTree = true;
                continue;
            }
            double[] numbers = Arrays.stream(line.split(" ")).mapToDouble(Double::parseDouble).toArray();
            if (!inTree) {
                baskets.add(numbers);
                for (double item : numbers) weights.merge(item, 1, Integer::sum);
            } else if (numbers[1] < 0) {
                root = numbers[0];
            } else {
                parents.put(numbers[0], numbers[1]);
                children.computeIfAbsent(numbers[1], key -> new TreeSet<>()).add(numbers[0]);
            }
        }
        Set<Double> nodes = new TreeSet<>(parents.keySet());
        nodes.add(root);
        final double top = root;
        InvocationHandler tree = (proxy, method, values) -> {
            switch (method.getName()) {
                case "getParentId": return parents.getOrDefault((Double) values[0], -1.0);
                case "getChildrenIds": return children.get((Double) values[0]);
                case "getRoot": return top;
                case "getHeight": return level(top) + 1;
                case "getLevel": return level((Double) values[0]);
                case "getWeight": return weights.getOrDefault((Double) values[0], 0);
                case "getNodeIdsInLevel": {
                    List<Integer> found = new ArrayList<>();
                    for (double node : nodes) if (level(node) == (Integer) values[0]) found.add((int) node);
                    return found;
                }
                case "getLeafNodesAndParents": {
                    Map<Integer, Set<Double>> found = new HashMap<>();
                    for (double node : nodes) {
                        if (level(node) < 2) found.computeIfAbsent(level(node), key -> new TreeSet<>()).add(node);
                    }
                    return found;
                }
                case "computeWeights": case "clearAprioriStructures": return null;
                default: throw new IllegalStateException(method.getName());
            }
        };
        double[][] rows = baskets.toArray(new double[0][]);
        InvocationHandler table = (proxy, method, values) -> {
            switch (method.getName()) {
                case "getDataSet": return rows;
                case "getColumnByPosition": return "items";
                default: throw new IllegalStateException(method.getName());
            }
        };
        ClassLoader loader = Main.class.getClassLoader();
        Apriori apriori = new Apriori();
        apriori.setDataset((Data) Proxy.newProxyInstance(loader, new Class<?>[] {Data.class}, table));
        Hierarchy items = (Hierarchy) Proxy.newProxyInstance(loader, new Class<?>[] {Hierarchy.class}, tree);
        apriori.setHierarchies(Map.of(0, items));
        apriori.setArguments(Map.of("k", Integer.parseInt(given[1]), "m", Integer.parseInt(given[2])));
        long started = System.nanoTime();
        apriori.anonymize();
        System.out.println("seconds " + (System.nanoTime() - started) / 1e9);
        ((Map<Double, Double>) apriori.getResultSet()).forEach((from, to) -> {
            if (level(from) == 0) System.out.println("rule " + from.intValue() + " " + to.intValue());
        });
    }
}
