{#- The two steps after the labels: keep the classes that satisfy, and publish what was audited. -#}

{#- The rows of the labelled source that may be released: those of classes that satisfy every requirement.

    labelled: the source's rows with generalized text labels, and `kanon_left_out` (why a row must not be released).
    columns: what to keep of it.
    requirements: as in a spec; t-closeness compares with all rows of `labelled`.

    Conditions that most rows meet are written with <>, and the verdict is looked at after the join. PostgreSQL expects
    one row in 200 of an equation or of IS NULL, where it has no statistics, as of a table that a model has just made:
    of few rows and a single class it would look through all classes for each row. -#}
{% macro candidate(labelled, columns, quasi_identifiers, requirements, unit=none) %}
  {{ return(adapter.dispatch("candidate", "kanon_sql")(labelled, columns, quasi_identifiers, requirements, unit)) }}
{% endmacro %}

{% macro default__candidate(labelled, columns, quasi_identifiers, requirements, unit) %}
  {%- if not execute -%}{{ return("select 1 as nothing") }}{%- endif -%}
  {%- set found = kanon_sql.columns_in(labelled, "candidate") -%}
  {%- set left_out = adapter.quote(kanon_sql.column_named(found, "kanon_left_out", "candidate").name) -%}
  {%- set may = "case when " ~ left_out ~ " is null then 1 else 0 end <> 0" -%}
  {%- set judged = kanon_sql.judged_together(requirements) -%}
  {%- set sql -%}
select
  {%- for name in columns %}
  kanon_labelled.{{ adapter.quote(kanon_sql.column_named(found, name, "candidate").name) }}{{ "," if not loop.last }}
  {%- endfor %}
from (
  select
    kanon_rows.*
    {%- for name in quasi_identifiers %},
    {{ kanon_sql.joinable_text(adapter.quote(kanon_sql.column_named(found, name, "candidate").name)) }} as kanon_k{{ loop.index0 }}
    {%- endfor %}
  from {{ labelled }} as kanon_rows
  where {{ may }}
) as kanon_labelled
  {%- for item in judged %}
  {%- set number = loop.index0 %}
left join (
{{ kanon_sql.classes(
    labelled, quasi_identifiers, kanon_sql.with_reference(item.requirement, labelled), unit, may, joinable=true,
    least=item.least
) }}
) as kanon_r{{ number }}
  on {% for name in quasi_identifiers -%}
  kanon_r{{ number }}.k{{ loop.index0 }} = kanon_labelled.kanon_k{{ loop.index0 }}{{ " and " if not loop.last }}
  {%- endfor %}
  {%- endfor %}
  {%- for item in judged %}
{{ "where" if loop.first else "  and" }} coalesce(kanon_r{{ loop.index0 }}.satisfied, 0) <> 0
  {%- endfor %}
  {%- endset -%}
  {{ return(sql) }}
{% endmacro %}

{#- The audited rows in random order, without the person.

    While the release is built, the candidate is measured once more, and an error stops the build before anything is
    written under the release's name: so `dbt run`, which runs no tests, publishes nothing unaudited either. -#}
{% macro release(candidate, labelled, columns, quasi_identifiers, requirements, max_rows=none, max_share=none, unit=none) %}
  {{ return(adapter.dispatch("release", "kanon_sql")(candidate, labelled, columns, quasi_identifiers, requirements, max_rows, max_share, unit)) }}
{% endmacro %}

{% macro default__release(candidate, labelled, columns, quasi_identifiers, requirements, max_rows, max_share, unit) %}
  {%- if not execute -%}{{ return("select 1 as nothing") }}{%- endif -%}
  {%- if flags.WHICH not in ["compile", "generate", "list", "parse", "show"] -%}
    {%- do kanon_sql.audit(candidate, labelled, quasi_identifiers, requirements, max_rows, max_share, unit) -%}
  {%- endif -%}
  {%- set found = kanon_sql.columns_in(candidate, "release") -%}
  {%- set sql -%}
select
  {%- for name in columns %}
  {{ adapter.quote(kanon_sql.column_named(found, name, "release").name) }}{{ "," if not loop.last }}
  {%- endfor %}
from {{ candidate }}
order by {{ kanon_sql.random() }}
  {%- endset -%}
  {{ return(sql) }}
{% endmacro %}

{#- Measure a candidate against everything that was asked; an error with all that is violated, in counts. -#}
{% macro audit(candidate, labelled, quasi_identifiers, requirements, max_rows=none, max_share=none, unit=none) %}
  {% set problems = [] %}
  {% set uncovered = run_query(kanon_sql.test_all_covered(labelled)) %}
  {% for row in uncovered.rows %}
    {% do problems.append(row[0] ~ " (" ~ row[1] ~ " rows)") %}
  {% endfor %}
  {% set over = run_query(kanon_sql.test_suppression_limit(candidate, labelled, max_rows, max_share)) %}
  {% for row in over.rows %}
    {% do problems.append(row[1] ~ " of " ~ row[0] ~ " rows are left, beyond the suppression limit " ~ (max_share if max_rows is none else max_rows)) %}
  {% endfor %}
  {% do problems.extend(kanon_sql.violations(candidate, labelled, quasi_identifiers, requirements, unit)) %}
  {% if problems %}
    {% do kanon_sql.refuse("audit", candidate ~ ": " ~ problems | join("; ") ~ "; nothing was published. Search again with kanon-sql pipeline dbt") %}
  {% endif %}
{% endmacro %}

{#- What is asked of classes, in as few groupings of the rows as it takes: how many rows or persons a class has is
    known wherever its values are counted, so that k-anonymity is looked at there.

    A list of: requirement, and least (the largest k that is asked for beside it; 0 for none). -#}
{% macro judged_together(requirements) %}
  {% set sizes, found = [0], [] %}
  {% for requirement in requirements %}
    {% if "k_anonymity" in requirement %}
      {% do sizes.append(kanon_sql.checked_requirement(requirement).k) %}
    {% else %}
      {% do found.append({"requirement": requirement, "least": 0}) %}
    {% endif %}
  {% endfor %}
  {% if found %}
    {% do found[0].update({"least": sizes | max}) %}
  {% elif requirements %}
    {% do found.append({"requirement": {"k_anonymity": {"k": sizes | max}}, "least": 0}) %}
  {% endif %}
  {{ return(found) }}
{% endmacro %}

{#- What classes violate, in counts: a list of texts. -#}
{% macro violations(relation, labelled, quasi_identifiers, requirements, unit=none) %}
  {% set problems = [] %}
  {% for item in kanon_sql.judged_together(requirements) %}
    {% set requirement = kanon_sql.with_reference(item.requirement, labelled) %}
    {% set counted %}
      select sum(case when class_size >= {{ item.least }} then 0 else 1 end) as small, sum(1 - satisfied) as violating
      from ({{ kanon_sql.classes(relation, quasi_identifiers, requirement, unit) }}) as kanon_classes
    {% endset %}
    {% set found = run_query(counted).rows[0] %}
    {% if found[0] %}
      {% do problems.append(found[0] ~ " classes violate " ~ item.least ~ "-anonymity") %}
    {% endif %}
    {% if found[1] %}
      {% do problems.append(found[1] ~ " classes violate " ~ kanon_sql.checked_requirement(requirement).label) %}
    {% endif %}
  {% endfor %}
  {{ return(problems) }}
{% endmacro %}

{#- The requirement; a t-closeness compares with the labelled source. -#}
{% macro with_reference(requirement, labelled) %}
  {% if "t_closeness" not in requirement %}{{ return(requirement) }}{% endif %}
  {% set parameters = dict(requirement["t_closeness"]) %}
  {% do parameters.update({"reference": labelled}) %}
  {{ return({"t_closeness": parameters}) }}
{% endmacro %}

{#- The SQL of a written model is that of one engine: an error on another one. -#}
{% macro written_for(adapter_type) %}
  {% if execute and target.type != adapter_type %}
    {% do kanon_sql.refuse("written_for", this ~ " was written for " ~ adapter_type ~ ", and this target is " ~ target.type ~ "; run kanon-sql pipeline dbt on it") %}
  {% endif %}
{% endmacro %}
