"""Two different values of each type of each engine, and values that are equal to the engine and differ in text.

What is listed here is how tests show that a type is taken rightly. A type of an engine's catalog that is neither listed
nor refused fails the test that reads the catalog: a new type of a new version is seen before it is believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple


class Pair(NamedTuple):
    """Two values of a type.

    Attributes:
        type: as ``CREATE TABLE`` says it.
        first: an expression of the type.
        second: another one.
        family: the type's name in the engine's catalog.
    """

    type: str
    first: str
    second: str
    family: str


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


_DUCKDB = """
TINYINT|1|2;SMALLINT|1|2;INTEGER|1|2;BIGINT|9007199254740992|9007199254740993;HUGEINT|1|2;BIGNUM|1|2
UTINYINT|1|2;USMALLINT|1|2;UINTEGER|1|2;UBIGINT|1|2;UHUGEINT|1|2;BOOLEAN|true|false
DECIMAL(5,2)|1.10|1.11;FLOAT|0.1|0.10000001;FLOAT|0|-0;DOUBLE|0.1|0.10000000000000002;DOUBLE|0|-0
VARCHAR|a|a ;VARCHAR|NULL|null;VARCHAR|a, b|a;ENUM('a', 'A')|a|A;UUID|%1|%2;BIT|01|1;BLOB|\\x00|\\x5Cx00
DATE|2020-01-01|2020-01-02;TIME|12:00:00|12:00:00.000001;TIME_NS|12:00:00|12:00:00.000000001
TIME WITH TIME ZONE|12:00:00+00|13:00:00+01;TIMESTAMP|2020-01-01 12:00:00|2020-01-01 12:00:00.000001
TIMESTAMP_S|2020-01-01 12:00:00|2020-01-01 12:00:01;TIMESTAMP_MS|2020-01-01 12:00:00|2020-01-01 12:00:00.001
TIMESTAMP_NS|2020-01-01 12:00:00|2020-01-01 12:00:00.000000001
TIMESTAMP WITH TIME ZONE|2025-10-26 00:30:00+00|2025-10-26 01:30:00+00
TIMESTAMPTZ_NS|2025-10-26 00:30:00+00|2025-10-26 00:30:00.000000001+00
INTERVAL|1 day|24 hours;INTERVAL|1 month|30 days;JSON|1|1.0;JSON|{"a":1}|{ "a":1};GEOMETRY|POINT (0 0)|POINT (-0 0)
"""

_POSTGRES = r"""
int2|1|2;int4|1|2;int8|9007199254740992|9007199254740993;oid|1|2;xid|1|2;cid|1|2;xid8|1|2;tid|(0,1)|(0,2)
pg_lsn|0/1|0/2
bool|t|f;numeric(5,2)|1.10|1.11;numeric|1.0|1.00;float4|0.1|0.10000001;float4|0|-0;float8|0.1|0.10000000000000002
float8|0|-0;money|1|2;text|a|a ;text|NULL|null;varchar|a|a ;bpchar|a|a  ;bpchar(3)|a|b;name|a|b;"char"|a|b
bytea|\x00|\x01
uuid|%1|%2;bit(2)|01|10;varbit|01|1;inet|10.0.0.1|10.0.0.1/8;cidr|10.0.0.0/8|10.0.0.0/9
macaddr|08:00:2b:01:02:03|08:00:2b:01:02:04;macaddr8|08:00:2b:01:02:03:04:05|08:00:2b:01:02:03:04:06
date|2020-01-01|2020-01-02;time|12:00:00|12:00:00.000001;timetz|12:00:00+00|13:00:00+01
timestamp|2020-01-01 12:00:00|2020-01-01 12:00:00.000001;timestamptz|2025-10-26 00:30:00+00|2025-10-26 01:30:00+00
interval|1 day|24 hours;json|1|1.0;jsonb|1|1.0;jsonb|{"a":5}|{"a":5.0};xml|<a/>|<a></a>;jsonpath|$.a|$."a"
int4range|[1,3)|[1,2);int8range|[1,3)|[1,2);daterange|[2020-01-01,2020-01-03)|[2020-01-01,2020-01-02)
tsrange|[2020-01-01,2020-01-03)|[2020-01-01,2020-01-03];tstzrange|[2020-01-01,2020-01-03)|[2020-01-01,2020-01-03]
numrange|[1,2)|[1.0,2.0);int4multirange|{[1,3)}|{[1,2)};int8multirange|{[1,3)}|{[1,2)}
nummultirange|{[1,2)}|{[1.0,2.0)}
datemultirange|{[2020-01-01,2020-01-03)}|{};tsmultirange|{[2020-01-01,2020-01-03)}|{}
tstzmultirange|{[2020-01-01,2020-01-03)}|{};point|(0,0)|(-0,0);lseg|((0,0),(1,1))|((-0,0),(1,1))
box|((0,0),(1,1))|((-0,0),(1,1))
line|{1,0,0}|{1,-0,0};path|((0,0),(1,1))|((-0,0),(1,1));polygon|((0,0),(1,1))|((-0,0),(1,1))
circle|<(0,0),1>|<(-0,0),1>
tsvector|a b|a;tsquery|a & b|a;int2vector|1 2|1;oidvector|1 2|1;refcursor|a|a ;txid_snapshot|1:1:|2:2:
pg_snapshot|1:1:|2:2:
regproc|pg_catalog.now|pg_catalog.version;regprocedure|abs(int4)|abs(int8);regoper|pg_catalog.!~|pg_catalog.!~~
regoperator|+(int4,int4)|+(int8,int8);regclass|pg_class|pg_type;regtype|int4|int8;regrole|pg_monitor|pg_read_all_data
regnamespace|pg_catalog|information_schema;regconfig|simple|english;regdictionary|simple|english_stem
regcollation|"C"|"POSIX";aclitem|=r/kanon|=w/kanon
"""

_CLICKHOUSE = r"""
Int8|1|2;Int16|1|2;Int32|1|2;Int64|9007199254740992|9007199254740993;Int128|1|2;Int256|1|2
UInt8|1|2;UInt16|1|2;UInt32|1|2;UInt64|1|2;UInt128|1|2;UInt256|1|2;Bool|true|false
Decimal(9, 2)|1.10|1.11;Float32|0.1|0.10000001;Float32|0|-0.;Float64|0.1|0.10000000000000002;Float64|0|-0.
BFloat16|1|2
String|'a'|'a ';String|'NULL'|'null';FixedString(3)|'a'|'a ';Enum8('a' = 1, 'A' = 2)|'a'|'A'
Enum16('a' = 1, 'A' = 2)|'a'|'A'
UUID|'%1'|'%2';IPv4|'1.2.3.4'|'1.2.3.5';IPv6|'::1'|'::2';Date|'2020-01-01'|'2020-01-02'
Date32|'2020-01-01'|'2020-01-02'
Time|'12:00:00'|'12:00:01';Time64(9)|'12:00:00'|'12:00:00.000000001';DateTime|1761438600|1761442200
DateTime('Europe/Berlin')|1761438600|1761442200;DateTime64(3)|'2020-01-01 12:00:00'|'2020-01-01 12:00:00.001'
DateTime64(3, 'Europe/Berlin')|toDateTime64(1761438600, 3)|toDateTime64(1761442200, 3)
Point|(0, 0)|(-0., 0);Ring|[(0, 0)]|[(-0., 0)];LineString|[(0, 0)]|[(-0., 0)];MultiPoint|[(0, 0)]|[(-0., 0)]
MultiLineString|[[(0, 0)]]|[[(-0., 0)]];Polygon|[[(0, 0)]]|[[(-0., 0)]];MultiPolygon|[[[(0, 0)]]]|[[[(-0., 0)]]]
Geometry|(0., 0.)::Point|(-0., 0.)::Point;QBit(Float32, 2)|[0, 0]|[-0., 0];JSON|'{"a": 1}'|'{"a": 1.0}'
Variant(String, UInt8)|1::UInt8|'1';Dynamic|1::UInt8|'1';LowCardinality(String)|'a'|'A';Nullable(String)|'a'|'A'
Array(String)|['a', 'b']|['a\', \'b'];Tuple(a String, b String)|('a', 'b')|('a\'', 'b')
Map(String, UInt8)|map('a', 1)|map('a', 2)
Array(DateTime('Europe/Berlin'))|[toDateTime(1761438600)]|[toDateTime(1761442200)];Nested(a UInt8)|[1]|[2]
AggregateFunction(sum, UInt8)|initializeAggregation('sumState', 1::UInt8)|initializeAggregation('sumState', 2::UInt8)
SimpleAggregateFunction(max, DateTime('Europe/Berlin'))|1761438600|1761442200
"""

_UNITS = (
    "Nanosecond",
    "Microsecond",
    "Millisecond",
    "Second",
    "Minute",
    "Hour",
    "Day",
    "Week",
    "Month",
    "Quarter",
    "Year",
)

_MARIADB = r"""
TINYINT|1|2;SMALLINT|1|2;MEDIUMINT|1|2;INT|1|2;BIGINT|9007199254740992|9007199254740993;DECIMAL(5,2)|1.10|1.11
BOOLEAN|1|0
FLOAT|0.1|0.10000001;FLOAT|0|-0e0;DOUBLE|0.1|0.10000000000000002;DOUBLE|0|-0e0;BIT(9)|1|2;YEAR|'2020'|'2021'
DATE|'2020-01-01'|'2020-01-02';TIME(6)|'12:00:00'|'12:00:00.000001'
DATETIME(6)|'2020-01-01 12:00:00'|'2020-01-01 12:00:00.000001'
TIMESTAMP(6)|'2020-01-01 12:00:00'|'2020-01-01 12:00:00.000001';CHAR(3)|'a'|'b';VARCHAR(9)|'a'|'b';TINYTEXT|'a'|'b'
TEXT|'a'|'b'
MEDIUMTEXT|'a'|'b';LONGTEXT|'a'|'b';BINARY(3)|'a'|'b';VARBINARY(9)|'a'|'b';TINYBLOB|'a'|'b';BLOB|'a'|'b'
MEDIUMBLOB|'a'|'b'
LONGBLOB|'a'|'b';ENUM('a', 'b')|'a'|'b';SET('a', 'b')|'a'|'a,b';JSON|'1'|'1.0';JSON|'{"a": 1}'|'{"a":1}'
UUID|'%1'|'%2'
INET4|'1.2.3.4'|'1.2.3.5';INET6|'::1'|'::2';GEOMETRY|POINT(0, 0)|POINT(1, 0);POINT|POINT(0, 0)|POINT(1, 0)
"""

_SQLITE = """
INTEGER|1|2;REAL|0.1|0.10000000000000002;REAL|0.0|-0.0;TEXT|'a'|'A';BLOB|x'00'|x'01';NUMERIC|1.5|1.6
DECIMAL(5,2)|1.5|1.6
DATE|'2020-01-01'|'2020-01-02';DATETIME|'2020-01-01 12:00:00'|'2020-01-01 12:00:01';BOOLEAN|1|0;VARCHAR(9)|'a'|'a '
UUID|'%1'|'%2'
JSON TEXT|'1'|'1.0';JSON|'{"a": 1}'|'{"a":1}';JSONB|x'13'|x'23';BLOB|0.0|-0.0;BLOB|0.1|0.10000000000000002
INTERVAL|1|2
"""

_SPARK = """
TINYINT|1|2;SMALLINT|1|2;INT|1|2;BIGINT|9007199254740992|9007199254740993;DECIMAL(5,2)|1.10|1.11;BOOLEAN|true|false
FLOAT|0.1|0.10000001;FLOAT|'0'|'-0.0';DOUBLE|0.1|0.10000000000000002;DOUBLE|'0'|'-0.0';STRING|'a'|'a '
CHAR(3)|'a'|'b';VARCHAR(3)|'a'|'b'
BINARY|'a'|'b';DATE|'2020-01-01'|'2020-01-02';TIMESTAMP|'2020-01-01 12:00:00'|'2020-01-01 12:00:01'
TIMESTAMP_NTZ|'2020-01-01 12:00:00'|'2020-01-01 12:00:00.000001'
INTERVAL DAY TO SECOND|INTERVAL '1' DAY|INTERVAL '2' DAY
INTERVAL YEAR TO MONTH|INTERVAL '1' YEAR|INTERVAL '1' MONTH;ARRAY<STRING>|array('a', 'b')|array('a, b')
MAP<STRING, INT>|map('a', 1, 'b', 2)|map('b', 2, 'a', 1)
STRUCT<a: STRING, b: STRING>|struct('a', 'b, c')|struct('a, b', 'c')
VARIANT|parse_json('1')|parse_json('1.0')
"""


def _read(text: str, shown: str) -> Iterator[Pair]:
    for line in text.strip().splitlines():
        for item in line.split(";"):
            kind, *values = item.split("|")
            first, second = (
                value.replace("%1", "00000000-0000-0000-0000-000000000001").replace(
                    "%2", "00000000-0000-0000-0000-000000000002"
                )
                for value in values
            )
            yield Pair(kind, shown.format(first, kind), shown.format(second, kind), kind.split("(")[0])


def _texts(text: str) -> list[Pair]:
    """Of types that are read from text."""
    return [
        pair._replace(
            first=f"CAST({_quoted(pair.first)} AS {pair.type})", second=f"CAST({_quoted(pair.second)} AS {pair.type})"
        )
        for pair in _read(text, "{}")
    ]


PAIRS: dict[str, list[Pair]] = {
    "duckdb": _texts(_DUCKDB),
    "postgres": _texts(_POSTGRES),
    "clickhouse": [
        *_read(_CLICKHOUSE, "{}"),
        *(
            Pair(f"Interval{unit}", f"toInterval{unit}(1)", f"toInterval{unit}(2)", f"Interval{unit}")
            for unit in _UNITS
        ),
    ],
    "mariadb": list(_read(_MARIADB, "{}")),
    "sqlite": list(_read(_SQLITE, "{}")),
    "spark": list(_read(_SPARK, "CAST({} AS {})")),
}


def nested(engine: str, pair: Pair) -> Iterator[Pair]:
    """The two values in a list, a structure and a map, where the engine has these and takes the type in them."""
    kind, *values = pair[:3]
    if engine == "duckdb":
        yield Pair(f"{kind}[]", *(f"[{value}]" for value in values), "LIST")
        yield Pair(f"{kind}[1]", *(f"CAST([{value}] AS {kind}[1])" for value in values), "ARRAY")
        yield Pair(f'STRUCT("an INTERVAL" {kind})', *(f"{{'an INTERVAL': {value}}}" for value in values), "STRUCT")
        yield Pair(f"MAP(VARCHAR, {kind})", *(f"MAP {{'a': {value}}}" for value in values), "MAP")
        yield Pair(f"TUPLE({kind}, INTEGER)", *(f"({value}, 1)" for value in values), "TUPLE")
        yield Pair(f"UNION(a {kind}, b BIT[])", *values, "UNION")
    if engine == "clickhouse" and pair.family not in ("Nested", "AggregateFunction", "SimpleAggregateFunction"):
        yield Pair(f"Array({kind})", *(f"[CAST({value} AS {kind})]" for value in values), "Array")
        yield Pair(f"Tuple(`an Int8` {kind})", *(f"tuple(CAST({value} AS {kind}))" for value in values), "Tuple")
        yield Pair(f"Map(String, {kind})", *(f"map('a', CAST({value} AS {kind}))" for value in values), "Map")
    if engine == "postgres":
        yield Pair(f"{kind}[]", *(f"ARRAY[{value}]" for value in values), "_array")
        word = "d_" + "".join(letter for letter in kind if letter.isalnum())
        yield Pair(word, *(f"CAST({value} AS {word})" for value in values), "domain")
        yield Pair(f"{word}[]", *(f"ARRAY[CAST({value} AS {word})]" for value in values), "array of domain")
        yield Pair(f"c_{word}", *(f"CAST(ROW({value}) AS c_{word})" for value in values), "row")
