{#- One row per class that violates the requirement: its size and its measure, never a value. -#}

{% test k_anonymity(model, quasi_identifiers, k, unit=none) %}
  {{ kanon_sql.violating_classes(model, quasi_identifiers, {"k_anonymity": {"k": k}}, unit) }}
{% endtest %}

{% test l_diversity(model, quasi_identifiers, l, variant="distinct", c=none, attribute=none, column_name=none, unit=none) %}
  {%- set sensitive = kanon_sql.attribute_of("l_diversity", attribute, column_name) -%}
  {%- set requirement = {"l_diversity": {"attribute": sensitive, "l": l, "variant": variant, "c": c}} -%}
  {{ kanon_sql.violating_classes(model, quasi_identifiers, requirement, unit) }}
{% endtest %}

{% test t_closeness(model, quasi_identifiers, t, reference, attribute=none, column_name=none, unit=none) %}
  {%- set sensitive = kanon_sql.attribute_of("t_closeness", attribute, column_name) -%}
  {%- set requirement = {"t_closeness": {"attribute": sensitive, "t": t, "reference": reference}} -%}
  {{ kanon_sql.violating_classes(model, quasi_identifiers, requirement, unit) }}
{% endtest %}

{% macro violating_classes(model, quasi_identifiers, requirement, unit) %}
  {%- if not execute -%}{{ return("") }}{%- endif -%}
  {%- set asked = kanon_sql.checked_requirement(requirement) -%}
select class_rows, class_size{{ ", " ~ asked.measure if asked.attribute }}
from (
{{ kanon_sql.classes(model, quasi_identifiers, requirement, unit) }}
) as kanon_classes
where satisfied = 0
{% endmacro %}

{#- The sensitive attribute: the column that the test is attached to, or the one that it names. -#}
{% macro attribute_of(test, attribute, column_name) %}
  {% if (attribute is none) == (column_name is none) %}
    {% do kanon_sql.refuse(test, "attach the test to the sensitive column, or to the table with 'attribute', and not both") %}
  {% endif %}
  {{ return(column_name if attribute is none else attribute) }}
{% endmacro %}
