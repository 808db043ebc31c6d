"""Verify a certificate of a release: run its SQL again, and compare with what it claims.

    python verify_certificate.py DIRECTORY -d DATABASE [--key PUBLIC_KEY.pem] [--sha256 DIGEST]

Needs Python and a DB-API driver of the database, and nothing else: DATABASE is a file (DuckDB, SQLite), a URL
(postgresql://, mysql://, clickhouse://), chdb:DIRECTORY for a ClickHouse inside this process, or `spark`. Reads
the source, the release and their manifest; makes tables of the session alone. A signature is checked with --key (by the
package cryptography), a digest that was noted elsewhere with --sha256. Prints every claim with OK or the difference;
exits with 0 where all hold, else with 1.
"""

import argparse
import hashlib
import json
import math
import sys
from decimal import Decimal
from itertools import product
from pathlib import Path
from urllib.parse import unquote, urlsplit

SLACK = 1e-9
OPERATORS = {
    "=": lambda a, b: a == b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "<": lambda a, b: a < b,
}  # fmt: skip


# --- Comparing ---


def plain(value):
    """A value of a driver as JSON has it: a whole number is whole, whatever type it came in."""
    if isinstance(value, Decimal) or (isinstance(value, float) and value.is_integer() and abs(value) < 2**53):
        return int(value) if value == int(value) else float(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def same(one, other):
    """Whether two values are one; fractions but for the last bits, which depend on the order of a sum."""
    numbers = all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in (one, other))
    if numbers and (isinstance(one, float) or isinstance(other, float)):
        return math.isclose(one, other, rel_tol=SLACK, abs_tol=SLACK)
    return type(one) is type(other) and one == other


def differences(claimed, found):
    """How the rows of a statement differ from those that were claimed, in whatever order they come."""
    order = lambda rows: sorted(rows, key=lambda row: [(item is None, str(item)) for item in row])  # noqa: E731
    claimed, found = order(claimed), order(found)
    if len(claimed) != len(found):
        yield f"{len(claimed)} rows were claimed, and there are {len(found)}"
    for own, its in zip(claimed, found):
        if len(own) != len(its) or not all(map(same, own, its)):
            yield f"claimed {own}, found {its}"


def broken(claim, rows):
    """What must hold in each row, and does not."""
    for name, operator, value in claim["must"]:
        place = claim["columns"].index(name)
        for row in rows:
            if row[place] is None or not OPERATORS[operator](row[place], value):
                yield f"{name} is {row[place]}, and must be {operator} {value}"


# --- The lattice ---


COUNTED = ("discernibility", "average_class_size")


def loss(proof, counts, index, level, suppressed, covered):
    """What a column loses at a level; ``covered`` adds up the values under the labels of the rows that are left."""
    rows, height, domain = counts["rows"], proof["heights"][index], counts["domains"][index]
    kept = rows - suppressed
    if proof["metric"] == "height":
        return level
    if proof["metric"] == "precision":
        return (kept * level / max(1, height) + suppressed) / rows
    stands_for = kept if level == 0 < height else kept * domain if level == height else covered
    least = rows / domain
    lost = 0.0 if rows - least <= 0 else max(0.0, (stands_for / domain + suppressed - least) / (rows - least))
    return math.floor(lost * 1e10) / 1e10


def together(proof, losses):
    """One value of what the columns lose."""
    weighted = [weight * lost for weight, lost in zip(proof["weights"], losses)]
    if proof["aggregate"] == "geometric_mean":
        return math.prod(item + 1.0 for item in weighted) ** (1 / len(weighted)) - 1.0
    if proof["aggregate"] == "maximum":
        return max(weighted)
    return sum(weighted) / (len(weighted) if proof["aggregate"] == "arithmetic_mean" else 1)


