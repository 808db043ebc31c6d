{#- How values are compared and written, per adapter. An adapter that is not here is refused: a collation that takes
    'a' and 'A' for the same makes classes look larger than they are. -#}

{#- A column as it is grouped: text character by character, other types as they are; 0 and -0 are one number. -#}
{% macro exact_value(column) %}
  {%- set quoted = adapter.quote(column.name) -%}
  {%- if kanon_sql.compares_exactly(column.dtype) -%}{{ return(quoted) }}{%- endif -%}
  {%- set number = "case when " ~ quoted ~ " = 0 then 0 else " ~ quoted ~ " end" -%}
  {{ return(kanon_sql.exact_text(number if kanon_sql.spelled(column.dtype) == "zero" else quoted)) }}
{% endmacro %}

{#- A sensitive value or a person, as it is counted: of a type that is known to write equal values in one way. As
    quasi-identifiers values of other types only make classes smaller; here one value would count as several. -#}
{% macro counted_value(column, relation, where) %}
  {%- if not (kanon_sql.compares_exactly(column.dtype) or kanon_sql.spelled(column.dtype) == "zero"
              or kanon_sql.has_one_text(column, relation)) -%}
    {%- do kanon_sql.refuse(where, "equal values of '" ~ column.name ~ "', " ~ column.dtype ~ ", may be written in "
      ~ "several ways, or hold several items, and would count as several; cast it to a text or a number in the model") -%}
  {%- endif -%}
  {{ return(kanon_sql.exact_value(column)) }}
{% endmacro %}

{#- Whether equal values of a column, which is compared as text, have one text. -#}
{% macro has_one_text(column, relation) %}
  {{ return(adapter.dispatch("has_one_text", "kanon_sql")(column, relation)) }}
{% endmacro %}

{% macro default__has_one_text(column, relation) %}
  {% set dtype = column.dtype | lower %}
  {% set word = dtype.split("(")[0].split(" ")[0] %}
  {{ return("[" not in dtype and word in [
    "text", "varchar", "string", "unicode", "char", "character", "bpchar", "nchar", "nvarchar", "name", "uuid", "enum",
    "binary", "varbinary", "blob", "bytea", "bytes", "varbyte",
  ]) }}
{% endmacro %}

{#- Neither its listing of columns nor its driver names the types of users, among which enumerations have one text. -#}
{% macro postgres__has_one_text(column, relation) %}
  {% set dtype = column.dtype | lower %}
  {% set number = dtype.replace("unknown type_code ", "") if dtype.startswith("unknown type_code ") else none %}
  {% if number is none and (dtype != "user-defined" or relation is string) %}
    {{ return(kanon_sql.default__has_one_text(column, relation)) }}
  {% endif %}
  {% set name = dbt.string_literal(dbt.escape_single_quotes(column.name)) %}
  {% set table = dbt.string_literal(dbt.escape_single_quotes(relation | string)) %}
  {% set type = number or (
    "(select atttypid from pg_catalog.pg_attribute where attrelid = " ~ table ~ "::regclass and attname = " ~ name ~ ")"
  ) %}
  {% set found = run_query(
    "select count(*) from pg_catalog.pg_type where oid = " ~ type ~ " and (typtype = 'e' or typname = 'uuid')"
  ) %}
  {{ return(found.rows[0][0] == 1) }}
{% endmacro %}

{% macro redshift__has_one_text(column, relation) %}{{ return(kanon_sql.default__has_one_text(column, relation)) }}{% endmacro %}

{#- What a reader of a table sees besides of equal numbers, for the classes of its rows: nothing of most types. With the
    number, the length of its text says with how many digits it was written, and -0 is longer than 0. -#}
{% macro spelling(column) %}
  {%- set spelled = kanon_sql.spelled(column.dtype) -%}
  {%- set quoted = adapter.quote(column.name) -%}
  {%- set length = "length(cast(" ~ quoted ~ " as " ~ kanon_sql.text_type() ~ "))" -%}
  {%- if spelled == "zero" -%}
    {{ return("case when " ~ quoted ~ " = 0 then " ~ length ~ " else 0 end") }}
  {%- endif -%}
  {{ return(length if spelled == "digits" else none) }}
{% endmacro %}

{#- What a reader sees of equal numbers of a type: how many "digits" each was written with, or the sign of a "zero". -#}
{% macro spelled(dtype) %}{{ return(adapter.dispatch("spelled", "kanon_sql")(dtype)) }}{% endmacro %}

{% macro default__spelled(dtype) %}
  {% set word = (dtype | lower).split("(")[0].split(" ")[0] %}
  {{ return("zero" if word in ["float", "float4", "float8", "float64", "double", "real"] else none) }}
{% endmacro %}

{#- Without digits of its own a numeric keeps those of each value, and no listing of columns says which has some. -#}
{% macro postgres__spelled(dtype) %}
  {% set word = (dtype | lower).split("(")[0] %}
  {{ return("digits" if word in ["numeric", "decimal"] else kanon_sql.default__spelled(dtype)) }}
{% endmacro %}

{% macro redshift__spelled(dtype) %}{{ return(kanon_sql.default__spelled(dtype)) }}{% endmacro %}

{#- Whether a type compares exactly as it is: numbers, truth values, dates and times. Anything else is compared as text. -#}
{% macro compares_exactly(dtype) %}
  {{ return(adapter.dispatch("compares_exactly", "kanon_sql")(dtype)) }}
{% endmacro %}

{% macro default__compares_exactly(dtype) %}
  {% set word = (dtype | lower).split("(")[0].split(" ")[0] %}
  {{ return("[" not in dtype and word in [
    "tinyint", "smallint", "mediumint", "int", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger",
    "ubigint", "uhugeint", "byteint", "byte", "short", "long", "longinteger", "int2", "int4", "int8", "int64",
    "decimal", "numeric", "bignumeric", "number", "float", "float4", "float8", "float64", "double", "real",
    "bool", "boolean", "date", "time", "timetz", "datetime", "datetimetz", "timestamp", "timestamptz",
    "timestampntz", "timestamp_ntz", "timestamp_ltz", "timestamp_tz",
  ]) }}
{% endmacro %}

{#- BigQuery makes no partitions of binary fractions; their text distinguishes different numbers as well. -#}
{% macro bigquery__compares_exactly(dtype) %}
  {{ return(not (dtype | lower).startswith("float") and kanon_sql.default__compares_exactly(dtype)) }}
{% endmacro %}

{#- Text that compares character by character: case, accents and blanks at the end count. -#}
{% macro exact_text(expression) %}
  {{ return(adapter.dispatch("exact_text", "kanon_sql")(expression)) }}
{% endmacro %}

{% macro default__exact_text(expression) %}
  {% do kanon_sql.refuse(
    "exact_text",
    "it is not known how " ~ target.type ~ " compares texts exactly; define " ~ target.type ~ "__exact_text(expression) "
    ~ "and put your project before kanon_sql in its dispatch search order"
  ) %}
{% endmacro %}

{% macro duckdb__exact_text(expression) %}{{ return('cast(' ~ expression ~ ' as varchar) collate "binary"') }}{% endmacro %}

{% macro postgres__exact_text(expression) %}{{ return('cast(' ~ expression ~ ' as text) collate "C"') }}{% endmacro %}

{#- The dot keeps blanks at the end, which comparisons ignore otherwise. -#}
{% macro redshift__exact_text(expression) %}
  {{ return("collate(cast(" ~ expression ~ " as varchar(65534)) || '.', 'case_sensitive')") }}
{% endmacro %}

{% macro snowflake__exact_text(expression) %}{{ return("collate(cast(" ~ expression ~ " as varchar), '')") }}{% endmacro %}

{% macro bigquery__exact_text(expression) %}{{ return("collate(cast(" ~ expression ~ " as string), '')") }}{% endmacro %}

{#- Bytes compare exactly in every version, also in those that know no collation to ask for. -#}
{% macro spark__exact_text(expression) %}{{ return("cast(cast(" ~ expression ~ " as string) as binary)") }}{% endmacro %}

{#- Text that is never NULL, and another one for every text and for NULL: what can be joined by equality. -#}
{% macro joinable_text(expression) %}
  {{ return(kanon_sql.exact_text("coalesce('v' || cast(" ~ expression ~ " as " ~ kanon_sql.text_type() ~ "), 'n')")) }}
{% endmacro %}

{% macro text_type() %}{{ return(adapter.dispatch("text_type", "kanon_sql")()) }}{% endmacro %}
{% macro default__text_type() %}{{ return(dbt.type_string()) }}{% endmacro %}
{#- A plain text has 256 characters there, and a cast cuts it without a word. -#}
{% macro redshift__text_type() %}{{ return("varchar(65533)") }}{% endmacro %}

{#- A sum of counts, which is a decimal to some engines. -#}
{% macro whole(expression) %}{{ return("cast(" ~ expression ~ " as " ~ dbt.type_bigint() ~ ")") }}{% endmacro %}

{% macro double(expression) %}
  {{ return("cast(" ~ expression ~ " as " ~ adapter.dispatch("double_type", "kanon_sql")() ~ ")") }}
{% endmacro %}

{% macro default__double_type() %}{{ return("double precision") }}{% endmacro %}
{% macro duckdb__double_type() %}{{ return("double") }}{% endmacro %}
{% macro spark__double_type() %}{{ return("double") }}{% endmacro %}
{% macro bigquery__double_type() %}{{ return("float64") }}{% endmacro %}

{% macro random() %}{{ return(adapter.dispatch("random", "kanon_sql")()) }}{% endmacro %}
{% macro default__random() %}{{ return("random()") }}{% endmacro %}
{% macro spark__random() %}{{ return("rand()") }}{% endmacro %}
{% macro bigquery__random() %}{{ return("rand()") }}{% endmacro %}
