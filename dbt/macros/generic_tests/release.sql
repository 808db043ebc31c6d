{#- What a release must hold besides the privacy requirements. -#}

{#- One row per reason why rows of the labelled source cannot be released, with their number. -#}
{% test all_covered(model) %}
  {{ adapter.dispatch("test_all_covered", "kanon_sql")(model) }}
{% endtest %}

{% macro default__test_all_covered(model) %}
  {%- if not execute -%}{{ return("") }}{%- endif -%}
  {%- set column = kanon_sql.column_named(kanon_sql.columns_in(model, "all_covered"), "kanon_left_out", "all_covered") -%}
select {{ adapter.quote(column.name) }} as reason, count(*) as row_count
from {{ model }}
where {{ adapter.quote(column.name) }} not in ('nulls: suppress', '{{ kanon_sql.held() }}')
group by {{ adapter.quote(column.name) }}
{% endmacro %}

{#- One row when more rows of the source are missing than the limit allows, or all of them.

    source: the table that the release was made from, with the same rows.
    maximum: a whole number of rows, or a share of the source's rows with a fraction, as in a spec. -#}
{% test suppression_limit(model, source, maximum) %}
  {{ adapter.dispatch("test_suppression_limit", "kanon_sql")(model, source, maximum) }}
{% endtest %}

{% macro default__test_suppression_limit(model, source, maximum) %}
  {%- set allowed = kanon_sql.number(maximum, "maximum", "suppression_limit", least=0) -%}
  {%- if maximum is not integer -%}
    {#- As a fraction of whole numbers: 0.05 has no binary form. -#}
    {%- set share = kanon_sql.number(maximum, "maximum", "suppression_limit", most=1) -%}
    {%- set whole, digits = ("%.9f" | format(share)).rstrip("0").split(".") -%}
    {%- set parts = (whole ~ digits) | int -%}
    {%- set of = 10 ** (digits | length) -%}
  {%- endif -%}
select source_rows, released_rows
from (
  select
    (select count(*) from {{ source }}) as source_rows,
    (select count(*) from {{ model }}) as released_rows
) as kanon_counts
where {% if maximum is integer -%}
  source_rows - released_rows > {{ allowed }}
{%- else -%}
  (source_rows - released_rows) * {{ of }} > source_rows * {{ parts }}
{%- endif %}
  or (released_rows = 0 and source_rows > 0)
{% endmacro %}
