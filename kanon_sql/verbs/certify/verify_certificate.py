"""Verify a certificate of a release: run its SQL again, and compare with what it claims.

DATABASE is a file (DuckDB, SQLite), a URL (postgresql://, mysql://, clickhouse://), chdb://DIRECTORY for ClickHouse
inside this process, or spark for its session. Needs Python, the database's driver, and for --key the package
cryptography. Statements come from the certificate: those that do more than read and make tables of the session are
refused, and none is run of a certificate that was changed. Open the database with an account that may only read, all
the same: what a function does that a statement calls, no look at the statement tells. Exits with 0 where all claims
hold, else with 1.
"""

import argparse
import hashlib
import json
import math
import re
import sys
from decimal import Decimal
from functools import reduce
from importlib import import_module
from itertools import product
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

SLACK = 1e-9
DRIVERS = {
    "duckdb": "duckdb", "sqlite": "sqlite3", "postgres": "psycopg", "mariadb": "pymysql", "spark": "pyspark.sql",
    "clickhouse": "clickhouse_connect",
}  # fmt: skip
FORMAT = "kanon_sql certificate 1"
COUNTED = ("discernibility", "average_class_size")  # metrics that count classes, and need no loss per column

TABLE = r"""(?:"temp"\.)?(["`])kanon_[0-9a-f]{8}_certified_\w+\1"""
SHAPES = {
    "session": r"SET\s(?:standard_conforming_strings = 'on'$|spark\.sql\.ansi\.enabled = true$"
    r"|(?!.*(?:\b(?:GLOBAL|PERSIST\w*|ROLE|AUTHORIZATION)\b|BACKSLASH|ANSI|CONFORMING|:=)))",
    "setup": rf"(?:CREATE\s+TEMPORARY|CACHE)\s+TABLE\s+{TABLE}\s+(?:ENGINE\s*=\s*Memory\s+)?AS[\s(]+(?:SELECT|WITH)\b",
    "claim": r"[\s(]*(?:SELECT|WITH)\b",
    "teardown": rf"(?:DROP|UNCACHE)\s+TABLE\s+IF\s+EXISTS\s+{TABLE}$",
}
QUOTED, ESCAPED = r"""'[^']*'|"[^"]*"|`[^`]*`""", r"""'(?:[^'\\]|\\.|'')*'|"[^"\\]*"|`[^`\\]*`"""
TEXTS = {
    **dict.fromkeys(("mariadb", "clickhouse", "spark"), ESCAPED), "sqlite": QUOTED,
    **dict.fromkeys(("duckdb", "postgres"), rf"\b[eE]'(?:[^'\\]|\\.|'')*'|{QUOTED}"),
}  # fmt: skip
UNTOLD = re.compile(r"""[;'"`\\$#]|--|/\*|\b(?:INSERT|UPDATE|DELETE|MERGE|INTO|DROP|ALTER|TRUNCATE)\b""", re.I)


def doing_more(kind, sql, dialect):
    """Why a statement is not run: it is none that a certificate has, or not one alone, or has a word that writes."""
    if not re.match(SHAPES[kind], sql, re.I | re.S):
        return f"a statement of its {kind} begins otherwise: {sql[:60]!r}"
    bare = re.sub(TEXTS.get(dialect, ESCAPED), " text ", sql, flags=re.S)
    found = None if kind == "teardown" else UNTOLD.search(bare)
    return found and f"a statement of its {kind} has {found.group()!r}: {sql[:60]!r}"


