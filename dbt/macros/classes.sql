{#- Equivalence classes with the measure of one requirement. The definitions:

    k-anonymity    Samarati 2001; Sweeney 2002
    l-diversity    Machanavajjhala, Kifer, Gehrke, Venkitasubramaniam 2007, section 4
    t-closeness    Li, Li, Venkatasubramanian 2007, equal ground distance

    NULL in a quasi-identifier is a value of its own. A sensitive NULL protects no person (l-diversity) and is a value
    like any other (t-closeness). With a unit, persons are counted, each once per class and value; a value that all
    persons of a class hold is disclosed, whatever else they hold. -#}

{#- One row per class: k0, k1, ... (the values, exactly, and then what a reader sees of equal numbers that are written
    in several ways), class_rows, class_size, the measure, satisfied (1 or 0).

    Nothing is joined by the classes' keys, so that no NULL is lost and every engine may distribute the work: windows
    over the counted values bring what is known of a class to each of its values. Persons are counted by two groupings,
    which hash: to count them as distinct, or to number them by a window, is to sort all rows by their keys.

    where: count only rows with this.
    joinable: the quasi-identifiers are text, and their keys shall be texts that are never NULL.
    least: a class of fewer rows, or persons, does not satisfy either. -#}
{% macro classes(relation, quasi_identifiers, requirement, unit=none, where=none, joinable=false, least=0) %}
  {{ return(adapter.dispatch("classes", "kanon_sql")(relation, quasi_identifiers, requirement, unit, where, joinable, least)) }}
{% endmacro %}

{% macro default__classes(relation, quasi_identifiers, requirement, unit, where, joinable, least) %}
  {%- set asked = kanon_sql.checked_requirement(requirement) -%}
  {%- set columns = kanon_sql.columns_in(relation, asked.name) -%}
  {%- set keys = [] -%}
  {%- set spellings = [] -%}
  {%- for name in kanon_sql.checked_quasi_identifiers(quasi_identifiers, asked.name) -%}
    {%- set column = kanon_sql.column_named(columns, name, asked.name) -%}
    {%- if joinable and kanon_sql.compares_exactly(column.dtype) -%}
      {%- do kanon_sql.refuse(asked.name, "'" ~ name ~ "' must be text here, and is " ~ column.dtype) -%}
    {%- endif -%}
    {%- do keys.append(kanon_sql.joinable_text(adapter.quote(column.name)) if joinable else kanon_sql.exact_value(column)) -%}
    {%- set spelling = kanon_sql.spelling(column) -%}
    {%- if spelling is not none -%}{%- do spellings.append(spelling) -%}{%- endif -%}
  {%- endfor -%}
  {%- set keys = keys + spellings -%}
  {%- set names = [] -%}
  {%- for key in keys -%}{%- do names.append("k" ~ loop.index0) -%}{%- endfor -%}
  {%- set held = none if asked.attribute is none else kanon_sql.counted_value(kanon_sql.column_named(columns, asked.attribute, asked.name), relation, asked.name) -%}
  {%- set person = none if unit is none else kanon_sql.counted_value(kanon_sql.column_named(columns, unit, asked.name), relation, asked.name) -%}
  {%- set sql -%}
with kanon_rows as (
  select
    {%- for key in keys %}
    {{ key }} as k{{ loop.index0 }}{{ "," if not loop.last }}
    {%- endfor %}
    {%- if held is not none %},
    {{ held }} as v{% endif %}
    {%- if person is not none %},
    {{ person }} as u{% endif %}
  from {{ relation }}
  {%- if where is not none %}
  where {{ where }}{% endif %}
),
    {%- if held is none and person is none %}
kanon_measured as (
  select {{ names | join(", ") }}, count(*) as class_rows, count(*) as class_size
  from kanon_rows
  group by {{ names | join(", ") }}
)
    {%- elif held is none %}
kanon_persons as (
  select {{ names | join(", ") }}, u, count(*) as held_rows
  from kanon_rows
  group by {{ names | join(", ") }}, u
),
kanon_measured as (
  select {{ names | join(", ") }}, {{ kanon_sql.whole("sum(held_rows)") }} as class_rows, count(u) as class_size
  from kanon_persons
  group by {{ names | join(", ") }}
)
    {%- else %}
{{ kanon_sql.counted_values(names, person is not none) }},
    {%- if asked.reference is not none and asked.name == "t_closeness" %}
{{ kanon_sql.reference_shares(asked, person is not none, unit) }},
    {%- endif %}
kanon_measured as (
  select
    {{ names | join(", ") }},
    {{ kanon_sql.whole("sum(value_rows)") }} as class_rows,
    {{ kanon_sql.whole("max(class_size)") }} as class_size,
    {% if person is not none and asked.name == "l_diversity" -%}
    case
      when max(case when v is not null and value_count > 0 then value_count end) >= max(class_size)
      then {{ {"distinct": "1", "entropy": kanon_sql.double("0"), "recursive": "null"}[asked.variant] }}
      else {{ kanon_sql.measure(asked) }}
    end
    {%- else -%}
    {{ kanon_sql.measure(asked) }}
    {%- endif %} as {{ asked.measure }}
  from {{ "kanon_compared" if asked.name == "t_closeness" else "kanon_ranked" }}
  group by {{ names | join(", ") }}
)
    {%- endif %}
select
  {{ names | join(", ") }},
  class_rows,
  class_size,
  {% if held is not none %}{{ asked.measure }},
  {% endif %}case when {{ kanon_sql.condition(asked) }}{{ " and class_size >= " ~ least if least }} then 1 else 0 end as satisfied
from kanon_measured
  {%- endset -%}
  {{ return(sql) }}
{% endmacro %}

{#- CTEs: the values of each class with their counts, the class's own counts beside them.

    With persons there is one more row per class, of no value and no rows, which says how many persons it has. -#}
{% macro counted_values(names, by_person) %}
  {%- set keys = names | join(", ") -%}
  {%- set sql -%}
    {%- if by_person %}
kanon_held as (
  select {{ keys }}, v, u, count(*) as held_rows
  from kanon_rows
  group by {{ keys }}, v, u
),
kanon_persons as (
  select {{ keys }}, u
  from kanon_held
  where u is not null
  group by {{ keys }}, u
),
kanon_values as (
  select {{ keys }}, v, sum(held_rows) as value_rows, count(u) as value_count, 0 as persons
  from kanon_held
  group by {{ keys }}, v

  union all
  select {{ keys }}, null as v, 0 as value_rows, 0 as value_count, count(*) as persons
  from kanon_persons
  group by {{ keys }}
),
    {%- else %}
kanon_values as (
  select {{ keys }}, v, count(*) as value_rows, count(*) as value_count
  from kanon_rows
  group by {{ keys }}, v
),
    {%- endif %}
kanon_ranked as (
  select
    {{ keys }}, v, value_rows, value_count,
    {{ "max(persons)" if by_person else "sum(value_rows)" }} over (partition by {{ keys }}) as class_size,
    sum(value_count) over (partition by {{ keys }}) as class_total,
    row_number() over (
      partition by {{ keys }} order by case when v is null then 1 else 0 end asc, value_count desc
    ) as value_position
  from kanon_values
)
  {%- endset -%}
  {{ return(sql) }}
{% endmacro %}

{#- CTEs: the share of each value in the reference, beside the values of the classes. -#}
{% macro reference_shares(asked, by_person, unit) %}
  {%- set columns = kanon_sql.columns_in(asked.reference, asked.name) -%}
  {%- set held = kanon_sql.counted_value(kanon_sql.column_named(columns, asked.attribute, asked.name), asked.reference, asked.name) -%}
  {%- set person = kanon_sql.counted_value(kanon_sql.column_named(columns, unit, asked.name), asked.reference, asked.name) if by_person -%}
  {%- set sql -%}
kanon_original as (
  select {{ held }} as v{% if by_person %}, {{ person }} as u{% endif %}
  from {{ asked.reference }}
),
kanon_reference as (
  select v as reference_value, {{ kanon_sql.double("held") }} / {{ kanon_sql.double("nullif(sum(held) over (), 0)") }} as share
  from (
    select v, {{ "count(distinct u)" if by_person else "count(*)" }} as held
    from kanon_original
    group by v
  ) as kanon_counted
),
kanon_without_value as (
  select coalesce(max(case when reference_value is null then share end), 0) as null_share
  from kanon_reference
),
kanon_compared as (
  select
    kanon_ranked.*,
    {{ kanon_sql.double("value_count") }} / {{ kanon_sql.double("nullif(class_total, 0)") }} as p,
    case when v is null then null_share else coalesce(share, 0) end as q
  from kanon_ranked
  left join kanon_reference on kanon_ranked.v = kanon_reference.reference_value
  cross join kanon_without_value
)
  {%- endset -%}
  {{ return(sql) }}
{% endmacro %}

{#- The aggregate over a class's values that is compared with the threshold. -#}
{% macro measure(asked) %}
  {%- set count = "case when v is not null and value_count > 0 then value_count end" -%}
  {%- if asked.variant == "distinct" -%}
    {{ return("count(" ~ count ~ ")") }}
  {%- elif asked.variant == "entropy" -%}
    {%- set total = "sum(" ~ count ~ ")" -%}
    {%- set terms = "sum(case when v is not null and value_count > 0 then value_count * ln(" ~ kanon_sql.double("value_count") ~ ") end)" -%}
    {{ return("coalesce(ln(" ~ kanon_sql.double(total) ~ ") - " ~ terms ~ " / " ~ kanon_sql.double(total) ~ ", 0)") }}
  {%- elif asked.variant == "recursive" -%}
    {%- set first = "max(case when v is not null and value_position = 1 then value_count end)" -%}
    {%- set tail = "sum(case when v is not null and value_position >= " ~ asked.l ~ " then value_count else 0 end)" -%}
    {{ return(kanon_sql.double(first) ~ " / nullif(" ~ kanon_sql.double(tail) ~ ", 0)") }}
  {%- else -%}
    {#- Half the sum of |p - q| is the sum of p - q where p is larger, and there the class has the value. -#}
    {{ return("case when max(class_total) > 0 then sum(case when p > q then p - q else 0 end) end") }}
  {%- endif -%}
{% endmacro %}

{% macro condition(asked) %}
  {%- if asked.name == "k_anonymity" -%}
    {{ return("class_size >= " ~ asked.k) }}
  {%- elif asked.variant == "distinct" -%}
    {{ return(asked.measure ~ " >= " ~ asked.l) }}
  {%- elif asked.variant == "entropy" -%}
    {{ return(asked.measure ~ " >= ln(" ~ kanon_sql.double(asked.l) ~ ") - 0.000000001") }}
  {%- elif asked.variant == "recursive" -%}
    {{ return(asked.measure ~ " is not null and " ~ asked.measure ~ " < " ~ kanon_sql.double(asked.c)) }}
  {%- else -%}
    {{ return(asked.measure ~ " is not null and " ~ asked.measure ~ " <= " ~ kanon_sql.double(asked.t) ~ " + 0.000000001") }}
  {%- endif -%}
{% endmacro %}