class Answers:
    """What the statements say of the nodes that were asked about, and of all others by a bound."""

    def __init__(self, proof, rows_of):
        (counted,) = rows_of["counts"]
        found = {row[0]: row[1:] for row in rows_of["domains"]}
        null = 1 if proof["null_is_value"] else 0
        domains = [(found[i][0] if own is None else own) + null * found[i][1] for i, own in enumerate(proof["listed"])]
        self.proof, self.limit, self.null_rows = proof, proof["limit"], counted[4]
        self.counts = {"rows": counted[0], "domains": [max(1, domain) for domain in domains]}
        self.covered = {(row[0], row[1]): row[2:] for row in rows_of["covered"]}
        self.least = [  # per column and level, if nothing but NULL is suppressed
            [loss(proof, self.counts, i, level, self.null_rows, self.left(i, level, 0)) for level in range(height + 1)]
            for i, height in enumerate(proof["heights"])
        ]
        self.nodes, self.sums = (
            {tuple(proof["nodes"][number]): values for name in names for number, *values in rows_of[name]}
            for names in (proof["statements"], proof["measured"])
        )

    def left(self, index, level, suppressed):
        """What the rows of a level cover at least, if those that cover the most are suppressed."""
        covered, largest = self.covered.get((index, level), (0, 0))
        return covered - suppressed * largest

    def satisfied(self, node):
        suppressed = self.nodes[node][2] + self.null_rows
        return suppressed <= self.limit and suppressed < self.counts["rows"]

    def hopeless(self, node):
        """Whether a requirement that lasts fails, and so fails at every node below."""
        suppressed = self.nodes[node][3] + self.null_rows
        return suppressed > self.limit or suppressed >= self.counts["rows"]

    def metric(self, node):
        """Of a node that was asked about; what it is at least, where its sums were not asked for."""
        _, kept_classes, suppressed, _, kept_squares, _ = self.nodes[node]
        more, suppressed, losses = suppressed, suppressed + self.null_rows, []
        if self.proof["metric"] in COUNTED:
            return self.counted(suppressed, kept_classes, kept_squares)
        sums = iter(self.sums[node][6:]) if node in self.sums else None  # of columns between values and top, in order
        for i, (level, height) in enumerate(zip(node, self.proof["heights"])):
            own = 0
            if self.proof["metric"] == "loss" and 0 < level < height:
                own = self.left(i, level, more) if sums is None else next(sums)
            losses.append(loss(self.proof, self.counts, i, level, suppressed, own))
        return together(self.proof, losses)

    def counted(self, suppressed, classes, squares):
        rows = self.counts["rows"]
        if self.proof["metric"] == "discernibility":
            return squares + rows * suppressed
        return rows / max(1, classes + (1 if suppressed else 0))

    def floor(self, node):
        """What no generalization of a node that was asked about is below, where the metric counts classes."""
        return self.counted(self.null_rows, self.nodes[node][0], self.nodes[node][5])

    def bound(self, node):
        """What the metric of a node is at least, from what all rows lose at its levels if none is suppressed."""
        if self.proof["metric"] in COUNTED:
            return 0
        return together(self.proof, [own[level] for own, level in zip(self.least, node)])


def levels_of(proof):
    return [range(low, high + 1) for low, high in zip(proof["minimum"], proof["maximum"])]


def marks(proof, nodes, *, above):
    """Per column and level, the nodes (a bit each) that are not below it (above: that are not above it)."""
    reaches = (lambda own, level: own <= level) if above else (lambda own, level: own >= level)
    return [
        {level: sum(1 << bit for bit, node in enumerate(nodes) if reaches(node[place], level)) for level in levels}
        for place, levels in enumerate(levels_of(proof))
    ]


def meets(marked, node):
    found = -1
    for own, level in zip(marked, node):
        found &= own[level]
    return found != 0


