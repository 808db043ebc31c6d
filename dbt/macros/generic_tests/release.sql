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
    max_rows, max_share: one of them, as in a spec: the most rows that may be missing, or their largest share. -#}
{% test suppression_limit(model, source, max_rows=none, max_share=none) %}
  {{ adapter.dispatch("test_suppression_limit", "kanon_sql")(model, source, max_rows, max_share) }}
{% endtest %}

{% macro default__test_suppression_limit(model, source, max_rows, max_share) %}
  {%- if (max_rows is none) == (max_share is none) -%}
    {%- do kanon_sql.refuse("suppression_limit", "expected one of max_rows and max_share") -%}
  {%- endif -%}
  {%- if max_rows is not none -%}
    {%- set allowed = kanon_sql.number(max_rows, "max_rows", "suppression_limit", least=0, whole=true) -%}
  {%- else -%}
    {#- As a fraction of whole numbers: 0.05 has no binary form. -#}
    {%- set share = kanon_sql.number(max_share, "max_share", "suppression_limit", least=0, most=1) -%}
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
where {% if max_rows is not none -%}
  source_rows - released_rows > {{ allowed }}
{%- else -%}
  (source_rows - released_rows) * {{ of }} > source_rows * {{ parts }}
{%- endif %}
  or (released_rows = 0 and source_rows > 0)
{% endmacro %}
