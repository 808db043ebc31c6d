"""Verify a certificate of a release: run its SQL again, and compare with what it claims.

It runs queries alone, and makes tables of the session; what functions do, no look tells: let the account only read.
"""

import argparse
import hashlib
import json
import math
import re
from decimal import Decimal
from functools import cache, partial
from importlib import import_module
from itertools import product, zip_longest
from pathlib import Path
from runpy import run_path

SLACK, FORMAT = 1e-9, "kanon_sql certificate 3"
COUNTED = ("discernibility", "average_class_size")  # metrics that count classes, and need no loss per column
HOW = {"loss": "geometric_mean", "precision": "arithmetic_mean", "height": "sum"}  # losses of columns become one value
ENGINES = {  # what its version is like, and a digest of a session's settings: others might change what names mean
    "duckdb": (r"v\d", "334504f777321072c84a"), "postgres": ("PostgreSQL", "bc3a43806954961c9ee0"),
    "mariadb": (".*MariaDB", "eabd777949fa818cd141"), "clickhouse": (r"\d+(\.\d+){3}", "58c0a605d7488af77909"),
    "sqlite": (r"3\.", "e3b0c44298fc1c149afb"), "spark": (r"[\d.]+ [0-9a-f]{40}", "922bcc1e1bd99b2a17f9"),
}  # fmt: skip
FAULTS = "uncovered_rows foreign_cells differing exceeding wrong_rows split_labels violating".split()  # none may be
TABLE = r"""((?:"temp"\.)?(?:"{0}"|`{0}`))""".replace("{0}", "kanon_[0-9a-f]{8}_certified_[a-z0-9_]+")
SETUP = rf"(?:CREATE\s+TEMPORARY|CACHE)\s+TABLE\s+{TABLE}\s+(?:ENGINE\s*=\s*Memory\s+)?AS\s+(.*)"
QUOTED = r"""'[^']*'|"[^"]*"|`[^`]*`""", r"""'(?:[^'\\]|\\.|'')*'|"[^"\\]*"|`[^`\\]*`"""  # a backslash escapes in some
WORDS = r"\b(?:(?:INSERT|UPDATE|DELETE|MERGE|INTO|DROP|ALTER|TRUNCATE|PARALLEL\W+WITH)\b|USING\s*\0)"  # Spark: a script
WRITES = re.compile(rf"""{WORDS}|[\w&]\0|[;'"`\\$#\u2018\u2019\u201c\u201d]|--|/\*""", re.I)  # quotes of ClickHouse too


def doing_more(query, dialect):
    """What a query has that writes, or may hide what writes: a word, a comment, a text that engines end elsewhere."""
    ways = [QUOTED[dialect in ("mariadb", "clickhouse", "spark")]] if dialect in ENGINES else QUOTED
    for bare in [re.sub(way, "\0", query, flags=re.S) for way in ways]:
        found = WRITES.search(bare)
        if found or "\0" in query or not re.match(r"[\s(]*(?:SELECT|WITH)\b", bare, re.I):
            return found.group() if found else query[:60]
    return None