def check_lattice(proof, rows_of):
    """Why the proof does not hold: nodes that nothing excludes, or a list that is not what the answers say."""
    answers, best = Answers(proof, rows_of), tuple(proof["best"])
    if best not in answers.nodes:
        yield "the best node was not asked about"
        return
    if proof["metric"] == "loss" and best not in answers.sums:
        yield "what the best node loses was not asked for"
    if not answers.satisfied(best):
        yield "the best node does not satisfy the requirements"
    value = answers.metric(best)
    if not same(value, proof["value"]):
        yield f"its {proof['metric']} is {value}, and {proof['value']} was claimed"
    enough = value - SLACK * max(1.0, abs(value))
    hopeless = [node for node in answers.nodes if answers.hopeless(node)]
    satisfied = [node for node in answers.nodes if answers.satisfied(node)]
    costly = []
    if proof["metric"] in COUNTED:
        costly = [node for node in answers.nodes if answers.floor(node) >= enough]
    below, beyond = marks(proof, hopeless, above=False), marks(proof, costly, above=True)
    over = marks(proof, satisfied, above=True)
    for node in product(*levels_of(proof)):
        if node in answers.nodes:
            if answers.satisfied(node) and answers.metric(node) < enough:
                yield f"{list(node)} satisfies the requirements with a {proof['metric']} of {answers.metric(node)}"
        elif not (meets(below, node) or answers.bound(node) >= enough or meets(beyond, node)):
            yield f"nothing excludes {list(node)}"
        if proof["boundary_is_complete"] and not (meets(below, node) or meets(over, node)):
            yield f"whether {list(node)} satisfies the requirements does not follow"
    minimal, maximal = boundary(hopeless, satisfied)
    for name, found in (("minimal", minimal), ("maximal", maximal)):
        if found != proof[name]:
            yield f"the {name} nodes are {found}, and {proof[name]} were claimed"


def boundary(hopeless, satisfied):
    """Of the nodes that were asked about: the lowest that satisfy, and the highest that rule out all below."""
    under = lambda one, other: one != other and all(a <= b for a, b in zip(one, other))  # noqa: E731
    minimal = [list(node) for node in satisfied if not any(under(other, node) for other in satisfied)]
    maximal = [list(node) for node in hopeless if not any(under(node, other) for other in hopeless)]
    return sorted(minimal), sorted(maximal)


# --- The database ---


class Cursor:
    """What there is of DB-API in a client that only runs SQL: of Spark, and of ClickHouse inside this process."""

    def __init__(self, run):
        self.run, self.description, self.rows = run, None, []

    def execute(self, sql):
        names, self.rows = self.run(sql)
        self.description = [(name,) for name in names]

    def fetchall(self):
        return self.rows


def kanon_draw(text):
    """SQLite has no SHA-256: the first 48 bits of a text's."""
    return None if text is None else int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)


def sqlite_cursor(connection):
    """A cursor of SQLite with the functions that SQLite lacks, or has only in some builds."""
    for name, function in (("ln", math.log), ("floor", math.floor)):
        connection.create_function(name, 1, lambda x, call=function: None if x is None else call(x))
    connection.create_function("kanon_draw", 1, kanon_draw)
    return connection.cursor()


def cursor_of(dialect, database):
    """A cursor by the driver that Python has for the engine."""
    if dialect == "duckdb":
        import duckdb

        return duckdb.connect(database, read_only=database != ":memory:")
    if dialect == "sqlite":
        import sqlite3

        return sqlite_cursor(sqlite3.connect(database.removeprefix("sqlite:///"), isolation_level=None))
    if dialect == "spark":
        from pyspark.sql import SparkSession

        def ask(sql):
            frame = SparkSession.builder.getOrCreate().sql(sql)
            return frame.columns, [tuple(row) for row in frame.collect()]

        return Cursor(ask)
    url = urlsplit(database)
    host, user, password = url.hostname, unquote(url.username or ""), unquote(url.password or "")
    if dialect == "postgres":
        import psycopg

        return psycopg.connect(database.replace(f"{url.scheme}://", "postgresql://", 1), autocommit=True).cursor()
    if dialect in ("mysql", "mariadb"):
        import pymysql

        where = {"unix_socket": unquote(url.query.partition("unix_socket=")[2])} if "unix_socket=" in url.query else {}
        return pymysql.connect(
            host=host, port=url.port or 3306, user=user, password=password, database=url.path.strip("/"), **where
        ).cursor()
    if dialect == "clickhouse":
        import clickhouse_connect

        if database.startswith("chdb:"):
            client = clickhouse_connect.get_client(interface="chdb", path=database.removeprefix("chdb:"))
        else:
            client = clickhouse_connect.get_client(dsn=database)

        def query(sql):
            if sql.lstrip().upper().startswith(("SELECT", "WITH")):
                found = client.query(sql)
                return found.column_names, found.result_rows
            client.command(sql)
            return [], []

        return Cursor(query)
    raise SystemExit(f"there is no driver here for {dialect}: call verify(directory, cursor) with a DB-API cursor of it")