def plain(value):
    """A value of a driver as JSON has it: a whole number is whole, whatever type it came in."""
    if isinstance(value, (Decimal, float)) and math.isfinite(value):
        return int(value) if value == int(value) and abs(value) < 2**53 else float(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def same(one, other):
    """Whether two values are one; fractions but for the last bits, which depend on the order of a sum."""
    numbers = all(isinstance(item, (int, float)) and not isinstance(item, bool) for item in (one, other))
    if numbers and (isinstance(one, float) or isinstance(other, float)):
        return math.isclose(one, other, rel_tol=SLACK, abs_tol=SLACK)
    return type(one) is type(other) and one == other


def differences(claimed, found):
    """How the rows of a statement differ from those that were claimed, in whatever order they come."""
    ordered = (sorted(rows, key=lambda row: [(v is None, str(v)) for v in row]) for rows in (claimed, found))
    if len(claimed) != len(found):
        yield f"{len(claimed)} rows were claimed, and there are {len(found)}"
    for own, its in zip(*ordered):
        if len(own) != len(its) or not all(map(same, own, its)):
            yield f"claimed {own}, found {its}"


def broken(claim, rows):
    """What must hold in each row, and does not."""
    for name, operator, value in claim["must"]:
        for own in (row[claim["columns"].index(name)] for row in rows):
            if own is None or not {"=": own == value, "<=": own <= value, ">=": own >= value}[operator]:
                yield f"{name} is {own}, and must be {operator} {value}"
    yield from [] if rows or not claim["must"] else ["there is no row"]


class Answers:
    """What the statements say of the nodes that were asked about, and of all others by a bound."""

    def __init__(self, proof, rows_of):
        (counted,) = rows_of["counts"]
        found, null = {row[0]: row[1:] for row in rows_of["domains"]}, 1 if proof["null_is_value"] else 0
        self.proof, self.limit, self.rows, self.null_rows = proof, proof["limit"], counted[0], counted[4]
        self.domains = [
            max(1, (found[i][0] if own is None else own) + null * found[i][1]) for i, own in enumerate(proof["listed"])
        ]
        self.covered = {(row[0], row[1]): row[2:] for row in rows_of["covered"]}
        self.nodes, self.sums = (
            {tuple(proof["nodes"][number]): values for name in names for number, *values in rows_of[name]}
            for names in (proof["statements"], proof["measured"])
        )
        self.least = [[self.loss(i, j, 0) for j in range(top + 1)] for i, top in enumerate(proof["heights"])]

    def satisfied(self, node, violating=2):
        return self.nodes[node][violating] + self.null_rows <= min(self.limit, self.rows - 1)

    def hopeless(self, node):
        """Whether a requirement that lasts fails, and so fails at every node below."""
        return not self.satisfied(node, violating=3)

    def loss(self, index, level, more, own=None):
        """What a column loses where so many rows are suppressed besides NULLs: those with most, if own is unknown."""
        height, domain, suppressed = self.proof["heights"][index], self.domains[index], self.null_rows + more
        kept = self.rows - suppressed
        if self.proof["metric"] == "height":
            return level
        if self.proof["metric"] in COUNTED:
            return 0
        if self.proof["metric"] == "precision":
            return (kept * level / max(1, height) + suppressed) / self.rows
        if level in (0, height):
            own = kept * domain if level == height else kept
        elif own is None:
            own = self.covered[index, level][0] - more * self.covered[index, level][1]
        least = self.rows / domain
        lost = max(0.0, (own / domain + suppressed - least) / (self.rows - least)) if self.rows > least else 0.0
        return math.floor(lost * 1e10) / 1e10

    def together(self, losses):
        """One value of what the columns lose."""
        how, weighted = self.proof["aggregate"], [own * lost for own, lost in zip(self.proof["weights"], losses)]
        if how == "geometric_mean":
            return math.prod(item + 1.0 for item in weighted) ** (1 / len(weighted)) - 1.0
        return max(weighted) if how == "maximum" else sum(weighted) / (len(weighted) if how == "arithmetic_mean" else 1)

    def counted(self, suppressed, classes, squares):
        if self.proof["metric"] == "discernibility":
            return squares + self.rows * suppressed
        return self.rows / max(1, classes + (1 if suppressed else 0))

    def metric(self, node):
        """Of a node that was asked about; what it is at least, where its sums were not asked for."""
        _, kept_classes, suppressed, _, kept_squares, _ = self.nodes[node]
        if self.proof["metric"] in COUNTED:
            return self.counted(suppressed + self.null_rows, kept_classes, kept_squares)
        sums = iter(self.sums[node][6:]) if node in self.sums else None  # of columns between values and top, in order
        inner = [0 < level < height for level, height in zip(node, self.proof["heights"])]
        own = [next(sums) if sums is not None and is_inner else None for is_inner in inner]
        return self.together([self.loss(i, level, suppressed, own[i]) for i, level in enumerate(node)])

    def floor(self, node):
        """What no generalization of a node that was asked about is below, where the metric counts classes."""
        return self.counted(self.null_rows, *self.nodes[node][::5]) if self.proof["metric"] in COUNTED else -1

    def bound(self, node):
        """What the metric of a node is at least, from what all rows lose at its levels if none is suppressed."""
        return self.together([own[level] for own, level in zip(self.least, node)])


def covering(levels, nodes, *, above):
    """Whether one of some nodes is at or above a node, or (not above) at or below it: a test, by a bit for each."""
    met = (lambda own, level: own >= level) if above else (lambda own, level: own <= level)
    bits = [
        {level: sum(1 << bit for bit, node in enumerate(nodes) if met(node[i], level)) for level in own}
        for i, own in enumerate(levels)
    ]
    every = (1 << len(nodes)) - 1
    return lambda node: reduce(lambda left, at: left & bits[at[0]][at[1]], enumerate(node), every) != 0


def boundary(hopeless, satisfied):
    """Of the nodes that were asked about: the lowest that satisfy, and the highest that rule out all below."""
    under = lambda one, other: one != other and all(a <= b for a, b in zip(one, other))  # noqa: E731
    minimal = [list(node) for node in satisfied if not any(under(other, node) for other in satisfied)]
    maximal = [list(node) for node in hopeless if not any(under(node, other) for other in hopeless)]
    return sorted(minimal), sorted(maximal)


def check_lattice(proof, rows_of):
    """Why the proof does not hold: nodes that nothing excludes, or a list that is not what the answers say."""
    answers, best = Answers(proof, rows_of), tuple(proof["best"])
    if not answers.satisfied(best) or (proof["metric"] == "loss" and best not in answers.sums):
        yield "the best node does not satisfy the requirements, or what it loses was not asked for"
    value = answers.metric(best)
    if not same(value, proof["value"]):
        yield f"its {proof['metric']} is {value}, and {proof['value']} was claimed"
    enough = value - SLACK * max(1.0, abs(value))
    tests = answers.hopeless, answers.satisfied, lambda node: answers.floor(node) >= enough
    hopeless, satisfied, costly = ([node for node in answers.nodes if test(node)] for test in tests)
    levels = [range(low, high + 1) for low, high in zip(proof["minimum"], proof["maximum"])]
    ruled_out = covering(levels, hopeless, above=True)
    too_costly, surely_satisfied = (covering(levels, nodes, above=False) for nodes in (costly, satisfied))
    for node in product(*levels):
        if node in answers.nodes:
            if answers.satisfied(node) and answers.metric(node) < enough:
                yield f"{list(node)} satisfies the requirements, and may have a lower {proof['metric']}"
        elif not (answers.bound(node) >= enough or ruled_out(node) or too_costly(node)):
            yield f"nothing excludes {list(node)}"
        if proof["boundary_is_complete"] and not (ruled_out(node) or surely_satisfied(node)):
            yield f"whether {list(node)} satisfies the requirements does not follow"
    for name, found in zip(("minimal", "maximal"), boundary(hopeless, satisfied)):
        if found != proof[name]:
            yield f"the {name} nodes are {found}, and {proof[name]} were claimed"


class Cursor:
    """What is needed of a DB-API cursor, for clients that only run SQL: Spark's, and ClickHouse's."""

    def __init__(self, ask):
        self.ask, self.description, self.rows = ask, (), []

    def execute(self, sql):
        names, self.rows = self.ask(sql)
        self.description = [(name,) for name in names]

    def fetchall(self):
        return self.rows


def prepared_sqlite(connection):
    """A cursor of SQLite, with the functions that it lacks or has in some builds only: logarithm, floor, SHA-256."""
    draw = lambda text: int(hashlib.sha256(text.encode()).hexdigest()[:12], 16)  # noqa: E731
    for name, function in (("ln", math.log), ("floor", math.floor), ("kanon_draw", draw)):
        connection.create_function(name, 1, lambda value, call=function: None if value is None else call(value))
    return connection.cursor()


def cursor_of(dialect, database, *, files=False):
    """A cursor by the driver that Python has for the engine: it only reads, where the engine knows how."""
    if dialect not in DRIVERS:
        raise SystemExit(f"no driver of {dialect} is known here; call verify(directory, cursor) with a DB-API cursor")
    driver, url = import_module(DRIVERS[dialect]), urlsplit(database)
    if dialect == "duckdb":
        return driver.connect(database, read_only=True, config={"enable_external_access": str(files).lower()})
    if dialect == "sqlite":
        path = Path(database.split(":///")[-1]).absolute().as_uri()
        return prepared_sqlite(driver.connect(f"{path}?mode=ro", uri=True, isolation_level=None))
    if dialect == "postgres":
        return driver.connect("postgresql" + database[len(url.scheme) :], autocommit=True).cursor()
    if dialect == "mariadb":
        where = dict(parse_qsl(url.query), host=url.hostname, port=url.port or 3306, database=url.path.strip("/"))
        account = {"user": unquote(url.username or ""), "password": unquote(url.password or "")}
        return driver.connect(**where, **account, autocommit=True).cursor()
    where = {"interface": "chdb", "path": database[7:]} if url.scheme == "chdb" else {"dsn": database}
    own = driver.SparkSession.builder.getOrCreate().newSession() if dialect == "spark" else driver.get_client(**where)

    def ask(sql):
        if dialect == "spark":
            frame = own.sql(sql)
            return frame.columns, [tuple(row) for row in frame.collect()]
        if not sql.startswith(("SELECT", "WITH")):
            return (), own.command(sql) and []
        return [row[0] for row in own.query(f"DESCRIBE ({sql})").result_rows], own.query(sql).result_rows

    return Cursor(ask)


def changed(directory, certificate, key, digest):
    """What was changed since the certificate was made, as its digests and its signature tell."""
    text = (directory / "certificate.json").read_bytes()
    own = hashlib.sha256(text).hexdigest()
    if own != (directory / "certificate.sha256").read_text().split()[0] or own != (digest or own).lower():
        yield "certificate.json is not the file whose digest was noted"
    yield from [] if certificate.get("format") == FORMAT else ["it is of another format than this verifier reads"]
    run = [*certificate.get("setup", []), *(claim["sql"] for claim in certificate.get("claims", []))]
    yield from (f"{path} has no digest" for path in run if path not in certificate["files"])
    for path, expected in certificate["files"].items():
        found = directory / path
        if not found.is_file() or hashlib.sha256(found.read_bytes()).hexdigest() != expected:
            yield f"{path} is missing, or was changed"
    if key is not None:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.serialization import load_pem_public_key

        try:
            load_pem_public_key(Path(key).read_bytes()).verify((directory / "certificate.sig").read_bytes(), text)
        except (InvalidSignature, OSError, ValueError):
            yield "there is no signature of this certificate by the owner of the key"


def left_out(certificate):
    """What a certificate says nothing of, neither that it holds nor that it is not certified."""
    ids, unnamed = [claim["id"] for claim in certificate["claims"]], len(certificate["not_certified"])
    yield from (
        f"there is no claim {name!r}" for name in ("columns", "counts", "source", "manifest") if name not in ids
    )
    yield from [] if len(set(ids)) == len(ids) else ["two claims have one name"]
    asked = len(certificate["spec"]["privacy"]) + (certificate["optimality"] is None)
    if sum(name.startswith("requirement_") for name in ids) + unnamed < asked:
        yield "the spec asks more than is claimed or named as not certified"


def verify(directory, cursor, *, key=None, digest=None, say=print):
    """Run everything again with a DB-API cursor, or a connection that has one's methods; whether all claims hold."""
    directory, failed = Path(directory), []

    def told(says, problems):
        problems = list(problems)
        failed.extend(problems[:1])
        say("\n        ".join([f"{'FAILED' if problems else 'OK':<7} {says}", *problems[:5]]))

    def refused(error):
        return f"the database refused a statement: {type(error).__name__}: {str(error).strip().split(chr(10))[0][:200]}"

    certificate = json.loads((directory / "certificate.json").read_bytes())
    told("the files are those of the certificate", changed(directory, certificate, key, digest))
    if not failed:
        text_of = lambda path: (directory / path).read_text(encoding="utf-8")  # noqa: E731
        statements = {
            "session": certificate["session"], "setup": [*map(text_of, certificate["setup"])],
            "claim": [text_of(claim["sql"]) for claim in certificate["claims"]], "teardown": certificate["teardown"],
        }  # fmt: skip
        reasons = (
            doing_more(kind, sql, certificate["made"]["dialect"]) for kind, own in statements.items() for sql in own
        )
        told("its statements read, and make tables of the session alone", filter(None, reasons))
        told("nothing that the spec asks is left out", left_out(certificate))
    if failed:
        say("nothing was run, and no claim was looked at")
        return False
    try:
        for sql in [*statements["session"], *statements["teardown"], *statements["setup"]]:
            cursor.execute(sql)
    except Exception as error:  # of whatever driver
        told("the tables that claims are made of can be made", [refused(error)])
        return False
    rows_of = {}
    for claim, sql in zip(certificate["claims"], statements["claim"]):
        try:
            cursor.execute(sql)
            found = [[plain(value) for value in row] for row in cursor.fetchall()]
        except Exception as error:  # of whatever driver
            told(claim["says"], [refused(error)])
            continue
        if claim["id"] == "columns":
            found = [[column[0]] for column in cursor.description]
        elif claim["part"] == "recorded":
            found = [[*row[:-1], json.loads(row[-1])] for row in found]
        rows_of[claim["id"]] = found
        told(claim["says"], [*differences(claim["rows"], found), *broken(claim, found)])
    if (proof := certificate["optimality"]) is not None:
        whole = rows_of.keys() >= {"counts", "domains", "covered", *proof["statements"], *proof["measured"]}
        told(proof["says"], check_lattice(proof, rows_of) if whole else ["some of its figures could not be had"])
    for sql in statements["teardown"]:
        cursor.execute(sql)
    problems = certificate["problems"] or [""] * (certificate["verdict"] != "pass")
    told("nothing besides was found wrong when the certificate was made", problems)
    for item in certificate["not_certified"]:
        say(f"{'--':<7} not certified: {item['what']}: {item['why']}")
    if key is None and digest is None:
        say(f"{'--':<7} not checked: whose certificate it is, for want of --key, or --sha256 as it was noted elsewhere")
    left = len(certificate["not_certified"])
    held = f"all claims hold; not certified: {left}, named above" if left else "all claims hold"
    say(f"{len(failed)} of the claims do not hold" if failed else held)
    return not failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("-d", "--database", required=True)
    parser.add_argument("--key", help="the public key of who signed, as PEM")
    parser.add_argument("--sha256", help="the digest of certificate.json, as it was noted elsewhere")
    parser.add_argument("--files", action="store_true", help="let DuckDB read files, as a source in a file needs")
    given = parser.parse_args()
    made = json.loads((given.directory / "certificate.json").read_bytes())["made"]
    cursor = cursor_of(made["dialect"], given.database, files=given.files)
    return not verify(given.directory, cursor, key=given.key, digest=given.sha256)


if __name__ == "__main__":
    sys.exit(main())