def plain(value):
    """A value of a driver as JSON has it: a whole number is whole, whatever type it came in."""
    if isinstance(value, (Decimal, float)) and math.isfinite(value):
        return int(value) if value == int(value) and abs(value) < 2**53 else float(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def same(one, other):
    """Whether two values are one; fractions but for the last bits, which depend on the order of a sum."""
    kinds = {type(one), type(other)}
    close = kinds in ({float}, {int, float}) and math.isclose(one, other, rel_tol=SLACK, abs_tol=SLACK)
    return close or (len(kinds) == 1 and one == other)


def wrong(claim, names, rows):
    """How columns and rows of a query are not those that were claimed, in whatever order, or not as they must be."""
    if list(names) != list(claim["columns"]):
        yield f"its columns are {names}, and {claim['columns']} were claimed"
    if claim["id"].startswith("requirement_") and [row[0] for row in rows] != [claim["says"]]:
        yield f"its statement is about another requirement: {[row[0] for row in rows]}"
    ordered = (sorted(own, key=lambda row: [(v is None, str(v)) for v in row]) for own in (claim["rows"], rows))
    for own, its in zip_longest(*ordered, fillvalue=()):
        if len(own) != len(its) or not all(map(same, own, its)):
            yield f"claimed {own or 'no row'}, found {its or 'no row'}"
    for name, how, value in [*claim["must"], *([one, "=", 0] for one in claim["columns"] if one in FAULTS and rows)]:
        for own in [row[claim["columns"].index(name)] for row in rows] or [None]:
            if own is None or not {"=": own == value, "<=": own <= value, ">=": own >= value}[how]:
                yield f"{name} is {own}, and must be {how} {value}"


def asked_for(spec, rows_of):
    """What a proof is about: it follows from the spec, and from what the statements say of columns and cells."""
    search, names = spec["search"], [row[1] for row in sorted(rows_of["domains"])]
    items = [spec["quasi_identifiers"][name] for name in names]
    samarati, heaviest = search["algorithm"] == "samarati", max(item["weight"] for item in items)
    metric, other = ("height", None) if samarati else (search["metric"], search.get("aggregate"))
    heights = [sum(row[0] == index for row in rows_of["covered"]) for index, _ in enumerate(names)]
    most, own, rows = [item["maximum_level"] for item in items], spec["suppression"], rows_of["counts"][0][0]
    return {
        "says": f"no node that satisfies the requirements has a lower {metric}" + (f" ({other})" if other else ""),
        "metric": metric, "aggregate": other or HOW.get(metric), "heights": heights,
        "columns": names if {*names} == {*spec["quasi_identifiers"]} else None,
        "weights": [1.0 if samarati or not heaviest else item["weight"] / heaviest for item in items],
        "minimum": [item["minimum_level"] for item in items],
        "maximum": [height if own is None else own for height, own in zip(heights, most)],
        "limit": own["max_rows"] if "max_rows" in own else math.floor(Decimal(str(own["max_share"])) * rows),
        "null_is_value": spec["nulls"] == "value", "best": [row[1] for row in sorted(rows_of["cells"])],
    }  # fmt: skip


class Answers:
    """What the statements say of the nodes that were asked about, and of all others by a bound."""

    def __init__(self, proof, rows_of):
        ((self.rows, _, _, _, self.null_rows, _),) = rows_of["counts"]
        self.proof, self.most = proof, min(proof["limit"], self.rows - 1) - self.null_rows  # suppressed besides NULL
        asked, nulls = sorted(rows_of["domains"]), proof["null_is_value"]
        self.domains = [max(1, (listed or values) + nulls * missing) for _, _, listed, values, missing in asked]
        self.covered = {(row[0], row[1]): row[2:] for row in rows_of["covered"]}
        self.nodes, self.sums = (
            {tuple(map(int, row[0].split())): row[1:] for id in rows_of if id.startswith(kind) for row in rows_of[id]}
            for kind in ("nodes_", "losses_")
        )
        self.satisfied = {node for node, own in self.nodes.items() if own[2] <= self.most}
        self.loss = cache(self.loss)

    def loss(self, index, level, more, own=None):
        """A column's weighted loss where this many are suppressed besides NULLs: rows with most, if own is unknown."""
        height, domain, suppressed = self.proof["heights"][index], self.domains[index], self.null_rows + more
        kept, weight = self.rows - suppressed, self.proof["weights"][index]
        if self.proof["metric"] in ("height", *COUNTED):
            return weight * level if self.proof["metric"] == "height" else 0
        if self.proof["metric"] == "precision":
            return weight * ((kept * level / max(1, height) + suppressed) / self.rows)
        covered, largest = self.covered.get((index, level), (0, 0))
        own = kept * domain if level == height else covered - more * largest if own is None else own
        least = self.rows / domain
        lost = max(0.0, (own / domain + suppressed - least) / (self.rows - least)) if self.rows > least else 0.0
        return weight * (math.floor(lost * 1e10) / 1e10)

    def together(self, losses):
        """One value of what the columns lose."""
        how = self.proof["aggregate"]
        if how == "geometric_mean":
            return math.prod([lost + 1.0 for lost in losses]) ** (1 / len(losses)) - 1.0
        return max(losses) if how == "maximum" else sum(losses) / (len(losses) if how == "arithmetic_mean" else 1)

    def counted(self, suppressed, classes, squares):
        if self.proof["metric"] == "discernibility":
            return squares + self.rows * (suppressed + self.null_rows)
        return self.rows / max(1, classes + (1 if suppressed + self.null_rows else 0))

    def metric(self, node):
        """Of a node that was asked about; what it is at least, where its sums were not asked for."""
        _, kept_classes, suppressed, _, kept_squares, _ = self.nodes[node]
        if self.proof["metric"] in COUNTED:
            return self.counted(suppressed, kept_classes, kept_squares)
        sums = iter(self.sums.get(node, [])[6:])  # of columns between values and top, in order
        own = [next(sums, None) if 0 < level < top else None for level, top in zip(node, self.proof["heights"])]
        return self.together([self.loss(i, level, suppressed, own[i]) for i, level in enumerate(node)])

    def bound(self, node, violating=0):
        """What the metric of a node is at least, where this many rows at least violate a requirement."""
        losses = [self.loss(i, level, violating) for i, level in enumerate(node)]
        return math.inf if violating > self.most else self.together(losses)


def above(values, sizes):
    """Of every node of a lattice, in its order, the largest of the values of all nodes at it and above."""
    for index, size in enumerate(sizes):
        stride = math.prod(sizes[index + 1 :])
        for place in reversed(range(len(values))):
            if place // stride % size < size - 1 and values[place + stride] > values[place]:
                values[place] = values[place + stride]
    return values


def check_lattice(claimed, rows_of, spec):
    """Why the proof does not hold: it is about something else, nothing excludes a node, or a list is another."""
    meant = asked_for(spec, rows_of)
    yield from (f"{key} is {meant[key]}, and {claimed[key]} was claimed" for key in meant if meant[key] != claimed[key])
    answers, best = Answers(proof := {**claimed, **meant}, rows_of), tuple(meant["best"])
    if best not in answers.satisfied or (proof["metric"] == "loss" and len(answers.sums.get(best, [])) <= 6):
        yield "the best node does not satisfy the requirements, or what it loses was not asked for"
    value = answers.metric(best)
    if not same(value, proof["value"]):
        yield f"its {proof['metric']} is {value}, and {proof['value']} was claimed"
    enough = value - SLACK * max(1.0, abs(value))
    levels = [range(low, high + 1) for low, high in zip(proof["minimum"], proof["maximum"])]
    nodes, sizes = list(product(*levels)), list(map(len, levels))
    asked = [answers.nodes.get(node) for node in nodes]
    violating = above([own[3] if own else 0 for own in asked], sizes)  # rows that do, do so at every node below, too
    floors = [answers.counted(0, *own[::5]) if own and proof["metric"] in COUNTED else -1 for own in asked]
    floors = above(floors[::-1], sizes)[::-1]  # of these metrics: no node above has fewer classes
    satisfied = above([node in answers.satisfied for node in reversed(nodes)], sizes)[::-1]
    bounds = map(answers.together, product(*([answers.loss(i, one, 0) for one in own] for i, own in enumerate(levels))))
    for node, own, most, floor, surely, bound in zip(nodes, asked, violating, floors, satisfied, bounds):
        if node in answers.satisfied and answers.metric(node) < enough:
            yield f"{list(node)} satisfies the requirements, and may have a lower {proof['metric']}"
        if not (own or floor >= enough or bound >= enough or answers.bound(node, most) >= enough):
            yield f"nothing excludes {list(node)}"
        if proof["boundary_is_complete"] and not (most > answers.most or surely):
            yield f"whether {list(node)} satisfies the requirements does not follow"
    infeasible = [node for node, own in answers.nodes.items() if own[3] > answers.most]
    under = lambda one, other: one != other and all(low <= high for low, high in zip(one, other))  # noqa: E731
    minimal = [list(node) for node in answers.satisfied if not any(under(other, node) for other in answers.satisfied)]
    maximal = [list(node) for node in infeasible if not any(under(node, other) for other in infeasible)]
    if [sorted(minimal), sorted(maximal)] != [proof["minimal"], proof["maximal"]]:
        yield f"the minimal and maximal nodes are {sorted(minimal)} and {sorted(maximal)}, and others were claimed"


def changed(directory, certificate, key, digest):
    """What was changed since the certificate was made, as its digests and its signature tell."""
    text = (directory / "certificate.json").read_bytes()
    own = hashlib.sha256(text).hexdigest()
    if own != (directory / "certificate.sha256").read_text().split()[0] or own != (digest or own).lower():
        yield "certificate.json is not the file whose digest was noted"
    for path, expected in certificate["files"].items():
        if not (directory / path).is_file() or hashlib.sha256((directory / path).read_bytes()).hexdigest() != expected:
            yield f"{path} is missing, or was changed"
    if key is not None:
        load = import_module("cryptography.hazmat.primitives.serialization").load_pem_public_key
        load(Path(key).read_bytes()).verify((directory / "certificate.sig").read_bytes(), text)  # or InvalidSignature


def not_to_run(certificate, text_of, cursor):
    """Why nothing of it is run: statements that may do more than read, or something that it says nothing of."""
    made = [re.fullmatch(SETUP, text_of.get(path, ""), re.S) for path in certificate["setup"]]
    dialect, claims = certificate["made"]["dialect"], certificate["claims"]
    settings = hashlib.sha256("\n".join(certificate["session"]).encode()).hexdigest()[:20]
    if certificate["format"] != FORMAT or settings != ENGINES.get(dialect, ENGINES["sqlite"])[1]:
        yield "its format, or the settings of its session, are not those that are known here"
    for query in [*(text_of.get(claim["sql"], "") for claim in claims), *(one.group(2) if one else "" for one in made)]:
        if (found := doing_more(query, dialect)) is not None:
            yield f"a query has {found!r}, and may do more than read"
    ids, files = [claim["id"] for claim in claims], certificate["files"]
    named = [(f"sql/{claim['sql'][4:7]}_{claim['id']}.sql", files.get(claim["sql"])) for claim in claims]
    if named != [(claim["sql"], claim["sha256"]) for claim in claims]:
        yield "a file of a claim is named otherwise, or has another digest"
    asked = len(certificate["spec"]["privacy"]) + (certificate["optimality"] is None)
    claimed = sum(name.startswith("requirement_") for name in ids) + len(certificate["not_certified"])
    if {"columns", "counts", "source", "manifest"} - {*ids} or len({*ids}) < len(ids) or claimed < asked:
        yield "the spec asks more than is claimed or named as not certified, or two claims have one name"
    cursor.execute("SELECT sqlite_version()" if dialect == "sqlite" else "SELECT version()")
    ((version,),) = cursor.fetchall()
    if not re.match(ENGINES[dialect][0] if dialect in ENGINES else "", version):  # it would read statements otherwise
        yield f"it is about a database of {dialect}, and this one has the version {version}"


def not_recorded(certificate, rows_of):
    """What of a certificate is not what the database has recorded, or what follows from that."""
    ((spec_hash, text),), counts, made = rows_of["manifest"], rows_of["counts"], certificate["provenance"]
    manifest, (entry,) = json.loads(text), [json.loads(row[1]) for row in rows_of.get("ledger", [])] or [None]
    claimed = [*map(certificate.get, ("spec", "spec_hash", "release")), made["manifest"], made["ledger"]]
    if [manifest["spec"], spec_hash, manifest["release"], manifest, entry] != claimed:
        yield "its spec, its manifest, or its entry in the ledger is another one"
    rows, several = manifest.get("rows", {}), manifest.get("release_of_tables", {}).get("tables", {})
    noted = sorted([name, one["rows"], one["released"]] for name, one in several.items())  # NULL is not counted
    noted = noted or [[rows["source"], rows["released"] + (rows.get("masked") or 0)]]
    pairs = [pair for own, its in zip_longest(noted, sorted(counts), fillvalue=("", "")) for pair in zip(own, its)]
    if not all(its in (own, None) for own, its in pairs):
        yield f"the source and the release have the rows {counts}, and the manifest says {noted}"


def verify(directory, cursor, *, key=None, digest=None, say=print):
    """Run everything again with a DB-API cursor, or a connection that has one's methods; whether all claims hold."""
    directory, failed, rows_of = Path(directory), [], {}

    def show(says, ask, holds="OK"):
        try:
            problems = list(ask())
        except Exception as error:  # of whatever driver, or in what a certificate says
            problems = [f"it could not be looked at: {type(error).__name__}: {str(error)[:200]}"]
        failed.extend(problems[:1])
        for text in [f"{'FAILED' if problems else holds:<7} {says}", *(f"{'':<7} {one}" for one in problems[:5])]:
            say("".join(sign if sign.isprintable() else "?" for sign in text))

    def asked(claim):
        cursor.execute(text_of[claim["sql"]])
        rows_of[claim["id"]] = rows = [list(map(plain, row)) for row in cursor.fetchall()]
        return wrong(claim, [one[0] for one in cursor.description], rows)

    certificate = json.loads((directory / "certificate.json").read_bytes())
    paths = [path for path in certificate["files"] if (directory / path).is_file()]
    text_of = {path: (directory / path).read_text(encoding="utf-8", errors="replace").strip() for path in paths}
    unfit = lambda: list(changed(directory, certificate, key, digest)) or not_to_run(certificate, text_of, cursor)  # noqa: E731
    show("the files are those of the certificate, its queries only read, and the database is of its kind", unfit)
    if failed:
        say("nothing of it was run, and no claim was looked at")
        return False
    setup, proof = [text_of[path] for path in certificate["setup"]], certificate["optimality"]
    drop = "UNCACHE" if certificate["made"]["dialect"] == "spark" else "DROP"
    teardown = [f"{drop} TABLE IF EXISTS {re.fullmatch(SETUP, sql, re.S).group(1)}" for sql in setup]
    show("its tables are made", lambda: list(map(cursor.execute, [*certificate["session"], *teardown, *setup])) and [])
    for claim in certificate["claims"]:
        show(claim["says"], partial(asked, claim))
    if proof is not None:
        show(proof["says"], lambda: check_lattice(proof, rows_of, certificate["spec"]))
    show("and dropped again", lambda: list(map(cursor.execute, teardown)) and [])
    show("its spec and rows are those of the manifest", lambda: not_recorded(certificate, rows_of))
    show("nothing was found wrong when made", lambda: [*certificate["problems"], *{certificate["verdict"]} - {"pass"}])
    for item in certificate["not_certified"]:
        show(f"not certified: {item['what']}: {item['why']}", list, "--")
    if key is None and digest is None:
        show("not checked: whose certificate it is, for want of --key, or --sha256 as noted elsewhere", list, "--")
    left = f"; not certified: {len(certificate['not_certified'])}, named above" if certificate["not_certified"] else ""
    say(f"{len(failed)} of the claims do not hold" if failed else f"all claims hold{left}")
    return not failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("-d", "--database", required=True)
    parser.add_argument("--key", help="the public key of who signed, as PEM")
    parser.add_argument("--sha256", help="the digest of certificate.json, as it was noted elsewhere")
    parser.add_argument("--files", action="store_true", help="let DuckDB read files, as a source in a file needs")
    given = parser.parse_args()
    opened = run_path(f"{Path(__file__).parent}/open_database.py")["opened"](given)
    raise SystemExit(not verify(given.directory, opened, key=given.key, digest=given.sha256))
