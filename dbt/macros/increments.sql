{#- A release that grows: every build adds the rows that are new, as a release by themselves, and nothing else changes.

    Beside the private model `RELEASE__labelled` (the rows of the day and those that wait) stand three tables that no
    model makes, since they must change together with the release:

    RELEASE__waiting    rows that were taken and are not released, with their labels
    RELEASE__state      a row per batch: its number, the last watermark, how many rows were taken and added
    RELEASE__persons    whose rows were released -#}

{#- A relation beside another one. -#}
{% macro beside(relation, release, what) %}
  {{ return(api.Relation.create(database=relation.database, schema=relation.schema, identifier=release ~ "__" ~ what, type="table")) }}
{% endmacro %}

{% macro stands(relation) %}
  {{ return(adapter.get_relation(database=relation.database, schema=relation.schema, identifier=relation.identifier) is not none) }}
{% endmacro %}

{#- Why rows are held for good: with two classes of a person, only the values that both have could be the person's. -#}
{% macro held() %}{{ return("held: rows of the person were released before") }}{% endmacro %}

{#- A person's key, as it is remembered and found again: numbers and times as such, since 1.0 and 1.00 are one person,
    and all else as text, of types that are known to write equal values in one way. -#}
{% macro person_key(relation, name, where) %}
  {{ return(kanon_sql.counted_value(kanon_sql.column_named(kanon_sql.columns_in(relation, where), name, where), relation, where)) }}
{% endmacro %}

{#- Stop if persons were remembered as another kind of value: '7.0' would not be found again as 7. -#}
{% macro check_persons(labelled, unit, persons) %}
  {% set now = kanon_sql.column_named(kanon_sql.columns_in(labelled, "day"), unit, "day").dtype %}
  {% set before = kanon_sql.columns_in(persons, "day")[0].dtype %}
  {% if kanon_sql.compared_as(now) != kanon_sql.compared_as(before) %}
    {% do kanon_sql.refuse("day", "'" ~ unit ~ "' is compared as " ~ kanon_sql.compared_as(now) ~ " now, and the persons of earlier builds were remembered as " ~ kanon_sql.compared_as(before) ~ ", so that they would not be known again; cast it to the type that it had in a model before this one") %}
  {% endif %}
{% endmacro %}

{% macro compared_as(dtype) %}
  {%- if kanon_sql.spelled(dtype) == "zero" -%}{{ return("a binary fraction") }}{%- endif -%}
  {{ return("an exact number or a time" if kanon_sql.compares_exactly(dtype) else "text") }}
{% endmacro %}

{#- The source's rows that no build has taken; those without a watermark too, for which the build stops. -#}
{% macro rows_above(source, watermark, release) %}
  {%- if not execute -%}{{ return(source) }}{%- endif -%}
  {%- set state = kanon_sql.beside(this, release, "state") -%}
  {%- if not kanon_sql.stands(state) -%}{{ return(source) }}{%- endif -%}
  {%- set column = adapter.quote(kanon_sql.column_named(kanon_sql.columns_in(source, "rows_above"), watermark, "rows_above").name) -%}
  {{ return(
    "(select * from " ~ source ~ " where " ~ column ~ " > (select max(kanon_watermark) from " ~ state ~ ") or "
    ~ column ~ " is null)"
  ) }}
{% endmacro %}

{#- The rows of the day and those that wait. Persons who were released count for no person, or their rows are held.

    labelled: a query of the new rows with their labels, `kanon_watermark` and `kanon_left_out`.
    columns: what the release needs of them, and the unit.
    protects_values: a requirement is about the values of a sensitive attribute. -#}
{% macro day(labelled, columns, release, unit=none, protects_values=false) %}
  {%- if not execute -%}{{ return("select 1 as nothing") }}{%- endif -%}
  {%- set state = kanon_sql.beside(this, release, "state") -%}
  {%- set grows = kanon_sql.stands(state) -%}
  {%- set names = [] -%}
  {%- for name in columns -%}{%- do names.append(adapter.quote(name)) -%}{%- endfor -%}
  {%- set known = grows and unit is not none -%}
  {%- set taken = "(" ~ labelled ~ ") as kanon_taken" -%}
  {%- set person = none if unit is none else kanon_sql.person_key(taken, unit, "day") -%}
  {%- if known -%}{%- do kanon_sql.check_persons(taken, unit, kanon_sql.beside(this, release, "persons")) -%}{%- endif -%}
  {%- set sql -%}
select
  {%- for name in columns %}
  {%- if known and name == unit %}
  case when kanon_known.kanon_person is null then kanon_rows.{{ adapter.quote(name) }} end as {{ adapter.quote(name) }},
  {%- else %}
  kanon_rows.{{ adapter.quote(name) }},
  {%- endif %}
  {%- endfor %}
  {%- if unit is not none %}
  kanon_rows.{{ adapter.quote(unit) }} as kanon_unit,
  {%- endif %}
  kanon_rows.kanon_watermark,
  {%- if known and protects_values %}
  case
    when kanon_rows.kanon_left_out is null and kanon_known.kanon_person is not null then '{{ kanon_sql.held() }}'
    else kanon_rows.kanon_left_out
  end as kanon_left_out,
  {%- else %}
  kanon_rows.kanon_left_out,
  {%- endif %}
  kanon_rows.kanon_new,
  row_number() over () as kanon_number,
  {% if grows %}(select max(kanon_batch) from {{ state }}) + 1{% else %}1{% endif %} as kanon_batch
from (
  select {{ names | join(", ") }}, kanon_watermark, kanon_left_out, 1 as kanon_new
  from {{ taken }}
  {%- if grows %}
  union all
  select {{ names | join(", ") }}, null as kanon_watermark, kanon_left_out, 0 as kanon_new
  from {{ kanon_sql.beside(this, release, "waiting") }}
  {%- endif %}
) as kanon_rows
  {%- if known %}
left join {{ kanon_sql.beside(this, release, "persons") }} as kanon_known
  on kanon_known.kanon_person = {{ person }}
  {%- endif %}
  {%- endset -%}
  {{ return(sql) }}
{% endmacro %}

{#- Every row of the day, and whether it is of a class that satisfies by itself. -#}
{% macro judged_day(candidate, labelled) %}
  {%- set sql -%}
select kanon_day.*, case when kanon_added.kanon_number is null then 0 else 1 end as kanon_is_added
from {{ labelled }} as kanon_day
left join {{ candidate }} as kanon_added on kanon_added.kanon_number = kanon_day.kanon_number
  {%- endset -%}
  {{ return(sql) }}
{% endmacro %}

{% materialization kanon_sql_increment, default %}
  {% set asked = model.config.meta["kanon_sql_increment"] %}
  {% set target_relation = this.incorporate(type="table") %}
  {{ run_hooks(pre_hooks, inside_transaction=False) }}
  {{ run_hooks(pre_hooks, inside_transaction=True) }}
  {% do kanon_sql.grow(target_relation, ref(asked.release ~ "__labelled"), sql, asked) %}
  {% do apply_grants(target_relation, config.get("grants"), should_revoke=True) %}
  {% do persist_docs(target_relation, model) %}
  {{ run_hooks(post_hooks, inside_transaction=True) }}
  {% do adapter.commit() %}
  {{ run_hooks(post_hooks, inside_transaction=False) }}
  {{ return({"relations": [target_relation]}) }}
{% endmaterialization %}

{#- Judge the day once more and let the release and what is kept of it grow, in one transaction; or an error.

    target_relation: the release.
    labelled: the relation of the day.
    sql: `judged_day`, compiled.
    asked: release, columns, quasi_identifiers, unit, requirements, max_rows or max_share, promise. -#}
{% macro grow(target_relation, labelled, sql, asked) %}
  {% if target.type not in ["duckdb", "postgres"] %}
    {% do kanon_sql.refuse("grow", target.type ~ " changes no two tables in one transaction; run kanon-sql release refresh") %}
  {% endif %}
  {% if flags.FULL_REFRESH %}
    {% do kanon_sql.refuse("grow", "--full-refresh is refused: " ~ target_relation ~ " made again could be compared with what readers have, row by row") %}
  {% endif %}
  {% set state = kanon_sql.beside(labelled, asked.release, "state") %}
  {% set grows = kanon_sql.stands(state) %}
  {% if grows != kanon_sql.stands(target_relation) %}
    {% do kanon_sql.refuse("grow", (target_relation if grows else state) ~ " is gone or was never made, while " ~ (state if grows else target_relation) ~ " stands: what was released is not known; nothing was changed") %}
  {% endif %}
  {% set judged = adapter.quote("kanon_judged_" ~ invocation_id | replace("-", "")) %}
  {% call statement("kanon_sql_lock", auto_begin=True) %}
    {% if grows and target.type == "postgres" %}lock table {{ state }} in exclusive mode{% else %}select 1{% endif %}
  {% endcall %}
  {% call statement("main") %}
    create temporary table {{ judged }} as {{ sql }}
  {% endcall %}
  {% set last = kanon_sql.last_batch(target_relation, state, asked) if grows else 0 %}
  {% set counts = run_query("select count(*), coalesce(sum(kanon_new), 0), coalesce(max(kanon_batch), 0), coalesce(min(kanon_batch), 0) from " ~ judged).rows[0] %}
  {% set rows, new, batch, lowest = counts[0] | int, counts[1] | int, counts[2] | int, counts[3] | int %}
  {% if not grows and (not new or batch != 1) %}
    {% do kanon_sql.refuse("grow", labelled ~ (" has no rows to begin with" if not rows else " is of a state that is gone") ~ "; nothing was published") %}
  {% endif %}
  {% if not new %}
    {% do log("kanon_sql: nothing was changed in " ~ target_relation ~ ": there are no new rows", info=true) %}
  {% elif batch != last + 1 or lowest != batch %}
    {% do log("kanon_sql: nothing was changed in " ~ target_relation ~ ": the rows of " ~ labelled ~ " were taken before", info=true) %}
  {% else %}
    {% do kanon_sql.audit_day(judged, labelled, asked) %}
    {% do kanon_sql.write_day(target_relation, labelled, judged, grows, asked) %}
  {% endif %}
  {% do run_query("drop table " ~ judged) %}
{% endmacro %}

{#- The number of the last batch, of a release that is what was written. -#}
{% macro last_batch(target_relation, state, asked) %}
  {% set found = run_query(
    "select max(kanon_batch), sum(added_rows), sum(case when promise = '" ~ asked.promise ~ "' then 0 else 1 end), (select count(*) from "
    ~ target_relation ~ ") from " ~ state
  ).rows[0] %}
  {% if found[2] | int %}
    {% do kanon_sql.refuse("grow", target_relation ~ " was begun with other levels, hierarchies, columns or requirements than its model has now, and what was released cannot be taken back; bring the model back") %}
  {% endif %}
  {% if found[1] | int != found[3] | int %}
    {% do kanon_sql.refuse("grow", target_relation ~ " has " ~ found[3] ~ " rows, and " ~ found[1] ~ " were added: it was changed by another program; this build changed nothing") %}
  {% endif %}
  {{ return(found[0] | int) }}
{% endmacro %}

{#- Measure what is to be added by itself; an error with all that is violated, in counts. -#}
{% macro audit_day(judged, labelled, asked) %}
  {% set problems = [] %}
  {% for row in run_query(kanon_sql.test_all_covered("(select * from " ~ judged ~ ") as kanon_day")).rows %}
    {% do problems.append(row[0] ~ " (" ~ row[1] ~ " rows)") %}
  {% endfor %}
  {% set unmarked = run_query("select count(*) from " ~ judged ~ " where kanon_new = 1 and kanon_watermark is null").rows[0][0] %}
  {% if unmarked %}
    {% do problems.append(unmarked ~ " rows have no watermark, so that no later build would know whether they are new") %}
  {% endif %}
  {% set added = "(select * from " ~ judged ~ " where kanon_is_added = 1) as kanon_added" %}
  {% do problems.extend(kanon_sql.violations(added, labelled, asked.quasi_identifiers, asked.requirements, asked.unit or none)) %}
  {% if problems %}
    {% do kanon_sql.refuse("grow", labelled ~ ": " ~ problems | join("; ") ~ "; nothing was changed") %}
  {% endif %}
{% endmacro %}

{#- What is kept first, and the release last: what is cut off may lose rows for the release, and adds none twice. -#}
{% macro write_day(target_relation, labelled, judged, grows, asked) %}
  {% set waiting = kanon_sql.beside(labelled, asked.release, "waiting") %}
  {% set state = kanon_sql.beside(labelled, asked.release, "state") %}
  {% set shown, stored = [], [] %}
  {% for name in asked.columns %}{% do shown.append(adapter.quote(name)) %}{% endfor %}
  {% set unit = [adapter.quote(asked.unit)] if asked.unit else [] %}
  {% for name in shown %}{% do stored.append(name) %}{% endfor %}
  {% for name in unit %}{% do stored.append("kanon_unit as " ~ name) %}{% endfor %}
  {% set keeps = "case when kanon_left_out = '" ~ kanon_sql.held() ~ "' then null else kanon_left_out end as kanon_left_out" %}
  {% if grows %}{% do run_query("delete from " ~ waiting) %}{% endif %}
  {% do kanon_sql.put(waiting, grows, shown + unit + ["kanon_left_out"], "select " ~ stored | join(", ") ~ ", " ~ keeps ~ " from " ~ judged ~ " where kanon_is_added = 0") %}
  {% if asked.unit %}
    {% set persons = kanon_sql.beside(labelled, asked.release, "persons") %}
    {% set person = kanon_sql.person_key(judged, "kanon_unit", "grow") %}
    {% set unknown = " and not exists (select 1 from " ~ persons ~ " as kanon_known where kanon_known.kanon_person = " ~ person ~ ")" if grows else "" %}
    {% do kanon_sql.put(persons, grows, ["kanon_person"], "select distinct " ~ person ~ " as kanon_person from " ~ judged ~ " where kanon_is_added = 1 and kanon_unit is not null" ~ unknown) %}
  {% endif %}
  {% do kanon_sql.put(state, grows, ["kanon_batch", "promise", "kanon_watermark", "taken_rows", "added_rows"],
    "select max(kanon_batch) as kanon_batch, '" ~ asked.promise ~ "' as promise, max(kanon_watermark) as kanon_watermark, "
    ~ "sum(kanon_new) as taken_rows, sum(kanon_is_added) as added_rows from " ~ judged
  ) %}
  {% do kanon_sql.put(target_relation, grows, shown, "select " ~ shown | join(", ") ~ " from " ~ judged ~ " where kanon_is_added = 1 order by " ~ kanon_sql.random()) %}
  {% set found = run_query("select sum(taken_rows), sum(added_rows), (select sum(kanon_is_added) from " ~ judged ~ ") from " ~ state).rows[0] %}
  {% set taken, added, today = found[0] | int, found[1] | int, found[2] | int %}
  {% set allowed = asked.max_rows if asked.max_rows is defined else asked.max_share * taken %}
  {% set lacks = ", more than the suppression limit " ~ (asked.max_rows if asked.max_rows is defined else asked.max_share) ~ " of " ~ taken ~ ": the levels do not fit" if taken - added > allowed else "" %}
  {% do log(
    "kanon_sql: " ~ target_relation ~ ": added " ~ today ~ " rows, verified separately; " ~ (taken - added) ~ " rows wait" ~ lacks,
    info=true
  ) %}
  {#- A warning of dbt's: with --warn-error the build fails, and nothing is changed. -#}
  {% if lacks %}{% do exceptions.warn("kanon_sql: " ~ target_relation ~ ": " ~ (taken - added) ~ " rows wait" ~ lacks) %}{% endif %}
{% endmacro %}

{#- The rows of a query: into a table, or as a new one. -#}
{% macro put(relation, is_there, columns, query) %}
  {% do run_query(("insert into " ~ relation ~ " (" ~ columns | join(", ") ~ ") " ~ query) if is_there else ("create table " ~ relation ~ " as " ~ query)) %}
{% endmacro %}