# --- The certificate ---


def files_differ(directory, certificate, key, digest):
    """What was changed since the certificate was made, as its digests and its signature tell."""
    text = (directory / "certificate.json").read_bytes()
    own = hashlib.sha256(text).hexdigest()
    if own != (directory / "certificate.sha256").read_text().split()[0]:
        yield "certificate.json is not the file whose digest certificate.sha256 holds"
    if digest is not None and own != digest.lower():
        yield f"its digest is {own}, and not the one that was given"
    for path, expected in certificate["files"].items():
        found = directory / path
        if not found.is_file() or hashlib.sha256(found.read_bytes()).hexdigest() != expected:
            yield f"{path} is missing, or was changed"
    if key is not None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        try:
            load_pem_public_key(Path(key).read_bytes()).verify((directory / "certificate.sig").read_bytes(), text)
        except (InvalidSignature, OSError):
            yield "there is no signature of this certificate by the owner of the key"


def verify(directory, cursor, *, key=None, digest=None, say=print):
    """Run everything again with a DB-API cursor; whether all claims hold."""
    directory, failed = Path(directory), 0

    def told(says, problems):
        nonlocal failed
        problems = list(problems)
        failed += bool(problems)
        say("\n   ".join([f"{'FAILED' if problems else 'OK'}  {says}", *problems[:5]]))

    certificate = json.loads((directory / "certificate.json").read_bytes())
    told("the files are those of the certificate", files_differ(directory, certificate, key, digest))
    for sql in [*certificate["session"], *certificate["teardown"]]:
        cursor.execute(sql)
    for path in certificate["setup"]:
        cursor.execute((directory / path).read_text())
    rows_of = {}
    for claim in certificate["claims"]:
        cursor.execute((directory / claim["sql"]).read_text())
        found = [[plain(value) for value in row] for row in cursor.fetchall()]
        if claim["id"] == "columns":
            found = [[column[0]] for column in cursor.description]
        elif claim["part"] == "recorded":
            found = [[*row[:-1], json.loads(row[-1])] for row in found]
        rows_of[claim["id"]] = found
        told(claim["says"], [*differences(claim["rows"], found), *broken(claim, found)])
    if certificate["optimality"] is not None:
        proof = certificate["optimality"]
        told(proof["says"], check_lattice(proof, rows_of))
    for sql in certificate["teardown"]:
        cursor.execute(sql)
    for item in certificate["not_certified"]:
        say(f"--  not certified: {item['what']}: {item['why']}")
    say(f"{failed} of the claims do not hold" if failed else "all claims hold")
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("-d", "--database", required=True)
    parser.add_argument("--key", help="the public key of who signed, as PEM")
    parser.add_argument("--sha256", help="the digest of certificate.json, as it was noted elsewhere")
    options = parser.parse_args()
    dialect = json.loads((options.directory / "certificate.json").read_bytes())["made"]["dialect"]
    cursor = cursor_of(dialect, options.database)
    return 0 if verify(options.directory, cursor, key=options.key, digest=options.sha256) else 1


if __name__ == "__main__":
    sys.exit(main())
