{#- One row per identifier that is a column of the table, whatever its upper and lower case. Reads no row. -#}
{% test no_identifiers(model, identifiers) %}
  {{ adapter.dispatch("test_no_identifiers", "kanon_sql")(model, identifiers) }}
{% endtest %}

{% macro default__test_no_identifiers(model, identifiers) %}
  {%- if identifiers is string or identifiers is not sequence or not identifiers -%}
    {%- do kanon_sql.refuse("no_identifiers", "identifiers: expected a list of at least one column name") -%}
  {%- endif -%}
  {%- if not execute -%}{{ return("") }}{%- endif -%}
  {%- set present = [] -%}
  {%- for column in kanon_sql.columns_in(model, "no_identifiers") -%}
    {%- if column.name | lower in identifiers | map("lower") -%}{%- do present.append(column.name) -%}{%- endif -%}
  {%- endfor -%}
  {%- for name in present %}
select {{ dbt.string_literal(dbt.escape_single_quotes(name)) }} as identifier
  {{ "union all" if not loop.last }}
  {%- else %}
select 1 as identifier
from (select 1 as n) as kanon_nothing
where n = 0
  {%- endfor %}
{% endmacro %}
