{#- One row per problem of a hierarchy, with how many values or labels have it, never which:

    missing        rows without a label at some level
    repeated       values with more than one row
    split          labels of a level that have more than one parent at the next
    uncovered      values of the data (`covers`, its column `covered_column`) without a row

    levels: the columns from the value to the most general label; all columns in their order if not given. -#}
{% test hierarchy_is_valid(model, levels=none, covers=none, covered_column=none) %}
  {{ adapter.dispatch("test_hierarchy_is_valid", "kanon_sql")(model, levels, covers, covered_column) }}
{% endtest %}

{% macro default__test_hierarchy_is_valid(model, levels, covers, covered_column) %}
  {%- if (covers is none) != (covered_column is none) -%}
    {%- do kanon_sql.refuse("hierarchy_is_valid", "'covers' and 'covered_column' belong together") -%}
  {%- endif -%}
  {%- if not execute -%}{{ return("") }}{%- endif -%}
  {%- set columns = kanon_sql.columns_in(model, "hierarchy_is_valid") -%}
  {%- set texts = [] -%}
  {%- for name in levels or columns | map(attribute="name") | list -%}
    {%- set column = kanon_sql.column_named(columns, name, "hierarchy_is_valid") -%}
    {%- do texts.append(kanon_sql.exact_text(adapter.quote(column.name))) -%}
  {%- endfor %}
with kanon_levels as (
  select
  {%- for text in texts %}
    {{ text }} as l{{ loop.index0 }}{{ "," if not loop.last }}
  {%- endfor %}
  from {{ model }}
),
kanon_problems as (
  select 'missing' as problem, 0 as level, count(*) as found
  from kanon_levels
  where {% for text in texts %}l{{ loop.index0 }} is null{{ " or " if not loop.last }}{% endfor %}

  union all
  select 'repeated' as problem, 0 as level, count(*) as found
  from (select l0 from kanon_levels group by l0 having count(*) > 1) as kanon_repeated
  {%- for level in range(texts | length - 1) %}
  union all
  select 'split' as problem, {{ level }} as level, count(*) as found
  from (
    select l{{ level }} from kanon_levels group by l{{ level }} having count(distinct l{{ level + 1 }}) > 1
  ) as kanon_split{{ level }}
  {%- endfor %}
  {%- if covers is not none %}
  {%- set data = kanon_sql.columns_in(covers, "hierarchy_is_valid") %}
  {%- set covered = adapter.quote(kanon_sql.column_named(data, covered_column, "hierarchy_is_valid").name) %}
  union all
  select 'uncovered' as problem, 0 as level, count(*) as found
  from (select distinct {{ kanon_sql.exact_text(covered) }} as given from {{ covers }}) as kanon_given
  left join (select distinct l0 from kanon_levels) as kanon_known on kanon_given.given = kanon_known.l0
  where kanon_given.given is not null and kanon_known.l0 is null
  {%- endif %}
)
select problem, level, found
from kanon_problems
where found > 0
{% endmacro %}
