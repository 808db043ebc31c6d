"""What a local recoding promises, in plain Python over the source's rows and the released ones, by a serial number.

Nothing here shares a line with the package. What is promised:

- a released row's label is on the path of its own value, between the levels allowed;
- a text that is released in a column stands for one set of values there, whichever row has it (of all labels that
  some row of the source could have);
- the rows with the same labels satisfy every requirement;
- a class's label is the lowest that its values have in common, or one above it whose text is clear;
- every row of the source is released once, or suppressed, and no more are suppressed than allowed;
- the mean loss of a cell is what it is said to be.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

from tests.oracles.model import Hierarchy, Requirement, Row, frequencies, height_of, judge, model_of, with_null
from tests.support.strategies import RandomProblem

Found = Mapping[tuple[str | None, ...], Sequence[int]]


def by_labels(release: Sequence[Row], columns: Iterable[str]) -> dict[tuple[str | None, ...], list[int]]:
    """The classes of a release: labels -> serial numbers."""
    found: dict[tuple[str | None, ...], list[int]] = {}
    for row in release:
        found.setdefault(tuple(row[column] for column in columns), []).append(row["serial"])
    return found


def assert_classes_satisfy(problem: RandomProblem, release: Sequence[Row]) -> None:
    """Every requirement, judged on the original values of each class and with the person that is not released."""
    for serials in by_labels(release, problem.hierarchies).values():
        members = [problem.rows[serial] for serial in serials]
        for requirement in problem.requirements:
            attribute = model_of(requirement)[1].get("attribute")
            original = None if attribute is None else frequencies(problem.rows, attribute, problem.unit)
            assert judge(requirement, members, original, problem.unit)[1], (requirement, len(members))


def sets_of(
    hierarchy: Hierarchy, occurring: Iterable[object], low: int, high: int
) -> dict[str | None, frozenset[object]]:
    """What a released text stands for: of all labels with it that a row could have, the one on the highest level."""
    found: dict[str | None, frozenset[object]] = {}
    for level in range(low, high + 1):
        labels = {hierarchy[value][level] for value in occurring}
        found |= {
            label: frozenset(value for value, path in hierarchy.items() if path[level] == label) for label in labels
        }
    return found


def assert_labels_are_true(problem: RandomProblem, release: Sequence[Row]) -> None:
    """Every released label covers its cell, says which values it stands for, and is the lowest that does."""
    for column, plain in problem.hierarchies.items():
        hierarchy = with_null(plain) if problem.nulls == "value" else plain
        low, high = problem.levels.get(column, (0, height_of(plain)))
        occurring = {row[column] for row in problem.rows} & hierarchy.keys()
        stands_for = sets_of(hierarchy, occurring, low, high)
        for labels, serials in by_labels(release, problem.hierarchies).items():
            label = labels[list(problem.hierarchies).index(column)]
            values = {problem.rows[serial][column] for serial in serials}
            assert all(label in hierarchy[value][low : high + 1] for value in values), (column, label)
            assert values <= stands_for[label], (column, label)
            path = hierarchy[min(values, key=str)]
            below = [
                level
                for level in range(low, high + 1)
                if values <= {value for value, its in hierarchy.items() if its[level] == path[level]}
                and stands_for[path[level]] == {value for value, its in hierarchy.items() if its[level] == path[level]}
            ]
            assert label == path[below[0]], (column, label)


def domain_of(problem: RandomProblem, column: str) -> Hierarchy:
    """A column's values with their labels; NULL is one of them where it occurs and counts as a value."""
    plain = problem.hierarchies[column]
    occurs = problem.nulls == "value" and any(row[column] is None for row in problem.rows)
    return with_null(plain) if occurs else plain


