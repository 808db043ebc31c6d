{#- What users write, checked: columns that are there, numbers that are numbers, requirements as in a spec. -#}

{% macro refuse(where, message) %}
  {{ exceptions.raise_compiler_error("kanon_sql." ~ where ~ ": " ~ message) }}
{% endmacro %}

{#- The columns of a relation, or of the subquery that a test's `where` makes of it. -#}
{% macro columns_in(relation, where) %}
  {% if relation is string %}
    {{ return(adapter.get_column_schema_from_query("select * from " ~ relation ~ " where 1 = 0")) }}
  {% endif %}
  {% if relation.is_cte %}
    {% do kanon_sql.refuse(where, relation ~ " is ephemeral: what is tested must be a table or a view") %}
  {% endif %}
  {% set columns = adapter.get_columns_in_relation(relation) %}
  {% if not columns %}
    {% do kanon_sql.refuse(where, relation ~ " has no columns; is it built?") %}
  {% endif %}
  {{ return(columns) }}
{% endmacro %}

{#- The column of a name: as written, or the only one that differs in upper and lower case alone. -#}
{% macro column_named(columns, name, where) %}
  {% if name is not string or not name %}
    {% do kanon_sql.refuse(where, "expected the name of a column, got " ~ name) %}
  {% endif %}
  {% set same, alike = [], [] %}
  {% for column in columns %}
    {% if column.name == name %}{% do same.append(column) %}{% endif %}
    {% if column.name | lower == name | lower %}{% do alike.append(column) %}{% endif %}
  {% endfor %}
  {% if same %}{{ return(same[0]) }}{% endif %}
  {% if alike | length == 1 %}{{ return(alike[0]) }}{% endif %}
  {% do kanon_sql.refuse(where, "there is no column '" ~ name ~ "'; expected one of " ~ columns | map(attribute="name") | join(", ")) %}
{% endmacro %}

{% macro number(value, what, where, least=none, most=none, above=none, whole=false) %}
  {% set is_number = value is number and value is not boolean and (value is integer or not whole) %}
  {% if not is_number
     or (least is not none and value < least) or (most is not none and value > most)
     or (above is not none and value <= above) %}
    {% set limits = [] %}
    {% if least is not none %}{% do limits.append("at least " ~ least) %}{% endif %}
    {% if most is not none %}{% do limits.append("at most " ~ most) %}{% endif %}
    {% if above is not none %}{% do limits.append("above " ~ above) %}{% endif %}
    {% do kanon_sql.refuse(where, what ~ ": expected a " ~ ("whole " if whole else "") ~ "number, " ~ limits | join(" and ") ~ ", got " ~ value) %}
  {% endif %}
  {{ return(value) }}
{% endmacro %}

{% macro checked_quasi_identifiers(names, where) %}
  {% if names is string or names is mapping or names is not sequence or not names %}
    {% do kanon_sql.refuse(where, "quasi_identifiers: expected a list of at least one column") %}
  {% endif %}
  {{ return(names) }}
{% endmacro %}

{#- A requirement as a spec writes it, such as {"k_anonymity": {"k": 5}}, with everything that it says. -#}
{% macro checked_requirement(requirement) %}
  {% set takes = {
    "k_anonymity": ["k"],
    "l_diversity": ["attribute", "l", "variant", "c"],
    "t_closeness": ["attribute", "t", "reference"],
  } %}
  {% if requirement is not mapping or requirement | length != 1 or (requirement | list)[0] not in takes %}
    {% do kanon_sql.refuse("requirement", "expected one of " ~ takes | join(", ") ~ ", with its parameters") %}
  {% endif %}
  {% set name = (requirement | list)[0] %}
  {% set given = requirement[name] %}
  {% for key in given if key not in takes[name] %}
    {% do kanon_sql.refuse(name, "'" ~ key ~ "' is unknown; expected " ~ takes[name] | join(", ")) %}
  {% endfor %}
  {% set found = {"name": name, "attribute": given.get("attribute"), "variant": none, "reference": given.get("reference")} %}
  {% if name != "k_anonymity" and not found.attribute %}
    {% do kanon_sql.refuse(name, "attribute: expected the name of a sensitive attribute") %}
  {% endif %}
  {% if name == "k_anonymity" %}
    {% do found.update({"k": kanon_sql.number(given.get("k"), "k", name, least=1, whole=true)}) %}
    {% do found.update({"measure": "class_size", "worst": "min"}) %}
    {% do found.update({"label": found.k ~ "-anonymity"}) %}
  {% elif name == "t_closeness" %}
    {% do found.update({"t": kanon_sql.number(given.get("t"), "t", name, least=0, most=1)}) %}
    {% do found.update({"measure": "distance", "worst": "max"}) %}
    {% do found.update({"label": found.t ~ "-closeness of " ~ found.attribute}) %}
    {% if not found.reference %}
      {% do kanon_sql.refuse(name, "reference: expected the relation with the original distribution, such as ref('visits')") %}
    {% endif %}
  {% else %}
    {% set variant = given.get("variant", "distinct") %}
    {% set measures = {"distinct": "distinct_values", "entropy": "entropy", "recursive": "ratio"} %}
    {% if variant not in measures %}
      {% do kanon_sql.refuse(name, "variant: expected " ~ measures | join(", ") ~ ", got " ~ variant) %}
    {% endif %}
    {% do found.update({"l": kanon_sql.number(given.get("l"), "l", name, least=1, whole=variant != "entropy")}) %}
    {% if variant == "recursive" %}
      {% do found.update({"c": kanon_sql.number(given.get("c"), "c", name, above=0)}) %}
    {% elif given.get("c") is not none %}
      {% do kanon_sql.refuse(name, "'c' needs variant: recursive, but this is " ~ variant) %}
    {% endif %}
    {% do found.update({"variant": variant, "measure": measures[variant], "worst": "max" if variant == "recursive" else "min"}) %}
    {% set amount = "(" ~ found.c ~ ", " ~ found.l ~ ")" if variant == "recursive" else found.l %}
    {% do found.update({"label": variant ~ " " ~ amount ~ "-diversity of " ~ found.attribute}) %}
  {% endif %}
  {{ return(found) }}
{% endmacro %}