def mean_losses(
    problem: RandomProblem, release: Sequence[Row], node: Mapping[str, int] | None = None
) -> dict[str, float]:
    """Per column, the mean of (values under a label - 1) / (values - 1) over all rows; 1 for those not released.

    Args:
        problem: the source.
        release: the released rows.
        node: the level of each column, where it is the same for all rows.
    """
    found: dict[str, float] = {}
    for column in problem.hierarchies:
        domain = domain_of(problem, column)
        low, high = problem.levels.get(column, (0, height_of(domain)))
        stands_for = sets_of(domain, {row[column] for row in problem.rows} & domain.keys(), low, high)
        lost = float(len(problem.rows) - len(release))
        for row in release:
            if node is None:
                under = len(stands_for[row[column]])
            else:
                label = domain[problem.rows[row["serial"]][column]][node[column]]
                under = sum(path[node[column]] == label for path in domain.values())
            lost += (under - 1) / (len(domain) - 1) if len(domain) > 1 else 0
        found[column] = lost / len(problem.rows)
    return found


def weighted_mean(problem: RandomProblem, losses: Mapping[str, float]) -> float:
    """The mean of the columns' losses, by the weights that the problem gives them."""
    weights = {column: problem.weights.get(column, 1.0) for column in losses}
    return sum(weights[column] * loss for column, loss in losses.items()) / sum(weights.values())


LEVELS = [0.75**power for power in range(4, 16, 2)]


def least_mean_loss(problem: RandomProblem, requirements: Sequence[Requirement], raises: int = 2) -> float:
    """What rows lose at least, columns counted by their weights.

    First each what the cheapest node costs at which its class satisfies, or everything. Then each is raised by what it
    can without the dearest rows of a class, as many as it needs at least, having more than they lose there. What these
    have is bounded by every level: that much for each of them, and what all rows of the class have above it.

    Args:
        problem: the source; NULL is a value in it.
        requirements: those that hold of every class that contains one that satisfies.
        raises: how often rows are raised.
    """
    needed = max(int(model_of(item)[1].get("k") or model_of(item)[1].get("l")) for item in requirements)
    least, found = [1.0] * len(problem.rows), list(satisfying(problem, requirements))
    for numbers, cost in found:
        for number in numbers:
            least[number] = min(least[number], cost)
    hopeless = set(range(len(least))) - {number for numbers, _ in found for number in numbers}
    for _ in range(raises):
        room = [0.0 if number in hopeless else float("inf") for number in range(len(least))]
        for numbers, cost in found:
            own = [least[number] for number in numbers]
            dearest = sum(sorted(own, reverse=True)[:needed])
            above = [level * needed + sum(max(0.0, share - level) for share in own) for level in LEVELS]
            assert min(above) > dearest - 1e-9
            for number in numbers:
                room[number] = min(room[number], cost - min(max(own) * needed, *above) / needed)
        least = [min(1.0, share + max(0.0, more)) for share, more in zip(least, room, strict=True)]
    return sum(least) / len(least)


def satisfying(problem: RandomProblem, requirements: Sequence[Requirement]) -> Iterator[tuple[list[int], float]]:
    """The classes of all nodes that satisfy, with what each of their rows loses."""
    domains = {column: domain_of(problem, column) for column in problem.hierarchies}
    limits = [problem.levels.get(column, (0, height_of(domain))) for column, domain in domains.items()]
    weights = [problem.weights.get(column, 1.0) for column in domains]
    for node in product(*(range(low, high + 1) for low, high in limits)):
        classes: dict[tuple[object, ...], list[int]] = {}
        for number, row in enumerate(problem.rows):
            labels = [domains[column][row[column]][level:] for column, level in zip(domains, node, strict=True)]
            classes.setdefault(tuple(labels), []).append(number)
        for numbers in classes.values():
            members = [problem.rows[number] for number in numbers]
            if all(judge(requirement, members, None, problem.unit)[1] for requirement in requirements):
                cost = 0.0
                for (column, domain), level, weight in zip(domains.items(), node, weights, strict=True):
                    label = domain[members[0][column]][level:]
                    under = sum(path[level:] == label for path in domain.values())
                    cost += weight * (under - 1) / max(1, len(domain) - 1) / sum(weights)
                yield numbers, cost


def assert_rows_add_up(problem: RandomProblem, release: Sequence[Row], suppressed: int, masked: int) -> None:
    """Each row of the source once; the rows that are left out are those that were counted."""
    serials = [row["serial"] for row in release]
    assert len(set(serials)) == len(serials)
    assert len(serials) == len(problem.rows) - suppressed + masked
    for row in release:
        assert all(row[name] == problem.rows[row["serial"]][name] for name in problem.sensitive)
