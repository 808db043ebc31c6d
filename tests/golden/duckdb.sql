-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary";

-- frequency/totals
SELECT (SELECT SUM(row_count) FROM "kanon_run_raw") AS row_count, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "q0" IS NULL OR "q1" IS NULL) AS null_rows, NULL AS persons, NULL AS kept_persons, NULL AS most_vectors, NULL AS unknown_rows;

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_domain1" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_domain1" VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*');

-- hierarchies/range
SELECT COUNT(*) AS out_of_range FROM (SELECT DISTINCT "q0" AS value FROM "kanon_run_raw") AS distinct_values WHERE NOT value IS NULL AND NOT (CAST(value AS DOUBLE) > -100000000000000 AND CAST(value AS DOUBLE) < 100000000000000);

-- «hierarchies/lookup_rules 2»
(CAST(FLOOR((CAST(value AS DECIMAL(28, 10)) - CASE WHEN CAST(value AS DECIMAL(28, 10)) > value THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST(value AS DECIMAL(28, 10)) - CASE WHEN CAST(value AS DECIMAL(28, 10)) > value THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25)

-- «hierarchies/lookup_rules 3»
(«hierarchies/lookup_rules 2» + 25)

-- «hierarchies/lookup_rules 1»
(CASE WHEN CAST(FLOOR((CAST(value AS DECIMAL(28, 10)) - CASE WHEN CAST(value AS DECIMAL(28, 10)) > value THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) < 0 THEN '< 0.0' WHEN CAST(FLOOR((CAST(value AS DECIMAL(28, 10)) - CASE WHEN CAST(value AS DECIMAL(28, 10)) > value THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) >= 800 THEN '>= 80.0' ELSE '[' || CASE WHEN «hierarchies/lookup_rules 2» < 0 THEN '0.0' ELSE CAST(CAST(CAST(«hierarchies/lookup_rules 2» AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) END || ', ' || CASE WHEN «hierarchies/lookup_rules 3» > 800 THEN '80.0' ELSE CAST(CAST(CAST(«hierarchies/lookup_rules 3» AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) END || ')' END)

-- «hierarchies/lookup_rules 4»
(SELECT "l1", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", COUNT(*) AS label_values FROM "kanon_run_with_labelled" AS labelled GROUP BY "l1") AS own)

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE «hierarchies/lookup_rules 1» END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- «hierarchies/lookup_rows 1»
(SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1" FROM "kanon_run_domain1")

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_lookup1" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q1") AS found LEFT JOIN «hierarchies/lookup_rows 1» AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split;

-- «hierarchies/coverage 1»
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup0" AS labels JOIN "kanon_run_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- «hierarchies/coverage 2»
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup1" AS labels JOIN "kanon_run_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
«hierarchies/coverage 1»
UNION ALL
«hierarchies/coverage 2»;

-- «frequency/label_numbers 1»
SELECT 0 AS attribute, 0 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c0" AS among_all, MAX("d0") AS among_siblings, MAX("s0") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup0" GROUP BY "c0") AS labelled

-- «frequency/label_numbers 2»
SELECT 0 AS attribute, 1 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c1" AS among_all, MAX("c1") AS among_siblings, MAX("s1") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup0" GROUP BY "c1") AS labelled

-- «frequency/label_numbers 3»
SELECT 1 AS attribute, 0 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c0" AS among_all, MAX("d0") AS among_siblings, MAX("s0") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup1" GROUP BY "c0") AS labelled

-- «frequency/label_numbers 4»
SELECT 1 AS attribute, 1 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c1" AS among_all, MAX("c1") AS among_siblings, MAX("s1") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup1" GROUP BY "c1") AS labelled

-- frequency/label_numbers
«frequency/label_numbers 1»
UNION ALL
«frequency/label_numbers 2»
UNION ALL
«frequency/label_numbers 3»
UNION ALL
«frequency/label_numbers 4»;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c1" AS "code2", "lookup1"."c0" AS "code3", vectors.row_count AS row_count FROM (SELECT "q0", "q1", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_raw";

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_frequency") AS row_count;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0", 0 AS "padding_1" FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code1", "code3") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", "k1", class_rows FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "code1" AS "k0", "code3" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code1", "code3") AS classes) AS flagged WHERE satisfied = 0;

-- release/transaction
BEGIN;

-- engines/scratch/create_record
CREATE TABLE IF NOT EXISTS "clinic"."kanon_sql_scratch" (run_id TEXT NOT NULL, object_name TEXT NOT NULL, created_at TEXT NOT NULL);

-- engines/scratch/record
INSERT INTO "clinic"."kanon_sql_scratch" VALUES ('run', '["clinic", "kanon_run_release"]', '(the time)');

-- release/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "lookup0"."l0" AS "age", "lookup1"."l0" AS "sex", "kanon_source"."dx" AS "dx" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON "kanon_source"."age" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup1".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c0" = suppressed."k0" AND "lookup1"."c0" = suppressed."k1" WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- release/count
SELECT COUNT(*) AS row_count FROM "clinic"."kanon_run_release" AS counted;

-- evaluate/examine/counted
CREATE TEMPORARY TABLE "kanon_run_counted" AS SELECT CAST("checked"."age" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST(COUNT(*) AS BIGINT) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST("checked"."age" AS TEXT) COLLATE "binary", CAST("checked"."sex" AS TEXT) COLLATE "binary";

-- «release/labels 1»
SELECT 0 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."q0" AS TEXT) COLLATE "binary" AS label, SUM(row_count) AS row_count FROM "kanon_run_counted" AS checked GROUP BY CAST(checked."q0" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l0" AS label, 1 AS known FROM "kanon_run_lookup0") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL

-- release/labels
«release/labels 1»
UNION ALL
SELECT 1 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."q1" AS TEXT) COLLATE "binary" AS label, SUM(row_count) AS row_count FROM "kanon_run_counted" AS checked GROUP BY CAST(checked."q1" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l0" AS label, 1 AS known FROM "kanon_run_lookup1") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL;

-- «evaluate/achieved 1»
(SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM (SELECT CAST("checked"."q0" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."q1" AS TEXT) COLLATE "binary" AS "q1", checked.row_count AS row_count FROM "kanon_run_counted" AS checked) AS frequency GROUP BY "q0", "q1")

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM «evaluate/achieved 1» AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/create
CREATE TABLE IF NOT EXISTS "clinic"."kanon_sql_manifest" (release_name TEXT NOT NULL, run_id TEXT NOT NULL, published_at TEXT NOT NULL, spec_hash TEXT NOT NULL, manifest TEXT NOT NULL);

-- release/mark
COMMENT ON TABLE "clinic"."kanon_run_release" IS 'anonymized by kanon_sql, run run';

-- engines/scratch/drop
DROP TABLE IF EXISTS "clinic"."visits_release";

-- release/rename
ALTER TABLE "clinic"."kanon_run_release" RENAME TO "visits_release";

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'd213ecdda8fcaf2ec7dda87e224117fb850c0066c4c496a1ed6b44093cc99f72', '{"published_at": "(the time)"}');

-- engines/scratch/drop
DROP TABLE IF EXISTS "clinic"."kanon_run_release";

-- engines/scratch/forget
DELETE FROM "clinic"."kanon_sql_scratch" WHERE object_name = '["clinic", "kanon_run_release"]';

-- release/transaction
COMMIT;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_counted";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_suppressed";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_frequency";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_lookup1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_lookup0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_domain1";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."zip" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."born" AS "q1", COUNT(*) AS row_count FROM (
SELECT * FROM clinic_visits
) AS kanon_source GROUP BY CAST("kanon_source"."zip" AS TEXT) COLLATE "binary", "kanon_source"."born";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 3 THEN SUBSTRING(CAST(value AS TEXT), 1, 3) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 3) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- «hierarchies/lookup_rules 5»
(SELECT "l1", "l2", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(DENSE_RANK() OVER (PARTITION BY own."l2" ORDER BY own."l1" ASC) - 1 AS BIGINT) AS "d1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", "l2", COUNT(*) AS label_values FROM "kanon_run_with_labelled" AS labelled GROUP BY "l1", "l2") AS own)

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup1" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CAST(CAST(value AS DATE) AS TEXT)) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CAST(EXTRACT(YEAR FROM value) AS TEXT) || CASE WHEN EXTRACT(MONTH FROM value) < 10 THEN '-0' ELSE '-' END || CAST(EXTRACT(MONTH FROM value) AS TEXT)) END COLLATE "binary" AS "l2", CASE WHEN value IS NULL THEN NULL ELSE (CAST(EXTRACT(YEAR FROM value) AS TEXT) || CASE WHEN EXTRACT(MONTH FROM value) <= 3 THEN '-Q1' WHEN EXTRACT(MONTH FROM value) <= 6 THEN '-Q2' WHEN EXTRACT(MONTH FROM value) <= 9 THEN '-Q3' ELSE '-Q4' END) END COLLATE "binary" AS "l3", CASE WHEN value IS NULL THEN NULL ELSE (CAST(EXTRACT(YEAR FROM value) - ((EXTRACT(YEAR FROM value) % 10) + 10) % 10 AS TEXT) || '-' || CAST(EXTRACT(YEAR FROM value) - ((EXTRACT(YEAR FROM value) % 10) + 10) % 10 + 9 AS TEXT)) END COLLATE "binary" AS "l4" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q1") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 5», "kanon_run_with_numbers2" AS (SELECT "l2", "l3", CAST(DENSE_RANK() OVER (ORDER BY own."l2" ASC) AS BIGINT) AS "c2", CAST(DENSE_RANK() OVER (PARTITION BY own."l3" ORDER BY own."l2" ASC) - 1 AS BIGINT) AS "d2", CAST(SUM(label_values) OVER (PARTITION BY own."l2") AS INT) AS "s2" FROM (SELECT "l2", "l3", COUNT(*) AS label_values FROM "kanon_run_with_labelled" AS labelled GROUP BY "l2", "l3") AS own), "kanon_run_with_numbers3" AS (SELECT "l3", "l4", CAST(DENSE_RANK() OVER (ORDER BY own."l3" ASC) AS BIGINT) AS "c3", CAST(DENSE_RANK() OVER (PARTITION BY own."l4" ORDER BY own."l3" ASC) - 1 AS BIGINT) AS "d3", CAST(SUM(label_values) OVER (PARTITION BY own."l3") AS INT) AS "s3" FROM (SELECT "l3", "l4", COUNT(*) AS label_values FROM "kanon_run_with_labelled" AS labelled GROUP BY "l3", "l4") AS own), "kanon_run_with_numbers4" AS (SELECT "l4", CAST(DENSE_RANK() OVER (ORDER BY own."l4" ASC) AS BIGINT) AS "c4", CAST(SUM(label_values) OVER (PARTITION BY own."l4") AS INT) AS "s4" FROM (SELECT "l4", COUNT(*) AS label_values FROM "kanon_run_with_labelled" AS labelled GROUP BY "l4") AS own) SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "d1", "s1", own."l2" AS "l2", "c2", "d2", "s2", own."l3" AS "l3", "c3", "d3", "s3", own."l4" AS "l4", "c4", "s4", '*' AS "l5" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1" AND own."l2" IS NOT DISTINCT FROM "numbers1"."l2" JOIN "kanon_run_with_numbers2" AS "numbers2" ON own."l2" IS NOT DISTINCT FROM "numbers2"."l2" AND own."l3" IS NOT DISTINCT FROM "numbers2"."l3" JOIN "kanon_run_with_numbers3" AS "numbers3" ON own."l3" IS NOT DISTINCT FROM "numbers3"."l3" AND own."l4" IS NOT DISTINCT FROM "numbers3"."l4" JOIN "kanon_run_with_numbers4" AS "numbers4" ON own."l4" IS NOT DISTINCT FROM "numbers4"."l4";

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_lookup1" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 1 AS level, COUNT(*) AS split_labels FROM (SELECT "l1" FROM "kanon_run_lookup1" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 2 AS level, COUNT(*) AS split_labels FROM (SELECT "l2" FROM "kanon_run_lookup1" WHERE NOT "l2" IS NULL GROUP BY "l2" HAVING COUNT(DISTINCT "l3") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 3 AS level, COUNT(*) AS split_labels FROM (SELECT "l3" FROM "kanon_run_lookup1" WHERE NOT "l3" IS NULL GROUP BY "l3" HAVING COUNT(DISTINCT "l4") > 1) AS split;

-- «hierarchies/coverage 3»
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL OR labels."l3" IS NULL OR labels."l4" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL OR labels."l3" IS NULL OR labels."l4" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup1" AS labels JOIN "kanon_run_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
«hierarchies/coverage 1»
UNION ALL
«hierarchies/coverage 3»;

-- «frequency/label_numbers 5»
SELECT 1 AS attribute, 1 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c1" AS among_all, MAX("d1") AS among_siblings, MAX("s1") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup1" GROUP BY "c1") AS labelled

-- «frequency/label_numbers 6»
SELECT 1 AS attribute, 2 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c2" AS among_all, MAX("d2") AS among_siblings, MAX("s2") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup1" GROUP BY "c2") AS labelled

-- «frequency/label_numbers 7»
SELECT 1 AS attribute, 3 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c3" AS among_all, MAX("d3") AS among_siblings, MAX("s3") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup1" GROUP BY "c3") AS labelled

-- «frequency/label_numbers 8»
SELECT 1 AS attribute, 4 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c4" AS among_all, MAX("c4") AS among_siblings, MAX("s4") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup1" GROUP BY "c4") AS labelled

-- frequency/label_numbers
«frequency/label_numbers 1»
UNION ALL
«frequency/label_numbers 2»
UNION ALL
«frequency/label_numbers 3»
UNION ALL
«frequency/label_numbers 5»
UNION ALL
«frequency/label_numbers 6»
UNION ALL
«frequency/label_numbers 7»
UNION ALL
«frequency/label_numbers 8»;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c4" AS "code2", "lookup1"."c3" AS "code3", "lookup1"."c2" AS "code4", "lookup1"."c1" AS "code5", "lookup1"."c0" AS "code6", vectors.row_count AS row_count FROM (SELECT "q0", "q1", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw" WHERE NOT "q0" IS NULL AND NOT "q1" IS NULL) AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN satisfied = 1 THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN satisfied = 1 THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN NOT (satisfied = 1) THEN class_rows * LN("sharing_0") ELSE 0 END) AS "suppressed_log_0", SUM(CASE WHEN NOT (satisfied = 1) THEN class_rows * LN("sharing_1") ELSE 0 END) AS "suppressed_log_1" FROM (SELECT flagged.*, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) OVER (PARTITION BY "z0") AS "sharing_0", SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) OVER (PARTITION BY "z1") AS "sharing_1" FROM (SELECT "k0", "k1", "z0", "z1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "code1" AS "k0", "code6" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("code1") AS "z0", MIN("code6") AS "z1" FROM "kanon_run_frequency" GROUP BY "code1", "code6") AS classes) AS flagged) AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", "k1", class_rows FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "code1" AS "k0", "code6" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code1", "code6") AS classes) AS flagged WHERE satisfied = 0;

-- release/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "lookup0"."l0" AS "zip", "lookup1"."l0" AS "born", "kanon_source"."dx" AS "dx" FROM (
SELECT * FROM clinic_visits
) AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."zip" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON "kanon_source"."born" IS NOT DISTINCT FROM "lookup1".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c0" = suppressed."k0" AND "lookup1"."c0" = suppressed."k1" WHERE suppressed.class_rows IS NULL AND NOT CAST("kanon_source"."zip" AS TEXT) COLLATE "binary" IS NULL AND NOT "kanon_source"."born" IS NULL ORDER BY RANDOM() ASC;

-- evaluate/examine/counted
CREATE TEMPORARY TABLE "kanon_run_counted" AS SELECT CAST("checked"."zip" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."born" AS TEXT) COLLATE "binary" AS "q1", CAST(COUNT(*) AS BIGINT) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST("checked"."zip" AS TEXT) COLLATE "binary", CAST("checked"."born" AS TEXT) COLLATE "binary";

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '58190889188bc771441e83a95e808b3b22d45afe46d1a130e164f9323cde09ba', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."zip" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."zip" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- hierarchies/no_codes
SELECT COUNT(*) AS no_codes FROM (SELECT DISTINCT "q1" AS value FROM "kanon_run_raw") AS distinct_values WHERE value < 0 OR value >= 100;

-- «hierarchies/lookup_rules 6»
(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST(value AS TEXT), ' ', ''), '.', ''), ',', ''), ':', ''), ';', ''), '-', ''), '_', ''), '/', ''), '+', ''), '*', ''), '!', ''), '#', '')

-- «hierarchies/lookup_rules 7»
(SELECT "l2", CAST(DENSE_RANK() OVER (ORDER BY own."l2" ASC) AS BIGINT) AS "c2", CAST(SUM(label_values) OVER (PARTITION BY own."l2") AS INT) AS "s2" FROM (SELECT "l2", COUNT(*) AS label_values FROM "kanon_run_with_labelled" AS labelled GROUP BY "l2") AS own)

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (SUBSTRING(REPLACE«hierarchies/lookup_rules 6», 1, 3)) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (SUBSTRING(REPLACE«hierarchies/lookup_rules 6», 1, 1)) END COLLATE "binary" AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 5», "kanon_run_with_numbers2" AS «hierarchies/lookup_rules 7» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "d1", "s1", own."l2" AS "l2", "c2", "s2", '*' AS "l3" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1" AND own."l2" IS NOT DISTINCT FROM "numbers1"."l2" JOIN "kanon_run_with_numbers2" AS "numbers2" ON own."l2" IS NOT DISTINCT FROM "numbers2"."l2";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup1" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CASE WHEN value >= 0 AND LENGTH(CAST(value AS TEXT)) < 2 THEN RIGHT('00' || CAST(value AS TEXT), 2) ELSE CAST(value AS TEXT) END) > 1 THEN SUBSTRING(CASE WHEN value >= 0 AND LENGTH(CAST(value AS TEXT)) < 2 THEN RIGHT('00' || CAST(value AS TEXT), 2) ELSE CAST(value AS TEXT) END, 1, 1) || REPEAT('*', LENGTH(CASE WHEN value >= 0 AND LENGTH(CAST(value AS TEXT)) < 2 THEN RIGHT('00' || CAST(value AS TEXT), 2) ELSE CAST(value AS TEXT) END) - 1) ELSE CASE WHEN value >= 0 AND LENGTH(CAST(value AS TEXT)) < 2 THEN RIGHT('00' || CAST(value AS TEXT), 2) ELSE CAST(value AS TEXT) END END) END COLLATE "binary" AS "l1" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q1") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 0 AS attribute, 1 AS level, COUNT(*) AS split_labels FROM (SELECT "l1" FROM "kanon_run_lookup0" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_lookup1" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split;

-- «hierarchies/coverage 4»
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup0" AS labels JOIN "kanon_run_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
«hierarchies/coverage 4»
UNION ALL
«hierarchies/coverage 2»;

-- «frequency/label_numbers 9»
SELECT 0 AS attribute, 1 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c1" AS among_all, MAX("d1") AS among_siblings, MAX("s1") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup0" GROUP BY "c1") AS labelled

-- «frequency/label_numbers 10»
SELECT 0 AS attribute, 2 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c2" AS among_all, MAX("c2") AS among_siblings, MAX("s2") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup0" GROUP BY "c2") AS labelled

-- frequency/label_numbers
«frequency/label_numbers 1»
UNION ALL
«frequency/label_numbers 9»
UNION ALL
«frequency/label_numbers 10»
UNION ALL
«frequency/label_numbers 3»
UNION ALL
«frequency/label_numbers 4»;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c2" AS "code0", "lookup0"."c1" AS "code1", "lookup0"."c0" AS "code2", "lookup1"."c1" AS "code3", "lookup1"."c0" AS "code4", vectors.row_count AS row_count FROM (SELECT "q0", "q1", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0", 0 AS "padding_1" FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code2", "code4") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", "k1", class_rows FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "code2" AS "k0", "code4" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code2", "code4") AS classes) AS flagged WHERE satisfied = 0;

-- release/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "lookup0"."l0" AS "zip", "lookup1"."l0" AS "age", "kanon_source"."dx" AS "dx" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."zip" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON "kanon_source"."age" IS NOT DISTINCT FROM "lookup1".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c0" = suppressed."k0" AND "lookup1"."c0" = suppressed."k1" WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- evaluate/examine/counted
CREATE TEMPORARY TABLE "kanon_run_counted" AS SELECT CAST("checked"."zip" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."age" AS TEXT) COLLATE "binary" AS "q1", CAST(COUNT(*) AS BIGINT) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST("checked"."zip" AS TEXT) COLLATE "binary", CAST("checked"."age" AS TEXT) COLLATE "binary";

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'ed90b1b61b1642e769e5bb471c86c9ca46343fda4660eb3f8e867471c37d0b10', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."age" AS TEXT) COLLATE "binary" AS "q0", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."age" AS TEXT) COLLATE "binary";

-- frequency/totals
SELECT (SELECT SUM(row_count) FROM "kanon_run_raw") AS row_count, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "q0" IS NULL) AS null_rows, NULL AS persons, NULL AS kept_persons, NULL AS most_vectors, NULL AS unknown_rows;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN ABS((FLOOR(value / 10) // 2 * 20)) < 1e18 AND (FLOOR(value / 10) // 2 * 20) = FLOOR((FLOOR(value / 10) // 2 * 20)) THEN CAST(CAST((FLOOR(value / 10) // 2 * 20) AS BIGINT) AS TEXT) ELSE CAST((FLOOR(value / 10) // 2 * 20) AS TEXT) END) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CAST((CASE WHEN value < 40 THEN 'young' END) AS TEXT)) END COLLATE "binary" AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 5», "kanon_run_with_numbers2" AS «hierarchies/lookup_rules 7» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "d1", "s1", own."l2" AS "l2", "c2", "s2", '*' AS "l3" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1" AND own."l2" IS NOT DISTINCT FROM "numbers1"."l2" JOIN "kanon_run_with_numbers2" AS "numbers2" ON own."l2" IS NOT DISTINCT FROM "numbers2"."l2";

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 0 AS attribute, 1 AS level, COUNT(*) AS split_labels FROM (SELECT "l1" FROM "kanon_run_lookup0" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS split;

-- hierarchies/coverage
«hierarchies/coverage 4»;

-- frequency/label_numbers
«frequency/label_numbers 1»
UNION ALL
«frequency/label_numbers 9»
UNION ALL
«frequency/label_numbers 10»;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c2" AS "code0", "lookup0"."c1" AS "code1", "lookup0"."c0" AS "code2", vectors.row_count AS row_count FROM (SELECT "q0", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) THEN CAST(class_rows AS DOUBLE) ELSE 0 END) AS "kept_vectors", SUM(CAST(class_rows AS DOUBLE)) AS "vectors" FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code2") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "code2" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code2") AS classes) AS flagged WHERE satisfied = 0;

-- release/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "lookup0"."l0" AS "age", "kanon_source"."dx" AS "dx" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."age" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup0".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c0" = suppressed."k0" WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- evaluate/examine/counted
CREATE TEMPORARY TABLE "kanon_run_counted" AS SELECT CAST("checked"."age" AS TEXT) COLLATE "binary" AS "q0", CAST(COUNT(*) AS BIGINT) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST("checked"."age" AS TEXT) COLLATE "binary";

-- release/labels
«release/labels 1»;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM (SELECT CAST("checked"."q0" AS TEXT) COLLATE "binary" AS "q0", checked.row_count AS row_count FROM "kanon_run_counted" AS checked) AS frequency GROUP BY "q0") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'c0ace8be99da64be915616e44894f0e3171ff8b0d0a64930eb7c636dc51eb203', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "v0", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS distinct_values) AS own;

-- «hierarchies/coverage 5»
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup0" AS labels JOIN "kanon_run_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
«hierarchies/coverage 5»;

-- «frequency/label_numbers 11»
SELECT 0 AS attribute, 0 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c0" AS among_all, MAX("c0") AS among_siblings, MAX("s0") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup0" GROUP BY "c0") AS labelled

-- frequency/label_numbers
«frequency/label_numbers 11»;

-- frequency/sensitive
CREATE TEMPORARY TABLE "kanon_run_sensitive0" AS SELECT value, CASE WHEN value IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY value ASC) AS INT) END AS code, CAST(reference_count AS BIGINT) AS reference_count, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share FROM (SELECT "v0" AS value, SUM(row_count) AS reference_count FROM "kanon_run_raw" GROUP BY "v0") AS value_counts;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_values0" AS SELECT "lookup0"."c0" AS "code0", sensitive.code AS value_code, sensitive.reference_share AS reference_share, vectors.row_count AS row_count FROM (SELECT "q0", "v0", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_sensitive0" AS sensitive ON vectors."v0" IS NOT DISTINCT FROM sensitive.value;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c0" AS "code0", vectors.row_count AS row_count FROM (SELECT "q0", CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value;

-- verbs/render/several_texts
SELECT COUNT(*) AS several_texts FROM (SELECT kanon_source."dx" AS value FROM "clinic"."visits" AS kanon_source GROUP BY kanon_source."dx" HAVING MIN(CAST(kanon_source."dx" AS TEXT) COLLATE "binary") <> MAX(CAST(kanon_source."dx" AS TEXT) COLLATE "binary")) AS written_values;

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_frequency") + (SELECT COUNT(*) FROM "kanon_run_values0") AS row_count;

-- «evaluate/node 1»
(SELECT "k0", value_code, value_rows, value_count, reference_share, SUM(value_count) OVER (PARTITION BY "k0") AS class_total, ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, value_count DESC) AS value_position FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share FROM "kanon_run_values0" GROUP BY "code0", value_code) AS counted)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN class_rows * class_rows ELSE 0 END) AS "kept_squares", SUM(class_rows * class_rows) AS "squares" FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1", CASE WHEN SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT value_code IS NULL THEN value_count END)) - SUM(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count * LN(value_count) ELSE 0 END) / CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count END) AS DOUBLE) ELSE 0 END AS "m2", CASE WHEN SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 2 THEN value_count ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN value_position = 1 THEN value_count ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 2 THEN value_count ELSE 0 END) AS DOUBLE) ELSE NULL END AS "m3", CASE WHEN SUM(value_count) > 0 THEN SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) ELSE NULL END AS "m4" FROM «evaluate/node 1» AS ranked GROUP BY "k0") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", "m1", "m2", "m3", "m4", CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1", CASE WHEN SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT value_code IS NULL THEN value_count END)) - SUM(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count * LN(value_count) ELSE 0 END) / CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count END) AS DOUBLE) ELSE 0 END AS "m2", CASE WHEN SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 2 THEN value_count ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN value_position = 1 THEN value_count ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 2 THEN value_count ELSE 0 END) AS DOUBLE) ELSE NULL END AS "m3", CASE WHEN SUM(value_count) > 0 THEN SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) ELSE NULL END AS "m4" FROM «evaluate/node 1» AS ranked GROUP BY "k0") AS classes) AS flagged WHERE satisfied = 0;

-- release/write
CREATE TEMPORARY TABLE "kanon_run_staged" AS SELECT CASE WHEN NOT suppressed.class_rows IS NULL THEN '*' ELSE "lookup0"."l0" END AS "sex", "kanon_source"."dx" AS "dx", CASE WHEN NOT suppressed.class_rows IS NULL THEN 1 ELSE 0 END AS "kanon_masked" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup0".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c0" = suppressed."k0";

-- «evaluate/achieved 3»
(SELECT "class_number" AS "k0", value_code, row_count AS value_rows, row_count AS value_count, class_total FROM (SELECT numbers.class_number AS class_number, numbers.class_total AS class_total, cells.value_code AS value_code, cells.row_count AS row_count FROM "kanon_run_with_cells" AS cells JOIN "kanon_run_with_numbers" AS numbers ON cells."q0" IS NOT DISTINCT FROM numbers."q0") AS frequency)

-- «evaluate/achieved 2»
(SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", "m1", "m2", "m3", "m4", CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS satisfied FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1", CASE WHEN SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT value_code IS NULL THEN value_count END)) - SUM(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count * LN(value_count) ELSE 0 END) / CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count END) AS DOUBLE) ELSE 0 END AS "m2", CASE WHEN SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 2 THEN value_count ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN value_position = 1 THEN value_count ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 2 THEN value_count ELSE 0 END) AS DOUBLE) ELSE NULL END AS "m3", CASE WHEN SUM(value_count) > 0 THEN SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) ELSE NULL END AS "m4" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, class_total, ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, value_count DESC) AS value_position FROM (SELECT held."k0" AS "k0", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, held.class_total AS class_total, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share FROM «evaluate/achieved 3» AS held LEFT JOIN (SELECT value AS reference_value, reference_share FROM "kanon_run_sensitive0") AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share FROM (SELECT value AS reference_value, reference_share FROM "kanon_run_sensitive0") AS every_value) AS of_null) AS counted) AS ranked GROUP BY "k0") AS classes) AS flagged)

-- evaluate/achieved
WITH "kanon_run_with_cells" AS (SELECT "q0", value_code, CAST(COUNT(*) AS BIGINT) AS row_count FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, 1 AS row_count FROM "kanon_run_staged" AS checked) AS frequency GROUP BY "q0", value_code), "kanon_run_with_numbers" AS (SELECT "q0", CAST(SUM(row_count) AS BIGINT) AS class_total, ROW_NUMBER() OVER (ORDER BY COUNT(*) ASC) AS class_number FROM "kanon_run_with_cells" AS cells GROUP BY "q0") SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0", MIN("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows1", MIN("m2") AS "worst2", SUM(CASE WHEN "m2" IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN "m2" >= 6.93147179559945315e-01 THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN "m2" >= 6.93147179559945315e-01 THEN 0 ELSE class_rows END) AS "violating_rows2", MAX("m3") AS "worst3", SUM(CASE WHEN "m3" IS NULL THEN 1 ELSE 0 END) AS "unbounded3", SUM(CASE WHEN NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00 THEN 0 ELSE 1 END) AS "violating_classes3", SUM(CASE WHEN NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00 THEN 0 ELSE class_rows END) AS "violating_rows3", MAX("m4") AS "worst4", SUM(CASE WHEN "m4" IS NULL THEN 1 ELSE 0 END) AS "unbounded4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS "violating_classes4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01 THEN 0 ELSE class_rows END) AS "violating_rows4" FROM «evaluate/achieved 2» AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "kanon_run_staged" AS checked;

-- release/copy
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "sex", "dx" FROM "kanon_run_staged" AS staged ORDER BY RANDOM() ASC;

-- release/count
SELECT COUNT(*) AS row_count, SUM("kanon_masked") AS masked_rows FROM "kanon_run_staged" AS counted;

-- release/labels
SELECT 0 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."sex" AS TEXT) COLLATE "binary" AS label, COUNT(*) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST(checked."sex" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l0" AS label, 1 AS known FROM "kanon_run_lookup0") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL AND (written.label IS NULL OR written.label <> '*');

-- «evaluate/achieved 4»
(SELECT "q0", value_code, CAST(COUNT(*) AS BIGINT) AS row_count FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, 1 AS row_count FROM "clinic"."kanon_run_release" AS checked) AS frequency GROUP BY "q0", value_code)

-- evaluate/achieved
WITH "kanon_run_with_cells" AS «evaluate/achieved 4», "kanon_run_with_numbers" AS (SELECT "q0", CAST(SUM(row_count) AS BIGINT) AS class_total, ROW_NUMBER() OVER (ORDER BY COUNT(*) ASC) AS class_number FROM "kanon_run_with_cells" AS cells GROUP BY "q0") SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0", MIN("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows1", MIN("m2") AS "worst2", SUM(CASE WHEN "m2" IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN "m2" >= 6.93147179559945315e-01 THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN "m2" >= 6.93147179559945315e-01 THEN 0 ELSE class_rows END) AS "violating_rows2", MAX("m3") AS "worst3", SUM(CASE WHEN "m3" IS NULL THEN 1 ELSE 0 END) AS "unbounded3", SUM(CASE WHEN NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00 THEN 0 ELSE 1 END) AS "violating_classes3", SUM(CASE WHEN NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00 THEN 0 ELSE class_rows END) AS "violating_rows3", MAX("m4") AS "worst4", SUM(CASE WHEN "m4" IS NULL THEN 1 ELSE 0 END) AS "unbounded4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS "violating_classes4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01 THEN 0 ELSE class_rows END) AS "violating_rows4" FROM «evaluate/achieved 2» AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '38de97c543e9b0e0a01aea03fc6af9814e2168fea6d3b38603909dfa544744f2', '{"published_at": "(the time)"}');

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_staged";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_sensitive0";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "v0", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- hierarchies/range
SELECT COUNT(*) AS out_of_range FROM (SELECT DISTINCT "q0" AS value FROM "kanon_run_raw") AS distinct_values WHERE NOT value IS NULL AND NOT (CAST(value AS DOUBLE) > -1000000000000000 AND CAST(value AS DOUBLE) < 1000000000000000);

-- «hierarchies/lookup_rules 8»
(CAST(FLOOR((CAST(value AS DECIMAL(28, 10)) - CASE WHEN CAST(value AS DECIMAL(28, 10)) > value THEN 0.0000000001 ELSE 0 END) * 1) AS BIGINT) - (((CAST(FLOOR((CAST(value AS DECIMAL(28, 10)) - CASE WHEN CAST(value AS DECIMAL(28, 10)) > value THEN 0.0000000001 ELSE 0 END) * 1) AS BIGINT) - 0) % 5) + 5) % 5)

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE ('[' || CAST(«hierarchies/lookup_rules 8» AS TEXT) || ', ' || CAST((«hierarchies/lookup_rules 8» + 5) AS TEXT) || ')') END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q1") AS distinct_values) AS own;

-- «hierarchies/coverage 6»
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup1" AS labels JOIN "kanon_run_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
«hierarchies/coverage 1»
UNION ALL
«hierarchies/coverage 6»;

-- frequency/label_numbers
«frequency/label_numbers 1»
UNION ALL
«frequency/label_numbers 2»
UNION ALL
SELECT 1 AS attribute, 0 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c0" AS among_all, MAX("c0") AS among_siblings, MAX("s0") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup1" GROUP BY "c0") AS labelled;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_values0" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c0" AS "code2", sensitive.code AS value_code, sensitive.reference_share AS reference_share, vectors.row_count AS row_count FROM (SELECT "q0", "q1", "v0", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value JOIN "kanon_run_sensitive0" AS sensitive ON vectors."v0" IS NOT DISTINCT FROM sensitive.value;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c0" AS "code2", vectors.row_count AS row_count FROM (SELECT "q0", "q1", CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0", "q1") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value;

-- «evaluate/node 2»
(SELECT "k0", "k1", value_code, value_rows, value_count, reference_share FROM (SELECT "code1" AS "k0", "code2" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share FROM "kanon_run_values0" GROUP BY "code1", "code2", value_code) AS counted)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0", 0 AS "padding_1" FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1" FROM «evaluate/node 2» AS ranked GROUP BY "k0", "k1") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", "k1", class_rows FROM (SELECT "k0", "k1", "class_rows", "class_size", "m1", CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1" FROM «evaluate/node 2» AS ranked GROUP BY "k0", "k1") AS classes) AS flagged WHERE satisfied = 0;

-- release/blocks
CREATE TEMPORARY TABLE "kanon_run_blocks" AS SELECT "lookup0".label AS "o0", "lookup1".label AS "o1", sensitive.value AS "o2", CASE WHEN classes.row_count - numbers.number * 1000 < 1000 THEN classes.row_count - numbers.number * 1000 ELSE 1000 END AS block_count FROM (SELECT "vectors"."code1" AS "code1", "vectors"."code2" AS "code2", value_code, CAST(SUM(row_count) AS BIGINT) AS row_count, CAST(FLOOR((SUM(row_count) + 1000 - 1) / 1000) AS BIGINT) AS block_count FROM "kanon_run_values0" AS vectors GROUP BY "vectors"."code1", "vectors"."code2", value_code) AS classes JOIN (SELECT DISTINCT "c0" AS code, "l0" AS label FROM "kanon_run_lookup0") AS "lookup0" ON "classes"."code1" = "lookup0".code JOIN (SELECT DISTINCT "c0" AS code, "l0" AS label FROM "kanon_run_lookup1") AS "lookup1" ON "classes"."code2" = "lookup1".code JOIN "kanon_run_sensitive0" AS sensitive ON classes.value_code IS NOT DISTINCT FROM sensitive.code LEFT JOIN "kanon_run_suppressed" AS suppressed ON classes."code1" = suppressed."k0" AND classes."code2" = suppressed."k1" CROSS JOIN UNNEST(RANGE("classes"."block_count")) AS numbers(number) WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- release/repeat
CREATE TABLE "clinic"."kanon_run_release" AS SELECT blocks."o0" AS "age", blocks."o1" AS "sex", blocks."o2" AS "dx" FROM "kanon_run_blocks" AS blocks CROSS JOIN UNNEST(RANGE("blocks"."block_count")) AS numbers(number);

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_blocks";

-- release/labels
SELECT 0 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."age" AS TEXT) COLLATE "binary" AS label, COUNT(*) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST(checked."age" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l0" AS label, 1 AS known FROM "kanon_run_lookup0") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL
UNION ALL
SELECT 1 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."sex" AS TEXT) COLLATE "binary" AS label, COUNT(*) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST(checked."sex" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l0" AS label, 1 AS known FROM "kanon_run_lookup1") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL;

-- «evaluate/achieved 5»
(SELECT "k0", "k1", value_code, value_rows, value_count, reference_share FROM (SELECT held."k0" AS "k0", held."k1" AS "k1", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, CAST(COUNT(*) AS BIGINT) AS value_rows, CAST(COUNT(*) AS BIGINT) AS value_count FROM (SELECT CAST("checked"."age" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, 1 AS row_count FROM "clinic"."kanon_run_release" AS checked) AS frequency GROUP BY "q0", "q1", value_code) AS held LEFT JOIN (SELECT value AS reference_value, reference_share FROM "kanon_run_sensitive0") AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share FROM (SELECT value AS reference_value, reference_share FROM "kanon_run_sensitive0") AS every_value) AS of_null) AS counted)

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0", MIN("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows1" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", "m1", CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 1 ELSE 0 END AS satisfied FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1" FROM «evaluate/achieved 5» AS ranked GROUP BY "k0", "k1") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'ff502f7f1493226b7486c1ba3d78c321a62c469e87b27e8a111080e33aee7418', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."age" AS TEXT) COLLATE "binary" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "q2", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."age" AS TEXT) COLLATE "binary", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- frequency/totals
SELECT (SELECT SUM(row_count) FROM "kanon_run_raw") AS row_count, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "q0" IS NULL OR "q1" IS NULL OR "q2" IS NULL) AS null_rows, NULL AS persons, NULL AS kept_persons, NULL AS most_vectors, NULL AS unknown_rows;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup2" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q2" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q2") AS distinct_values) AS own;

-- «hierarchies/coverage 7»
SELECT 2 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup2") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup2" AS labels JOIN "kanon_run_lookup2" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
«hierarchies/coverage 5»
UNION ALL
«hierarchies/coverage 2»
UNION ALL
«hierarchies/coverage 7»;

-- «frequency/label_numbers 12»
SELECT 2 AS attribute, 0 AS level, MAX(among_all) AS most_labels, MAX(among_siblings) AS most_siblings, SUM(CASE WHEN label_rows > 0 THEN 1 ELSE 0 END) AS labels, SUM(label_rows * label_size) AS covered, MAX(CASE WHEN label_rows > 0 THEN label_size ELSE 1 END) AS largest, SUM(CASE WHEN label_rows > 0 THEN CAST(label_rows AS DOUBLE) * LN(CAST(label_rows AS DOUBLE)) ELSE 0 END) AS row_log FROM (SELECT "c0" AS among_all, MAX("c0") AS among_siblings, MAX("s0") AS label_size, SUM(value_rows) AS label_rows FROM "kanon_run_lookup2" GROUP BY "c0") AS labelled

-- frequency/label_numbers
«frequency/label_numbers 11»
UNION ALL
«frequency/label_numbers 3»
UNION ALL
«frequency/label_numbers 4»
UNION ALL
«frequency/label_numbers 12»;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c0" AS "code0", "lookup1"."c1" AS "code1", "lookup1"."c0" AS "code2", "lookup2"."c0" AS "code3", vectors.row_count AS row_count FROM (SELECT "q0", "q1", "q2", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value JOIN "kanon_run_lookup2" AS "lookup2" ON vectors."q2" IS NOT DISTINCT FROM "lookup2".value;

-- «evaluate/partitions/order 1»
(SELECT used.code AS code, used.label AS label, CASE WHEN used.label IS NULL THEN 1 ELSE 0 END AS is_null, used.sort AS sort, COALESCE(counted.row_count, 0) AS row_count FROM "kanon_run_with_used" AS used LEFT JOIN "kanon_run_with_counted" AS counted ON used.code = counted.code)

-- «evaluate/partitions/order 2»
(SELECT placed.*, COUNT(*) OVER () AS used_values, CAST(SUM(row_count) OVER (ORDER BY value_position ASC) - row_count AS BIGINT) AS rows_before, CAST(SUM(row_count) OVER () AS BIGINT) AS row_total FROM "kanon_run_with_placed" AS placed)

-- evaluate/partitions/order
CREATE TEMPORARY TABLE "kanon_run_order0" AS WITH "kanon_run_with_used" AS (SELECT MIN("c0") AS code, l0 AS label, l0 AS sort FROM "kanon_run_lookup0" GROUP BY c0, l0), "kanon_run_with_counted" AS (SELECT "code0" AS code, SUM(row_count) AS row_count FROM "kanon_run_frequency" GROUP BY "code0"), "kanon_run_with_sortable" AS «evaluate/partitions/order 1», "kanon_run_with_placed" AS (SELECT sortable.*, ROW_NUMBER() OVER (ORDER BY is_null ASC, sort ASC) - 1 AS value_position FROM "kanon_run_with_sortable" AS sortable), "kanon_run_with_measured" AS «evaluate/partitions/order 2» SELECT code, label, is_null, value_position, value_position AS domain_position, CAST(DENSE_RANK() OVER (ORDER BY is_null ASC, CASE WHEN used_values <= 10 THEN value_position ELSE rows_before * 10 // row_total END ASC) - 1 AS INT) AS atom FROM "kanon_run_with_measured" AS measured;

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_positions1" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_positions1" VALUES
  ('M', '0'),
  ('it''s', '1'),
  ('F\', '2');

-- evaluate/partitions/order
CREATE TEMPORARY TABLE "kanon_run_order1" AS WITH "kanon_run_with_used" AS (SELECT MIN("c0") AS code, l0 AS label, l0 AS sort FROM "kanon_run_lookup1" GROUP BY c0, l0), "kanon_run_with_counted" AS (SELECT "code2" AS code, SUM(row_count) AS row_count FROM "kanon_run_frequency" GROUP BY "code2"), "kanon_run_with_sortable" AS (SELECT used.code AS code, used.label AS label, CASE WHEN used.label IS NULL THEN 1 ELSE 0 END AS is_null, COALESCE(CAST(positions.l1 AS INT), 0) AS sort, COALESCE(counted.row_count, 0) AS row_count FROM "kanon_run_with_used" AS used LEFT JOIN "kanon_run_positions1" AS positions ON used.label = positions.l0 LEFT JOIN "kanon_run_with_counted" AS counted ON used.code = counted.code), "kanon_run_with_placed" AS (SELECT sortable.*, ROW_NUMBER() OVER (ORDER BY is_null ASC, sort ASC) - 1 AS value_position FROM "kanon_run_with_sortable" AS sortable), "kanon_run_with_measured" AS «evaluate/partitions/order 2» SELECT code, label, is_null, value_position, sort AS domain_position, CAST(DENSE_RANK() OVER (ORDER BY is_null ASC, CASE WHEN used_values <= 10 THEN value_position ELSE rows_before * 10 // row_total END ASC) - 1 AS INT) AS atom FROM "kanon_run_with_measured" AS measured;

-- evaluate/partitions/order
CREATE TEMPORARY TABLE "kanon_run_order2" AS WITH "kanon_run_with_used" AS (SELECT MIN("c0") AS code, l0 AS label, l0 AS sort FROM "kanon_run_lookup2" GROUP BY c0, l0), "kanon_run_with_counted" AS (SELECT "code3" AS code, SUM(row_count) AS row_count FROM "kanon_run_frequency" GROUP BY "code3"), "kanon_run_with_sortable" AS «evaluate/partitions/order 1», "kanon_run_with_placed" AS (SELECT sortable.*, ROW_NUMBER() OVER (ORDER BY is_null ASC, sort ASC) - 1 AS value_position FROM "kanon_run_with_sortable" AS sortable), "kanon_run_with_measured" AS «evaluate/partitions/order 2» SELECT code, label, is_null, value_position, value_position AS domain_position, CAST(DENSE_RANK() OVER (ORDER BY is_null ASC, CASE WHEN used_values <= 10 THEN value_position ELSE rows_before * 10 // row_total END ASC) - 1 AS INT) AS atom FROM "kanon_run_with_measured" AS measured;

-- evaluate/partitions/count
SELECT 0 AS attribute, COUNT(DISTINCT atom) AS atoms FROM "kanon_run_order0"
UNION ALL
SELECT 1 AS attribute, COUNT(DISTINCT atom) AS atoms FROM "kanon_run_order1"
UNION ALL
SELECT 2 AS attribute, COUNT(DISTINCT atom) AS atoms FROM "kanon_run_order2";

-- evaluate/partitions/atoms
SELECT 0 AS attribute, atom, MIN(domain_position) AS first_position, MAX(domain_position) AS last_position, COUNT(*) AS atom_values, MAX(is_null) AS has_null FROM "kanon_run_order0" GROUP BY atom
UNION ALL
SELECT 1 AS attribute, atom, MIN(domain_position) AS first_position, MAX(domain_position) AS last_position, COUNT(*) AS atom_values, MAX(is_null) AS has_null FROM "kanon_run_order1" GROUP BY atom
UNION ALL
SELECT 2 AS attribute, atom, MIN(domain_position) AS first_position, MAX(domain_position) AS last_position, COUNT(*) AS atom_values, MAX(is_null) AS has_null FROM "kanon_run_order2" GROUP BY atom;

-- evaluate/partitions/vectors
CREATE TEMPORARY TABLE "kanon_run_atoms" AS SELECT "order0".atom AS "a0", "order1".atom AS "a1", "order2".atom AS "a2", CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_frequency" AS vectors JOIN "kanon_run_order0" AS "order0" ON "vectors"."code0" = "order0".code JOIN "kanon_run_order1" AS "order1" ON "vectors"."code2" = "order1".code JOIN "kanon_run_order2" AS "order2" ON "vectors"."code3" = "order2".code GROUP BY "order0".atom, "order1".atom, "order2".atom;

-- evaluate/partitions/spans
WITH "kanon_run_with_rolled" AS (SELECT "map0".interval_number AS "f0", "map1".interval_number AS "f1", "map2".interval_number AS "f2", MIN(CAST("map0".head_digit AS BIGINT) + CAST("map1".head_digit AS BIGINT) + CAST("map2".head_digit AS BIGINT)) AS "head0", MIN(CAST("map0".finest_digit AS BIGINT) + CAST("map1".finest_digit AS BIGINT) + CAST("map2".finest_digit AS BIGINT)) AS "finest0", MIN("map0".head_size) AS "head_size0", MIN("map0".finest_size) AS "size0", MIN("map1".head_size) AS "head_size1", MIN("map1".finest_size) AS "size1", MIN("map2".head_size) AS "head_size2", MIN("map2".finest_size) AS "size2", SUM(row_count) AS row_count FROM "kanon_run_atoms" JOIN (SELECT * FROM (VALUES (0, 0, 0, 0, 1, 1)) AS "map0" ("atom", "interval_number", "head_digit", "finest_digit", "head_size", "finest_size")) AS "map0" ON "a0" = "map0".atom JOIN (SELECT * FROM (VALUES (0, 0, 0, 0, 1, 1)) AS "map1" ("atom", "interval_number", "head_digit", "finest_digit", "head_size", "finest_size")) AS "map1" ON "a1" = "map1".atom JOIN (SELECT * FROM (VALUES (0, 0, 0, 0, 1, 1)) AS "map2" ("atom", "interval_number", "head_digit", "finest_digit", "head_size", "finest_size")) AS "map2" ON "a2" = "map2".atom GROUP BY "map0".interval_number, "map1".interval_number, "map2".interval_number), "kanon_run_with_placed" AS (SELECT spans."node" AS "node", spans."changes" AS "changes", spans."adds" AS "adds", spans."cut_at" AS "cut_at", spans."cut_low" AS "cut_low", spans."cut_high" AS "cut_high", spans."size_below" AS "size_below", spans."size_above" AS "size_above", rolled."head0" AS "head0", rolled."finest0" AS "finest0", rolled."head_size0" AS "head_size0", rolled."size0" AS "size0", rolled."head_size1" AS "head_size1", rolled."size1" AS "size1", rolled."head_size2" AS "head_size2", rolled."size2" AS "size2", rolled.row_count AS row_count, CASE spans.changes WHEN 0 THEN rolled."f0" WHEN 1 THEN rolled."f1" WHEN 2 THEN rolled."f2" ELSE -1 END AS place FROM "kanon_run_with_rolled" AS rolled CROSS JOIN (VALUES (0, -1, 1, 1073741824, 1073741824, 1073741824, 0, 0)) AS "spans" ("node", "changes", "adds", "cut_at", "cut_low", "cut_high", "size_below", "size_above")), "kanon_run_with_costed" AS (SELECT placed.*, CASE WHEN adds = 1 OR changes <> 0 OR place >= cut_high OR place < cut_low THEN "size0" ELSE size_below END AS "z0", CASE WHEN adds = 1 OR changes <> 1 OR place >= cut_high OR place < cut_low THEN "size1" ELSE size_below END AS "z1", CASE WHEN adds = 1 OR changes <> 2 OR place >= cut_high OR place < cut_low THEN "size2" ELSE size_below END AS "z2" FROM "kanon_run_with_placed" AS placed) SELECT k0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * "z0" ELSE 0 END) AS "covered_0", SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * "z1" ELSE 0 END) AS "covered_1", SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * "z2" ELSE 0 END) AS "covered_2", SUM(CASE WHEN ("class_size" >= 3) THEN "w0" ELSE 0 END) AS "least0", SUM(CASE WHEN ("class_size" >= 3) THEN "w1" ELSE 0 END) AS "least1", SUM(CASE WHEN ("class_size" >= 3) THEN "w2" ELSE 0 END) AS "least2" FROM (SELECT "node" AS "k0", "head0" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("head_size0") AS "z0", MIN("head_size1") AS "z1", MIN("head_size2") AS "z2", SUM("least0") AS "w0", SUM("least1") AS "w1", SUM("least2") AS "w2" FROM (SELECT node, "head0" + CASE WHEN adds = 0 THEN 0 WHEN place >= cut_at THEN 1 ELSE 0 END AS "head0", CASE WHEN adds = 0 OR changes <> 0 THEN "head_size0" WHEN place >= cut_high OR place < cut_low THEN "head_size0" WHEN place >= cut_at THEN size_above ELSE size_below END AS "head_size0", CASE WHEN adds = 0 OR changes <> 1 THEN "head_size1" WHEN place >= cut_high OR place < cut_low THEN "head_size1" WHEN place >= cut_at THEN size_above ELSE size_below END AS "head_size1", CASE WHEN adds = 0 OR changes <> 2 THEN "head_size2" WHEN place >= cut_high OR place < cut_low THEN "head_size2" WHEN place >= cut_at THEN size_above ELSE size_below END AS "head_size2", row_count * "z0" AS "least0", row_count * "z1" AS "least1", row_count * "z2" AS "least2", row_count FROM "kanon_run_with_costed" AS costed) AS moved GROUP BY "node", "head0") AS classes GROUP BY k0;

-- evaluate/partitions/coded
CREATE TEMPORARY TABLE "kanon_run_coded0" AS SELECT labels.value, labels.l0, labels.c0, CAST(COALESCE(placed.value_position, 0) AS BIGINT) AS d0, "labels"."c0" AS original, labels.s0, CAST(COALESCE(placed.interval_number, 0) AS BIGINT) AS c1, COALESCE(placed.interval_size, 1) AS s1, '*' AS l2 FROM "kanon_run_lookup0" AS labels LEFT JOIN (SELECT numbered.code AS code, numbered.value_position AS value_position, chosen.interval_number AS interval_number, chosen.interval_size AS interval_size FROM "kanon_run_order0" AS numbered JOIN (SELECT * FROM (VALUES (1, 0, 1, 1)) AS "chosen" ("interval_number", "first_atom", "end_atom", "interval_size")) AS chosen ON numbered.atom >= chosen.first_atom AND numbered.atom < chosen.end_atom) AS placed ON "labels"."c0" = placed.code;

-- evaluate/partitions/coded
CREATE TEMPORARY TABLE "kanon_run_coded1" AS SELECT labels.value, labels.l0, labels.c0, CAST(COALESCE(placed.value_position, 0) AS BIGINT) AS d0, "labels"."c0" AS original, labels.s0, CAST(COALESCE(placed.interval_number, 0) AS BIGINT) AS c1, COALESCE(placed.interval_size, 1) AS s1, '*' AS l2 FROM "kanon_run_lookup1" AS labels LEFT JOIN (SELECT numbered.code AS code, numbered.value_position AS value_position, chosen.interval_number AS interval_number, chosen.interval_size AS interval_size FROM "kanon_run_order1" AS numbered JOIN (SELECT * FROM (VALUES (1, 0, 1, 1)) AS "chosen" ("interval_number", "first_atom", "end_atom", "interval_size")) AS chosen ON numbered.atom >= chosen.first_atom AND numbered.atom < chosen.end_atom) AS placed ON "labels"."c0" = placed.code;

-- evaluate/partitions/coded
CREATE TEMPORARY TABLE "kanon_run_coded2" AS SELECT labels.value, labels.l0, labels.c0, CAST(COALESCE(placed.value_position, 0) AS BIGINT) AS d0, "labels"."c0" AS original, labels.s0, CAST(COALESCE(placed.interval_number, 0) AS BIGINT) AS c1, COALESCE(placed.interval_size, 1) AS s1, '*' AS l2 FROM "kanon_run_lookup2" AS labels LEFT JOIN (SELECT numbered.code AS code, numbered.value_position AS value_position, chosen.interval_number AS interval_number, chosen.interval_size AS interval_size FROM "kanon_run_order2" AS numbered JOIN (SELECT * FROM (VALUES (1, 0, 1, 1)) AS "chosen" ("interval_number", "first_atom", "end_atom", "interval_size")) AS chosen ON numbered.atom >= chosen.first_atom AND numbered.atom < chosen.end_atom) AS placed ON "labels"."c0" = placed.code;

-- evaluate/partitions/encode
CREATE TEMPORARY TABLE "kanon_run_intervals" AS SELECT "chosen0"."c1" + "chosen1"."c1" * 2 + "chosen2"."c1" * 4 AS "code0", vectors.row_count AS row_count FROM "kanon_run_frequency" AS vectors JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded0") AS "chosen0" ON "vectors"."code0" = "chosen0".original JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded1") AS "chosen1" ON "vectors"."code2" = "chosen1".original JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded2") AS "chosen2" ON "vectors"."code3" = "chosen2".original;

-- «frequency/marginals 1»
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS labels, SUM(label_rows * label_size) AS covered, MAX(label_size) AS largest, SUM(CAST(label_rows AS DOUBLE) * LN(label_rows)) AS row_log FROM (SELECT ("code0" & 1) AS code, SUM(row_count) AS label_rows FROM "kanon_run_intervals" GROUP BY ("code0" & 1)) AS labels JOIN (SELECT DISTINCT "c1" AS code, "s0" AS "label_size" FROM "kanon_run_coded0") AS sizes ON labels.code = sizes.code

-- «frequency/marginals 2»
SELECT 0 AS attribute, 1 AS level, COUNT(*) AS labels, SUM(label_rows * label_size) AS covered, MAX(label_size) AS largest, SUM(CAST(label_rows AS DOUBLE) * LN(label_rows)) AS row_log FROM (SELECT ("code0" & 1) AS code, SUM(row_count) AS label_rows FROM "kanon_run_intervals" GROUP BY ("code0" & 1)) AS labels JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "label_size" FROM "kanon_run_coded0") AS sizes ON labels.code = sizes.code

-- «frequency/marginals 3»
SELECT 1 AS attribute, 0 AS level, COUNT(*) AS labels, SUM(label_rows * label_size) AS covered, MAX(label_size) AS largest, SUM(CAST(label_rows AS DOUBLE) * LN(label_rows)) AS row_log FROM (SELECT ("code0" & 2) AS code, SUM(row_count) AS label_rows FROM "kanon_run_intervals" GROUP BY ("code0" & 2)) AS labels JOIN (SELECT DISTINCT "c1" * 2 AS code, "s0" AS "label_size" FROM "kanon_run_coded1") AS sizes ON labels.code = sizes.code

-- «frequency/marginals 4»
SELECT 1 AS attribute, 1 AS level, COUNT(*) AS labels, SUM(label_rows * label_size) AS covered, MAX(label_size) AS largest, SUM(CAST(label_rows AS DOUBLE) * LN(label_rows)) AS row_log FROM (SELECT ("code0" & 2) AS code, SUM(row_count) AS label_rows FROM "kanon_run_intervals" GROUP BY ("code0" & 2)) AS labels JOIN (SELECT DISTINCT "c1" * 2 AS code, "s1" AS "label_size" FROM "kanon_run_coded1") AS sizes ON labels.code = sizes.code

-- frequency/marginals
«frequency/marginals 1»
UNION ALL
«frequency/marginals 2»
UNION ALL
«frequency/marginals 3»
UNION ALL
«frequency/marginals 4»
UNION ALL
SELECT 2 AS attribute, 0 AS level, COUNT(*) AS labels, SUM(label_rows * label_size) AS covered, MAX(label_size) AS largest, SUM(CAST(label_rows AS DOUBLE) * LN(label_rows)) AS row_log FROM (SELECT ("code0" & 4) AS code, SUM(row_count) AS label_rows FROM "kanon_run_intervals" GROUP BY ("code0" & 4)) AS labels JOIN (SELECT DISTINCT "c1" * 4 AS code, "s0" AS "label_size" FROM "kanon_run_coded2") AS sizes ON labels.code = sizes.code
UNION ALL
SELECT 2 AS attribute, 1 AS level, COUNT(*) AS labels, SUM(label_rows * label_size) AS covered, MAX(label_size) AS largest, SUM(CAST(label_rows AS DOUBLE) * LN(label_rows)) AS row_log FROM (SELECT ("code0" & 4) AS code, SUM(row_count) AS label_rows FROM "kanon_run_intervals" GROUP BY ("code0" & 4)) AS labels JOIN (SELECT DISTINCT "c1" * 4 AS code, "s1" AS "label_size" FROM "kanon_run_coded2") AS sizes ON labels.code = sizes.code;

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_intervals") AS row_count;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * "y0" ELSE 0 END) AS "covered_0", SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * "y1" ELSE 0 END) AS "covered_1", SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * "y2" ELSE 0 END) AS "covered_2" FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN(("code0" & 1)) AS "z0", MIN(("code0" & 2)) AS "z1", MIN(("code0" & 4)) AS "z2" FROM "kanon_run_intervals" GROUP BY "code0") AS classes JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "y0" FROM "kanon_run_coded0") AS "sizes0" ON classes."z0" = "sizes0".code JOIN (SELECT DISTINCT "c1" * 2 AS code, "s1" AS "y1" FROM "kanon_run_coded1") AS "sizes1" ON classes."z1" = "sizes1".code JOIN (SELECT DISTINCT "c1" * 4 AS code, "s1" AS "y2" FROM "kanon_run_coded2") AS "sizes2" ON classes."z2" = "sizes2".code;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_intervals" GROUP BY "code0") AS classes) AS flagged WHERE satisfied = 0;

-- evaluate/partitions/held
CREATE TEMPORARY TABLE "kanon_run_held0" AS SELECT numbered.label AS label, numbered.value_position AS value_position, numbered.is_null AS is_null, placed.c1 AS interval_number, held.holders AS holders FROM (SELECT ("vectors"."code0" & 1) AS code, SUM(row_count) AS holders FROM "kanon_run_intervals" AS vectors LEFT JOIN "kanon_run_suppressed" AS suppressed ON "vectors"."code0" = suppressed."k0" WHERE suppressed.class_rows IS NULL GROUP BY ("vectors"."code0" & 1)) AS held JOIN (SELECT DISTINCT "c1" AS code, original, c1 FROM "kanon_run_coded0") AS placed ON held.code = placed.code JOIN "kanon_run_order0" AS numbered ON placed.original = numbered.code;

-- evaluate/partitions/ends
CREATE TEMPORARY TABLE "kanon_run_ends0" AS SELECT bounds.interval_number AS interval_number, CASE WHEN bounds.low_position = bounds.high_position THEN 1 ELSE 0 END AS is_single, bounds.has_null AS has_null, lowest.label AS low_label, lowest.holders AS low_holders, highest.label AS high_label, highest.holders AS high_holders FROM (SELECT interval_number, MIN(CASE WHEN is_null = 0 THEN value_position END) AS low_position, MAX(CASE WHEN is_null = 0 THEN value_position END) AS high_position, MAX(is_null) AS has_null FROM "kanon_run_held0" GROUP BY interval_number) AS bounds LEFT JOIN "kanon_run_held0" AS lowest ON bounds.low_position = lowest.value_position LEFT JOIN "kanon_run_held0" AS highest ON bounds.high_position = highest.value_position;

-- evaluate/partitions/labels
CREATE TEMPORARY TABLE "kanon_run_labels0" AS SELECT interval_number, CASE WHEN low_label IS NULL THEN NULL WHEN has_null = 1 THEN values_label || ' or NULL' ELSE values_label END COLLATE "binary" AS label, rare FROM (SELECT interval_number, low_label, has_null, CASE WHEN is_single = 1 THEN low_label ELSE 'not NULL' END AS values_label, CASE WHEN is_single = 1 OR low_label IS NULL THEN 0 WHEN interval_number > 1 AND lower_holders < 2 THEN 1 WHEN interval_number < 1 AND upper_holders < 2 THEN 1 ELSE 0 END AS rare FROM (SELECT own.interval_number AS interval_number, own.is_single AS is_single, own.has_null AS has_null, own.low_label AS low_label, CASE WHEN below.high_holders > own.low_holders THEN '(' ELSE '[' END AS lower_mark, CASE WHEN below.high_holders > own.low_holders THEN below.high_label ELSE own.low_label END AS lower_label, CASE WHEN below.high_holders > own.low_holders THEN below.high_holders ELSE own.low_holders END AS lower_holders, CASE WHEN above.low_holders >= own.high_holders THEN ')' ELSE ']' END AS upper_mark, CASE WHEN above.low_holders >= own.high_holders THEN above.low_label ELSE own.high_label END AS upper_label, CASE WHEN above.low_holders >= own.high_holders THEN above.low_holders ELSE own.high_holders END AS upper_holders FROM "kanon_run_ends0" AS own LEFT JOIN "kanon_run_ends0" AS below ON own.interval_number = below.interval_number + 1 LEFT JOIN "kanon_run_ends0" AS above ON own.interval_number = above.interval_number - 1) AS sides) AS labelled;

-- evaluate/partitions/intervals
CREATE TEMPORARY TABLE "kanon_run_interval0" AS SELECT coded.value, coded.l0, coded.c0, coded.d0, coded.s0, CASE WHEN NOT labelled.interval_number IS NULL THEN labelled.label WHEN coded.c1 > 0 THEN '*' END COLLATE "binary" AS l1, coded.c1, coded.s1, coded.l2 FROM "kanon_run_coded0" AS coded LEFT JOIN "kanon_run_labels0" AS labelled ON coded.c1 = labelled.interval_number;

-- evaluate/partitions/held
CREATE TEMPORARY TABLE "kanon_run_held1" AS SELECT numbered.label AS label, numbered.value_position AS value_position, numbered.is_null AS is_null, placed.c1 AS interval_number, held.holders AS holders FROM (SELECT ("vectors"."code0" & 2) AS code, SUM(row_count) AS holders FROM "kanon_run_intervals" AS vectors LEFT JOIN "kanon_run_suppressed" AS suppressed ON "vectors"."code0" = suppressed."k0" WHERE suppressed.class_rows IS NULL GROUP BY ("vectors"."code0" & 2)) AS held JOIN (SELECT DISTINCT "c1" * 2 AS code, original, c1 FROM "kanon_run_coded1") AS placed ON held.code = placed.code JOIN "kanon_run_order1" AS numbered ON placed.original = numbered.code;

-- evaluate/partitions/ends
CREATE TEMPORARY TABLE "kanon_run_ends1" AS SELECT bounds.interval_number AS interval_number, CASE WHEN bounds.low_position = bounds.high_position THEN 1 ELSE 0 END AS is_single, bounds.has_null AS has_null, lowest.label AS low_label, lowest.holders AS low_holders, highest.label AS high_label, highest.holders AS high_holders FROM (SELECT interval_number, MIN(CASE WHEN is_null = 0 THEN value_position END) AS low_position, MAX(CASE WHEN is_null = 0 THEN value_position END) AS high_position, MAX(is_null) AS has_null FROM "kanon_run_held1" GROUP BY interval_number) AS bounds LEFT JOIN "kanon_run_held1" AS lowest ON bounds.low_position = lowest.value_position LEFT JOIN "kanon_run_held1" AS highest ON bounds.high_position = highest.value_position;

-- evaluate/partitions/labels
CREATE TEMPORARY TABLE "kanon_run_labels1" AS SELECT interval_number, CASE WHEN low_label IS NULL THEN NULL WHEN has_null = 1 THEN values_label || ' or NULL' ELSE values_label END COLLATE "binary" AS label, rare FROM (SELECT interval_number, low_label, has_null, CASE WHEN is_single = 1 THEN low_label ELSE lower_label || '..' || upper_label END AS values_label, CASE WHEN is_single = 1 OR low_label IS NULL THEN 0 WHEN lower_holders < 2 THEN 1 WHEN upper_holders < 2 THEN 1 ELSE 0 END AS rare FROM (SELECT own.interval_number AS interval_number, own.is_single AS is_single, own.has_null AS has_null, own.low_label AS low_label, own.low_label AS lower_label, own.low_holders AS lower_holders, own.high_label AS upper_label, own.high_holders AS upper_holders FROM "kanon_run_ends1" AS own) AS sides) AS labelled;

-- evaluate/partitions/intervals
CREATE TEMPORARY TABLE "kanon_run_interval1" AS SELECT coded.value, coded.l0, coded.c0, coded.d0, coded.s0, CASE WHEN NOT labelled.interval_number IS NULL THEN labelled.label WHEN coded.c1 > 0 THEN '*' END COLLATE "binary" AS l1, coded.c1, coded.s1, coded.l2 FROM "kanon_run_coded1" AS coded LEFT JOIN "kanon_run_labels1" AS labelled ON coded.c1 = labelled.interval_number;

-- evaluate/partitions/held
CREATE TEMPORARY TABLE "kanon_run_held2" AS SELECT numbered.label AS label, numbered.value_position AS value_position, numbered.is_null AS is_null, placed.c1 AS interval_number, held.holders AS holders FROM (SELECT ("vectors"."code0" & 4) AS code, SUM(row_count) AS holders FROM "kanon_run_intervals" AS vectors LEFT JOIN "kanon_run_suppressed" AS suppressed ON "vectors"."code0" = suppressed."k0" WHERE suppressed.class_rows IS NULL GROUP BY ("vectors"."code0" & 4)) AS held JOIN (SELECT DISTINCT "c1" * 4 AS code, original, c1 FROM "kanon_run_coded2") AS placed ON held.code = placed.code JOIN "kanon_run_order2" AS numbered ON placed.original = numbered.code;

-- evaluate/partitions/ends
CREATE TEMPORARY TABLE "kanon_run_ends2" AS SELECT bounds.interval_number AS interval_number, CASE WHEN bounds.low_position = bounds.high_position THEN 1 ELSE 0 END AS is_single, bounds.has_null AS has_null, lowest.label AS low_label, lowest.holders AS low_holders, highest.label AS high_label, highest.holders AS high_holders FROM (SELECT interval_number, MIN(CASE WHEN is_null = 0 THEN value_position END) AS low_position, MAX(CASE WHEN is_null = 0 THEN value_position END) AS high_position, MAX(is_null) AS has_null FROM "kanon_run_held2" GROUP BY interval_number) AS bounds LEFT JOIN "kanon_run_held2" AS lowest ON bounds.low_position = lowest.value_position LEFT JOIN "kanon_run_held2" AS highest ON bounds.high_position = highest.value_position;

-- evaluate/partitions/labels
CREATE TEMPORARY TABLE "kanon_run_labels2" AS SELECT interval_number, CASE WHEN low_label IS NULL THEN NULL WHEN has_null = 1 THEN values_label || ' or NULL' ELSE values_label END COLLATE "binary" AS label, rare FROM (SELECT interval_number, low_label, has_null, CASE WHEN is_single = 1 THEN low_label ELSE 'not NULL' END AS values_label, CASE WHEN is_single = 1 OR low_label IS NULL THEN 0 WHEN interval_number > 1 AND lower_holders < 2 THEN 1 WHEN interval_number < 1 AND upper_holders < 2 THEN 1 ELSE 0 END AS rare FROM (SELECT own.interval_number AS interval_number, own.is_single AS is_single, own.has_null AS has_null, own.low_label AS low_label, CASE WHEN below.high_holders > own.low_holders THEN '(' ELSE '[' END AS lower_mark, CASE WHEN below.high_holders > own.low_holders THEN below.high_label ELSE own.low_label END AS lower_label, CASE WHEN below.high_holders > own.low_holders THEN below.high_holders ELSE own.low_holders END AS lower_holders, CASE WHEN above.low_holders >= own.high_holders THEN ')' ELSE ']' END AS upper_mark, CASE WHEN above.low_holders >= own.high_holders THEN above.low_label ELSE own.high_label END AS upper_label, CASE WHEN above.low_holders >= own.high_holders THEN above.low_holders ELSE own.high_holders END AS upper_holders FROM "kanon_run_ends2" AS own LEFT JOIN "kanon_run_ends2" AS below ON own.interval_number = below.interval_number + 1 LEFT JOIN "kanon_run_ends2" AS above ON own.interval_number = above.interval_number - 1) AS sides) AS labelled;

-- evaluate/partitions/intervals
CREATE TEMPORARY TABLE "kanon_run_interval2" AS SELECT coded.value, coded.l0, coded.c0, coded.d0, coded.s0, CASE WHEN NOT labelled.interval_number IS NULL THEN labelled.label WHEN coded.c1 > 0 THEN '*' END COLLATE "binary" AS l1, coded.c1, coded.s1, coded.l2 FROM "kanon_run_coded2" AS coded LEFT JOIN "kanon_run_labels2" AS labelled ON coded.c1 = labelled.interval_number;

-- evaluate/partitions/described
SELECT 0 AS attribute, COUNT(label) AS intervals, COUNT(DISTINCT label) AS interval_labels, COALESCE(SUM(rare), 0) AS rare_intervals FROM "kanon_run_labels0"
UNION ALL
SELECT 1 AS attribute, COUNT(label) AS intervals, COUNT(DISTINCT label) AS interval_labels, COALESCE(SUM(rare), 0) AS rare_intervals FROM "kanon_run_labels1"
UNION ALL
SELECT 2 AS attribute, COUNT(label) AS intervals, COUNT(DISTINCT label) AS interval_labels, COALESCE(SUM(rare), 0) AS rare_intervals FROM "kanon_run_labels2";

-- release/blocks
CREATE TEMPORARY TABLE "kanon_run_blocks" AS SELECT "lookup0".label AS "o0", "lookup1".label AS "o1", "lookup2".label AS "o2", CASE WHEN classes.row_count - numbers.number * 1000 < 1000 THEN classes.row_count - numbers.number * 1000 ELSE 1000 END AS block_count FROM (SELECT "vectors"."code0" AS "code0", CAST(SUM(row_count) AS BIGINT) AS row_count, CAST(FLOOR((SUM(row_count) + 1000 - 1) / 1000) AS BIGINT) AS block_count FROM "kanon_run_intervals" AS vectors GROUP BY "vectors"."code0") AS classes JOIN (SELECT DISTINCT "c1" AS code, "l1" AS label FROM "kanon_run_interval0") AS "lookup0" ON ("classes"."code0" & 1) = "lookup0".code JOIN (SELECT DISTINCT "c1" * 2 AS code, "l1" AS label FROM "kanon_run_interval1") AS "lookup1" ON ("classes"."code0" & 2) = "lookup1".code JOIN (SELECT DISTINCT "c1" * 4 AS code, "l1" AS label FROM "kanon_run_interval2") AS "lookup2" ON ("classes"."code0" & 4) = "lookup2".code LEFT JOIN "kanon_run_suppressed" AS suppressed ON classes."code0" = suppressed."k0" CROSS JOIN UNNEST(RANGE("classes"."block_count")) AS numbers(number) WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- evaluate/examine/counted
CREATE TEMPORARY TABLE "kanon_run_counted" AS SELECT CAST("checked"."age" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS "q2", CAST(COUNT(*) AS BIGINT) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST("checked"."age" AS TEXT) COLLATE "binary", CAST("checked"."sex" AS TEXT) COLLATE "binary", CAST("checked"."dx" AS TEXT) COLLATE "binary";

-- release/labels
SELECT 0 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."q0" AS TEXT) COLLATE "binary" AS label, SUM(row_count) AS row_count FROM "kanon_run_counted" AS checked GROUP BY CAST(checked."q0" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l1" AS label, 1 AS known FROM "kanon_run_interval0") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL
UNION ALL
SELECT 1 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."q1" AS TEXT) COLLATE "binary" AS label, SUM(row_count) AS row_count FROM "kanon_run_counted" AS checked GROUP BY CAST(checked."q1" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l1" AS label, 1 AS known FROM "kanon_run_interval1") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL
UNION ALL
SELECT 2 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."q2" AS TEXT) COLLATE "binary" AS label, SUM(row_count) AS row_count FROM "kanon_run_counted" AS checked GROUP BY CAST(checked."q2" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l1" AS label, 1 AS known FROM "kanon_run_interval2") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM (SELECT CAST("checked"."q0" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."q1" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."q2" AS TEXT) COLLATE "binary" AS "q2", checked.row_count AS row_count FROM "kanon_run_counted" AS checked) AS frequency GROUP BY "q0", "q1", "q2") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '37236d999ceaaacda3f02b6e0874dfaf7a77397d5aa9db32ab164edb795c8139', '{"published_at": "(the time)"}');

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_interval2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_labels2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_ends2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_held2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_interval1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_labels1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_ends1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_held1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_interval0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_labels0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_ends0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_held0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_intervals";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_coded2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_coded1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_coded0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_atoms";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_order2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_order1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_positions1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_order0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_lookup2";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS "unit", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST("kanon_source"."person" AS TEXT) COLLATE "binary";

-- frequency/totals
SELECT (SELECT SUM(row_count) FROM "kanon_run_raw") AS row_count, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "q0" IS NULL OR "q1" IS NULL) AS null_rows, (SELECT COUNT(DISTINCT "unit") FROM "kanon_run_raw") AS persons, NULL AS kept_persons, (SELECT MAX(vectors) FROM (SELECT "unit", COUNT(*) AS vectors FROM (SELECT DISTINCT "unit", "q0", "q1" FROM "kanon_run_raw" WHERE NOT "unit" IS NULL) AS person_vectors GROUP BY "unit") AS vectors_per_person) AS most_vectors, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "unit" IS NULL) AS unknown_rows;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c1" AS "code2", "lookup1"."c0" AS "code3", vectors.person_count AS person_count, vectors.row_count AS row_count FROM (SELECT "q0", "q1", COUNT(DISTINCT "unit") AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0", "q1") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value;

-- verbs/render/several_texts
SELECT COUNT(*) AS several_texts FROM (SELECT kanon_source."person" AS value FROM "clinic"."visits" AS kanon_source GROUP BY kanon_source."person" HAVING MIN(CAST(kanon_source."person" AS TEXT) COLLATE "binary") <> MAX(CAST(kanon_source."person" AS TEXT) COLLATE "binary")) AS written_values;

-- evaluate/partitions/order
CREATE TEMPORARY TABLE "kanon_run_order0" AS WITH "kanon_run_with_used" AS (SELECT MIN("c0") AS code, l0 AS label, MIN(value) AS sort FROM "kanon_run_lookup0" GROUP BY c0, l0), "kanon_run_with_sortable" AS (SELECT used.code AS code, used.label AS label, CASE WHEN used.label IS NULL THEN 1 ELSE 0 END AS is_null, used.sort AS sort FROM "kanon_run_with_used" AS used), "kanon_run_with_placed" AS (SELECT sortable.*, ROW_NUMBER() OVER (ORDER BY is_null ASC, sort ASC) - 1 AS value_position FROM "kanon_run_with_sortable" AS sortable) SELECT code, label, is_null, value_position, value_position AS domain_position, CAST(DENSE_RANK() OVER (ORDER BY is_null ASC, value_position ASC) - 1 AS INT) AS atom FROM "kanon_run_with_placed" AS placed;

-- evaluate/partitions/order
CREATE TEMPORARY TABLE "kanon_run_order1" AS WITH "kanon_run_with_used" AS (SELECT MIN("c0") AS code, l0 AS label, l0 AS sort FROM "kanon_run_lookup1" GROUP BY c0, l0), "kanon_run_with_sortable" AS (SELECT used.code AS code, used.label AS label, CASE WHEN used.label IS NULL THEN 1 ELSE 0 END AS is_null, COALESCE(CAST(positions.l1 AS INT), 0) AS sort FROM "kanon_run_with_used" AS used LEFT JOIN "kanon_run_positions1" AS positions ON used.label = positions.l0), "kanon_run_with_placed" AS (SELECT sortable.*, ROW_NUMBER() OVER (ORDER BY is_null ASC, sort ASC) - 1 AS value_position FROM "kanon_run_with_sortable" AS sortable) SELECT code, label, is_null, value_position, sort AS domain_position, CAST(DENSE_RANK() OVER (ORDER BY is_null ASC, value_position ASC) - 1 AS INT) AS atom FROM "kanon_run_with_placed" AS placed;

-- evaluate/partitions/count
SELECT 0 AS attribute, COUNT(DISTINCT atom) AS atoms FROM "kanon_run_order0"
UNION ALL
SELECT 1 AS attribute, COUNT(DISTINCT atom) AS atoms FROM "kanon_run_order1";

-- evaluate/partitions/atoms
SELECT 0 AS attribute, atom, MIN(domain_position) AS first_position, MAX(domain_position) AS last_position, COUNT(*) AS atom_values, MAX(is_null) AS has_null FROM "kanon_run_order0" GROUP BY atom
UNION ALL
SELECT 1 AS attribute, atom, MIN(domain_position) AS first_position, MAX(domain_position) AS last_position, COUNT(*) AS atom_values, MAX(is_null) AS has_null FROM "kanon_run_order1" GROUP BY atom;

-- evaluate/partitions/vectors
CREATE TEMPORARY TABLE "kanon_run_atoms" AS SELECT "order0".atom AS "a0", "order1".atom AS "a1", SUM(person_count) AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_frequency" AS vectors JOIN "kanon_run_order0" AS "order0" ON "vectors"."code1" = "order0".code JOIN "kanon_run_order1" AS "order1" ON "vectors"."code3" = "order1".code GROUP BY "order0".atom, "order1".atom;

-- evaluate/partitions/spans
WITH "kanon_run_with_rolled" AS (SELECT "map0".interval_number AS "f0", "map1".interval_number AS "f1", MIN(CAST("map0".head_digit AS BIGINT) + CAST("map1".head_digit AS BIGINT)) AS "head0", MIN(CAST("map0".finest_digit AS BIGINT) + CAST("map1".finest_digit AS BIGINT)) AS "finest0", SUM(person_count) AS person_count, SUM(row_count) AS row_count FROM "kanon_run_atoms" JOIN (SELECT * FROM (VALUES (0, 0, 0, 0)) AS "map0" ("atom", "interval_number", "head_digit", "finest_digit")) AS "map0" ON "a0" = "map0".atom JOIN (SELECT * FROM (VALUES (0, 0, 0, 0)) AS "map1" ("atom", "interval_number", "head_digit", "finest_digit")) AS "map1" ON "a1" = "map1".atom GROUP BY "map0".interval_number, "map1".interval_number), "kanon_run_with_placed" AS (SELECT spans."node" AS "node", spans."changes" AS "changes", spans."adds" AS "adds", spans."cut_at" AS "cut_at", rolled."head0" AS "head0", rolled."finest0" AS "finest0", rolled.person_count AS person_count, rolled.row_count AS row_count, CASE spans.changes WHEN 0 THEN rolled."f0" WHEN 1 THEN rolled."f1" ELSE -1 END AS place FROM "kanon_run_with_rolled" AS rolled CROSS JOIN (VALUES (0, -1, 1, 1073741824)) AS "spans" ("node", "changes", "adds", "cut_at")), "kanon_run_with_costed" AS (SELECT placed.*, SUM(row_count) OVER (PARTITION BY node, "finest0" - CASE WHEN adds = 0 AND place >= cut_at THEN CASE changes WHEN 0 THEN 2 WHEN 1 THEN 4 ELSE 0 END ELSE 0 END) AS finest_rows FROM "kanon_run_with_placed" AS placed) SELECT k0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * class_rows ELSE 0 END) AS "kept_squares", SUM(class_rows * class_rows) AS "squares", SUM(CASE WHEN ("class_size" >= 3) THEN "w0" ELSE 0 END) AS "least0" FROM (SELECT "node" AS "k0", "head0" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size, SUM("least0") AS "w0" FROM (SELECT node, "head0" + CASE WHEN adds = 0 THEN 0 WHEN place >= cut_at THEN 1 ELSE 0 END AS "head0", row_count * CASE WHEN finest_rows < 3 THEN 3 ELSE finest_rows END AS "least0", person_count, row_count FROM "kanon_run_with_costed" AS costed) AS moved GROUP BY "node", "head0") AS classes GROUP BY k0;

-- evaluate/partitions/encode
CREATE TEMPORARY TABLE "kanon_run_intervals" AS SELECT "chosen0"."c1" + "chosen1"."c1" * 2 AS "code0", vectors.person_count AS person_count, vectors.row_count AS row_count FROM "kanon_run_frequency" AS vectors JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded0") AS "chosen0" ON "vectors"."code1" = "chosen0".original JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded1") AS "chosen1" ON "vectors"."code3" = "chosen1".original;

-- frequency/marginals
«frequency/marginals 1»
UNION ALL
«frequency/marginals 2»
UNION ALL
«frequency/marginals 3»
UNION ALL
«frequency/marginals 4»;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * class_rows ELSE 0 END) AS "kept_squares", SUM(class_rows * class_rows) AS "squares" FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_intervals" GROUP BY "code0") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_intervals" GROUP BY "code0") AS classes) AS flagged WHERE satisfied = 0;

-- evaluate/partitions/held
CREATE TEMPORARY TABLE "kanon_run_held0" AS SELECT numbered.label AS label, numbered.value_position AS value_position, numbered.is_null AS is_null, placed.c1 AS interval_number, held.holders AS holders FROM (SELECT ("vectors"."code0" & 1) AS code, SUM(person_count) AS holders FROM "kanon_run_intervals" AS vectors LEFT JOIN "kanon_run_suppressed" AS suppressed ON "vectors"."code0" = suppressed."k0" WHERE suppressed.class_rows IS NULL GROUP BY ("vectors"."code0" & 1)) AS held JOIN (SELECT DISTINCT "c1" AS code, original, c1 FROM "kanon_run_coded0") AS placed ON held.code = placed.code JOIN "kanon_run_order0" AS numbered ON placed.original = numbered.code;

-- evaluate/partitions/held
CREATE TEMPORARY TABLE "kanon_run_held1" AS SELECT numbered.label AS label, numbered.value_position AS value_position, numbered.is_null AS is_null, placed.c1 AS interval_number, held.holders AS holders FROM (SELECT ("vectors"."code0" & 2) AS code, SUM(person_count) AS holders FROM "kanon_run_intervals" AS vectors LEFT JOIN "kanon_run_suppressed" AS suppressed ON "vectors"."code0" = suppressed."k0" WHERE suppressed.class_rows IS NULL GROUP BY ("vectors"."code0" & 2)) AS held JOIN (SELECT DISTINCT "c1" * 2 AS code, original, c1 FROM "kanon_run_coded1") AS placed ON held.code = placed.code JOIN "kanon_run_order1" AS numbered ON placed.original = numbered.code;

-- evaluate/partitions/described
SELECT 0 AS attribute, COUNT(label) AS intervals, COUNT(DISTINCT label) AS interval_labels, COALESCE(SUM(rare), 0) AS rare_intervals FROM "kanon_run_labels0"
UNION ALL
SELECT 1 AS attribute, COUNT(label) AS intervals, COUNT(DISTINCT label) AS interval_labels, COALESCE(SUM(rare), 0) AS rare_intervals FROM "kanon_run_labels1";

-- release/write
CREATE TEMPORARY TABLE "kanon_run_staged" AS SELECT "lookup0"."l1" AS "age", "lookup1"."l1" AS "sex", "kanon_source"."dx" AS "dx", CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS "kanon_unit" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_interval0" AS "lookup0" ON "kanon_source"."age" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_interval1" AS "lookup1" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup1".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c1" + "lookup1"."c1" * 2 = suppressed."k0" WHERE suppressed.class_rows IS NULL;

-- release/copy
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "age", "sex", "dx" FROM "kanon_run_staged" AS staged ORDER BY RANDOM() ASC;

-- release/count
SELECT COUNT(*) AS row_count, COUNT(DISTINCT "kanon_unit") AS persons FROM "kanon_run_staged" AS counted;

-- release/labels
SELECT 0 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."age" AS TEXT) COLLATE "binary" AS label, COUNT(*) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST(checked."age" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l1" AS label, 1 AS known FROM "kanon_run_interval0") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL
UNION ALL
SELECT 1 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."sex" AS TEXT) COLLATE "binary" AS label, COUNT(*) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST(checked."sex" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l1" AS label, 1 AS known FROM "kanon_run_interval1") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size FROM (SELECT CAST("checked"."age" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."kanon_unit" AS TEXT) COLLATE "binary" AS unit, 1 AS row_count FROM "kanon_run_staged" AS checked) AS frequency GROUP BY "q0", "q1") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "kanon_run_staged" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'b1a10c627d0f77adf005f6996f59d6279bccae9d1015c420361fd928db55c8a3', '{"published_at": "(the time)"}');

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_values0" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c1" AS "code2", "lookup1"."c0" AS "code3", sensitive.code AS value_code, sensitive.reference_share AS reference_share, vectors.row_count AS row_count FROM (SELECT "q0", "q1", "v0", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value JOIN "kanon_run_sensitive0" AS sensitive ON vectors."v0" IS NOT DISTINCT FROM sensitive.value;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c1" AS "code2", "lookup1"."c0" AS "code3", vectors.row_count AS row_count FROM (SELECT "q0", "q1", CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0", "q1") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value;

-- evaluate/partitions/vectors
CREATE TEMPORARY TABLE "kanon_run_atoms" AS SELECT "order0".atom AS "a0", "order1".atom AS "a1", CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_frequency" AS vectors JOIN "kanon_run_order0" AS "order0" ON "vectors"."code1" = "order0".code JOIN "kanon_run_order1" AS "order1" ON "vectors"."code3" = "order1".code GROUP BY "order0".atom, "order1".atom;

-- evaluate/partitions/vectors
CREATE TEMPORARY TABLE "kanon_run_atoms0" AS SELECT "order0".atom AS "a0", "order1".atom AS "a1", value_code, MIN(reference_share) AS reference_share, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_values0" AS vectors JOIN "kanon_run_order0" AS "order0" ON "vectors"."code1" = "order0".code JOIN "kanon_run_order1" AS "order1" ON "vectors"."code3" = "order1".code GROUP BY "order0".atom, "order1".atom, value_code;

-- evaluate/partitions/spans
WITH "kanon_run_with_rolled" AS (SELECT "map0".interval_number AS "f0", "map1".interval_number AS "f1", MIN(CAST("map0".head_digit AS BIGINT) + CAST("map1".head_digit AS BIGINT)) AS "head0", MIN(CAST("map0".finest_digit AS BIGINT) + CAST("map1".finest_digit AS BIGINT)) AS "finest0", value_code, MIN(reference_share) AS reference_share, SUM(row_count) AS row_count FROM "kanon_run_atoms0" JOIN (SELECT * FROM (VALUES (0, 0, 0, 0)) AS "map0" ("atom", "interval_number", "head_digit", "finest_digit")) AS "map0" ON "a0" = "map0".atom JOIN (SELECT * FROM (VALUES (0, 0, 0, 0)) AS "map1" ("atom", "interval_number", "head_digit", "finest_digit")) AS "map1" ON "a1" = "map1".atom GROUP BY "map0".interval_number, "map1".interval_number, value_code), "kanon_run_with_placed" AS (SELECT spans."node" AS "node", spans."changes" AS "changes", spans."adds" AS "adds", spans."cut_at" AS "cut_at", rolled."head0" AS "head0", rolled."finest0" AS "finest0", rolled.value_code AS value_code, rolled.reference_share AS reference_share, rolled.row_count AS row_count, CASE spans.changes WHEN 0 THEN rolled."f0" WHEN 1 THEN rolled."f1" ELSE -1 END AS place FROM "kanon_run_with_rolled" AS rolled CROSS JOIN (VALUES (0, -1, 1, 1073741824)) AS "spans" ("node", "changes", "adds", "cut_at")), "kanon_run_with_rolled_2" AS (SELECT "map0".interval_number AS "f0", "map1".interval_number AS "f1", MIN(CAST("map0".head_digit AS BIGINT) + CAST("map1".head_digit AS BIGINT)) AS "head0", MIN(CAST("map0".finest_digit AS BIGINT) + CAST("map1".finest_digit AS BIGINT)) AS "finest0", SUM(row_count) AS row_count FROM "kanon_run_atoms" JOIN (SELECT * FROM (VALUES (0, 0, 0, 0)) AS "map0" ("atom", "interval_number", "head_digit", "finest_digit")) AS "map0" ON "a0" = "map0".atom JOIN (SELECT * FROM (VALUES (0, 0, 0, 0)) AS "map1" ("atom", "interval_number", "head_digit", "finest_digit")) AS "map1" ON "a1" = "map1".atom GROUP BY "map0".interval_number, "map1".interval_number), "kanon_run_with_placed_2" AS (SELECT spans."node" AS "node", spans."changes" AS "changes", spans."adds" AS "adds", spans."cut_at" AS "cut_at", rolled."head0" AS "head0", rolled."finest0" AS "finest0", rolled.row_count AS row_count, CASE spans.changes WHEN 0 THEN rolled."f0" WHEN 1 THEN rolled."f1" ELSE -1 END AS place FROM "kanon_run_with_rolled_2" AS rolled CROSS JOIN (VALUES (0, -1, 1, 1073741824)) AS "spans" ("node", "changes", "adds", "cut_at")), "kanon_run_with_costed" AS (SELECT placed.*, SUM(row_count) OVER (PARTITION BY node, "finest0" - CASE WHEN adds = 0 AND place >= cut_at THEN CASE changes WHEN 0 THEN 2 WHEN 1 THEN 4 ELSE 0 END ELSE 0 END) AS finest_rows FROM "kanon_run_with_placed_2" AS placed) SELECT k0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 0 ELSE class_rows END) AS suppressed, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN class_rows * class_rows ELSE 0 END) AS "kept_squares", SUM(class_rows * class_rows) AS "squares", SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN "w0" ELSE 0 END) AS "least0" FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", CASE WHEN MAX(pooled.class_rows) = MAX(pooled.value_rows) THEN MAX(pooled.class_rows) END AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."w0") AS "w0", MAX(pooled."m1") AS "m1" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "w0", NULL AS "m1" FROM (SELECT "node" AS "k0", "head0" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, SUM("least0") AS "w0" FROM (SELECT node, "head0" + CASE WHEN adds = 0 THEN 0 WHEN place >= cut_at THEN 1 ELSE 0 END AS "head0", row_count * CASE WHEN finest_rows < 3 THEN 3 ELSE finest_rows END AS "least0", row_count FROM "kanon_run_with_costed" AS costed) AS moved GROUP BY "node", "head0") AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, NULL, "m1" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share FROM (SELECT "node" AS "k0", "head0" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share FROM (SELECT node, "head0" + CASE WHEN adds = 0 THEN 0 WHEN place >= cut_at THEN 1 ELSE 0 END AS "head0", value_code, reference_share, row_count FROM "kanon_run_with_placed" AS placed) AS moved GROUP BY "node", "head0", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS classes GROUP BY k0;

-- evaluate/partitions/encode
CREATE TEMPORARY TABLE "kanon_run_intervals" AS SELECT "chosen0"."c1" + "chosen1"."c1" * 2 AS "code0", vectors.row_count AS row_count FROM "kanon_run_frequency" AS vectors JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded0") AS "chosen0" ON "vectors"."code1" = "chosen0".original JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded1") AS "chosen1" ON "vectors"."code3" = "chosen1".original;

-- evaluate/partitions/encode
CREATE TEMPORARY TABLE "kanon_run_intervals_values0" AS SELECT "chosen0"."c1" + "chosen1"."c1" * 2 AS "code0", vectors.value_code AS value_code, vectors.reference_share AS reference_share, vectors.row_count AS row_count FROM "kanon_run_values0" AS vectors JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded0") AS "chosen0" ON "vectors"."code1" = "chosen0".original JOIN (SELECT DISTINCT original, c0, d0, c1 FROM "kanon_run_coded1") AS "chosen1" ON "vectors"."code3" = "chosen1".original;

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_intervals") + (SELECT COUNT(*) FROM "kanon_run_intervals_values0") AS row_count;

-- «evaluate/node 3»
(SELECT "k0", value_code, value_rows, value_count, reference_share FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share FROM "kanon_run_intervals_values0" GROUP BY "code0", value_code) AS counted)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN class_rows * class_rows ELSE 0 END) AS "kept_squares", SUM(class_rows * class_rows) AS "squares" FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1" FROM «evaluate/node 3» AS ranked GROUP BY "k0") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", "m1", CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m1" FROM «evaluate/node 3» AS ranked GROUP BY "k0") AS classes) AS flagged WHERE satisfied = 0;

-- release/blocks
CREATE TEMPORARY TABLE "kanon_run_blocks" AS SELECT "lookup0".label AS "o0", "lookup1".label AS "o1", sensitive.value AS "o2", CASE WHEN classes.row_count - numbers.number * 1000 < 1000 THEN classes.row_count - numbers.number * 1000 ELSE 1000 END AS block_count FROM (SELECT "vectors"."code0" AS "code0", value_code, CAST(SUM(row_count) AS BIGINT) AS row_count, CAST(FLOOR((SUM(row_count) + 1000 - 1) / 1000) AS BIGINT) AS block_count FROM "kanon_run_intervals_values0" AS vectors GROUP BY "vectors"."code0", value_code) AS classes JOIN (SELECT DISTINCT "c1" AS code, "l1" AS label FROM "kanon_run_interval0") AS "lookup0" ON ("classes"."code0" & 1) = "lookup0".code JOIN (SELECT DISTINCT "c1" * 2 AS code, "l1" AS label FROM "kanon_run_interval1") AS "lookup1" ON ("classes"."code0" & 2) = "lookup1".code JOIN "kanon_run_sensitive0" AS sensitive ON classes.value_code IS NOT DISTINCT FROM sensitive.code LEFT JOIN "kanon_run_suppressed" AS suppressed ON classes."code0" = suppressed."k0" CROSS JOIN UNNEST(RANGE("classes"."block_count")) AS numbers(number) WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '6f562e55be89f5a874859a950d5268d69b1563b1a29fe29c910374cc7d0bc96f', '{"published_at": "(the time)"}');

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_intervals_values0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_atoms0";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."charge" AS "v0", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "v1", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."charge", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- frequency/sensitive
CREATE TEMPORARY TABLE "kanon_run_sensitive0" AS SELECT value, CASE WHEN value IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY value ASC) AS INT) END AS code, CAST(reference_count AS BIGINT) AS reference_count, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share, SUM(CASE WHEN reference_count > 0 THEN 1 ELSE 0 END) OVER () AS reference_values, value_rank, COALESCE(CAST(SUM(reference_count) OVER (ORDER BY value_rank ASC) AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS share_through, COALESCE(CAST(SUM(CASE WHEN value_rank IS NULL THEN 0 ELSE value_rank * reference_count END) OVER (ORDER BY value_rank ASC) AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS ranks_through, COALESCE(CAST(SUM(CASE WHEN value IS NULL THEN reference_count ELSE 0 END) OVER () AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS null_share FROM (SELECT counts.value, counts.reference_count, CASE WHEN counts.reference_count > 0 THEN CAST(SUM(CASE WHEN counts.reference_count > 0 THEN 1 ELSE 0 END) OVER (ORDER BY CASE WHEN counts.value IS NULL THEN 0 ELSE 1 END ASC, counts.value ASC) AS BIGINT) END AS value_rank FROM (SELECT "v0" AS value, SUM(row_count) AS reference_count FROM "kanon_run_raw" GROUP BY "v0") AS counts) AS value_counts;

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_domain_sensitive1" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL, "l3" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_domain_sensitive1" VALUES
  ('a', 'y', 'x', '*'),
  ('it''s', 'y', 'x', '*'),
  ('b\', 'w', 'z', '*');

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_lookup_sensitive1" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."d1", 0) AS "d1", COALESCE(labelled."s1", 1) AS "s1", labelled."l2", COALESCE(labelled."c2", 0) AS "c2", COALESCE(labelled."s2", 1) AS "s2", '*' AS "l3" FROM (SELECT "v1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "v1") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(DENSE_RANK() OVER (PARTITION BY "l2" ORDER BY "l1" ASC) - 1 AS BIGINT) AS "d1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1", "l2", CAST(DENSE_RANK() OVER (ORDER BY "l2" ASC) AS BIGINT) AS "c2", CAST(COUNT(*) OVER (PARTITION BY "l2") AS INT) AS "s2" FROM "kanon_run_domain_sensitive1") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- hierarchies/coverage
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup_sensitive1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup_sensitive1" AS labels JOIN "kanon_run_lookup_sensitive1" AS found ON labels.value IS NOT DISTINCT FROM found.value;

-- frequency/sensitive
CREATE TEMPORARY TABLE "kanon_run_sensitive1" AS SELECT value, CASE WHEN value IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY value ASC) AS INT) END AS code, CAST(reference_count AS BIGINT) AS reference_count, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share, SUM(CASE WHEN reference_count > 0 THEN 1 ELSE 0 END) OVER () AS reference_values, "group1", COALESCE(CAST(SUM(reference_count) OVER (PARTITION BY "group1") AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS "group_share1", "group2", COALESCE(CAST(SUM(reference_count) OVER (PARTITION BY "group2") AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS "group_share2", CASE WHEN (CAST(value AS TEXT)) COLLATE "binary" IN ('it''s', 'b\') THEN 1 ELSE 0 END AS "is_protected", CASE WHEN (CAST(value AS TEXT)) COLLATE "binary" IN ('a') THEN 1 ELSE 0 END AS "may_be_disclosed", CASE WHEN (CAST(value AS TEXT)) COLLATE "binary" IN ('it''s') THEN 1 ELSE 0 END AS "not_to_be_excluded" FROM (SELECT counts.value, counts.reference_count, lookup."c1" AS "group1", lookup."c2" AS "group2" FROM (SELECT "v1" AS value, SUM(row_count) AS reference_count FROM "kanon_run_raw" GROUP BY "v1") AS counts LEFT JOIN "kanon_run_lookup_sensitive1" AS lookup ON counts.value IS NOT DISTINCT FROM lookup.value) AS value_counts;

-- frequency/occurring
SELECT 2 - COUNT(DISTINCT (CAST(value AS TEXT)) COLLATE "binary") AS missing FROM "kanon_run_sensitive1" AS "found" WHERE CASE WHEN (CAST(value AS TEXT)) COLLATE "binary" IN ('it''s', 'b\') THEN 1 ELSE 0 END = 1;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_values0" AS SELECT "lookup0"."c0" AS "code0", sensitive.code AS value_code, sensitive.reference_share AS reference_share, sensitive."value_rank" AS "value_rank", sensitive."share_through" AS "share_through", sensitive."ranks_through" AS "ranks_through", sensitive."null_share" AS "null_share", sensitive."reference_values" AS "reference_values", vectors.row_count AS row_count FROM (SELECT "q0", "v0", CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0", "v0") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_sensitive0" AS sensitive ON vectors."v0" IS NOT DISTINCT FROM sensitive.value;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_values1" AS SELECT "lookup0"."c0" AS "code0", sensitive.code AS value_code, sensitive.reference_share AS reference_share, sensitive."reference_values" AS "reference_values", sensitive."group1" AS "group1", sensitive."group_share1" AS "group_share1", sensitive."group2" AS "group2", sensitive."group_share2" AS "group_share2", sensitive."is_protected" AS "is_protected", sensitive."may_be_disclosed" AS "may_be_disclosed", sensitive."not_to_be_excluded" AS "not_to_be_excluded", vectors.row_count AS row_count FROM (SELECT "q0", "v1", CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0", "v1") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_sensitive1" AS sensitive ON vectors."v1" IS NOT DISTINCT FROM sensitive.value;

-- verbs/render/several_texts
SELECT COUNT(*) AS several_texts FROM (SELECT kanon_source."charge" AS value FROM "clinic"."visits" AS kanon_source GROUP BY kanon_source."charge" HAVING MIN(CAST(kanon_source."charge" AS TEXT) COLLATE "binary") <> MAX(CAST(kanon_source."charge" AS TEXT) COLLATE "binary")) AS written_values;

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_frequency") + (SELECT COUNT(*) FROM "kanon_run_values0") + (SELECT COUNT(*) FROM "kanon_run_values1") AS row_count;

-- «evaluate/node 5»
(SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) + SUM(CASE WHEN value_count > 0 AND CAST("group_total1" AS DOUBLE) / CAST(class_total AS DOUBLE) > "group_share1" THEN (CAST("group_total1" AS DOUBLE) / CAST(class_total AS DOUBLE) - "group_share1") * CAST(value_count AS DOUBLE) / CAST("group_total1" AS DOUBLE) ELSE 0 END) + SUM(CASE WHEN value_count > 0 AND CAST("group_total2" AS DOUBLE) / CAST(class_total AS DOUBLE) > "group_share2" THEN (CAST("group_total2" AS DOUBLE) / CAST(class_total AS DOUBLE) - "group_share2") * CAST(value_count AS DOUBLE) / CAST("group_total2" AS DOUBLE) ELSE 0 END))

-- «evaluate/node 6»
(CASE WHEN reference_share > 0 THEN CASE WHEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / reference_share - 1 > 1.00000000000000006e-09 - LN(reference_share) THEN 1 ELSE 0 END ELSE 1 END)

-- «evaluate/node 7»
(CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 1 THEN value_count ELSE 0 END) - MAX(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 THEN value_count ELSE 0 END) AS DOUBLE), 0)

-- «evaluate/node 4»
(SELECT pooled."k0" AS "k0", CASE WHEN MAX(pooled.class_rows) = MAX(pooled.value_rows) THEN MAX(pooled.class_rows) END AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0", MAX(pooled."m1") AS "m1", MAX(pooled."m2") AS "m2", MAX(pooled."m3") AS "m3", MAX(pooled."m4") AS "m4", MAX(pooled."m5") AS "m5", MAX(pooled."m6") AS "m6", MAX(pooled."m7") AS "m7", MAX(pooled."m7_second") AS "m7_second" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "m0", NULL AS "m1", NULL AS "m2", NULL AS "m3", NULL AS "m4", NULL AS "m5", NULL AS "m6", NULL AS "m7", NULL AS "m7_second" FROM (SELECT pooled."k0" AS "k0", CASE WHEN MAX(pooled.class_rows) = MAX(pooled.value_rows) THEN MAX(pooled.class_rows) END AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m0" FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code0") AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, "m0" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 AND SUM(CASE WHEN value_count > 0 AND value_rank IS NULL THEN 1 ELSE 0 END) = 0 THEN CASE WHEN MIN(reference_values) = 1 THEN 0 WHEN SUM(span_cost) / CAST(MIN(reference_values) - 1 AS DOUBLE) > ABS(SUM(CASE WHEN value_code IS NULL THEN span_end - span_start ELSE 0 END) - MIN(null_share)) THEN SUM(span_cost) / CAST(MIN(reference_values) - 1 AS DOUBLE) ELSE ABS(SUM(CASE WHEN value_code IS NULL THEN span_end - span_start ELSE 0 END) - MIN(null_share)) END ELSE NULL END AS "m0" FROM (SELECT placed.*, CASE WHEN value_count = 0 THEN 0 ELSE (COALESCE(ends.end_ranks, 0.00000000000000000e+00) + (placed.end_rank + 1) * (span_end - COALESCE(ends.end_share, 0.00000000000000000e+00)) - value_rank * span_end) * CASE WHEN span_end <= share_through THEN -1 ELSE 1 END + CASE WHEN span_start < share_through AND span_end > share_through THEN 2 * (value_rank * share_through - ranks_through) ELSE 0 END END + CASE WHEN next_count > 0 THEN (COALESCE(ends.end_ranks, 0.00000000000000000e+00) + (placed.end_rank + 1) * (span_end - COALESCE(ends.end_share, 0.00000000000000000e+00)) - next_rank * span_end) * CASE WHEN span_end < next_share THEN 1 ELSE -1 END ELSE 0 END AS span_cost FROM (SELECT spans.*, CAST(SUM(is_point) OVER (ORDER BY span_end ASC) AS BIGINT) AS end_rank FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, "value_rank", "share_through", "ranks_through", "null_share", "reference_values", CASE WHEN class_total > 0 THEN CAST(counted_through - value_count AS DOUBLE) / CAST(class_total AS DOUBLE) ELSE 0 END AS span_start, CASE WHEN class_total > 0 THEN CAST(counted_through AS DOUBLE) / CAST(class_total AS DOUBLE) ELSE 0 END AS span_end, CASE WHEN counted_through < class_total THEN following_count ELSE 0 END AS next_count, next_rank, next_share, 0 AS is_point FROM (SELECT counted.*, SUM(value_count) OVER (PARTITION BY "k0") AS class_total, SUM(value_count) OVER (PARTITION BY "k0" ORDER BY value_rank ASC) AS counted_through, LEAD(value_count) OVER (PARTITION BY "k0" ORDER BY value_rank ASC) AS following_count, LEAD(value_rank) OVER (PARTITION BY "k0" ORDER BY value_rank ASC) AS next_rank, LEAD(share_through) OVER (PARTITION BY "k0" ORDER BY value_rank ASC) AS next_share FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN("value_rank") AS "value_rank", MIN("share_through") AS "share_through", MIN("ranks_through") AS "ranks_through", MIN("null_share") AS "null_share", MIN("reference_values") AS "reference_values" FROM "kanon_run_values0" GROUP BY "code0", value_code) AS counted) AS summed UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, share_through, share_through, NULL, NULL, NULL, CASE WHEN value_rank IS NULL THEN 0 ELSE 1 END FROM "kanon_run_sensitive0" AS points) AS spans) AS placed LEFT JOIN (SELECT value_rank AS end_rank, share_through AS end_share, ranks_through AS end_ranks FROM "kanon_run_sensitive0" AS points) AS ends ON placed.end_rank = ends.end_rank WHERE NOT value_rows IS NULL) AS costed GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2) AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, NULL, "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m7_second" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 AND SUM(CASE WHEN value_count > 0 AND group1 IS NULL THEN 1 ELSE 0 END) = 0 THEN «evaluate/node 5» / 3 ELSE NULL END AS "m1", CASE WHEN SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN NOT value_code IS NULL AND "is_protected" = 1 THEN value_count ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) ELSE 0 END AS "m2", COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m3", CASE WHEN MIN(reference_share) > 0 THEN MAX(CASE WHEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / reference_share - 1 ELSE 0 END) ELSE NULL END AS "m4", CASE WHEN MIN(reference_share) > 0 AND SUM«evaluate/node 6» = 0 THEN MAX(CASE WHEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / reference_share - 1 ELSE 0 END) ELSE NULL END AS "m5", CASE WHEN MIN(reference_share) > 0 AND COUNT(*) = MIN(reference_values) THEN MAX(CASE WHEN reference_share > 0 THEN ABS(LN(CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / reference_share)) END) / LN(2) ELSE NULL END AS "m6", CASE WHEN MAX(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) = 0 THEN NULL WHEN MAX(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 THEN value_count ELSE 0 END) = 0 THEN 0 WHEN MIN(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 AND value_count > 0 THEN value_position END) <= 1 THEN CAST(MAX(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 THEN value_count ELSE 0 END) AS DOUBLE) / NULLIF(CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 2 THEN value_count ELSE 0 END) AS DOUBLE), 0) ELSE CAST(MAX(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 THEN value_count ELSE 0 END) AS DOUBLE) / NULLIF«evaluate/node 7» END AS "m7", CASE WHEN COUNT(CASE WHEN not_to_be_excluded = 1 AND value_count > 0 THEN 1 END) < 1 THEN 0 ELSE COALESCE(MIN(CASE WHEN not_to_be_excluded = 1 AND value_count > 0 THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) END), 1) END AS "m7_second" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, "reference_values", "group1", "group_share1", "group2", "group_share2", "is_protected", "may_be_disclosed", "not_to_be_excluded", SUM(value_count) OVER (PARTITION BY "k0") AS class_total, ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, value_count DESC) AS value_position, SUM(value_count) OVER (PARTITION BY "k0", "group1") AS "group_total1", SUM(value_count) OVER (PARTITION BY "k0", "group2") AS "group_total2" FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN("reference_values") AS "reference_values", MIN("group1") AS "group1", MIN("group_share1") AS "group_share1", MIN("group2") AS "group2", MIN("group_share2") AS "group_share2", MIN("is_protected") AS "is_protected", MIN("may_be_disclosed") AS "may_be_disclosed", MIN("not_to_be_excluded") AS "not_to_be_excluded" FROM "kanon_run_values1" GROUP BY "code0", value_code) AS counted) AS ranked GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN (NOT "m0" IS NULL AND "m0" <= 2.00000001000000011e-01) AND (NOT "m1" IS NULL AND "m1" <= 2.00000001000000011e-01) AND (class_size >= 3 AND "m2" <= 5.00000000999999972e-01) AND (class_size >= 3 AND "m3" >= 2) AND (NOT "m4" IS NULL AND "m4" <= 1.00000000100000008e+00) AND (NOT "m5" IS NULL AND "m5" <= 1.00000000100000008e+00) AND (NOT "m6" IS NULL AND "m6" < 9.99999999000000028e-01) AND (NOT "m7" IS NULL AND "m7" < 2.00000000000000000e+00 AND "m7_second" >= 9.99999990000000061e-02) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN (NOT "m0" IS NULL AND "m0" <= 2.00000001000000011e-01) AND (NOT "m1" IS NULL AND "m1" <= 2.00000001000000011e-01) AND (class_size >= 3 AND "m2" <= 5.00000000999999972e-01) AND (class_size >= 3 AND "m3" >= 2) AND (NOT "m4" IS NULL AND "m4" <= 1.00000000100000008e+00) AND (NOT "m5" IS NULL AND "m5" <= 1.00000000100000008e+00) AND (NOT "m6" IS NULL AND "m6" < 9.99999999000000028e-01) AND (NOT "m7" IS NULL AND "m7" < 2.00000000000000000e+00 AND "m7_second" >= 9.99999990000000061e-02) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0" FROM «evaluate/node 4» AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m7_second", CASE WHEN (NOT "m0" IS NULL AND "m0" <= 2.00000001000000011e-01) AND (NOT "m1" IS NULL AND "m1" <= 2.00000001000000011e-01) AND (class_size >= 3 AND "m2" <= 5.00000000999999972e-01) AND (class_size >= 3 AND "m3" >= 2) AND (NOT "m4" IS NULL AND "m4" <= 1.00000000100000008e+00) AND (NOT "m5" IS NULL AND "m5" <= 1.00000000100000008e+00) AND (NOT "m6" IS NULL AND "m6" < 9.99999999000000028e-01) AND (NOT "m7" IS NULL AND "m7" < 2.00000000000000000e+00 AND "m7_second" >= 9.99999990000000061e-02) THEN 1 ELSE 0 END AS satisfied FROM «evaluate/node 4» AS classes) AS flagged WHERE satisfied = 0;

-- release/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "lookup0"."l0" AS "sex", "kanon_source"."charge" AS "charge", "kanon_source"."dx" AS "dx" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup0".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c0" = suppressed."k0" WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- release/labels
SELECT 0 AS attribute, COALESCE(SUM(written.row_count), 0) AS foreign_rows FROM (SELECT CAST(checked."sex" AS TEXT) COLLATE "binary" AS label, COUNT(*) AS row_count FROM "clinic"."kanon_run_release" AS checked GROUP BY CAST(checked."sex" AS TEXT) COLLATE "binary") AS written LEFT JOIN (SELECT DISTINCT "l0" AS label, 1 AS known FROM "kanon_run_lookup0") AS labels ON written.label IS NOT DISTINCT FROM labels.label WHERE labels.known IS NULL;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 2.00000001000000011e-01 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 2.00000001000000011e-01 THEN 0 ELSE class_rows END) AS "violating_rows0", MAX("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN NOT "m1" IS NULL AND "m1" <= 2.00000001000000011e-01 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN NOT "m1" IS NULL AND "m1" <= 2.00000001000000011e-01 THEN 0 ELSE class_rows END) AS "violating_rows1", MAX("m2") AS "worst2", SUM(CASE WHEN "m2" IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN class_size >= 3 AND "m2" <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN class_size >= 3 AND "m2" <= 5.00000000999999972e-01 THEN 0 ELSE class_rows END) AS "violating_rows2", MIN("class_size") AS "second2", MIN("m3") AS "worst3", SUM(CASE WHEN "m3" IS NULL THEN 1 ELSE 0 END) AS "unbounded3", SUM(CASE WHEN class_size >= 3 AND "m3" >= 2 THEN 0 ELSE 1 END) AS "violating_classes3", SUM(CASE WHEN class_size >= 3 AND "m3" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows3", MIN("class_size") AS "second3", MAX("m4") AS "worst4", SUM(CASE WHEN "m4" IS NULL THEN 1 ELSE 0 END) AS "unbounded4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 1.00000000100000008e+00 THEN 0 ELSE 1 END) AS "violating_classes4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 1.00000000100000008e+00 THEN 0 ELSE class_rows END) AS "violating_rows4", MAX("m5") AS "worst5", SUM(CASE WHEN "m5" IS NULL THEN 1 ELSE 0 END) AS "unbounded5", SUM(CASE WHEN NOT "m5" IS NULL AND "m5" <= 1.00000000100000008e+00 THEN 0 ELSE 1 END) AS "violating_classes5", SUM(CASE WHEN NOT "m5" IS NULL AND "m5" <= 1.00000000100000008e+00 THEN 0 ELSE class_rows END) AS "violating_rows5", MAX("m6") AS "worst6", SUM(CASE WHEN "m6" IS NULL THEN 1 ELSE 0 END) AS "unbounded6", SUM(CASE WHEN NOT "m6" IS NULL AND "m6" < 9.99999999000000028e-01 THEN 0 ELSE 1 END) AS "violating_classes6", SUM(CASE WHEN NOT "m6" IS NULL AND "m6" < 9.99999999000000028e-01 THEN 0 ELSE class_rows END) AS "violating_rows6", MAX("m7") AS "worst7", SUM(CASE WHEN "m7" IS NULL THEN 1 ELSE 0 END) AS "unbounded7", SUM(CASE WHEN NOT "m7" IS NULL AND "m7" < 2.00000000000000000e+00 AND "m7_second" >= 9.99999990000000061e-02 THEN 0 ELSE 1 END) AS "violating_classes7", SUM(CASE WHEN NOT "m7" IS NULL AND "m7" < 2.00000000000000000e+00 AND "m7_second" >= 9.99999990000000061e-02 THEN 0 ELSE class_rows END) AS "violating_rows7", MIN("m7_second") AS "second7" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m7_second", CASE WHEN (NOT "m0" IS NULL AND "m0" <= 2.00000001000000011e-01) AND (NOT "m1" IS NULL AND "m1" <= 2.00000001000000011e-01) AND (class_size >= 3 AND "m2" <= 5.00000000999999972e-01) AND (class_size >= 3 AND "m3" >= 2) AND (NOT "m4" IS NULL AND "m4" <= 1.00000000100000008e+00) AND (NOT "m5" IS NULL AND "m5" <= 1.00000000100000008e+00) AND (NOT "m6" IS NULL AND "m6" < 9.99999999000000028e-01) AND (NOT "m7" IS NULL AND "m7" < 2.00000000000000000e+00 AND "m7_second" >= 9.99999990000000061e-02) THEN 1 ELSE 0 END AS satisfied FROM (SELECT pooled."k0" AS "k0", CASE WHEN MAX(pooled.class_rows) = MAX(pooled.value_rows) THEN MAX(pooled.class_rows) END AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0", MAX(pooled."m1") AS "m1", MAX(pooled."m2") AS "m2", MAX(pooled."m3") AS "m3", MAX(pooled."m4") AS "m4", MAX(pooled."m5") AS "m5", MAX(pooled."m6") AS "m6", MAX(pooled."m7") AS "m7", MAX(pooled."m7_second") AS "m7_second" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "m0", NULL AS "m1", NULL AS "m2", NULL AS "m3", NULL AS "m4", NULL AS "m5", NULL AS "m6", NULL AS "m7", NULL AS "m7_second" FROM (SELECT pooled."k0" AS "k0", CASE WHEN MAX(pooled.class_rows) = MAX(pooled.value_rows) THEN MAX(pooled.class_rows) END AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m0" FROM (SELECT "q0" AS "k0", CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_size FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", 1 AS row_count FROM "clinic"."kanon_run_release" AS checked) AS frequency GROUP BY "q0") AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, "m0" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 AND SUM(CASE WHEN value_count > 0 AND value_rank IS NULL THEN 1 ELSE 0 END) = 0 THEN CASE WHEN MIN(reference_values) = 1 THEN 0 WHEN SUM(span_cost) / CAST(MIN(reference_values) - 1 AS DOUBLE) > ABS(SUM(CASE WHEN value_code IS NULL THEN span_end - span_start ELSE 0 END) - MIN(null_share)) THEN SUM(span_cost) / CAST(MIN(reference_values) - 1 AS DOUBLE) ELSE ABS(SUM(CASE WHEN value_code IS NULL THEN span_end - span_start ELSE 0 END) - MIN(null_share)) END ELSE NULL END AS "m0" FROM (SELECT placed.*, CASE WHEN value_count = 0 THEN 0 ELSE (COALESCE(ends.end_ranks, 0.00000000000000000e+00) + (placed.end_rank + 1) * (span_end - COALESCE(ends.end_share, 0.00000000000000000e+00)) - value_rank * span_end) * CASE WHEN span_end <= share_through THEN -1 ELSE 1 END + CASE WHEN span_start < share_through AND span_end > share_through THEN 2 * (value_rank * share_through - ranks_through) ELSE 0 END END + CASE WHEN next_count > 0 THEN (COALESCE(ends.end_ranks, 0.00000000000000000e+00) + (placed.end_rank + 1) * (span_end - COALESCE(ends.end_share, 0.00000000000000000e+00)) - next_rank * span_end) * CASE WHEN span_end < next_share THEN 1 ELSE -1 END ELSE 0 END AS span_cost FROM (SELECT spans.*, CAST(SUM(is_point) OVER (ORDER BY span_end ASC) AS BIGINT) AS end_rank FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, "value_rank", "share_through", "ranks_through", "null_share", "reference_values", CASE WHEN class_total > 0 THEN CAST(counted_through - value_count AS DOUBLE) / CAST(class_total AS DOUBLE) ELSE 0 END AS span_start, CASE WHEN class_total > 0 THEN CAST(counted_through AS DOUBLE) / CAST(class_total AS DOUBLE) ELSE 0 END AS span_end, CASE WHEN counted_through < class_total THEN following_count ELSE 0 END AS next_count, next_rank, next_share, 0 AS is_point FROM (SELECT counted.*, SUM(value_count) OVER (PARTITION BY "k0") AS class_total, SUM(value_count) OVER (PARTITION BY "k0" ORDER BY value_rank ASC) AS counted_through, LEAD(value_count) OVER (PARTITION BY "k0" ORDER BY value_rank ASC) AS following_count, LEAD(value_rank) OVER (PARTITION BY "k0" ORDER BY value_rank ASC) AS next_rank, LEAD(share_through) OVER (PARTITION BY "k0" ORDER BY value_rank ASC) AS next_share FROM (SELECT held."k0" AS "k0", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share, CASE WHEN held.value_code IS NULL THEN of_null."value_rank" ELSE reference."value_rank" END AS "value_rank", CASE WHEN held.value_code IS NULL THEN of_null."share_through" ELSE reference."share_through" END AS "share_through", CASE WHEN held.value_code IS NULL THEN of_null."ranks_through" ELSE reference."ranks_through" END AS "ranks_through", CASE WHEN held.value_code IS NULL THEN of_null."null_share" ELSE reference."null_share" END AS "null_share", CASE WHEN held.value_code IS NULL THEN of_null."reference_values" ELSE reference."reference_values" END AS "reference_values" FROM (SELECT "q0" AS "k0", value_code, CAST(COUNT(*) AS BIGINT) AS value_rows, CAST(COUNT(*) AS BIGINT) AS value_count FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", "checked"."charge" AS value_code, 1 AS row_count FROM "clinic"."kanon_run_release" AS checked) AS frequency GROUP BY "q0", value_code) AS held LEFT JOIN (SELECT value AS reference_value, reference_share, "value_rank", "share_through", "ranks_through", "null_share", "reference_values" FROM "kanon_run_sensitive0") AS reference ON held.value_code = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share, MAX(CASE WHEN reference_value IS NULL THEN "value_rank" END) AS "value_rank", MAX(CASE WHEN reference_value IS NULL THEN "share_through" END) AS "share_through", MAX(CASE WHEN reference_value IS NULL THEN "ranks_through" END) AS "ranks_through", MAX(CASE WHEN reference_value IS NULL THEN "null_share" END) AS "null_share", MAX(CASE WHEN reference_value IS NULL THEN "reference_values" END) AS "reference_values" FROM (SELECT value AS reference_value, reference_share, "value_rank", "share_through", "ranks_through", "null_share", "reference_values" FROM "kanon_run_sensitive0") AS every_value) AS of_null) AS counted) AS summed UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, share_through, share_through, NULL, NULL, NULL, CASE WHEN value_rank IS NULL THEN 0 ELSE 1 END FROM (SELECT value AS reference_value, reference_share, "value_rank", "share_through", "ranks_through", "null_share", "reference_values" FROM "kanon_run_sensitive0") AS points) AS spans) AS placed LEFT JOIN (SELECT value_rank AS end_rank, share_through AS end_share, ranks_through AS end_ranks FROM (SELECT value AS reference_value, reference_share, "value_rank", "share_through", "ranks_through", "null_share", "reference_values" FROM "kanon_run_sensitive0") AS points) AS ends ON placed.end_rank = ends.end_rank WHERE NOT value_rows IS NULL) AS costed GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2) AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, NULL, "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m7_second" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 AND SUM(CASE WHEN value_count > 0 AND group1 IS NULL THEN 1 ELSE 0 END) = 0 THEN «evaluate/node 5» / 3 ELSE NULL END AS "m1", CASE WHEN SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN NOT value_code IS NULL AND "is_protected" = 1 THEN value_count ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) ELSE 0 END AS "m2", COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m3", CASE WHEN MIN(reference_share) > 0 THEN MAX(CASE WHEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / reference_share - 1 ELSE 0 END) ELSE NULL END AS "m4", CASE WHEN MIN(reference_share) > 0 AND SUM«evaluate/node 6» = 0 THEN MAX(CASE WHEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / reference_share - 1 ELSE 0 END) ELSE NULL END AS "m5", CASE WHEN MIN(reference_share) > 0 AND COUNT(*) = MIN(reference_values) THEN MAX(CASE WHEN reference_share > 0 THEN ABS(LN(CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / reference_share)) END) / LN(2) ELSE NULL END AS "m6", CASE WHEN MAX(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) = 0 THEN NULL WHEN MAX(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 THEN value_count ELSE 0 END) = 0 THEN 0 WHEN MIN(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 AND value_count > 0 THEN value_position END) <= 1 THEN CAST(MAX(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 THEN value_count ELSE 0 END) AS DOUBLE) / NULLIF(CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position >= 2 THEN value_count ELSE 0 END) AS DOUBLE), 0) ELSE CAST(MAX(CASE WHEN NOT value_code IS NULL AND may_be_disclosed = 0 THEN value_count ELSE 0 END) AS DOUBLE) / NULLIF«evaluate/node 7» END AS "m7", CASE WHEN COUNT(CASE WHEN not_to_be_excluded = 1 AND value_count > 0 THEN 1 END) < 1 THEN 0 ELSE COALESCE(MIN(CASE WHEN not_to_be_excluded = 1 AND value_count > 0 THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) END), 1) END AS "m7_second" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, "reference_values", "group1", "group_share1", "group2", "group_share2", "is_protected", "may_be_disclosed", "not_to_be_excluded", SUM(value_count) OVER (PARTITION BY "k0") AS class_total, ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, value_count DESC) AS value_position, SUM(value_count) OVER (PARTITION BY "k0", "group1") AS "group_total1", SUM(value_count) OVER (PARTITION BY "k0", "group2") AS "group_total2" FROM (SELECT held."k0" AS "k0", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share, CASE WHEN held.value_code IS NULL THEN of_null."reference_values" ELSE reference."reference_values" END AS "reference_values", CASE WHEN held.value_code IS NULL THEN of_null."group1" ELSE reference."group1" END AS "group1", CASE WHEN held.value_code IS NULL THEN of_null."group_share1" ELSE reference."group_share1" END AS "group_share1", CASE WHEN held.value_code IS NULL THEN of_null."group2" ELSE reference."group2" END AS "group2", CASE WHEN held.value_code IS NULL THEN of_null."group_share2" ELSE reference."group_share2" END AS "group_share2", held."is_protected" AS "is_protected", held."may_be_disclosed" AS "may_be_disclosed", held."not_to_be_excluded" AS "not_to_be_excluded" FROM (SELECT "q0" AS "k0", value_code, CAST(COUNT(*) AS BIGINT) AS value_rows, CAST(COUNT(*) AS BIGINT) AS value_count, MIN("is_protected") AS "is_protected", MIN("may_be_disclosed") AS "may_be_disclosed", MIN("not_to_be_excluded") AS "not_to_be_excluded" FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, CASE WHEN (CAST(CAST("checked"."dx" AS TEXT) COLLATE "binary" AS TEXT)) COLLATE "binary" IN ('it''s', 'b\') THEN 1 ELSE 0 END AS "is_protected", CASE WHEN (CAST(CAST("checked"."dx" AS TEXT) COLLATE "binary" AS TEXT)) COLLATE "binary" IN ('a') THEN 1 ELSE 0 END AS "may_be_disclosed", CASE WHEN (CAST(CAST("checked"."dx" AS TEXT) COLLATE "binary" AS TEXT)) COLLATE "binary" IN ('it''s') THEN 1 ELSE 0 END AS "not_to_be_excluded", 1 AS row_count FROM "clinic"."kanon_run_release" AS checked) AS frequency GROUP BY "q0", value_code) AS held LEFT JOIN (SELECT value AS reference_value, reference_share, "reference_values", "group1", "group_share1", "group2", "group_share2" FROM "kanon_run_sensitive1") AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share, MAX(CASE WHEN reference_value IS NULL THEN "reference_values" END) AS "reference_values", MAX(CASE WHEN reference_value IS NULL THEN "group1" END) AS "group1", MAX(CASE WHEN reference_value IS NULL THEN "group_share1" END) AS "group_share1", MAX(CASE WHEN reference_value IS NULL THEN "group2" END) AS "group2", MAX(CASE WHEN reference_value IS NULL THEN "group_share2" END) AS "group_share2" FROM (SELECT value AS reference_value, reference_share, "reference_values", "group1", "group_share1", "group2", "group_share2" FROM "kanon_run_sensitive1") AS every_value) AS of_null) AS counted) AS ranked GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '11c011e066f694e137a77b6995b86155eff666eeb2520dc1dd97764af15c81d3', '{"published_at": "(the time)"}');

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_sensitive1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_lookup_sensitive1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_domain_sensitive1";

-- frequency/sensitive
CREATE TEMPORARY TABLE "kanon_run_sensitive0" AS SELECT value, CASE WHEN value IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY value ASC) AS INT) END AS code, CAST(reference_count AS BIGINT) AS reference_count, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share, SUM(CASE WHEN reference_count > 0 THEN 1 ELSE 0 END) OVER () AS reference_values FROM (SELECT "v0" AS value, SUM(row_count) AS reference_count FROM "kanon_run_raw" GROUP BY "v0") AS value_counts;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_values0" AS SELECT "lookup0"."c0" AS "code0", sensitive.code AS value_code, sensitive.reference_share AS reference_share, sensitive."reference_values" AS "reference_values", vectors.row_count AS row_count FROM (SELECT "q0", "v0", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_sensitive0" AS sensitive ON vectors."v0" IS NOT DISTINCT FROM sensitive.value;

-- «evaluate/node 8»
(CASE WHEN value_count = 0 THEN 0 WHEN (CAST(value_count AS DOUBLE) / (CAST(class_total AS DOUBLE) + 9.00000000000000000e+00)) <= 0 THEN 1 WHEN value_count = class_total AND ((CAST(class_total AS DOUBLE) - CAST(value_count AS DOUBLE) + 9.00000000000000000e+00) / (CAST(class_total AS DOUBLE) + 9.00000000000000000e+00)) > 0 THEN 1 ELSE 0 END)

-- «evaluate/node 9»
(CASE WHEN value_count = 0 THEN CAST(1 AS DOUBLE) WHEN value_count = class_total THEN CAST(1 AS DOUBLE) / (CAST(value_count AS DOUBLE) / (CAST(class_total AS DOUBLE) + 9.00000000000000000e+00)) WHEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / (CAST(value_count AS DOUBLE) / (CAST(class_total AS DOUBLE) + 9.00000000000000000e+00)) > ((CAST(class_total AS DOUBLE) - CAST(value_count AS DOUBLE) + 9.00000000000000000e+00) / (CAST(class_total AS DOUBLE) + 9.00000000000000000e+00)) * CAST(class_total AS DOUBLE) / (CAST(class_total AS DOUBLE) - CAST(value_count AS DOUBLE)) THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) / (CAST(value_count AS DOUBLE) / (CAST(class_total AS DOUBLE) + 9.00000000000000000e+00)) ELSE ((CAST(class_total AS DOUBLE) - CAST(value_count AS DOUBLE) + 9.00000000000000000e+00) / (CAST(class_total AS DOUBLE) + 9.00000000000000000e+00)) * CAST(class_total AS DOUBLE) / (CAST(class_total AS DOUBLE) - CAST(value_count AS DOUBLE)) END)

-- «evaluate/node 10»
(SELECT stepped.*, COALESCE(MIN(CASE WHEN NOT value_code IS NULL AND "m1_worst" > 1.11111111111111077e-01 THEN "m1_family" END) OVER (PARTITION BY "value_code"), CAST(1 AS DOUBLE)) AS "m1_family_anywhere", COALESCE(MIN(CASE WHEN NOT value_code IS NULL AND "m1_worst" > 1.11111111111111077e-01 THEN "m1_family_known" END) OVER (PARTITION BY "value_code"), CAST(1 AS DOUBLE)) AS "m1_family_known_anywhere" FROM (SELECT stepped.*, MIN(CASE WHEN NOT value_code IS NULL THEN "m1_own" END) OVER (PARTITION BY "k0") AS "m1_worst" FROM (SELECT stepped.*, CASE WHEN (("m1_held" - value_count - 1) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) > 0 AND ("m1_held" - value_count - 2) > 0 THEN CAST((("m1_held" - value_count - 1) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) AS DOUBLE) / CAST(value_count AS DOUBLE) * CAST(("m1_held" - value_count - 2) AS DOUBLE) / CAST("m1_held" - 2 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_own", CASE WHEN (("m1_held" - value_count - 0) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) > 0 AND ("m1_held" - value_count - 0) > 0 THEN CAST((("m1_held" - value_count - 0) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) AS DOUBLE) / CAST(value_count AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_person", CASE WHEN (("m1_held" - value_count - 1) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) > 0 AND ("m1_held" - value_count - 1) > 0 THEN CAST((("m1_held" - value_count - 1) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) AS DOUBLE) / CAST(value_count AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_person_known", CASE WHEN ("m1_held" - value_count - 0) > 0 THEN CAST(1 AS DOUBLE) * CAST(("m1_held" - value_count - 0) AS DOUBLE) / CAST("m1_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_family", CASE WHEN ("m1_held" - value_count - 1) > 0 THEN CAST(1 AS DOUBLE) * CAST(("m1_held" - value_count - 1) AS DOUBLE) / CAST("m1_held" - 1 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_family_known" FROM (SELECT stepped.*, SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) OVER (PARTITION BY "k0") AS "m1_held", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 1 THEN value_count ELSE 0 END) OVER (PARTITION BY "k0") AS "m1_most", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 2 THEN value_count ELSE 0 END) OVER (PARTITION BY "k0") AS "m1_more" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, "reference_values", SUM(value_count) OVER (PARTITION BY "k0") AS class_total, ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, value_count DESC) AS value_position FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN("reference_values") AS "reference_values" FROM "kanon_run_values0" GROUP BY "code0", value_code) AS counted) AS stepped) AS stepped) AS stepped) AS stepped)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN (NOT "m0" IS NULL AND "m0" < 8.99999999000000050e-01) AND (NOT "m1" IS NULL AND "m1" < 8.99999999000000050e-01) AND (NOT "m2" IS NULL AND "m2" <= 3.00000000100000008e+00) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN (NOT "m0" IS NULL AND "m0" < 8.99999999000000050e-01) AND (NOT "m1" IS NULL AND "m1" < 8.99999999000000050e-01) AND (NOT "m2" IS NULL AND "m2" <= 3.00000000100000008e+00) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0" FROM (SELECT classes.*, CASE WHEN "m0_held" > 0 THEN CAST("m0_top1" AS DOUBLE) / (CAST("m0_top1" AS DOUBLE) + CAST("m0_held" AS DOUBLE) * LEAST(("m0_fewest1") * ("m0_together2"), ("m0_fewest2") * ("m0_together1"), ("m0_fewest3"))) END AS "m0" FROM (SELECT classes.*, ("m0_anywhere1") AS "m0_together1", LEAST(("m0_anywhere2"), ("m0_anywhere1") * ("m0_anywhere1")) AS "m0_together2" FROM (SELECT classes.*, COALESCE(MIN(CASE WHEN "m0_held" > 0 AND "m0_fewest3" * CAST("m0_held" AS DOUBLE) > 1.11111111111111077e-01 * CAST("m0_top1" AS DOUBLE) THEN "m0_fewest1" END) OVER (), CAST(1 AS DOUBLE)) AS "m0_anywhere1", COALESCE(MIN(CASE WHEN "m0_held" > 0 AND "m0_fewest3" * CAST("m0_held" AS DOUBLE) > 1.11111111111111077e-01 * CAST("m0_top1" AS DOUBLE) THEN "m0_fewest2" END) OVER (), CAST(1 AS DOUBLE)) AS "m0_anywhere2" FROM (SELECT classes.*, ("m0_factor0_1") AS "m0_fewest1", LEAST(("m0_factor0_2"), ("m0_factor0_1") * ("m0_factor1_1")) AS "m0_fewest2", LEAST(("m0_factor0_3"), ("m0_factor0_2") * ("m0_factor1_1"), ("m0_factor0_1") * ("m0_factor1_1") * ("m0_factor2_1")) AS "m0_fewest3" FROM (SELECT classes.*, CASE WHEN "m0_held" - 0 - "m0_top1" > 0 THEN CAST("m0_held" - 0 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_1", CASE WHEN "m0_held" - 0 - "m0_top2" > 0 THEN CAST("m0_held" - 0 - "m0_top2" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_2", CASE WHEN "m0_held" - 0 - "m0_top3" > 0 THEN CAST("m0_held" - 0 - "m0_top3" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_3", CASE WHEN "m0_held" - 1 - "m0_top1" > 0 THEN CAST("m0_held" - 1 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 1 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor1_1", CASE WHEN "m0_held" - 2 - "m0_top1" > 0 THEN CAST("m0_held" - 2 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 2 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor2_1" FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS "m0_held", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 1 THEN value_count ELSE 0 END) AS "m0_top1", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 2 THEN value_count ELSE 0 END) AS "m0_top2", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 3 THEN value_count ELSE 0 END) AS "m0_top3", MAX(CASE WHEN NOT value_code IS NULL THEN 1 / (1 + LEAST("m1_own", "m1_person_known" * "m1_family_anywhere", "m1_person" * "m1_family_known_anywhere")) END) AS "m1", CASE WHEN SUM«evaluate/node 8» = 0 THEN MAX«evaluate/node 9» END AS "m2" FROM «evaluate/node 10» AS ranked GROUP BY "k0") AS classes) AS classes) AS classes) AS classes) AS classes) AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", "m0", "m1", "m2", CASE WHEN (NOT "m0" IS NULL AND "m0" < 8.99999999000000050e-01) AND (NOT "m1" IS NULL AND "m1" < 8.99999999000000050e-01) AND (NOT "m2" IS NULL AND "m2" <= 3.00000000100000008e+00) THEN 1 ELSE 0 END AS satisfied FROM (SELECT classes.*, CASE WHEN "m0_held" > 0 THEN CAST("m0_top1" AS DOUBLE) / (CAST("m0_top1" AS DOUBLE) + CAST("m0_held" AS DOUBLE) * LEAST(("m0_fewest1") * ("m0_together2"), ("m0_fewest2") * ("m0_together1"), ("m0_fewest3"))) END AS "m0" FROM (SELECT classes.*, ("m0_anywhere1") AS "m0_together1", LEAST(("m0_anywhere2"), ("m0_anywhere1") * ("m0_anywhere1")) AS "m0_together2" FROM (SELECT classes.*, COALESCE(MIN(CASE WHEN "m0_held" > 0 AND "m0_fewest3" * CAST("m0_held" AS DOUBLE) > 1.11111111111111077e-01 * CAST("m0_top1" AS DOUBLE) THEN "m0_fewest1" END) OVER (), CAST(1 AS DOUBLE)) AS "m0_anywhere1", COALESCE(MIN(CASE WHEN "m0_held" > 0 AND "m0_fewest3" * CAST("m0_held" AS DOUBLE) > 1.11111111111111077e-01 * CAST("m0_top1" AS DOUBLE) THEN "m0_fewest2" END) OVER (), CAST(1 AS DOUBLE)) AS "m0_anywhere2" FROM (SELECT classes.*, ("m0_factor0_1") AS "m0_fewest1", LEAST(("m0_factor0_2"), ("m0_factor0_1") * ("m0_factor1_1")) AS "m0_fewest2", LEAST(("m0_factor0_3"), ("m0_factor0_2") * ("m0_factor1_1"), ("m0_factor0_1") * ("m0_factor1_1") * ("m0_factor2_1")) AS "m0_fewest3" FROM (SELECT classes.*, CASE WHEN "m0_held" - 0 - "m0_top1" > 0 THEN CAST("m0_held" - 0 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_1", CASE WHEN "m0_held" - 0 - "m0_top2" > 0 THEN CAST("m0_held" - 0 - "m0_top2" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_2", CASE WHEN "m0_held" - 0 - "m0_top3" > 0 THEN CAST("m0_held" - 0 - "m0_top3" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_3", CASE WHEN "m0_held" - 1 - "m0_top1" > 0 THEN CAST("m0_held" - 1 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 1 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor1_1", CASE WHEN "m0_held" - 2 - "m0_top1" > 0 THEN CAST("m0_held" - 2 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 2 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor2_1" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS "m0_held", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 1 THEN value_count ELSE 0 END) AS "m0_top1", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 2 THEN value_count ELSE 0 END) AS "m0_top2", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 3 THEN value_count ELSE 0 END) AS "m0_top3", MAX(CASE WHEN NOT value_code IS NULL THEN 1 / (1 + LEAST("m1_own", "m1_person_known" * "m1_family_anywhere", "m1_person" * "m1_family_known_anywhere")) END) AS "m1", CASE WHEN SUM«evaluate/node 8» = 0 THEN MAX«evaluate/node 9» END AS "m2" FROM «evaluate/node 10» AS ranked GROUP BY "k0") AS classes) AS classes) AS classes) AS classes) AS classes) AS classes) AS flagged WHERE satisfied = 0;

-- release/blocks
CREATE TEMPORARY TABLE "kanon_run_blocks" AS SELECT "lookup0".label AS "o0", sensitive.value AS "o1", CASE WHEN classes.row_count - numbers.number * 1000 < 1000 THEN classes.row_count - numbers.number * 1000 ELSE 1000 END AS block_count FROM (SELECT "vectors"."code0" AS "code0", value_code, CAST(SUM(row_count) AS BIGINT) AS row_count, CAST(FLOOR((SUM(row_count) + 1000 - 1) / 1000) AS BIGINT) AS block_count FROM "kanon_run_values0" AS vectors GROUP BY "vectors"."code0", value_code) AS classes JOIN (SELECT DISTINCT "c0" AS code, "l0" AS label FROM "kanon_run_lookup0") AS "lookup0" ON "classes"."code0" = "lookup0".code JOIN "kanon_run_sensitive0" AS sensitive ON classes.value_code IS NOT DISTINCT FROM sensitive.code LEFT JOIN "kanon_run_suppressed" AS suppressed ON classes."code0" = suppressed."k0" CROSS JOIN UNNEST(RANGE("classes"."block_count")) AS numbers(number) WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- release/repeat
CREATE TABLE "clinic"."kanon_run_release" AS SELECT blocks."o0" AS "sex", blocks."o1" AS "dx" FROM "kanon_run_blocks" AS blocks CROSS JOIN UNNEST(RANGE("blocks"."block_count")) AS numbers(number);

-- evaluate/achieved
WITH "kanon_run_with_cells" AS «evaluate/achieved 4», "kanon_run_with_numbers" AS (SELECT "q0", CAST(SUM(row_count) AS BIGINT) AS class_total, ROW_NUMBER() OVER (ORDER BY COUNT(*) ASC) AS class_number FROM "kanon_run_with_cells" AS cells GROUP BY "q0") SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" < 8.99999999000000050e-01 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" < 8.99999999000000050e-01 THEN 0 ELSE class_rows END) AS "violating_rows0", MAX("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN NOT "m1" IS NULL AND "m1" < 8.99999999000000050e-01 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN NOT "m1" IS NULL AND "m1" < 8.99999999000000050e-01 THEN 0 ELSE class_rows END) AS "violating_rows1", MAX("m2") AS "worst2", SUM(CASE WHEN "m2" IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN NOT "m2" IS NULL AND "m2" <= 3.00000000100000008e+00 THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN NOT "m2" IS NULL AND "m2" <= 3.00000000100000008e+00 THEN 0 ELSE class_rows END) AS "violating_rows2" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", "m1", "m2", CASE WHEN (NOT "m0" IS NULL AND "m0" < 8.99999999000000050e-01) AND (NOT "m1" IS NULL AND "m1" < 8.99999999000000050e-01) AND (NOT "m2" IS NULL AND "m2" <= 3.00000000100000008e+00) THEN 1 ELSE 0 END AS satisfied FROM (SELECT classes.*, CASE WHEN "m0_held" > 0 THEN CAST("m0_top1" AS DOUBLE) / (CAST("m0_top1" AS DOUBLE) + CAST("m0_held" AS DOUBLE) * LEAST(("m0_fewest1") * ("m0_together2"), ("m0_fewest2") * ("m0_together1"), ("m0_fewest3"))) END AS "m0" FROM (SELECT classes.*, ("m0_anywhere1") AS "m0_together1", LEAST(("m0_anywhere2"), ("m0_anywhere1") * ("m0_anywhere1")) AS "m0_together2" FROM (SELECT classes.*, COALESCE(MIN(CASE WHEN "m0_held" > 0 THEN "m0_fewest1" END) OVER (), CAST(1 AS DOUBLE)) AS "m0_anywhere1", COALESCE(MIN(CASE WHEN "m0_held" > 0 THEN "m0_fewest2" END) OVER (), CAST(1 AS DOUBLE)) AS "m0_anywhere2" FROM (SELECT classes.*, ("m0_factor0_1") AS "m0_fewest1", LEAST(("m0_factor0_2"), ("m0_factor0_1") * ("m0_factor1_1")) AS "m0_fewest2", LEAST(("m0_factor0_3"), ("m0_factor0_2") * ("m0_factor1_1"), ("m0_factor0_1") * ("m0_factor1_1") * ("m0_factor2_1")) AS "m0_fewest3" FROM (SELECT classes.*, CASE WHEN "m0_held" - 0 - "m0_top1" > 0 THEN CAST("m0_held" - 0 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_1", CASE WHEN "m0_held" - 0 - "m0_top2" > 0 THEN CAST("m0_held" - 0 - "m0_top2" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_2", CASE WHEN "m0_held" - 0 - "m0_top3" > 0 THEN CAST("m0_held" - 0 - "m0_top3" AS DOUBLE) / CAST("m0_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor0_3", CASE WHEN "m0_held" - 1 - "m0_top1" > 0 THEN CAST("m0_held" - 1 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 1 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor1_1", CASE WHEN "m0_held" - 2 - "m0_top1" > 0 THEN CAST("m0_held" - 2 - "m0_top1" AS DOUBLE) / CAST("m0_held" - 2 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m0_factor2_1" FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS "m0_held", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 1 THEN value_count ELSE 0 END) AS "m0_top1", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 2 THEN value_count ELSE 0 END) AS "m0_top2", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 3 THEN value_count ELSE 0 END) AS "m0_top3", MAX(CASE WHEN NOT value_code IS NULL THEN 1 / (1 + LEAST("m1_own", "m1_person_known" * "m1_family_anywhere", "m1_person" * "m1_family_known_anywhere")) END) AS "m1", CASE WHEN SUM«evaluate/node 8» = 0 THEN MAX«evaluate/node 9» END AS "m2" FROM (SELECT stepped.*, COALESCE(MIN(CASE WHEN NOT value_code IS NULL THEN "m1_family" END) OVER (PARTITION BY "value_code"), CAST(1 AS DOUBLE)) AS "m1_family_anywhere", COALESCE(MIN(CASE WHEN NOT value_code IS NULL THEN "m1_family_known" END) OVER (PARTITION BY "value_code"), CAST(1 AS DOUBLE)) AS "m1_family_known_anywhere" FROM (SELECT stepped.*, MIN(CASE WHEN NOT value_code IS NULL THEN "m1_own" END) OVER (PARTITION BY "k0") AS "m1_worst" FROM (SELECT stepped.*, CASE WHEN (("m1_held" - value_count - 1) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) > 0 AND ("m1_held" - value_count - 2) > 0 THEN CAST((("m1_held" - value_count - 1) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) AS DOUBLE) / CAST(value_count AS DOUBLE) * CAST(("m1_held" - value_count - 2) AS DOUBLE) / CAST("m1_held" - 2 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_own", CASE WHEN (("m1_held" - value_count - 0) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) > 0 AND ("m1_held" - value_count - 0) > 0 THEN CAST((("m1_held" - value_count - 0) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) AS DOUBLE) / CAST(value_count AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_person", CASE WHEN (("m1_held" - value_count - 1) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) > 0 AND ("m1_held" - value_count - 1) > 0 THEN CAST((("m1_held" - value_count - 1) - CASE WHEN value_position <= 1 THEN "m1_more" - value_count ELSE "m1_most" END) AS DOUBLE) / CAST(value_count AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_person_known", CASE WHEN ("m1_held" - value_count - 0) > 0 THEN CAST(1 AS DOUBLE) * CAST(("m1_held" - value_count - 0) AS DOUBLE) / CAST("m1_held" - 0 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_family", CASE WHEN ("m1_held" - value_count - 1) > 0 THEN CAST(1 AS DOUBLE) * CAST(("m1_held" - value_count - 1) AS DOUBLE) / CAST("m1_held" - 1 AS DOUBLE) ELSE CAST(0 AS DOUBLE) END AS "m1_family_known" FROM (SELECT stepped.*, SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) OVER (PARTITION BY "k0") AS "m1_held", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 1 THEN value_count ELSE 0 END) OVER (PARTITION BY "k0") AS "m1_most", SUM(CASE WHEN NOT value_code IS NULL AND value_position <= 2 THEN value_count ELSE 0 END) OVER (PARTITION BY "k0") AS "m1_more" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, "reference_values", class_total, ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, value_count DESC) AS value_position FROM (SELECT held."k0" AS "k0", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, held.class_total AS class_total, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share, CASE WHEN held.value_code IS NULL THEN of_null."reference_values" ELSE reference."reference_values" END AS "reference_values" FROM «evaluate/achieved 3» AS held LEFT JOIN (SELECT value AS reference_value, reference_share, "reference_values" FROM "kanon_run_sensitive0") AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share, MAX(CASE WHEN reference_value IS NULL THEN "reference_values" END) AS "reference_values" FROM (SELECT value AS reference_value, reference_share, "reference_values" FROM "kanon_run_sensitive0") AS every_value) AS of_null) AS counted) AS stepped) AS stepped) AS stepped) AS stepped) AS ranked GROUP BY "k0") AS classes) AS classes) AS classes) AS classes) AS classes) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'f7c4e8e09788edfe6f322ea3e107ecc33765e112fe7898d5ed330414fd0eaed6', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "v0", CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS "unit", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST("kanon_source"."person" AS TEXT) COLLATE "binary";

-- frequency/totals
SELECT (SELECT SUM(row_count) FROM "kanon_run_raw") AS row_count, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "q0" IS NULL) AS null_rows, (SELECT COUNT(DISTINCT "unit") FROM "kanon_run_raw") AS persons, NULL AS kept_persons, (SELECT MAX(vectors) FROM (SELECT "unit", COUNT(*) AS vectors FROM (SELECT DISTINCT "unit", "q0" FROM "kanon_run_raw" WHERE NOT "unit" IS NULL) AS person_vectors GROUP BY "unit") AS vectors_per_person) AS most_vectors, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "unit" IS NULL) AS unknown_rows;

-- frequency/sensitive
CREATE TEMPORARY TABLE "kanon_run_sensitive0" AS SELECT value, CASE WHEN value IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY value ASC) AS INT) END AS code, CAST(reference_count AS BIGINT) AS reference_count, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share FROM (SELECT "v0" AS value, COUNT(DISTINCT "unit") AS reference_count FROM "kanon_run_raw" GROUP BY "v0") AS value_counts;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_values0" AS SELECT "lookup0"."c0" AS "code0", sensitive.code AS value_code, sensitive.reference_share AS reference_share, vectors.person_count AS person_count, vectors.row_count AS row_count FROM (SELECT "q0", "v0", COUNT(DISTINCT "unit") AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0", "v0") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_sensitive0" AS sensitive ON vectors."v0" IS NOT DISTINCT FROM sensitive.value;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c0" AS "code0", vectors.person_count AS person_count, vectors.row_count AS row_count FROM (SELECT "q0", COUNT(DISTINCT "unit") AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value;

-- «evaluate/node 11»
(SELECT pooled."k0" AS "k0", CASE WHEN MAX(pooled.class_rows) = MAX(pooled.value_rows) THEN MAX(pooled.class_rows) END AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m1") AS "m1" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m1" FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code0") AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, "m1" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 THEN SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) ELSE NULL END AS "m1" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, SUM(value_count) OVER (PARTITION BY "k0") AS class_total FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(person_count) AS value_count, MIN(reference_share) AS reference_share FROM "kanon_run_values0" GROUP BY "code0", value_code) AS counted) AS ranked GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) AND (NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) AND (NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01) THEN 0 ELSE class_rows END) AS suppressed, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0" FROM «evaluate/node 11» AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", "m1", CASE WHEN ("class_size" >= 3) AND (NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS satisfied FROM «evaluate/node 11» AS classes) AS flagged WHERE satisfied = 0;

-- release/write
CREATE TEMPORARY TABLE "kanon_run_staged" AS SELECT CASE WHEN NOT suppressed.class_rows IS NULL THEN '*' ELSE "lookup0"."l0" END AS "sex", "kanon_source"."dx" AS "dx", CASE WHEN NOT suppressed.class_rows IS NULL THEN 1 ELSE 0 END AS "kanon_masked", CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS "kanon_unit" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup0".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c0" = suppressed."k0";

-- «evaluate/achieved 6»
(SELECT "q0" AS "k0", CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size, SUM(COUNT(DISTINCT unit)) OVER () AS all_size FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."kanon_unit" AS TEXT) COLLATE "binary" AS unit, 1 AS row_count FROM "kanon_run_staged" AS checked) AS frequency GROUP BY "q0")

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, MAX(all_size) AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0", MAX("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01 THEN 0 ELSE class_rows END) AS "violating_rows1" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "all_size", "class_rows", "class_size", "m1", CASE WHEN ("class_size" >= 3) AND (NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS satisfied FROM (SELECT pooled."k0" AS "k0", CASE WHEN MAX(pooled.class_rows) = MAX(pooled.value_rows) THEN MAX(pooled.class_rows) END AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."all_size") AS "all_size", MAX(pooled."m1") AS "m1" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "all_size", NULL AS "m1" FROM «evaluate/achieved 6» AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, NULL, "m1" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 THEN SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) ELSE NULL END AS "m1" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, SUM(value_count) OVER (PARTITION BY "k0") AS class_total FROM (SELECT held."k0" AS "k0", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share FROM (SELECT "q0" AS "k0", value_code, CAST(COUNT(*) AS BIGINT) AS value_rows, COUNT(DISTINCT unit) AS value_count FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, CAST("checked"."kanon_unit" AS TEXT) COLLATE "binary" AS unit, 1 AS row_count FROM "kanon_run_staged" AS checked) AS frequency GROUP BY "q0", value_code) AS held LEFT JOIN (SELECT value AS reference_value, reference_share FROM "kanon_run_sensitive0") AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share FROM (SELECT value AS reference_value, reference_share FROM "kanon_run_sensitive0") AS every_value) AS of_null) AS counted) AS ranked GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "kanon_run_staged" AS checked;

-- release/count
SELECT COUNT(*) AS row_count, SUM("kanon_masked") AS masked_rows, COUNT(DISTINCT CASE WHEN "kanon_masked" = 0 THEN "kanon_unit" END) AS persons FROM "kanon_run_staged" AS counted;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'db570c2bd1c4ac92a20b1bd98896798481af2e927e498a56b98a15cc48dfbbfe', '{"published_at": "(the time)"}');

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 5) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 5) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 5) THEN CAST(class_rows AS DOUBLE) * (0) ELSE 0 END) AS "kept_width", SUM(CAST(class_rows AS DOUBLE) * (0)) AS "width", SUM(CASE WHEN NOT (("class_size" >= 5)) THEN 0 WHEN class_size > 0 AND 9.00000000000000000e+00 > 2.00000000000000000e+00 * class_size THEN CAST(class_rows AS DOUBLE) / CAST(class_size AS DOUBLE) WHEN class_size <= 0 AND 9.00000000000000000e+00 > 2.00000000000000000e+00 THEN CAST(class_rows AS DOUBLE) ELSE 0 END) AS "found_rows" FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code1", "code3") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", "k1", class_rows FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 5) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "code1" AS "k0", "code3" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code1", "code3") AS classes) AS flagged WHERE satisfied = 0;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 5 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 5 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 5) THEN 1 ELSE 0 END AS satisfied FROM «evaluate/achieved 1» AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '0ab6df11e730c3aa29b2890198e51d71186d7eff08e2d67479c698c776d7b371', '{"published_at": "(the time)"}');

-- «evaluate/node 12»
(4.16666666666666644e-02 - (7.29166666666666678e-03 - (3.84424603174603153e-03 - 4.13411458333333339e-03 / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2)) / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2)) / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2))

-- «evaluate/node 13»
(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count * CASE FLOOR(CAST(value_count AS DOUBLE) / 2) WHEN 0 THEN -1.27036284546147815e+00 WHEN 1 THEN 7.29637154538521848e-01 WHEN 2 THEN 1.39630382120518837e+00 WHEN 3 THEN 1.79630382120518828e+00 WHEN 4 THEN 2.08201810691947431e+00 WHEN 5 THEN 2.30424032914169619e+00 WHEN 6 THEN 2.48605851095987829e+00 WHEN 7 THEN 2.63990466480603203e+00 ELSE LN(2 * FLOOR(CAST(value_count AS DOUBLE) / 2)) + (4.16666666666666644e-02 - (7.29166666666666678e-03 - (3.84424603174603153e-03 - 4.13411458333333339e-03 / FLOOR(CAST(value_count AS DOUBLE) / 2) / FLOOR(CAST(value_count AS DOUBLE) / 2)) / FLOOR(CAST(value_count AS DOUBLE) / 2) / FLOOR(CAST(value_count AS DOUBLE) / 2)) / FLOOR(CAST(value_count AS DOUBLE) / 2) / FLOOR(CAST(value_count AS DOUBLE) / 2)) / FLOOR(CAST(value_count AS DOUBLE) / 2) / FLOOR(CAST(value_count AS DOUBLE) / 2) END ELSE 0 END)

-- «evaluate/node 14»
(SELECT "k0", value_code, value_rows, value_count, reference_share FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share FROM "kanon_run_values0" GROUP BY "code0", value_code) AS counted)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("m0" >= 6.93147179559945315e-01 AND "m0_second" >= 2) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("m0" >= 6.93147179559945315e-01 AND "m0_second" >= 2) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0" FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) > 0 THEN CASE FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) WHEN 0 THEN -1.27036284546147815e+00 WHEN 1 THEN 7.29637154538521848e-01 WHEN 2 THEN 1.39630382120518837e+00 WHEN 3 THEN 1.79630382120518828e+00 WHEN 4 THEN 2.08201810691947431e+00 WHEN 5 THEN 2.30424032914169619e+00 WHEN 6 THEN 2.48605851095987829e+00 WHEN 7 THEN 2.63990466480603203e+00 ELSE LN(2 * FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2)) + «evaluate/node 12» / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) END - SUM«evaluate/node 13» / CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) ELSE 0 END AS "m0", COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m0_second" FROM «evaluate/node 14» AS ranked GROUP BY "k0") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", "m0", "m0_second", CASE WHEN ("m0" >= 6.93147179559945315e-01 AND "m0_second" >= 2) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) > 0 THEN CASE FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) WHEN 0 THEN -1.27036284546147815e+00 WHEN 1 THEN 7.29637154538521848e-01 WHEN 2 THEN 1.39630382120518837e+00 WHEN 3 THEN 1.79630382120518828e+00 WHEN 4 THEN 2.08201810691947431e+00 WHEN 5 THEN 2.30424032914169619e+00 WHEN 6 THEN 2.48605851095987829e+00 WHEN 7 THEN 2.63990466480603203e+00 ELSE LN(2 * FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2)) + «evaluate/node 12» / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) END - SUM«evaluate/node 13» / CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) ELSE 0 END AS "m0", COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m0_second" FROM «evaluate/node 14» AS ranked GROUP BY "k0") AS classes) AS flagged WHERE satisfied = 0;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN(CASE WHEN "m0_second" = 0 THEN 0 WHEN "m0" > LN("m0_second") THEN LN("m0_second") ELSE "m0" END) AS "worst0", SUM(CASE WHEN CASE WHEN "m0_second" = 0 THEN 0 WHEN "m0" > LN("m0_second") THEN LN("m0_second") ELSE "m0" END IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0" >= 6.93147179559945315e-01 AND "m0_second" >= 2 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0" >= 6.93147179559945315e-01 AND "m0_second" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows0", MIN("m0_second") AS "second0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", "m0_second", CASE WHEN ("m0" >= 6.93147179559945315e-01 AND "m0_second" >= 2) THEN 1 ELSE 0 END AS satisfied FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) > 0 THEN CASE FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) WHEN 0 THEN -1.27036284546147815e+00 WHEN 1 THEN 7.29637154538521848e-01 WHEN 2 THEN 1.39630382120518837e+00 WHEN 3 THEN 1.79630382120518828e+00 WHEN 4 THEN 2.08201810691947431e+00 WHEN 5 THEN 2.30424032914169619e+00 WHEN 6 THEN 2.48605851095987829e+00 WHEN 7 THEN 2.63990466480603203e+00 ELSE LN(2 * FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2)) + «evaluate/node 12» / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) / FLOOR(CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) / 2) END - SUM«evaluate/node 13» / CAST(SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) AS DOUBLE) ELSE 0 END AS "m0", COUNT(CASE WHEN value_count > 0 THEN value_code END) AS "m0_second" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share FROM (SELECT held."k0" AS "k0", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share FROM (SELECT "q0" AS "k0", value_code, CAST(COUNT(*) AS BIGINT) AS value_rows, CAST(COUNT(*) AS BIGINT) AS value_count FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, 1 AS row_count FROM "clinic"."kanon_run_release" AS checked) AS frequency GROUP BY "q0", value_code) AS held LEFT JOIN (SELECT value AS reference_value, reference_share FROM "kanon_run_sensitive0") AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share FROM (SELECT value AS reference_value, reference_share FROM "kanon_run_sensitive0") AS every_value) AS of_null) AS counted) AS ranked GROUP BY "k0") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'b0061954538edc75ac407ea5f375ed180dcdc9e4c3d3fef99e5693737f1596c6', '{"published_at": "(the time)"}');

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 5) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 5) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0", 0 AS "padding_1" FROM (SELECT classes.*, SUM(CASE WHEN ("class_size" >= 3) THEN class_size ELSE 0 END) OVER (PARTITION BY "u1_0") AS "m1" FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("code3") AS "u1_0" FROM "kanon_run_frequency" GROUP BY "code1", "code3") AS classes) AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", "k1", class_rows FROM (SELECT "k0", "k1", "class_rows", "class_size", "m1", CASE WHEN ("class_size" >= 3) AND ("m1" >= 5) THEN 1 ELSE 0 END AS satisfied FROM (SELECT classes.*, SUM(CASE WHEN ("class_size" >= 3) THEN class_size ELSE 0 END) OVER (PARTITION BY "u1_0") AS "m1" FROM (SELECT "code1" AS "k0", "code3" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("code3") AS "u1_0" FROM "kanon_run_frequency" GROUP BY "code1", "code3") AS classes) AS classes) AS flagged WHERE satisfied = 0;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_size FROM (SELECT CAST("checked"."age" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM "clinic"."kanon_run_release" AS checked) AS frequency GROUP BY "q0", "q1") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 5 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 5 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 5) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_size FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", 1 AS row_count FROM "clinic"."kanon_run_release" AS checked) AS frequency GROUP BY "q0") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '03c3ad30ea66e0da31dfb3135411d739457cc63c60c4a875e018ed7ca1492cfb', '{"published_at": "(the time)"}');

-- «evaluate/node 15»
(SELECT stepped.*, MAX(CASE WHEN NOT value_code IS NULL THEN CAST("m0_own0" AS DOUBLE) / CAST("m0_held0" AS DOUBLE) ELSE CAST(0 AS DOUBLE) END) OVER (PARTITION BY "s0_0") AS "m0_share0", MAX(CASE WHEN NOT value_code IS NULL THEN CAST("m0_own1" AS DOUBLE) / CAST("m0_held1" AS DOUBLE) ELSE CAST(0 AS DOUBLE) END) OVER (PARTITION BY "s1_0") AS "m0_share1" FROM (SELECT stepped.*, SUM(value_count) OVER (PARTITION BY "s0_0") AS "m0_size0", SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) OVER (PARTITION BY "s0_0") AS "m0_held0", SUM(value_count) OVER (PARTITION BY "s0_0", "value_code") AS "m0_own0", SUM(value_count) OVER (PARTITION BY "s1_0") AS "m0_size1", SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) OVER (PARTITION BY "s1_0") AS "m0_held1", SUM(value_count) OVER (PARTITION BY "s1_0", "value_code") AS "m0_own1" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, "s0_0", "s1_0" FROM (SELECT "code1" AS "k0", "code3" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN("code1") AS "s0_0", MIN("code3") AS "s1_0" FROM "kanon_run_values0" GROUP BY "code1", "code3", value_code) AS counted) AS stepped) AS stepped)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("m0_second" >= 2 AND "m0" <= 9.00000000999999994e-01) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("m0_second" >= 2 AND "m0" <= 9.00000000999999994e-01) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0", 0 AS "padding_1" FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MIN("s0_0") AS "s0_0", MIN("s1_0") AS "s1_0", MAX(0 - LEAST(0 - "m0_share0", 0 - "m0_share1")) AS "m0", MIN(LEAST("m0_size0", "m0_size1")) AS "m0_second" FROM «evaluate/node 15» AS ranked GROUP BY "k0", "k1") AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", "k1", class_rows FROM (SELECT "k0", "k1", "class_rows", "class_size", "m0", "m0_second", CASE WHEN ("m0_second" >= 2 AND "m0" <= 9.00000000999999994e-01) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MIN("s0_0") AS "s0_0", MIN("s1_0") AS "s1_0", MAX(0 - LEAST(0 - "m0_share0", 0 - "m0_share1")) AS "m0", MIN(LEAST("m0_size0", "m0_size1")) AS "m0_second" FROM «evaluate/node 15» AS ranked GROUP BY "k0", "k1") AS classes) AS flagged WHERE satisfied = 0;

-- release/blocks
CREATE TEMPORARY TABLE "kanon_run_blocks" AS SELECT "lookup0".label AS "o0", "lookup1".label AS "o1", sensitive.value AS "o2", CASE WHEN classes.row_count - numbers.number * 1000 < 1000 THEN classes.row_count - numbers.number * 1000 ELSE 1000 END AS block_count FROM (SELECT "vectors"."code1" AS "code1", "vectors"."code3" AS "code3", value_code, CAST(SUM(row_count) AS BIGINT) AS row_count, CAST(FLOOR((SUM(row_count) + 1000 - 1) / 1000) AS BIGINT) AS block_count FROM "kanon_run_values0" AS vectors GROUP BY "vectors"."code1", "vectors"."code3", value_code) AS classes JOIN (SELECT DISTINCT "c0" AS code, "l0" AS label FROM "kanon_run_lookup0") AS "lookup0" ON "classes"."code1" = "lookup0".code JOIN (SELECT DISTINCT "c0" AS code, "l0" AS label FROM "kanon_run_lookup1") AS "lookup1" ON "classes"."code3" = "lookup1".code JOIN "kanon_run_sensitive0" AS sensitive ON classes.value_code IS NOT DISTINCT FROM sensitive.code LEFT JOIN "kanon_run_suppressed" AS suppressed ON classes."code1" = suppressed."k0" AND classes."code3" = suppressed."k1" CROSS JOIN UNNEST(RANGE("classes"."block_count")) AS numbers(number) WHERE suppressed.class_rows IS NULL ORDER BY RANDOM() ASC;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0_second" >= 2 AND "m0" <= 9.00000000999999994e-01 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0_second" >= 2 AND "m0" <= 9.00000000999999994e-01 THEN 0 ELSE class_rows END) AS "violating_rows0", MIN("m0_second") AS "second0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", "m0_second", CASE WHEN ("m0_second" >= 2 AND "m0" <= 9.00000000999999994e-01) THEN 1 ELSE 0 END AS satisfied FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MAX(0 - LEAST(0 - "m0_share0", 0 - "m0_share1")) AS "m0", MIN(LEAST("m0_size0", "m0_size1")) AS "m0_second" FROM (SELECT stepped.*, MAX(CASE WHEN NOT value_code IS NULL THEN CAST("m0_own0" AS DOUBLE) / CAST("m0_held0" AS DOUBLE) ELSE CAST(0 AS DOUBLE) END) OVER (PARTITION BY "k0") AS "m0_share0", MAX(CASE WHEN NOT value_code IS NULL THEN CAST("m0_own1" AS DOUBLE) / CAST("m0_held1" AS DOUBLE) ELSE CAST(0 AS DOUBLE) END) OVER (PARTITION BY "k1") AS "m0_share1" FROM (SELECT stepped.*, SUM(value_count) OVER (PARTITION BY "k0") AS "m0_size0", SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) OVER (PARTITION BY "k0") AS "m0_held0", SUM(value_count) OVER (PARTITION BY "k0", "value_code") AS "m0_own0", SUM(value_count) OVER (PARTITION BY "k1") AS "m0_size1", SUM(CASE WHEN NOT value_code IS NULL THEN value_count ELSE 0 END) OVER (PARTITION BY "k1") AS "m0_held1", SUM(value_count) OVER (PARTITION BY "k1", "value_code") AS "m0_own1" FROM «evaluate/achieved 5» AS stepped) AS stepped) AS ranked GROUP BY "k0", "k1") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."kanon_run_release" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '8a164d304c635a0b54cad8ffdcc1f980c2c50f9daeb977b228918fc6bc76a1cc', '{"published_at": "(the time)"}');

-- frequency/population/persons
SELECT COUNT(*) AS row_count, COUNT(DISTINCT CAST("checked"."person" AS TEXT) COLLATE "binary") AS different FROM "clinic"."census" AS checked;

-- frequency/population/by_person
CREATE TEMPORARY TABLE "kanon_run_population0" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST(CAST(CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS TEXT) AS TEXT) COLLATE "binary" AS person, COUNT(*) AS row_count FROM "clinic"."census" AS kanon_source WHERE NOT CAST(CAST(CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS TEXT) AS TEXT) COLLATE "binary" IS NULL GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST(CAST(CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS TEXT) AS TEXT) COLLATE "binary";

-- frequency/population/moving
SELECT COUNT(*) AS moving FROM (SELECT person FROM "kanon_run_population0" GROUP BY person HAVING COUNT(*) > 1) AS several;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS "unit", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST("kanon_source"."person" AS TEXT) COLLATE "binary";

-- frequency/population/known
CREATE TEMPORARY TABLE "kanon_run_known" AS SELECT "q0", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw" UNION ALL SELECT "q0", CAST(0 AS BIGINT) AS row_count FROM "kanon_run_population0";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_known" GROUP BY "q0") AS distinct_values) AS own;

-- frequency/population/people
CREATE TEMPORARY TABLE "kanon_run_people0" AS SELECT "q0", CAST(NULL AS TEXT) AS value_code, CAST(0 AS BIGINT) AS row_count FROM "kanon_run_raw" UNION ALL SELECT "q0", person AS value_code, CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_population0";

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_present0" AS SELECT "lookup0"."c0" AS "code0", 0 AS person_count, vectors.value_code AS value_code, 0 AS reference_share, vectors.row_count AS row_count FROM (SELECT "q0", value_code, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_people0" GROUP BY "q0", value_code) AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value;

-- frequency/population/sums
SELECT (SELECT SUM(row_count) FROM "kanon_run_present0") AS encoded_rows, (SELECT SUM(row_count) FROM "kanon_run_people0") AS all_rows;

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_frequency") + (SELECT COUNT(*) FROM "kanon_run_present0") AS row_count;

-- «evaluate/node 16»
(SELECT pooled."k0" AS "k0", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0", MAX(pooled."m1") AS "m1" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m0", NULL AS "m1" FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code0") AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, "m0", "m1" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m0", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m1" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(person_count) AS value_count, MIN(reference_share) AS reference_share FROM "kanon_run_present0" GROUP BY "code0", value_code) AS counted) AS ranked GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("m0" >= 3) AND ("m1" >= class_size AND "m1" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m1" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m1" AS DOUBLE)) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("m0" >= 3) AND ("m1" >= class_size AND "m1" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m1" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m1" AS DOUBLE)) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0" FROM «evaluate/node 16» AS classes;

-- evaluate/suppressed
CREATE TEMPORARY TABLE "kanon_run_suppressed" AS SELECT "k0", class_rows FROM (SELECT "k0", "class_rows", "class_size", "m0", "m1", CASE WHEN ("m0" >= 3) AND ("m1" >= class_size AND "m1" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m1" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m1" AS DOUBLE)) THEN 1 ELSE 0 END AS satisfied FROM «evaluate/node 16» AS classes) AS flagged WHERE satisfied = 0;

-- release/write
CREATE TEMPORARY TABLE "kanon_run_staged" AS SELECT "lookup0"."l0" AS "sex", "kanon_source"."dx" AS "dx", CAST("kanon_source"."person" AS TEXT) COLLATE "binary" AS "kanon_unit" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup0".value LEFT JOIN "kanon_run_suppressed" AS suppressed ON "lookup0"."c0" = suppressed."k0" WHERE suppressed.class_rows IS NULL;

-- «frequency/population/sums 1»
(SELECT CAST(lookup0.l0 AS TEXT) COLLATE "binary" AS "q0", vectors.value_code AS value_code, 0 AS reference_share, CAST(NULL AS TEXT) AS unit, vectors.row_count AS row_count FROM "kanon_run_people0" AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value)

-- frequency/population/sums
SELECT (SELECT SUM(row_count) FROM «frequency/population/sums 1» AS frequency) AS encoded_rows, (SELECT SUM(row_count) FROM "kanon_run_people0") AS all_rows;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, MAX(all_size) AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0", MAX(CASE WHEN "m1" > 0 THEN CAST(class_size AS DOUBLE) / CAST("m1" AS DOUBLE) END) AS "worst1", SUM(CASE WHEN CASE WHEN "m1" > 0 THEN CAST(class_size AS DOUBLE) / CAST("m1" AS DOUBLE) END IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" >= class_size AND "m1" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m1" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m1" AS DOUBLE) THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" >= class_size AND "m1" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m1" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m1" AS DOUBLE) THEN 0 ELSE class_rows END) AS "violating_rows1" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "all_size", "class_rows", "class_size", "m0", "m1", CASE WHEN ("m0" >= 3) AND ("m1" >= class_size AND "m1" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m1" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m1" AS DOUBLE)) THEN 1 ELSE 0 END AS satisfied FROM (SELECT pooled."k0" AS "k0", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."all_size") AS "all_size", MAX(pooled."m0") AS "m0", MAX(pooled."m1") AS "m1" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "all_size", NULL AS "m0", NULL AS "m1" FROM «evaluate/achieved 6» AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, NULL, "m0", "m1" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m0", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m1" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share FROM (SELECT "q0" AS "k0", value_code, SUM(row_count) AS value_rows, COUNT(DISTINCT unit) AS value_count, MIN(reference_share) AS reference_share FROM «frequency/population/sums 1» AS frequency GROUP BY "q0", value_code) AS counted) AS ranked GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "kanon_run_staged" AS checked;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '113a3992319013d3b087c48833c0fa52d6be133730763e412a922321e0ae4ace', '{"published_at": "(the time)"}');

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_present0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_people0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_known";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_population0";

-- «positions/points 2»
(CASE WHEN year_part >= 1970 THEN (365 * (year_part - CASE WHEN month_part <= 2 THEN 1 ELSE 0 END) + (year_part - CASE WHEN month_part <= 2 THEN 1 ELSE 0 END) // 4 - (year_part - CASE WHEN month_part <= 2 THEN 1 ELSE 0 END) // 100 + (year_part - CASE WHEN month_part <= 2 THEN 1 ELSE 0 END) // 400 + (153 * (month_part + CASE WHEN month_part > 2 THEN -3 ELSE 9 END) + 2) // 5 + day_part - 719469) * 86400 + hour_part * 3600 + minute_part * 60 + second_part END AS BIGINT)

-- «positions/points 3»
(FLOOR(FLOOR(CAST(kanon_source."weight" AS DOUBLE) * 10 + 5.00000000000000000e-01) - CASE WHEN FLOOR(CAST(kanon_source."weight" AS DOUBLE) * 10 + 5.00000000000000000e-01) / 10 > CAST(kanon_source."weight" AS DOUBLE) THEN 1 ELSE 0 END) AS BIGINT)

-- «positions/points 1»
(SELECT who, "kept0", x_units, y_units, t_units, CASE WHEN x_units >= 0 AND x_units < 1280 AND y_units >= 0 AND y_units < 256 AND t_units >= 0 AND t_units < 1556444031219243417600 THEN CAST(((x_units - 0) // 640) * 1152921504606846976 + ((y_units - 0) // 128) * 576460752303423488 + ((t_units - 0) // 3600 - ((t_units - 0) // 86400) * 24) * 1 + ((t_units - 0) // 86400) * 32 AS BIGINT) END AS position_key FROM (SELECT who, "kept0", x_units, y_units, CAST«positions/points 2» AS t_units FROM (SELECT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS who, kanon_source."sex" AS "kept0", CAST(EXTRACT(YEAR FROM kanon_source."at") AS BIGINT) AS "year_part", CAST(EXTRACT(MONTH FROM kanon_source."at") AS BIGINT) AS "month_part", CAST(EXTRACT(DAY FROM kanon_source."at") AS BIGINT) AS "day_part", CAST(EXTRACT(HOUR FROM kanon_source."at") AS BIGINT) AS "hour_part", CAST(EXTRACT(MINUTE FROM kanon_source."at") AS BIGINT) AS "minute_part", CAST(FLOOR(EXTRACT(SECOND FROM kanon_source."at")) AS BIGINT) AS "second_part", CASE WHEN kanon_source."age" >= -1 AND kanon_source."age" <= 129 THEN CAST(FLOOR((CAST(kanon_source."age" AS DECIMAL(28, 10)) - CASE WHEN CAST(kanon_source."age" AS DECIMAL(28, 10)) > kanon_source."age" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) END AS x_units, CASE WHEN kanon_source."weight" >= -1 AND kanon_source."weight" <= 27 THEN CAST«positions/points 3» END AS y_units FROM "clinic"."visits" AS kanon_source) AS measured) AS timed)

-- positions/points
CREATE TEMPORARY TABLE "kanon_run_points" AS SELECT position_key, who, COUNT(*) AS row_count FROM «positions/points 1» AS keyed GROUP BY position_key, who;

-- positions/totals
SELECT COALESCE(SUM(row_count), 0) AS row_count, COALESCE(SUM(CASE WHEN position_key IS NULL THEN row_count ELSE 0 END), 0) AS outside_rows, COALESCE(SUM(CASE WHEN who IS NULL THEN row_count ELSE 0 END), 0) AS unknown_rows, 0 AS wrong_k FROM "kanon_run_points" AS points;

-- positions/inside
CREATE TEMPORARY TABLE "kanon_run_inside" AS SELECT position_key, who, row_count FROM "kanon_run_points" AS points WHERE NOT position_key IS NULL;

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_inside") AS row_count;

-- positions/candidates
CREATE TEMPORARY TABLE "kanon_run_cells1" AS SELECT cell, COUNT(*) AS point_count FROM (SELECT CAST(points.position_key & 2305843009213693951 AS BIGINT) AS cell FROM "kanon_run_inside" AS points) AS placed GROUP BY cell HAVING COUNT(*) >= 3;

-- positions/size
SELECT COUNT(*) AS cell_count, COALESCE(SUM(point_count), 0) AS point_count FROM "kanon_run_cells1" AS cells;

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells2" AS SELECT cell, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 0 AS cell_number FROM (SELECT cell, COUNT(DISTINCT who) AS point_count FROM (SELECT CAST(points.position_key & 2305843009213693951 AS BIGINT) AS cell, points.who AS who FROM "kanon_run_inside" AS points) AS placed GROUP BY cell HAVING COUNT(DISTINCT who) >= 3) AS enough;

-- positions/size
SELECT COUNT(*) AS cell_count, COALESCE(SUM(point_count), 0) AS point_count FROM "kanon_run_cells2" AS cells;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted3" AS SELECT points.position_key, points.who, points.row_count FROM "kanon_run_inside" AS points LEFT JOIN "kanon_run_cells2" AS cells ON CAST(points.position_key & 2305843009213693951 AS BIGINT) = cells.cell WHERE cells.cell IS NULL;

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells4" AS SELECT cell, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 1 AS cell_number FROM (SELECT cell, COUNT(DISTINCT who) AS point_count FROM (SELECT CAST(points.position_key & 576460752303423487 AS BIGINT) AS cell, points.who AS who FROM "kanon_run_parted3" AS points) AS placed GROUP BY cell HAVING COUNT(DISTINCT who) >= 3) AS enough;

-- positions/size
SELECT COUNT(*) AS cell_count, COALESCE(SUM(point_count), 0) AS point_count FROM "kanon_run_cells4" AS cells;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted5" AS SELECT points.position_key, points.who, points.row_count FROM "kanon_run_parted3" AS points LEFT JOIN "kanon_run_cells4" AS cells ON CAST(points.position_key & 576460752303423487 AS BIGINT) = cells.cell WHERE cells.cell IS NULL;

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_parted5") AS row_count;

-- positions/candidates
CREATE TEMPORARY TABLE "kanon_run_cells6" AS SELECT cell, COUNT(*) AS point_count FROM (SELECT CAST(points.position_key & 2305843009213693920 AS BIGINT) AS cell FROM "kanon_run_parted5" AS points) AS placed GROUP BY cell HAVING COUNT(*) >= 3;

-- positions/size
SELECT COUNT(*) AS cell_count, COALESCE(SUM(point_count), 0) AS point_count FROM "kanon_run_cells6" AS cells;

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells7" AS SELECT cell, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 2 AS cell_number FROM (SELECT cell, COUNT(DISTINCT who) AS point_count FROM (SELECT CAST(points.position_key & 2305843009213693920 AS BIGINT) AS cell, points.who AS who FROM "kanon_run_parted5" AS points) AS placed GROUP BY cell HAVING COUNT(DISTINCT who) >= 3) AS enough;

-- positions/size
SELECT COUNT(*) AS cell_count, COALESCE(SUM(point_count), 0) AS point_count FROM "kanon_run_cells7" AS cells;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted8" AS SELECT points.position_key, points.who, points.row_count FROM "kanon_run_parted5" AS points LEFT JOIN "kanon_run_cells7" AS cells ON CAST(points.position_key & 2305843009213693920 AS BIGINT) = cells.cell WHERE cells.cell IS NULL;

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells9" AS SELECT cell, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 3 AS cell_number FROM (SELECT cell, COUNT(DISTINCT who) AS point_count FROM (SELECT CAST(points.position_key & 576460752303423456 AS BIGINT) AS cell, points.who AS who FROM "kanon_run_parted8" AS points) AS placed GROUP BY cell HAVING COUNT(DISTINCT who) >= 3) AS enough;

-- positions/size
SELECT COUNT(*) AS cell_count, COALESCE(SUM(point_count), 0) AS point_count FROM "kanon_run_cells9" AS cells;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted10" AS SELECT points.position_key, points.who, points.row_count FROM "kanon_run_parted8" AS points LEFT JOIN "kanon_run_cells9" AS cells ON CAST(points.position_key & 576460752303423456 AS BIGINT) = cells.cell WHERE cells.cell IS NULL;

-- positions/left
SELECT COALESCE(SUM(row_count), 0) AS left_rows FROM (SELECT row_count FROM "kanon_run_parted10" AS points) AS remaining;

-- positions/assigned
CREATE TEMPORARY TABLE "kanon_run_assigned0" AS SELECT points.who, points."kept0", points.x_units, points.y_units, points.t_units, COALESCE("grid1".cell_number, "grid2".cell_number, "grid3".cell_number, "grid4".cell_number, NULL) AS cell_number FROM «positions/points 1» AS points LEFT JOIN "kanon_run_cells2" AS "grid1" ON CAST(points.position_key & 2305843009213693951 AS BIGINT) = "grid1".cell LEFT JOIN "kanon_run_cells4" AS "grid2" ON CAST(points.position_key & 576460752303423487 AS BIGINT) = "grid2".cell LEFT JOIN "kanon_run_cells7" AS "grid3" ON CAST(points.position_key & 2305843009213693920 AS BIGINT) = "grid3".cell LEFT JOIN "kanon_run_cells9" AS "grid4" ON CAST(points.position_key & 576460752303423456 AS BIGINT) = "grid4".cell;

-- positions/cells
CREATE TEMPORARY TABLE "kanon_run_edges" AS SELECT placed.cell_number AS cell_number, 1 AS grid, placed.cell AS cell, CAST(0 + (cell // 1152921504606846976 + 0) * 640 AS BIGINT) AS x_from, CAST(0 + (cell // 1152921504606846976 + 1) * 640 AS BIGINT) AS x_to, CAST(0 + ((cell // 576460752303423488) % 2 + 0) * 128 AS BIGINT) AS y_from, CAST(0 + ((cell // 576460752303423488) % 2 + 1) * 128 AS BIGINT) AS y_to, CAST(0 + ((cell // 1) % 32) * 3600 + ((cell // 32) % 18014398509481984) * 86400 AS BIGINT) AS t_from, CAST(0 + ((cell // 1) % 32) * 3600 + ((cell // 32) % 18014398509481984) * 86400 + 3600 AS BIGINT) AS t_to FROM "kanon_run_cells2" AS placed UNION ALL SELECT placed.cell_number AS cell_number, 2 AS grid, placed.cell AS cell, CAST(0 + (cell // 1152921504606846976 + 0) * 640 AS BIGINT) AS x_from, CAST(0 + (cell // 1152921504606846976 + 2) * 640 AS BIGINT) AS x_to, CAST(0 + ((cell // 576460752303423488) % 2 + 0) * 128 AS BIGINT) AS y_from, CAST(0 + ((cell // 576460752303423488) % 2 + 2) * 128 AS BIGINT) AS y_to, CAST(0 + ((cell // 1) % 32) * 3600 + ((cell // 32) % 18014398509481984) * 86400 AS BIGINT) AS t_from, CAST(0 + ((cell // 1) % 32) * 3600 + ((cell // 32) % 18014398509481984) * 86400 + 3600 AS BIGINT) AS t_to FROM "kanon_run_cells4" AS placed UNION ALL SELECT placed.cell_number AS cell_number, 3 AS grid, placed.cell AS cell, CAST(0 + (cell // 1152921504606846976 + 0) * 640 AS BIGINT) AS x_from, CAST(0 + (cell // 1152921504606846976 + 1) * 640 AS BIGINT) AS x_to, CAST(0 + ((cell // 576460752303423488) % 2 + 0) * 128 AS BIGINT) AS y_from, CAST(0 + ((cell // 576460752303423488) % 2 + 1) * 128 AS BIGINT) AS y_to, CAST(0 + ((cell // 1) % 32) * 3600 + ((cell // 32) % 18014398509481984) * 86400 AS BIGINT) AS t_from, CAST(0 + ((cell // 1) % 32) * 3600 + ((cell // 32) % 18014398509481984) * 86400 + 86400 AS BIGINT) AS t_to FROM "kanon_run_cells7" AS placed UNION ALL SELECT placed.cell_number AS cell_number, 4 AS grid, placed.cell AS cell, CAST(0 + (cell // 1152921504606846976 + 0) * 640 AS BIGINT) AS x_from, CAST(0 + (cell // 1152921504606846976 + 2) * 640 AS BIGINT) AS x_to, CAST(0 + ((cell // 576460752303423488) % 2 + 0) * 128 AS BIGINT) AS y_from, CAST(0 + ((cell // 576460752303423488) % 2 + 2) * 128 AS BIGINT) AS y_to, CAST(0 + ((cell // 1) % 32) * 3600 + ((cell // 32) % 18014398509481984) * 86400 AS BIGINT) AS t_from, CAST(0 + ((cell // 1) % 32) * 3600 + ((cell // 32) % 18014398509481984) * 86400 + 86400 AS BIGINT) AS t_to FROM "kanon_run_cells9" AS placed;

-- positions/times
CREATE TEMPORARY TABLE "kanon_run_times" AS SELECT t, CAST(year_part AS TEXT) || '-' || CASE WHEN "month_part" < 10 THEN '0' ELSE '' END || CAST("month_part" AS TEXT) || '-' || CASE WHEN "day_part" < 10 THEN '0' ELSE '' END || CAST("day_part" AS TEXT) || ' ' || CASE WHEN "hour_part" < 10 THEN '0' ELSE '' END || CAST("hour_part" AS TEXT) || ':' || CASE WHEN "minute_part" < 10 THEN '0' ELSE '' END || CAST("minute_part" AS TEXT) || ':' || CASE WHEN "second_part" < 10 THEN '0' ELSE '' END || CAST("second_part" AS TEXT) AS t_text FROM (SELECT t, year_of_march + CASE WHEN month_of_march < 10 THEN 0 ELSE 1 END AS year_part, month_of_march + CASE WHEN month_of_march < 10 THEN 3 ELSE -9 END AS month_part, day_of_year - (153 * month_of_march + 2) // 5 + 1 AS day_part, second_of_day // 3600 AS hour_part, second_of_day // 60 % 60 AS minute_part, second_of_day % 60 AS second_part FROM (SELECT t, second_of_day, year_of_march, day_of_year, (5 * day_of_year + 2) // 153 AS month_of_march FROM (SELECT t, second_of_day, year_of_era + era * 400 AS year_of_march, day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100) AS day_of_year FROM (SELECT t, second_of_day, era, day_of_era, (day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096) // 365 AS year_of_era FROM (SELECT t, second_of_day, era, day_number - era * 146097 AS day_of_era FROM (SELECT t, t % 86400 AS second_of_day, t // 86400 + 719468 AS day_number, (t // 86400 + 719468) // 146097 AS era FROM (SELECT DISTINCT t FROM (SELECT t_from AS t FROM "kanon_run_edges" AS cells UNION ALL SELECT t_to AS t FROM "kanon_run_edges" AS cells) AS ends) AS times) AS days) AS eras) AS years) AS marches) AS months) AS dated;

-- positions/labels
CREATE TEMPORARY TABLE "kanon_run_labels" AS SELECT cells.cell_number AS cell_number, cells.grid AS grid, cells.cell AS cell, cells.x_from AS x_from, cells.x_to AS x_to, cells.y_from AS y_from, cells.y_to AS y_to, cells.t_from AS t_from, cells.t_to AS t_to, '[' || starts.t_text || ', ' || finishes.t_text || ')' AS t_label, '[' || CAST(CAST(CAST(cells."x_from" AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ', ' || CAST(CAST(CAST(cells."x_to" AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ')' AS x_label, '[' || CAST(CAST(CAST(cells."y_from" AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ', ' || CAST(CAST(CAST(cells."y_to" AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ')' AS y_label FROM "kanon_run_edges" AS cells JOIN "kanon_run_times" AS starts ON cells.t_from = starts.t JOIN "kanon_run_times" AS finishes ON cells.t_to = finishes.t;

-- positions/classes
CREATE TEMPORARY TABLE "kanon_run_classes" AS SELECT counted.cell_number AS cell_number, labels.grid AS grid, labels.cell AS cell, counted.class_rows AS class_rows, counted.people AS people, counted.needed AS needed FROM (SELECT cell_number, CAST(SUM(person_rows) AS BIGINT) AS class_rows, COUNT(who) AS people, 3 AS needed FROM (SELECT cell_number, who, COUNT(*) AS person_rows FROM "kanon_run_assigned0" AS assigned GROUP BY cell_number, who) AS persons GROUP BY cell_number) AS counted LEFT JOIN "kanon_run_labels" AS labels ON counted.cell_number = labels.cell_number;

-- positions/examined
SELECT COALESCE(SUM(CASE WHEN NOT cell_number IS NULL THEN class_rows END), 0) AS class_rows, SUM(CASE WHEN NOT cell_number IS NULL THEN 1 ELSE 0 END) AS class_count, MIN(CASE WHEN NOT cell_number IS NULL THEN people END) AS fewest_people, COALESCE(SUM(CASE WHEN NOT cell_number IS NULL AND people < needed THEN 1 ELSE 0 END), 0) AS small_classes, COALESCE(SUM(CASE WHEN cell_number IS NULL THEN class_rows END), 0) AS left_out_rows FROM "kanon_run_classes" AS classes;

-- positions/astray
SELECT COUNT(*) AS all_rows, COALESCE(SUM(CASE WHEN assigned.cell_number IS NULL THEN 0 WHEN labels.x_from <= assigned.x_units AND assigned.x_units < labels.x_to AND labels.y_from <= assigned.y_units AND assigned.y_units < labels.y_to AND labels.t_from <= assigned.t_units AND assigned.t_units < labels.t_to THEN 0 ELSE 1 END), 0) AS astray_rows FROM "kanon_run_assigned0" AS assigned LEFT JOIN "kanon_run_labels" AS labels ON assigned.cell_number = labels.cell_number;

-- positions/histories
CREATE TEMPORARY TABLE "kanon_run_histories" AS SELECT DISTINCT who, cell_number FROM "kanon_run_assigned0" AS assigned WHERE NOT cell_number IS NULL;

-- positions/events
CREATE TEMPORARY TABLE "kanon_run_lbqid0_events" AS SELECT who, day_number, t, "element0", "element1", cell_number FROM (SELECT who, t_units // 86400 AS day_number, t_units AS t, cell_number, CASE WHEN x_units >= 0 AND x_units < 15 AND y_units >= 0 AND y_units < 10 AND t_units % 86400 >= 25200 AND t_units % 86400 < 32400 THEN 1 ELSE 0 END AS "element0", CASE WHEN x_units >= 0 AND x_units < 15 AND y_units >= 0 AND y_units < 10 AND t_units % 86400 >= 25200 AND t_units % 86400 < 32400 THEN 1 ELSE 0 END AS "element1" FROM "kanon_run_assigned0" AS assigned WHERE t_units >= 0) AS seen WHERE "element0" = 1 OR "element1" = 1;

-- positions/first
CREATE TEMPORARY TABLE "kanon_run_lbqid0_days0" AS SELECT who, day_number, MIN(t) AS t FROM "kanon_run_lbqid0_events" AS events WHERE element0 = 1 AND (day_number + 3) % 7 < 5 GROUP BY who, day_number;

-- positions/next
CREATE TEMPORARY TABLE "kanon_run_lbqid0_days1" AS SELECT events.who AS who, events.day_number AS day_number, MIN(events.t) AS t FROM "kanon_run_lbqid0_events" AS events JOIN "kanon_run_lbqid0_days0" AS earlier ON events.who = earlier.who AND events.day_number = earlier.day_number AND events.t > earlier.t WHERE events."element1" = 1 GROUP BY events.who, events.day_number;

-- «positions/requests 1»
(SELECT who FROM (SELECT who, (day_number + 3) // 7 AS week_number FROM "kanon_run_lbqid0_days1" AS matched GROUP BY who, (day_number + 3) // 7 HAVING COUNT(*) >= 2) AS weeks GROUP BY who HAVING COUNT(*) >= 1)

-- positions/requests
CREATE TEMPORARY TABLE "kanon_run_lbqid0_requests" AS SELECT events.who AS who, events.cell_number AS cell_number FROM "kanon_run_lbqid0_events" AS events JOIN "kanon_run_lbqid0_days1" AS days ON events.who = days.who AND events.day_number = days.day_number JOIN «positions/requests 1» AS matching ON events.who = matching.who WHERE NOT events.cell_number IS NULL GROUP BY events.who, events.cell_number;

-- positions/consistent
SELECT COUNT(*) AS matching, MIN(people) AS fewest_people, COALESCE(SUM(CASE WHEN people < needed THEN 1 ELSE 0 END), 0) AS exposed FROM (SELECT who, MAX(needed) AS needed, COUNT(*) AS people FROM (SELECT requests.who AS who, histories.who AS other, sizes.needed AS needed FROM "kanon_run_lbqid0_requests" AS requests JOIN (SELECT who, COUNT(*) AS cell_count, 3 AS needed FROM "kanon_run_lbqid0_requests" AS own GROUP BY who) AS sizes ON requests.who = sizes.who JOIN "kanon_run_histories" AS histories ON requests.cell_number = histories.cell_number GROUP BY requests.who, histories.who, sizes.needed, sizes.cell_count HAVING COUNT(*) = sizes.cell_count) AS pairs GROUP BY who) AS counted;

-- positions/levels
SELECT grid, COUNT(*) AS cell_count, SUM(class_rows) AS row_count FROM "kanon_run_classes" AS classes WHERE NOT cell_number IS NULL GROUP BY grid;

-- positions/shuffled
CREATE TEMPORARY TABLE "kanon_run_shuffled" AS SELECT assigned."kept0", assigned.cell_number FROM "kanon_run_assigned0" AS assigned WHERE NOT assigned.cell_number IS NULL ORDER BY RANDOM() ASC;

-- positions/release
CREATE TABLE "clinic"."kanon_run_release" AS SELECT labels.x_label AS "age", shuffled.kept0 AS "sex" FROM "kanon_run_shuffled" AS shuffled JOIN "kanon_run_labels" AS labels ON shuffled.cell_number = labels.cell_number;

-- positions/differing
SELECT COALESCE(SUM(CASE WHEN written = examined THEN 0 ELSE 1 END), 0) AS differing, COALESCE(SUM(CASE WHEN label_count > 1 THEN 1 ELSE 0 END), 0) AS ambiguous FROM (SELECT "age", "weight", "at", SUM(written) AS written, SUM(examined) AS examined, SUM(label_count) AS label_count FROM (SELECT "age", "weight", "at", COUNT(*) AS written, 0 AS examined, 0 AS label_count FROM (SELECT CAST(released."age" AS TEXT) COLLATE "binary" AS "age", CAST(released."weight" AS TEXT) COLLATE "binary" AS "weight", CAST(released."at" AS TEXT) COLLATE "binary" AS "at" FROM "clinic"."kanon_run_release" AS released) AS labelled GROUP BY "age", "weight", "at" UNION ALL SELECT CAST(labels.x_label AS TEXT) COLLATE "binary" AS "age", CAST(labels.y_label AS TEXT) COLLATE "binary" AS "weight", CAST(labels.t_label AS TEXT) COLLATE "binary" AS "at", 0 AS written, COALESCE(classes.class_rows, 0) AS examined, 1 AS label_count FROM "kanon_run_labels" AS labels LEFT JOIN "kanon_run_classes" AS classes ON labels.cell_number = classes.cell_number) AS both_sides GROUP BY "age", "weight", "at") AS compared;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_shuffled";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_lbqid0_requests";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_lbqid0_days1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_lbqid0_days0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_lbqid0_events";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_histories";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_classes";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_labels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_times";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_edges";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_assigned0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_parted10";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cells9";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_parted8";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cells7";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cells6";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_parted5";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cells4";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_parted3";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cells2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cells1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_inside";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_points";

-- «positions/points 4»
(SELECT who, wanted_k, "kept0", x_units, y_units, t_units, CASE WHEN x_units >= 0 AND x_units < 1280 AND y_units >= 0 AND y_units < 256 AND t_units >= 0 AND t_units < 1556444031219243417600 THEN CAST(((x_units - 0) // 640) * 1152921504606846976 + ((y_units - 0) // 128) * 576460752303423488 + ((t_units - 0) // 3600 - ((t_units - 0) // 86400) * 24) * 1 + ((t_units - 0) // 86400) * 32 AS BIGINT) END AS position_key FROM (SELECT who, wanted_k, "kept0", x_units, y_units, CAST«positions/points 2» AS t_units FROM (SELECT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS who, COALESCE(kanon_source."person", 3) AS wanted_k, kanon_source."sex" AS "kept0", CAST(EXTRACT(YEAR FROM kanon_source."at") AS BIGINT) AS "year_part", CAST(EXTRACT(MONTH FROM kanon_source."at") AS BIGINT) AS "month_part", CAST(EXTRACT(DAY FROM kanon_source."at") AS BIGINT) AS "day_part", CAST(EXTRACT(HOUR FROM kanon_source."at") AS BIGINT) AS "hour_part", CAST(EXTRACT(MINUTE FROM kanon_source."at") AS BIGINT) AS "minute_part", CAST(FLOOR(EXTRACT(SECOND FROM kanon_source."at")) AS BIGINT) AS "second_part", CASE WHEN kanon_source."age" >= -1 AND kanon_source."age" <= 129 THEN CAST(FLOOR((CAST(kanon_source."age" AS DECIMAL(28, 10)) - CASE WHEN CAST(kanon_source."age" AS DECIMAL(28, 10)) > kanon_source."age" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) END AS x_units, CASE WHEN kanon_source."weight" >= -1 AND kanon_source."weight" <= 27 THEN CAST«positions/points 3» END AS y_units FROM "clinic"."visits" AS kanon_source) AS measured) AS timed)

-- positions/points
CREATE TEMPORARY TABLE "kanon_run_points" AS SELECT position_key, who, wanted_k, COUNT(*) AS row_count FROM «positions/points 4» AS keyed GROUP BY position_key, who, wanted_k;

-- positions/totals
SELECT COALESCE(SUM(row_count), 0) AS row_count, COALESCE(SUM(CASE WHEN position_key IS NULL THEN row_count ELSE 0 END), 0) AS outside_rows, COALESCE(SUM(CASE WHEN who IS NULL THEN row_count ELSE 0 END), 0) AS unknown_rows, COALESCE(SUM(CASE WHEN wanted_k < 1 THEN row_count ELSE 0 END), 0) AS wrong_k FROM "kanon_run_points" AS points;

-- positions/inside
CREATE TEMPORARY TABLE "kanon_run_inside" AS SELECT position_key, who, wanted_k, row_count FROM "kanon_run_points" AS points WHERE NOT position_key IS NULL;

-- positions/candidates
CREATE TEMPORARY TABLE "kanon_run_cells1" AS SELECT cell, COUNT(*) AS point_count FROM (SELECT CAST(points.position_key & 2305843009213693951 AS BIGINT) AS cell, points.wanted_k AS wanted_k FROM "kanon_run_inside" AS points) AS placed GROUP BY cell HAVING COUNT(*) >= MIN(wanted_k);

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells2" AS SELECT cell, most, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 0 AS cell_number FROM (SELECT cell, MAX(wanted_k) AS most, COUNT(*) AS point_count FROM (SELECT cell, wanted_k, SUM(newcomers) OVER (PARTITION BY cell ORDER BY wanted_k ASC) AS people FROM (SELECT cell, wanted_k, SUM(CASE WHEN place = 1 THEN 1 ELSE 0 END) AS newcomers FROM (SELECT cell, wanted_k, ROW_NUMBER() OVER (PARTITION BY cell, who ORDER BY wanted_k ASC) AS place FROM (SELECT CAST(points.position_key & 2305843009213693951 AS BIGINT) AS cell, points.who AS who, points.wanted_k AS wanted_k FROM "kanon_run_inside" AS points) AS placed) AS ordered GROUP BY cell, wanted_k) AS arriving) AS counted WHERE people >= wanted_k GROUP BY cell) AS enough;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted3" AS SELECT points.position_key, points.who, points.wanted_k, points.row_count FROM "kanon_run_inside" AS points LEFT JOIN "kanon_run_cells2" AS cells ON CAST(points.position_key & 2305843009213693951 AS BIGINT) = cells.cell AND points.wanted_k <= cells.most WHERE cells.cell IS NULL;

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells4" AS SELECT cell, most, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 1 AS cell_number FROM (SELECT cell, MAX(wanted_k) AS most, COUNT(*) AS point_count FROM (SELECT cell, wanted_k, SUM(newcomers) OVER (PARTITION BY cell ORDER BY wanted_k ASC) AS people FROM (SELECT cell, wanted_k, SUM(CASE WHEN place = 1 THEN 1 ELSE 0 END) AS newcomers FROM (SELECT cell, wanted_k, ROW_NUMBER() OVER (PARTITION BY cell, who ORDER BY wanted_k ASC) AS place FROM (SELECT CAST(points.position_key & 576460752303423487 AS BIGINT) AS cell, points.who AS who, points.wanted_k AS wanted_k FROM "kanon_run_parted3" AS points) AS placed) AS ordered GROUP BY cell, wanted_k) AS arriving) AS counted WHERE people >= wanted_k GROUP BY cell) AS enough;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted5" AS SELECT points.position_key, points.who, points.wanted_k, points.row_count FROM "kanon_run_parted3" AS points LEFT JOIN "kanon_run_cells4" AS cells ON CAST(points.position_key & 576460752303423487 AS BIGINT) = cells.cell AND points.wanted_k <= cells.most WHERE cells.cell IS NULL;

-- positions/candidates
CREATE TEMPORARY TABLE "kanon_run_cells6" AS SELECT cell, COUNT(*) AS point_count FROM (SELECT CAST(points.position_key & 2305843009213693920 AS BIGINT) AS cell, points.wanted_k AS wanted_k FROM "kanon_run_parted5" AS points) AS placed GROUP BY cell HAVING COUNT(*) >= MIN(wanted_k);

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells7" AS SELECT cell, most, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 2 AS cell_number FROM (SELECT cell, MAX(wanted_k) AS most, COUNT(*) AS point_count FROM (SELECT cell, wanted_k, SUM(newcomers) OVER (PARTITION BY cell ORDER BY wanted_k ASC) AS people FROM (SELECT cell, wanted_k, SUM(CASE WHEN place = 1 THEN 1 ELSE 0 END) AS newcomers FROM (SELECT cell, wanted_k, ROW_NUMBER() OVER (PARTITION BY cell, who ORDER BY wanted_k ASC) AS place FROM (SELECT CAST(points.position_key & 2305843009213693920 AS BIGINT) AS cell, points.who AS who, points.wanted_k AS wanted_k FROM "kanon_run_parted5" AS points) AS placed) AS ordered GROUP BY cell, wanted_k) AS arriving) AS counted WHERE people >= wanted_k GROUP BY cell) AS enough;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted8" AS SELECT points.position_key, points.who, points.wanted_k, points.row_count FROM "kanon_run_parted5" AS points LEFT JOIN "kanon_run_cells7" AS cells ON CAST(points.position_key & 2305843009213693920 AS BIGINT) = cells.cell AND points.wanted_k <= cells.most WHERE cells.cell IS NULL;

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells9" AS SELECT cell, most, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 3 AS cell_number FROM (SELECT cell, MAX(wanted_k) AS most, COUNT(*) AS point_count FROM (SELECT cell, wanted_k, SUM(newcomers) OVER (PARTITION BY cell ORDER BY wanted_k ASC) AS people FROM (SELECT cell, wanted_k, SUM(CASE WHEN place = 1 THEN 1 ELSE 0 END) AS newcomers FROM (SELECT cell, wanted_k, ROW_NUMBER() OVER (PARTITION BY cell, who ORDER BY wanted_k ASC) AS place FROM (SELECT CAST(points.position_key & 576460752303423456 AS BIGINT) AS cell, points.who AS who, points.wanted_k AS wanted_k FROM "kanon_run_parted8" AS points) AS placed) AS ordered GROUP BY cell, wanted_k) AS arriving) AS counted WHERE people >= wanted_k GROUP BY cell) AS enough;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted10" AS SELECT points.position_key, points.who, points.wanted_k, points.row_count FROM "kanon_run_parted8" AS points LEFT JOIN "kanon_run_cells9" AS cells ON CAST(points.position_key & 576460752303423456 AS BIGINT) = cells.cell AND points.wanted_k <= cells.most WHERE cells.cell IS NULL;

-- positions/assigned
CREATE TEMPORARY TABLE "kanon_run_assigned0" AS SELECT points.who, points.wanted_k, points."kept0", points.x_units, points.y_units, points.t_units, COALESCE("grid1".cell_number, "grid2".cell_number, "grid3".cell_number, "grid4".cell_number, NULL) AS cell_number FROM «positions/points 4» AS points LEFT JOIN "kanon_run_cells2" AS "grid1" ON CAST(points.position_key & 2305843009213693951 AS BIGINT) = "grid1".cell AND points.wanted_k <= "grid1".most LEFT JOIN "kanon_run_cells4" AS "grid2" ON CAST(points.position_key & 576460752303423487 AS BIGINT) = "grid2".cell AND points.wanted_k <= "grid2".most LEFT JOIN "kanon_run_cells7" AS "grid3" ON CAST(points.position_key & 2305843009213693920 AS BIGINT) = "grid3".cell AND points.wanted_k <= "grid3".most LEFT JOIN "kanon_run_cells9" AS "grid4" ON CAST(points.position_key & 576460752303423456 AS BIGINT) = "grid4".cell AND points.wanted_k <= "grid4".most;

-- positions/classes
CREATE TEMPORARY TABLE "kanon_run_classes" AS SELECT counted.cell_number AS cell_number, labels.grid AS grid, labels.cell AS cell, counted.class_rows AS class_rows, counted.people AS people, counted.needed AS needed FROM (SELECT cell_number, CAST(SUM(person_rows) AS BIGINT) AS class_rows, COUNT(who) AS people, MAX(largest_k) AS needed FROM (SELECT cell_number, who, COUNT(*) AS person_rows, MAX(wanted_k) AS largest_k FROM "kanon_run_assigned0" AS assigned GROUP BY cell_number, who) AS persons GROUP BY cell_number) AS counted LEFT JOIN "kanon_run_labels" AS labels ON counted.cell_number = labels.cell_number;

-- positions/events
CREATE TEMPORARY TABLE "kanon_run_lbqid0_events" AS SELECT who, day_number, t, "element0", "element1", cell_number, wanted_k FROM (SELECT who, t_units // 86400 AS day_number, t_units AS t, cell_number, wanted_k, CASE WHEN x_units >= 0 AND x_units < 15 AND y_units >= 0 AND y_units < 10 AND t_units % 86400 >= 25200 AND t_units % 86400 < 32400 THEN 1 ELSE 0 END AS "element0", CASE WHEN x_units >= 0 AND x_units < 15 AND y_units >= 0 AND y_units < 10 AND t_units % 86400 >= 25200 AND t_units % 86400 < 32400 THEN 1 ELSE 0 END AS "element1" FROM "kanon_run_assigned0" AS assigned WHERE t_units >= 0) AS seen WHERE "element0" = 1 OR "element1" = 1;

-- positions/requests
CREATE TEMPORARY TABLE "kanon_run_lbqid0_requests" AS SELECT events.who AS who, events.cell_number AS cell_number, MAX(events.wanted_k) AS wanted_k FROM "kanon_run_lbqid0_events" AS events JOIN "kanon_run_lbqid0_days1" AS days ON events.who = days.who AND events.day_number = days.day_number JOIN «positions/requests 1» AS matching ON events.who = matching.who WHERE NOT events.cell_number IS NULL GROUP BY events.who, events.cell_number;

-- positions/consistent
SELECT COUNT(*) AS matching, MIN(people) AS fewest_people, COALESCE(SUM(CASE WHEN people < needed THEN 1 ELSE 0 END), 0) AS exposed FROM (SELECT who, MAX(needed) AS needed, COUNT(*) AS people FROM (SELECT requests.who AS who, histories.who AS other, sizes.needed AS needed FROM "kanon_run_lbqid0_requests" AS requests JOIN (SELECT who, COUNT(*) AS cell_count, MAX(wanted_k) AS needed FROM "kanon_run_lbqid0_requests" AS own GROUP BY who) AS sizes ON requests.who = sizes.who JOIN "kanon_run_histories" AS histories ON requests.cell_number = histories.cell_number GROUP BY requests.who, histories.who, sizes.needed, sizes.cell_count HAVING COUNT(*) = sizes.cell_count) AS pairs GROUP BY who) AS counted;

-- «positions/points 5»
(SELECT who, "kept0", x_units, y_units, CASE WHEN x_units >= 0 AND x_units < 1280 AND y_units >= 0 AND y_units < 256 THEN CAST(((x_units - 0) // 640) * 2 + ((y_units - 0) // 128) * 1 AS BIGINT) END AS position_key FROM (SELECT who, "kept0", x_units, y_units FROM (SELECT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS who, kanon_source."sex" AS "kept0", CASE WHEN kanon_source."age" >= -1 AND kanon_source."age" <= 129 THEN CAST(FLOOR((CAST(kanon_source."age" AS DECIMAL(28, 10)) - CASE WHEN CAST(kanon_source."age" AS DECIMAL(28, 10)) > kanon_source."age" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) END AS x_units, CASE WHEN kanon_source."weight" >= -1 AND kanon_source."weight" <= 27 THEN CAST«positions/points 3» END AS y_units FROM "clinic"."visits" AS kanon_source) AS measured) AS timed)

-- positions/points
CREATE TEMPORARY TABLE "kanon_run_points" AS SELECT position_key, who, COUNT(*) AS row_count FROM «positions/points 5» AS keyed GROUP BY position_key, who;

-- positions/candidates
CREATE TEMPORARY TABLE "kanon_run_cells1" AS SELECT cell, COUNT(*) AS point_count FROM (SELECT CAST(points.position_key & 3 AS BIGINT) AS cell FROM "kanon_run_inside" AS points) AS placed GROUP BY cell HAVING COUNT(*) >= 3;

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells2" AS SELECT cell, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 0 AS cell_number FROM (SELECT cell, COUNT(DISTINCT who) AS point_count FROM (SELECT CAST(points.position_key & 3 AS BIGINT) AS cell, points.who AS who FROM "kanon_run_inside" AS points) AS placed GROUP BY cell HAVING COUNT(DISTINCT who) >= 3) AS enough;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted3" AS SELECT points.position_key, points.who, points.row_count FROM "kanon_run_inside" AS points LEFT JOIN "kanon_run_cells2" AS cells ON CAST(points.position_key & 3 AS BIGINT) = cells.cell WHERE cells.cell IS NULL;

-- positions/satisfied
CREATE TEMPORARY TABLE "kanon_run_cells4" AS SELECT cell, point_count, ROW_NUMBER() OVER (ORDER BY cell ASC) + 1 AS cell_number FROM (SELECT cell, COUNT(DISTINCT who) AS point_count FROM (SELECT CAST(points.position_key & 0 AS BIGINT) AS cell, points.who AS who FROM "kanon_run_inside" AS points) AS placed GROUP BY cell HAVING COUNT(DISTINCT who) >= 3) AS enough;

-- positions/parted
CREATE TEMPORARY TABLE "kanon_run_parted5" AS SELECT points.position_key, points.who, points.row_count FROM "kanon_run_parted3" AS points LEFT JOIN "kanon_run_cells4" AS cells ON CAST(points.position_key & 0 AS BIGINT) = cells.cell WHERE cells.cell IS NULL;

-- positions/left
SELECT COALESCE(SUM(row_count), 0) AS left_rows FROM (SELECT row_count FROM "kanon_run_parted5" AS points) AS remaining;

-- positions/assigned
CREATE TEMPORARY TABLE "kanon_run_assigned0" AS SELECT points.who, points."kept0", points.x_units, points.y_units, points.position_key, COALESCE("grid1".cell_number, "grid2".cell_number, NULL) AS cell_number FROM «positions/points 5» AS points LEFT JOIN "kanon_run_cells2" AS "grid1" ON CAST(points.position_key & 3 AS BIGINT) = "grid1".cell LEFT JOIN "kanon_run_cells4" AS "grid2" ON CAST(points.position_key & 0 AS BIGINT) = "grid2".cell;

-- positions/cells
CREATE TEMPORARY TABLE "kanon_run_edges" AS SELECT placed.cell_number AS cell_number, 1 AS grid, placed.cell AS cell, CAST(0 + (cell // 2 + 0) * 640 AS BIGINT) AS x_from, CAST(0 + (cell // 2 + 1) * 640 AS BIGINT) AS x_to, CAST(0 + ((cell // 1) % 2 + 0) * 128 AS BIGINT) AS y_from, CAST(0 + ((cell // 1) % 2 + 1) * 128 AS BIGINT) AS y_to FROM "kanon_run_cells2" AS placed UNION ALL SELECT placed.cell_number AS cell_number, 2 AS grid, placed.cell AS cell, CAST(0 + (cell // 2 + 0) * 640 AS BIGINT) AS x_from, CAST(0 + (cell // 2 + 2) * 640 AS BIGINT) AS x_to, CAST(0 + ((cell // 1) % 2 + 0) * 128 AS BIGINT) AS y_from, CAST(0 + ((cell // 1) % 2 + 2) * 128 AS BIGINT) AS y_to FROM "kanon_run_cells4" AS placed;

-- positions/labels
CREATE TEMPORARY TABLE "kanon_run_labels" AS SELECT cells.cell_number AS cell_number, cells.grid AS grid, cells.cell AS cell, cells.x_from AS x_from, cells.x_to AS x_to, cells.y_from AS y_from, cells.y_to AS y_to, '[' || CAST(CAST(CAST(cells."x_from" AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ', ' || CAST(CAST(CAST(cells."x_to" AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ')' AS x_label, '[' || CAST(CAST(CAST(cells."y_from" AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ', ' || CAST(CAST(CAST(cells."y_to" AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ')' AS y_label FROM "kanon_run_edges" AS cells;

-- positions/astray
SELECT COUNT(*) AS all_rows, COALESCE(SUM(CASE WHEN assigned.cell_number IS NULL THEN 0 WHEN labels.x_from <= assigned.x_units AND assigned.x_units < labels.x_to AND labels.y_from <= assigned.y_units AND assigned.y_units < labels.y_to THEN 0 ELSE 1 END), 0) AS astray_rows FROM "kanon_run_assigned0" AS assigned LEFT JOIN "kanon_run_labels" AS labels ON assigned.cell_number = labels.cell_number;

-- positions/present
SELECT COUNT(*) AS cell_count, MIN(counted.people) AS fewest_people, COALESCE(SUM(CASE WHEN counted.people IS NULL OR counted.people < used.needed THEN 1 ELSE 0 END), 0) AS small_cells FROM (SELECT cell, needed FROM "kanon_run_classes" AS classes WHERE grid = 1) AS used LEFT JOIN (SELECT cell, COUNT(DISTINCT who) AS people FROM (SELECT CAST(position_key & 3 AS BIGINT) AS cell, who FROM "kanon_run_assigned0" AS assigned WHERE NOT position_key IS NULL) AS everyone GROUP BY cell) AS counted ON used.cell = counted.cell;

-- positions/present
SELECT COUNT(*) AS cell_count, MIN(counted.people) AS fewest_people, COALESCE(SUM(CASE WHEN counted.people IS NULL OR counted.people < used.needed THEN 1 ELSE 0 END), 0) AS small_cells FROM (SELECT cell, needed FROM "kanon_run_classes" AS classes WHERE grid = 2) AS used LEFT JOIN (SELECT cell, COUNT(DISTINCT who) AS people FROM (SELECT CAST(position_key & 0 AS BIGINT) AS cell, who FROM "kanon_run_assigned0" AS assigned WHERE NOT position_key IS NULL) AS everyone GROUP BY cell) AS counted ON used.cell = counted.cell;

-- positions/differing
SELECT COALESCE(SUM(CASE WHEN written = examined THEN 0 ELSE 1 END), 0) AS differing, COALESCE(SUM(CASE WHEN label_count > 1 THEN 1 ELSE 0 END), 0) AS ambiguous FROM (SELECT "age", "weight", SUM(written) AS written, SUM(examined) AS examined, SUM(label_count) AS label_count FROM (SELECT "age", "weight", COUNT(*) AS written, 0 AS examined, 0 AS label_count FROM (SELECT CAST(released."age" AS TEXT) COLLATE "binary" AS "age", CAST(released."weight" AS TEXT) COLLATE "binary" AS "weight" FROM "clinic"."kanon_run_release" AS released) AS labelled GROUP BY "age", "weight" UNION ALL SELECT CAST(labels.x_label AS TEXT) COLLATE "binary" AS "age", CAST(labels.y_label AS TEXT) COLLATE "binary" AS "weight", 0 AS written, COALESCE(classes.class_rows, 0) AS examined, 1 AS label_count FROM "kanon_run_labels" AS labels LEFT JOIN "kanon_run_classes" AS classes ON labels.cell_number = classes.cell_number) AS both_sides GROUP BY "age", "weight") AS compared;

-- verbs/sqlmesh/violating
-- 3-anonymity
SELECT "class_rows", "class_size" FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "q0" AS "k0", "q1" AS "k1", CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_size FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM this_model AS checked) AS frequency GROUP BY "q0", "q1") AS classes) AS flagged WHERE satisfied = 0;

-- «verbs/dbt/labelled 2»
(CAST(FLOOR((CAST(valued."v0" AS DECIMAL(28, 10)) - CASE WHEN CAST(valued."v0" AS DECIMAL(28, 10)) > valued."v0" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST(valued."v0" AS DECIMAL(28, 10)) - CASE WHEN CAST(valued."v0" AS DECIMAL(28, 10)) > valued."v0" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25)

-- «verbs/dbt/labelled 3»
(«verbs/dbt/labelled 2» + 25)

-- «verbs/dbt/labelled 1»
(SELECT valued."v0", CASE WHEN CAST(valued."v0" AS DOUBLE) > -100000000000000 AND CAST(valued."v0" AS DOUBLE) < 100000000000000 THEN CASE WHEN CAST(FLOOR((CAST(valued."v0" AS DECIMAL(28, 10)) - CASE WHEN CAST(valued."v0" AS DECIMAL(28, 10)) > valued."v0" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) >= 800 THEN '>= 80.0' ELSE '[' || CAST(CAST(CAST(«verbs/dbt/labelled 2» AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) || ', ' || CASE WHEN «verbs/dbt/labelled 3» > 800 THEN '80.0' ELSE CAST(CAST(CAST(«verbs/dbt/labelled 3» AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS TEXT) END || ')' END END AS "l0", valued."v1", CASE WHEN valued."v1" IS NULL THEN (SELECT CASE WHEN COUNT(DISTINCT CAST(hierarchy."top" AS TEXT)) = 1 THEN MIN(CAST(hierarchy."top" AS TEXT)) END FROM sexes AS hierarchy) ELSE "lookup1".label END AS "l1", valued."v2", CAST('*' AS TEXT) AS "l2", valued."v3", CASE WHEN REPLACE(CAST(CAST(valued."v3" AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT), '.', '') = CAST(CAST(valued."v3" AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT) THEN CAST(CAST(valued."v3" AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT) ELSE RTRIM(RTRIM(CAST(CAST(valued."v3" AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT), '0'), '.') END || '+00' AS "l3", valued."v4", "lookup4".label AS "l4", valued."o0" FROM (SELECT "kanon_source"."age" AS "v0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "v1", "kanon_source"."weight" AS "v2", "kanon_source"."seen" AS "v3", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "v4", "kanon_source"."person" AS "o0" FROM visits AS kanon_source) AS valued LEFT JOIN (SELECT CAST(hierarchy."value" AS TEXT) COLLATE "binary" AS value, MIN(CAST(hierarchy."top" AS TEXT)) AS label FROM sexes AS hierarchy GROUP BY CAST(hierarchy."value" AS TEXT) COLLATE "binary" HAVING COUNT(*) = 1) AS "lookup1" ON (CAST(valued."v1" AS TEXT)) COLLATE "binary" = "lookup1".value LEFT JOIN (SELECT CAST(hierarchy."value" AS TEXT) COLLATE "binary" AS value, MIN(CAST(hierarchy."level_1" AS TEXT)) AS label FROM dx_seed AS hierarchy GROUP BY CAST(hierarchy."value" AS TEXT) COLLATE "binary" HAVING COUNT(*) = 1) AS "lookup4" ON (CAST(valued."v4" AS TEXT)) COLLATE "binary" = "lookup4".value)

-- verbs/dbt/labelled
SELECT labelled."l0" AS "age", labelled."l1" AS "sex", labelled."l2" AS "weight", labelled."l4" AS "dx", labelled."l3" AS "seen", labelled."o0" AS "person", CASE WHEN NOT labelled."v0" IS NULL AND labelled."l0" IS NULL THEN 'age: no generalization in the hierarchy' WHEN NOT labelled."v1" IS NULL AND labelled."l1" IS NULL THEN 'sex: no generalization in the hierarchy' WHEN NOT labelled."v2" IS NULL AND labelled."l2" IS NULL THEN 'weight: no generalization in the hierarchy' WHEN NOT labelled."v3" IS NULL AND labelled."l3" IS NULL THEN 'seen: no generalization in the hierarchy' WHEN NOT labelled."v4" IS NULL AND labelled."l4" IS NULL THEN 'dx: no generalization in the hierarchy' WHEN labelled."v0" IS NULL THEN 'nulls: suppress' WHEN labelled."v1" IS NULL THEN 'nulls: suppress' WHEN labelled."v2" IS NULL THEN 'nulls: suppress' WHEN labelled."v3" IS NULL THEN 'nulls: suppress' WHEN labelled."v4" IS NULL THEN 'nulls: suppress' END AS kanon_left_out FROM «verbs/dbt/labelled 1» AS labelled;

-- verbs/dbt/labelled
SELECT labelled."l0" AS "age", labelled."l1" AS "sex", labelled."l2" AS "weight", labelled."l4" AS "dx", labelled."l3" AS "seen", labelled."o0" AS "person", CASE WHEN NOT labelled."v0" IS NULL AND labelled."l0" IS NULL THEN 'age: no generalization in the hierarchy' WHEN NOT labelled."v1" IS NULL AND labelled."l1" IS NULL THEN 'sex: no generalization in the hierarchy' WHEN NOT labelled."v2" IS NULL AND labelled."l2" IS NULL THEN 'weight: no generalization in the hierarchy' WHEN NOT labelled."v3" IS NULL AND labelled."l3" IS NULL THEN 'seen: no generalization in the hierarchy' WHEN NOT labelled."v4" IS NULL AND labelled."l4" IS NULL THEN 'dx: no generalization in the hierarchy' WHEN labelled."v0" IS NULL THEN 'age: NULL, and the spec says nulls: error' WHEN labelled."v1" IS NULL THEN 'sex: NULL, and the spec says nulls: error' WHEN labelled."v2" IS NULL THEN 'weight: NULL, and the spec says nulls: error' WHEN labelled."v3" IS NULL THEN 'seen: NULL, and the spec says nulls: error' WHEN labelled."v4" IS NULL THEN 'dx: NULL, and the spec says nulls: error' END AS kanon_left_out FROM «verbs/dbt/labelled 1» AS labelled;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT "kanon_source"."weight" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", "kanon_source"."seen" AS "q2", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "v0", "kanon_source"."person" AS "unit", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY "kanon_source"."weight", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."seen", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", "kanon_source"."person";

-- frequency/totals
SELECT (SELECT SUM(row_count) FROM "kanon_run_raw") AS row_count, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "q0" IS NULL OR "q1" IS NULL OR "q2" IS NULL) AS null_rows, (SELECT COUNT(DISTINCT "unit") FROM "kanon_run_raw") AS persons, NULL AS kept_persons, (SELECT MAX(vectors) FROM (SELECT "unit", COUNT(*) AS vectors FROM (SELECT DISTINCT "unit", "q0", "q1", "q2" FROM "kanon_run_raw" WHERE NOT "unit" IS NULL) AS person_vectors GROUP BY "unit") AS vectors_per_person) AS most_vectors, (SELECT SUM(row_count) FROM "kanon_run_raw" WHERE "unit" IS NULL) AS unknown_rows;

-- hierarchies/copy
CREATE TEMPORARY TABLE "kanon_run_domain1" AS SELECT CAST("person" AS TEXT) COLLATE "binary" AS "l0", CAST("age" AS TEXT) COLLATE "binary" AS "l1", CAST("sex" AS TEXT) COLLATE "binary" AS "l2", CAST("weight" AS TEXT) COLLATE "binary" AS "l3", CAST("dx" AS TEXT) COLLATE "binary" AS "l4", CAST("seen" AS TEXT) COLLATE "binary" AS "l5" FROM "clinic"."sexes";

-- hierarchies/domain_summary
SELECT (SELECT COUNT(*) FROM "kanon_run_domain1") AS row_count, (SELECT COUNT(*) FROM "kanon_run_domain1" WHERE "l0" IS NULL OR "l1" IS NULL OR "l2" IS NULL OR "l3" IS NULL OR "l4" IS NULL OR "l5" IS NULL) AS missing_labels, (SELECT COUNT(*) FROM (SELECT "l0" FROM "kanon_run_domain1" GROUP BY "l0" HAVING COUNT(*) > 1) AS repeated) AS repeated_values, (SELECT COUNT(DISTINCT "l5") FROM "kanon_run_domain1") AS top_labels, (SELECT MIN("l5") FROM "kanon_run_domain1") AS top_label;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN ABS(value) < 1e18 AND value = FLOOR(value) THEN CAST(CAST(value AS BIGINT) AS TEXT) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN ABS((FLOOR(value))) < 1e18 AND (FLOOR(value)) = FLOOR((FLOOR(value))) THEN CAST(CAST((FLOOR(value)) AS BIGINT) AS TEXT) ELSE CAST((FLOOR(value)) AS TEXT) END) END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_lookup1" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."d1", 0) AS "d1", COALESCE(labelled."s1", 1) AS "s1", labelled."l2", COALESCE(labelled."c2", 0) AS "c2", COALESCE(labelled."d2", 0) AS "d2", COALESCE(labelled."s2", 1) AS "s2", labelled."l3", COALESCE(labelled."c3", 0) AS "c3", COALESCE(labelled."d3", 0) AS "d3", COALESCE(labelled."s3", 1) AS "s3", labelled."l4", COALESCE(labelled."c4", 0) AS "c4", COALESCE(labelled."s4", 1) AS "s4", '*' AS "l5" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q1") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(DENSE_RANK() OVER (PARTITION BY "l2" ORDER BY "l1" ASC) - 1 AS BIGINT) AS "d1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1", "l2", CAST(DENSE_RANK() OVER (ORDER BY "l2" ASC) AS BIGINT) AS "c2", CAST(DENSE_RANK() OVER (PARTITION BY "l3" ORDER BY "l2" ASC) - 1 AS BIGINT) AS "d2", CAST(COUNT(*) OVER (PARTITION BY "l2") AS INT) AS "s2", "l3", CAST(DENSE_RANK() OVER (ORDER BY "l3" ASC) AS BIGINT) AS "c3", CAST(DENSE_RANK() OVER (PARTITION BY "l4" ORDER BY "l3" ASC) - 1 AS BIGINT) AS "d3", CAST(COUNT(*) OVER (PARTITION BY "l3") AS INT) AS "s3", "l4", CAST(DENSE_RANK() OVER (ORDER BY "l4" ASC) AS BIGINT) AS "c4", CAST(COUNT(*) OVER (PARTITION BY "l4") AS INT) AS "s4" FROM "kanon_run_domain1") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup2" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN REPLACE(CAST(CAST(value AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT), '.', '') = CAST(CAST(value AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT) THEN CAST(CAST(value AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT) ELSE RTRIM(RTRIM(CAST(CAST(value AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT), '0'), '.') END || '+00') END COLLATE "binary" AS "l0" FROM (SELECT "q2" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q2") AS distinct_values) AS own;

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_domain1" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 1 AS level, COUNT(*) AS split_labels FROM (SELECT "l1" FROM "kanon_run_domain1" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 2 AS level, COUNT(*) AS split_labels FROM (SELECT "l2" FROM "kanon_run_domain1" WHERE NOT "l2" IS NULL GROUP BY "l2" HAVING COUNT(DISTINCT "l3") > 1) AS split
UNION ALL
SELECT 1 AS attribute, 3 AS level, COUNT(*) AS split_labels FROM (SELECT "l3" FROM "kanon_run_domain1" WHERE NOT "l3" IS NULL GROUP BY "l3" HAVING COUNT(DISTINCT "l4") > 1) AS split;

-- hierarchies/coverage
«hierarchies/coverage 1»
UNION ALL
«hierarchies/coverage 3»
UNION ALL
«hierarchies/coverage 7»;

-- frequency/label_numbers
«frequency/label_numbers 1»
UNION ALL
«frequency/label_numbers 2»
UNION ALL
«frequency/label_numbers 3»
UNION ALL
«frequency/label_numbers 5»
UNION ALL
«frequency/label_numbers 6»
UNION ALL
«frequency/label_numbers 7»
UNION ALL
«frequency/label_numbers 8»
UNION ALL
«frequency/label_numbers 12»;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_values0" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c4" AS "code2", "lookup1"."c3" AS "code3", "lookup1"."c2" AS "code4", "lookup1"."c1" AS "code5", "lookup1"."c0" AS "code6", "lookup2"."c0" AS "code7", sensitive.code AS value_code, sensitive.reference_share AS reference_share, vectors.person_count AS person_count, vectors.row_count AS row_count FROM (SELECT "q0", "q1", "q2", "v0", COUNT(DISTINCT "unit") AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0", "q1", "q2", "v0") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value JOIN "kanon_run_lookup2" AS "lookup2" ON vectors."q2" IS NOT DISTINCT FROM "lookup2".value JOIN "kanon_run_sensitive0" AS sensitive ON vectors."v0" IS NOT DISTINCT FROM sensitive.value;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", "lookup1"."c4" AS "code2", "lookup1"."c3" AS "code3", "lookup1"."c2" AS "code4", "lookup1"."c1" AS "code5", "lookup1"."c0" AS "code6", "lookup2"."c0" AS "code7", vectors.person_count AS person_count, vectors.row_count AS row_count FROM (SELECT "q0", "q1", "q2", COUNT(DISTINCT "unit") AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" GROUP BY "q0", "q1", "q2") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value JOIN "kanon_run_lookup2" AS "lookup2" ON vectors."q2" IS NOT DISTINCT FROM "lookup2".value;

-- evaluate/rollup
CREATE TEMPORARY TABLE "kanon_run_rollup0" AS SELECT MIN(("below"."code0" & 4611686018427387903)) AS "code0", MIN(("below"."code1" & 0)) AS "code1", MIN(("below"."code2" & 4611686018427387903)) AS "code2", MIN(("below"."code3" & 4611686018427387903)) AS "code3", MIN(("below"."code4" & 4611686018427387903)) AS "code4", MIN(("below"."code5" & 4611686018427387903)) AS "code5", MIN(("below"."code6" & 0)) AS "code6", MIN(("below"."code7" & 4611686018427387903)) AS "code7", CAST(SUM(person_count) AS BIGINT) AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_frequency" AS below GROUP BY "below"."code0", "below"."code5", "below"."code7";

-- evaluate/rollup
CREATE TEMPORARY TABLE "kanon_run_rollup1" AS SELECT MIN(("below"."code0" & 4611686018427387903)) AS "code0", MIN(("below"."code1" & 0)) AS "code1", MIN(("below"."code2" & 4611686018427387903)) AS "code2", MIN(("below"."code3" & 4611686018427387903)) AS "code3", MIN(("below"."code4" & 4611686018427387903)) AS "code4", MIN(("below"."code5" & 4611686018427387903)) AS "code5", MIN(("below"."code6" & 0)) AS "code6", MIN(("below"."code7" & 4611686018427387903)) AS "code7", value_code, MIN(reference_share) AS reference_share, CAST(SUM(person_count) AS BIGINT) AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_values0" AS below GROUP BY "below"."code0", "below"."code5", "below"."code7", "value_code";

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * "y0" ELSE 0 END) AS "covered_0", SUM(CASE WHEN ("class_size" >= 3) THEN class_rows * "y1" ELSE 0 END) AS "covered_1", 0 AS "padding_0" FROM (SELECT "code0" AS "k0", "code5" AS "k1", "code7" AS "k2", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size, MIN("code0") AS "z0", MIN("code5") AS "z1" FROM "kanon_run_frequency" GROUP BY "code0", "code5", "code7") AS classes JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "y0" FROM "kanon_run_lookup0") AS "sizes0" ON classes."z0" = "sizes0".code JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "y1" FROM "kanon_run_lookup1") AS "sizes1" ON classes."z1" = "sizes1".code;

-- evaluate/source_counts
SELECT reference_count, COUNT(*) AS value_count FROM "kanon_run_sensitive0" AS reference WHERE NOT value IS NULL AND reference_count > 0 GROUP BY reference_count;

-- evaluate/node
SELECT node AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes FROM (SELECT 0 AS node, "class_rows", "class_size" FROM (SELECT "code1" AS "k0", "code6" AS "k1", "code7" AS "k2", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code1", "code6", "code7") AS classes
UNION ALL
SELECT 1 AS node, "class_rows", "class_size" FROM (SELECT "code0" AS "k0", "code6" AS "k1", "code7" AS "k2", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code0", "code6", "code7") AS classes) AS classes GROUP BY node;

-- evaluate/node
SELECT node AS node, COUNT(*) AS classes, SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes FROM (SELECT "k0" AS node, "class_rows", "class_size" FROM (SELECT "node" AS "k0", ("code0" & "mask0") AS "k1", ("code1" & "mask1") AS "k2", ("code5" & "mask5") AS "k3", ("code6" & "mask6") AS "k4", ("code7" & "mask7") AS "k5", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" CROSS JOIN (VALUES (0, 0, 4611686018427387903, 0, 4611686018427387903, 4611686018427387903), (1, 4611686018427387903, 0, 0, 4611686018427387903, 4611686018427387903), (2, 0, 4611686018427387903, 4611686018427387903, 0, 4611686018427387903), (3, 4611686018427387903, 0, 4611686018427387903, 0, 4611686018427387903)) AS "nodes" ("node", "mask0", "mask1", "mask5", "mask6", "mask7") GROUP BY "node", ("code0" & "mask0"), ("code1" & "mask1"), ("code5" & "mask5"), ("code6" & "mask6"), ("code7" & "mask7")) AS classes) AS classes GROUP BY node;

-- evaluate/histogram
SELECT 0 AS histogram, bin_number, COUNT(*) AS bin_classes, SUM(class_size) AS bin_records, MIN(class_size) AS bin_smallest, SUM(class_rows) AS bin_rows FROM (SELECT class_rows, class_size, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS bin_number FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code1", "code6", "code7") AS counted) AS binned GROUP BY bin_number
UNION ALL
SELECT 1 AS histogram, bin_number, COUNT(*) AS bin_classes, SUM(class_size) AS bin_records, MIN(class_size) AS bin_smallest, SUM(class_rows) AS bin_rows FROM (SELECT class_rows, class_size, CASE WHEN satisfied = 1 THEN CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END ELSE -1 END AS bin_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(person_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code0", "code5", "code7") AS classes) AS counted) AS binned GROUP BY bin_number;

-- evaluate/distance_vectors/size
SELECT COUNT(*) AS vectors, SUM(CASE WHEN "person_count" < 3 THEN 1 ELSE 0 END) AS outliers, SUM(row_count) AS vector_rows, SUM(CASE WHEN "person_count" < 3 THEN row_count ELSE 0 END) AS outlier_rows FROM "kanon_run_frequency";

-- evaluate/distance_vectors/outliers
CREATE TEMPORARY TABLE "kanon_run_outliers" AS SELECT ROW_NUMBER() OVER (ORDER BY row_count ASC) AS outlier, "code0", "code1", "code2", "code3", "code4", "code5", "code6", "code7", row_count FROM "kanon_run_frequency" WHERE "person_count" < 3;

-- evaluate/distance_vectors/distances
CREATE TEMPORARY TABLE "kanon_run_matrix" AS SELECT outlier, "d0", "d1", "d2", MIN(outlier_rows) AS outlier_rows, CAST(SUM(vector_size) AS BIGINT) AS distance_size FROM (SELECT outliers.outlier AS outlier, outliers.row_count AS outlier_rows, CASE WHEN "outliers"."code1" = "vectors"."code1" THEN 0 WHEN "outliers"."code0" = "vectors"."code0" THEN 1 ELSE 2 END AS "d0", CASE WHEN "outliers"."code6" = "vectors"."code6" THEN 0 WHEN "outliers"."code5" = "vectors"."code5" THEN 1 WHEN "outliers"."code4" = "vectors"."code4" THEN 2 WHEN "outliers"."code3" = "vectors"."code3" THEN 3 WHEN "outliers"."code2" = "vectors"."code2" THEN 4 ELSE 5 END AS "d1", CASE WHEN "outliers"."code7" = "vectors"."code7" THEN 0 ELSE 1 END AS "d2", vectors."person_count" AS vector_size FROM "kanon_run_outliers" AS outliers CROSS JOIN "kanon_run_frequency" AS vectors) AS pairs GROUP BY outlier, "d0", "d1", "d2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_outliers";

-- engines/scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_run_matrix") AS row_count;

-- evaluate/distance_vectors/node
SELECT 0 AS node, SUM(CASE WHEN class_size < 3 THEN outlier_rows ELSE 0 END) AS suppressed, SUM(outlier_rows) AS judged FROM (SELECT MIN(outlier_rows) AS outlier_rows, SUM(distance_size) AS class_size FROM "kanon_run_matrix" WHERE "d0" <= 0 AND "d1" <= 1 AND "d2" <= 0 GROUP BY outlier) AS classes
UNION ALL
SELECT 1 AS node, SUM(CASE WHEN class_size < 3 THEN outlier_rows ELSE 0 END) AS suppressed, SUM(outlier_rows) AS judged FROM (SELECT MIN(outlier_rows) AS outlier_rows, SUM(distance_size) AS class_size FROM "kanon_run_matrix" WHERE "d0" <= 1 AND "d1" <= 0 AND "d2" <= 1 GROUP BY outlier) AS classes;

-- evaluate/distance_vectors/vectors
CREATE TEMPORARY TABLE "kanon_run_numbered_vectors" AS SELECT ROW_NUMBER() OVER (ORDER BY "code0" ASC, "code1" ASC, "code2" ASC, "code3" ASC, "code4" ASC, "code5" ASC, "code6" ASC, "code7" ASC, "person_count" ASC) AS vector, "code0", "code1", "code2", "code3", "code4", "code5", "code6", "code7", "person_count" AS vector_size FROM "kanon_run_frequency";

-- evaluate/distance_vectors/pairs
SELECT outliers.vector AS outlier, vectors.vector AS vector, CASE WHEN vectors.vector_size >= 3 THEN vectors.vector_size END AS large_size, CASE WHEN "outliers"."code1" = "vectors"."code1" THEN 0 WHEN "outliers"."code0" = "vectors"."code0" THEN 1 ELSE 2 END AS "d0", CASE WHEN "outliers"."code6" = "vectors"."code6" THEN 0 WHEN "outliers"."code5" = "vectors"."code5" THEN 1 WHEN "outliers"."code4" = "vectors"."code4" THEN 2 WHEN "outliers"."code3" = "vectors"."code3" THEN 3 WHEN "outliers"."code2" = "vectors"."code2" THEN 4 ELSE 5 END AS "d1", CASE WHEN "outliers"."code7" = "vectors"."code7" THEN 0 ELSE 1 END AS "d2" FROM "kanon_run_numbered_vectors" AS outliers CROSS JOIN "kanon_run_numbered_vectors" AS vectors WHERE outliers.vector_size < 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_numbered_vectors";

-- evaluate/partitions/positions
CREATE TEMPORARY TABLE "kanon_run_positions1" AS SELECT CAST("person" AS TEXT) COLLATE "binary" AS l0, ROW_NUMBER() OVER (ORDER BY listed."person" ASC) - 1 AS l1 FROM "clinic"."sexes" AS listed;

-- evaluate/partitions/order
CREATE TEMPORARY TABLE "kanon_run_order2" AS WITH "kanon_run_with_used" AS (SELECT MIN("c0") AS code, l0 AS label, MIN(value) AS sort FROM "kanon_run_lookup2" GROUP BY c0, l0), "kanon_run_with_sortable" AS (SELECT used.code AS code, used.label AS label, CASE WHEN used.label IS NULL THEN 1 ELSE 0 END AS is_null, used.sort AS sort FROM "kanon_run_with_used" AS used), "kanon_run_with_placed" AS (SELECT sortable.*, ROW_NUMBER() OVER (ORDER BY is_null ASC, sort ASC) - 1 AS value_position FROM "kanon_run_with_sortable" AS sortable) SELECT code, label, is_null, value_position, value_position AS domain_position, CAST(DENSE_RANK() OVER (ORDER BY is_null ASC, value_position ASC) - 1 AS INT) AS atom FROM "kanon_run_with_placed" AS placed;

-- evaluate/partitions/vectors
CREATE TEMPORARY TABLE "kanon_run_atoms" AS SELECT "order0".atom AS "a0", "order1".atom AS "a1", "order2".atom AS "a2", SUM(person_count) AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_frequency" AS vectors JOIN "kanon_run_order0" AS "order0" ON "vectors"."code1" = "order0".code JOIN "kanon_run_order1" AS "order1" ON "vectors"."code6" = "order1".code JOIN "kanon_run_order2" AS "order2" ON "vectors"."code7" = "order2".code GROUP BY "order0".atom, "order1".atom, "order2".atom;

-- evaluate/partitions/vectors
CREATE TEMPORARY TABLE "kanon_run_atoms0" AS SELECT "order0".atom AS "a0", "order1".atom AS "a1", "order2".atom AS "a2", value_code, MIN(reference_share) AS reference_share, SUM(person_count) AS person_count, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_values0" AS vectors JOIN "kanon_run_order0" AS "order0" ON "vectors"."code1" = "order0".code JOIN "kanon_run_order1" AS "order1" ON "vectors"."code6" = "order1".code JOIN "kanon_run_order2" AS "order2" ON "vectors"."code7" = "order2".code GROUP BY "order0".atom, "order1".atom, "order2".atom, value_code;

-- release/manifest/find
SELECT published_at FROM "clinic"."kanon_sql_manifest" WHERE run_id = '0a' AND (release_name = 'visits_release' OR published_at = 'withdrawn');

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '2f56fa34dcb98ad95a5794feb83f1c79e2f0cb061b9c0abf570643780866b724', '{"long": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "published_at": "(the time)"}');

-- release/manifest/withdraw
DELETE FROM "clinic"."kanon_sql_manifest" WHERE run_id = 'run';

-- release/manifest/read
SELECT published_at, manifest FROM "clinic"."kanon_sql_manifest" WHERE run_id = 'run';

-- release/manifest/named
SELECT COUNT(*) AS named FROM "clinic"."kanon_sql_manifest" WHERE release_name = 'visits_release';

-- release/kept/levels
CREATE TABLE "clinic"."learned" AS SELECT 1 AS "level0", 0 AS "level1";

-- release/kept/read
SELECT "level0", "level1" FROM "clinic"."learned" AS kept;

-- release/kept/classes
CREATE TABLE "clinic"."learned" AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY ("label_size0" - 1) * 3 + ("label_size1" - 1) * 2 ASC, CAST("label0" AS TEXT) COLLATE "binary" ASC, CAST("label1" AS TEXT) COLLATE "binary" ASC) AS BIGINT) AS class_number, "label0" AS "label0", "level0" AS "level0", "label1" AS "label1", "level1" AS "level1" FROM "clinic"."classes" AS classes;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", "checked"."person" AS unit, 1 AS row_count FROM "clinic"."visits" AS checked WHERE "checked"."kanon_masked" = 0) AS frequency GROUP BY "q0") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."visits" AS checked WHERE "checked"."kanon_masked" = 0;

-- evaluate/examine/failing
SELECT "k0", class_rows, CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END AS "violated0" FROM (SELECT "k0", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT "q0" AS "k0", CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", "checked"."person" AS unit, 1 AS row_count FROM "clinic"."visits" AS checked WHERE "checked"."kanon_masked" = 0) AS frequency GROUP BY "q0") AS classes) AS flagged WHERE satisfied = 0 ORDER BY class_rows ASC, "k0" ASC LIMIT 5;

-- verbs/init/persons
SELECT COUNT(*) AS persons, SUM(CASE WHEN "distinct_values0" > 1 THEN 1 ELSE 0 END) AS "varying0" FROM (SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS kanon_unit, COUNT(DISTINCT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary") AS "distinct_values0" FROM "clinic"."visits" AS kanon_source WHERE NOT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NULL GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary") AS persons;

-- release/ledger/turn
DELETE FROM "clinic"."ledger" WHERE run_id = 'turn';

-- release/ledger/entries
SELECT manifest FROM "clinic"."ledger" WHERE run_id <> 'turn' AND published_at <> 'withdrawn' ORDER BY published_at ASC, run_id ASC;

-- release/ledger/kept
CREATE TEMPORARY TABLE "kanon_run_kept0" AS SELECT CAST(ROW_NUMBER() OVER (ORDER BY "lookup0"."c0" ASC, "lookup1"."c0" ASC, "lookup2"."c0" ASC) AS BIGINT) AS class_number, "lookup0"."c0" AS "k0", "lookup1"."c0" AS "k1", "lookup2"."c0" AS "k2", released."l0" AS "l0", released."l1" AS "l1", released."l2" AS "l2" FROM (SELECT DISTINCT CAST("released"."weight" AS TEXT) COLLATE "binary" AS "l0", CAST("released"."sex" AS TEXT) COLLATE "binary" AS "l1", CAST("released"."seen" AS TEXT) COLLATE "binary" AS "l2" FROM "clinic"."dropped" AS released) AS released JOIN (SELECT DISTINCT "c0", "c1", "d0", "l0" AS label FROM "kanon_run_lookup0") AS "lookup0" ON released."l0" COLLATE "binary" IS NOT DISTINCT FROM "lookup0".label JOIN (SELECT DISTINCT "c0", "c1", "c2", "c3", "c4", "d0", "d1", "d2", "d3", "l0" AS label FROM "kanon_run_lookup1") AS "lookup1" ON released."l1" COLLATE "binary" IS NOT DISTINCT FROM "lookup1".label JOIN (SELECT DISTINCT "c0", "l0" AS label FROM "kanon_run_lookup2") AS "lookup2" ON released."l2" COLLATE "binary" IS NOT DISTINCT FROM "lookup2".label;

-- release/ledger/kept
CREATE TEMPORARY TABLE "kanon_run_kept1" AS SELECT CASE WHEN released."l0" = '*' AND released."l1" = '*' AND released."l2" = '*' THEN 0 ELSE CAST(ROW_NUMBER() OVER (ORDER BY released."l0" ASC) AS BIGINT) END AS class_number, released."l0" AS "l0", released."l1" AS "l1", released."l2" AS "l2" FROM (SELECT DISTINCT CAST("released"."weight" AS TEXT) COLLATE "binary" AS "l0", CAST("released"."sex" AS TEXT) COLLATE "binary" AS "l1", CAST("released"."seen" AS TEXT) COLLATE "binary" AS "l2" FROM "clinic"."masked" AS released) AS released JOIN (SELECT DISTINCT "l2" AS label FROM "kanon_run_lookup0") AS "lookup0" ON released."l0" COLLATE "binary" = "lookup0".label JOIN (SELECT DISTINCT "l5" AS label FROM "kanon_run_lookup1") AS "lookup1" ON released."l1" COLLATE "binary" = "lookup1".label JOIN (SELECT DISTINCT "l1" AS label FROM "kanon_run_lookup2") AS "lookup2" ON released."l2" COLLATE "binary" = "lookup2".label;

-- release/ledger/joint
CREATE TEMPORARY TABLE "kanon_run_joint" AS SELECT CASE WHEN NOT "kept0"."class_number" IS NULL AND NOT "kanon_source"."weight" IS NULL AND NOT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NULL AND NOT "kanon_source"."seen" IS NULL THEN "kept0".class_number ELSE -1 END AS "kanon_f0", CASE WHEN NOT "kept1"."class_number" IS NULL THEN "kept1".class_number ELSE 0 END AS "kanon_f1", "kanon_source"."person" AS "person", "kanon_source"."age" AS "age", "kanon_source"."dx" AS "dx", "kanon_source"."person" AS "kanon_unit", CASE WHEN (NOT "kept0"."class_number" IS NULL AND NOT "kanon_source"."weight" IS NULL AND NOT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NULL AND NOT "kanon_source"."seen" IS NULL) OR (1 = 1) THEN 1 ELSE 0 END AS "kanon_any" FROM "clinic"."visits" AS kanon_source JOIN "kanon_run_lookup0" AS "lookup0" ON "kanon_source"."weight" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "lookup1".value JOIN "kanon_run_lookup2" AS "lookup2" ON "kanon_source"."seen" IS NOT DISTINCT FROM "lookup2".value LEFT JOIN "kanon_run_kept0" AS "kept0" ON "lookup0"."c0" = "kept0"."k0" AND "lookup1"."c0" = "kept0"."k1" AND "lookup2"."c0" = "kept0"."k2" LEFT JOIN "kanon_run_kept1" AS "kept1" ON 1 = 1;

-- release/count
SELECT COUNT(*) AS row_count FROM "kanon_run_joint" AS counted;

-- release/ledger/differences
WITH "kanon_run_with_counted" AS (SELECT "made"."person" AS "y0", "made"."age" AS "y1", CAST("made"."dx" AS TEXT) COLLATE "binary" AS "y2", "kanon_f0" AS class_number, CAST(COUNT(*) AS BIGINT) AS row_count FROM "kanon_run_joint" AS made WHERE "kanon_f0" >= 0 GROUP BY "made"."person", "made"."age", CAST("made"."dx" AS TEXT) COLLATE "binary", "kanon_f0"), "kanon_run_with_weighed" AS (SELECT kept."l0" COLLATE "binary" AS "x0", kept."l1" COLLATE "binary" AS "x1", kept."l2" COLLATE "binary" AS "x2", counted."y0" AS "x3", counted."y1" AS "x4", counted."y2" AS "x5", counted.row_count AS weight FROM "kanon_run_with_counted" AS counted LEFT JOIN "kanon_run_kept0" AS kept ON counted.class_number = kept.class_number UNION ALL SELECT "released"."weight" AS "x0", CAST("released"."sex" AS TEXT) COLLATE "binary" AS "x1", "released"."seen" AS "x2", "released"."person" AS "x3", "released"."age" AS "x4", CAST("released"."dx" AS TEXT) COLLATE "binary" AS "x5", -CAST(COUNT(*) AS BIGINT) AS weight FROM "clinic"."dropped" AS released GROUP BY "released"."weight", CAST("released"."sex" AS TEXT) COLLATE "binary", "released"."seen", "released"."person", "released"."age", CAST("released"."dx" AS TEXT) COLLATE "binary"), "kanon_run_with_surpluses" AS (SELECT SUM(weight) AS surplus FROM "kanon_run_with_weighed" AS weighed GROUP BY "x0", "x1", "x2", "x3", "x4", "x5") SELECT COUNT(*) AS differences FROM "kanon_run_with_surpluses" AS surpluses WHERE surplus <> 0;

-- release/ledger/differences
WITH "kanon_run_with_counted" AS (SELECT "made"."person" AS "y0", "made"."age" AS "y1", CAST("made"."dx" AS TEXT) COLLATE "binary" AS "y2", "kanon_f1" AS class_number, CAST(COUNT(*) AS BIGINT) AS row_count FROM "kanon_run_joint" AS made WHERE "kanon_f1" >= 0 GROUP BY "made"."person", "made"."age", CAST("made"."dx" AS TEXT) COLLATE "binary", "kanon_f1"), "kanon_run_with_weighed" AS (SELECT CASE WHEN counted.class_number = 0 THEN '*' ELSE kept."l0" END COLLATE "binary" AS "x0", CASE WHEN counted.class_number = 0 THEN '*' ELSE kept."l1" END COLLATE "binary" AS "x1", CASE WHEN counted.class_number = 0 THEN '*' ELSE kept."l2" END COLLATE "binary" AS "x2", counted."y0" AS "x3", counted."y1" AS "x4", counted."y2" AS "x5", counted.row_count AS weight FROM "kanon_run_with_counted" AS counted LEFT JOIN "kanon_run_kept1" AS kept ON counted.class_number = kept.class_number UNION ALL SELECT "released"."weight" AS "x0", CAST("released"."sex" AS TEXT) COLLATE "binary" AS "x1", "released"."seen" AS "x2", "released"."person" AS "x3", "released"."age" AS "x4", CAST("released"."dx" AS TEXT) COLLATE "binary" AS "x5", -CAST(COUNT(*) AS BIGINT) AS weight FROM "clinic"."masked" AS released GROUP BY "released"."weight", CAST("released"."sex" AS TEXT) COLLATE "binary", "released"."seen", "released"."person", "released"."age", CAST("released"."dx" AS TEXT) COLLATE "binary"), "kanon_run_with_surpluses" AS (SELECT SUM(weight) AS surplus FROM "kanon_run_with_weighed" AS weighed GROUP BY "x0", "x1", "x2", "x3", "x4", "x5") SELECT COUNT(*) AS differences FROM "kanon_run_with_surpluses" AS surpluses WHERE surplus <> 0;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size FROM (SELECT CAST("checked"."kanon_f0" AS TEXT) COLLATE "binary" AS "q0", CAST("checked"."kanon_f1" AS TEXT) COLLATE "binary" AS "q1", "checked"."kanon_unit" AS unit, 1 AS row_count FROM "kanon_run_joint" AS checked WHERE "checked"."kanon_any" = 1) AS frequency GROUP BY "q0", "q1") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "kanon_run_joint" AS checked WHERE "checked"."kanon_any" = 1;

-- hierarchies/form_counts
SELECT checked.sex AS form, COUNT(*) AS row_count FROM "clinic"."visits" AS checked WHERE NOT checked.sex IS NULL GROUP BY checked.sex ORDER BY form ASC;

-- verbs/init/csv_values
SELECT COALESCE(SUM(CASE WHEN EXTRACT(DAY FROM CAST(kanon_source.day AS DATE)) > 12 THEN 1 ELSE 0 END), 0) AS "above0", COALESCE(SUM(CASE WHEN CAST(kanon_source.day AS DATE) > CAST('2020-02-29' AS DATE) THEN 1 ELSE 0 END), 0) AS "future0", COALESCE(SUM(CASE WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST(found.value AS TEXT), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', ''), '.', '') IN (',', '-,') AND LENGTH(CAST(found.value AS TEXT)) > LENGTH(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST(found.value AS TEXT), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')) + 1 THEN 1 ELSE 0 END), 0) AS "commas0" FROM "clinic"."visits" AS kanon_source;

-- verbs/init/spread
WITH "kanon_run_with_counted" AS (SELECT CAST(kanon_source.age AS DOUBLE) AS number_value, COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source WHERE NOT CAST(kanon_source.age AS DOUBLE) IS NULL GROUP BY CAST(kanon_source.age AS DOUBLE)), "kanon_run_with_ranked" AS (SELECT number_value, SUM(row_count) OVER (ORDER BY number_value ASC) AS upto, SUM(row_count) OVER () AS row_total FROM "kanon_run_with_counted" AS counted), "kanon_run_with_ends" AS (SELECT MIN(CASE WHEN 20 * upto >= row_total THEN number_value END) AS low, MIN(CASE WHEN 20 * upto >= 19 * row_total THEN number_value END) AS high FROM "kanon_run_with_ranked" AS ranked) SELECT CASE WHEN high > low THEN FLOOR(3 * LN(high - low) / LN(10)) END AS thirds FROM "kanon_run_with_ends" AS ends;

-- verbs/init/values
SELECT CAST(found.value AS TEXT) AS label FROM (SELECT DISTINCT kanon_source.sex AS value FROM "clinic"."visits" AS kanon_source) AS found WHERE NOT value IS NULL;

-- verbs/init/areas
SELECT area FROM (SELECT LEFT(kanon_source.zip, 3) AS area, SUM(kanon_source.people) AS people FROM "clinic"."census" AS kanon_source WHERE LENGTH(kanon_source.zip) = 3 OR (LENGTH(kanon_source.zip) IN (5, 9, 10) AND SUBSTRING(kanon_source.zip, 5, 1) <> '-') GROUP BY LEFT(kanon_source.zip, 3)) AS areas WHERE people > 20000;

-- verbs/warnings/repeats
SELECT COUNT(*) AS row_count, COUNT(CAST("kanon_source"."patient_id" AS TEXT) COLLATE "binary") AS "filled0", COUNT(DISTINCT CAST("kanon_source"."patient_id" AS TEXT) COLLATE "binary") AS "distinct_values0", COUNT(CAST("kanon_source"."charge" AS TEXT) COLLATE "binary") AS "filled1", COUNT(DISTINCT CAST("kanon_source"."charge" AS TEXT) COLLATE "binary") AS "distinct_values1" FROM "clinic"."visits" AS kanon_source;

-- verbs/warnings/repeats
SELECT COUNT(*) AS row_count, COUNT(CAST("kanon_source"."patient_id" AS TEXT) COLLATE "binary") AS "filled0", COUNT(DISTINCT CAST("kanon_source"."patient_id" AS TEXT) COLLATE "binary") AS "distinct_values0", COUNT(CAST("kanon_source"."charge" AS TEXT) COLLATE "binary") AS "filled1", COUNT(DISTINCT CAST("kanon_source"."charge" AS TEXT) COLLATE "binary") AS "distinct_values1" FROM (SELECT whole."patient_id" AS "patient_id", whole."charge" AS "charge" FROM "clinic"."visits" AS whole LIMIT 10000) AS kanon_source;

-- «verbs/warnings/suppressed 1»
(SELECT attribute, SUM(label_rows) AS group_rows, SUM(label_lost) AS group_lost, COUNT(*) AS group_labels FROM (SELECT 0 AS attribute, "g0" AS label, SUM(row_count) AS label_rows, SUM(lost_count) AS label_lost FROM "kanon_run_with_held" AS held GROUP BY "g0" UNION ALL SELECT 1 AS attribute, "g1" AS label, SUM(row_count) AS label_rows, SUM(lost_count) AS label_lost FROM "kanon_run_with_held" AS held GROUP BY "g1") AS labels GROUP BY attribute, CASE WHEN label_rows >= 30 THEN label END)

-- verbs/warnings/suppressed
WITH "kanon_run_with_held" AS (SELECT held.code0 & 12 AS "g0", held.code0 & 3 AS "g1", held.row_count AS row_count, CASE WHEN NOT suppressed.class_rows IS NULL THEN held.row_count ELSE 0 END AS lost_count FROM "frequency" AS held LEFT JOIN "suppressed" AS suppressed ON held.code0 & 15 = suppressed."k0") SELECT attribute, MAX(CASE WHEN group_lost >= 5 THEN CAST(group_lost AS DOUBLE) / CAST(group_rows AS DOUBLE) END) AS share, SUM(group_rows) AS judged_rows, SUM(group_labels) AS label_count FROM «verbs/warnings/suppressed 1» AS grouped GROUP BY attribute;

-- verbs/warnings/suppressed
WITH "kanon_run_with_held" AS (SELECT held.code0 & 12 AS "g0", held.code0 & 3 AS "g1", held.row_count AS row_count, CASE WHEN classed.part IS NULL THEN held.row_count ELSE 0 END AS lost_count FROM "frequency" AS held LEFT JOIN "classed" AS classed ON held."code0" = classed."code0") SELECT attribute, MAX(CASE WHEN group_lost >= 5 THEN CAST(group_lost AS DOUBLE) / CAST(group_rows AS DOUBLE) END) AS share, SUM(group_rows) AS judged_rows, SUM(group_labels) AS label_count FROM «verbs/warnings/suppressed 1» AS grouped GROUP BY attribute;

-- disclosure/risk/vectors
CREATE TEMPORARY TABLE "kanon_run_different_records" AS SELECT CAST("checked"."charge" AS TEXT) COLLATE "binary" AS "k0", CAST("checked"."zip" AS TEXT) COLLATE "binary" AS "k1", CAST(COUNT(*) AS DOUBLE) AS row_count FROM "clinic"."visits" AS checked GROUP BY CAST("checked"."charge" AS TEXT) COLLATE "binary", CAST("checked"."zip" AS TEXT) COLLATE "binary";

-- disclosure/risk/agreement
WITH "kanon_run_with_cells0" AS (SELECT 0 AS whole, "k0" AS "kept0", "k1" AS value, CAST(SUM(row_count) AS DOUBLE) AS records FROM "kanon_run_different_records" AS vectors GROUP BY "k0", "k1"), "kanon_run_with_chances0" AS (SELECT whole, SUM(value_records) AS label_records, SUM(value_records * (value_records - 1)) AS label_pairs, SUM(value_records * value_records * value_records) AS label_cubes FROM (SELECT 0 AS whole, SUM(row_count) AS value_records FROM "kanon_run_different_records" AS vectors GROUP BY "k1") AS valued GROUP BY whole) SELECT item_number, SUM(records) AS records, SUM(CASE WHEN expected < 1 THEN records ELSE 0 END) AS open_records, SUM(CASE WHEN expected < 1 AND records > 1 THEN records * same ELSE 0 END) AS same_records, SUM(CASE WHEN expected < 1 AND records > 1 THEN records * expected ELSE 0 END) AS expected_records, SUM(CASE WHEN expected < 1 AND records > 1 THEN records * (1 - expected) ELSE 0 END) AS room, SUM(CASE WHEN expected < 1 AND records > 1 THEN records * records * chance_variance ELSE 0 END) AS chance_variance, SUM(CASE WHEN expected < 1 AND records >= 20 AND same >= 4 * expected AND (same - expected) * (same - expected) >= 1.60000000000000000e+01 * chance_variance THEN records WHEN expected < 1 AND records >= 20 AND 4 * same >= 3 + expected AND (same - expected) * (same - expected) >= 1.60000000000000000e+01 * chance_variance THEN records ELSE 0 END) AS narrowed_records FROM (SELECT item_number, records, same, expected, CASE WHEN records > 1 THEN 2 * expected * (1 - expected) / (records * (records - 1)) + CASE WHEN cubes > expected * expected THEN 4 * (cubes - expected * expected) / records ELSE 0 END ELSE 0 END AS chance_variance FROM (SELECT item_number, records, CASE WHEN records > 1 THEN same_pairs / (records * (records - 1)) ELSE 0 END AS same, CASE WHEN label_records > 1 THEN label_pairs / (label_records * (label_records - 1)) ELSE 1 END AS expected, CASE WHEN label_records > 0 THEN label_cubes / label_records / label_records / label_records ELSE 0 END AS cubes FROM (SELECT 0 AS item_number, held.records AS records, held.same_pairs AS same_pairs, labelled.label_records AS label_records, labelled.label_pairs AS label_pairs, labelled.label_cubes AS label_cubes FROM (SELECT whole, SUM(records) AS records, SUM(records * (records - 1)) AS same_pairs FROM "kanon_run_with_cells0" AS cells GROUP BY whole, "kept0") AS held JOIN "kanon_run_with_chances0" AS labelled ON held.whole IS NOT DISTINCT FROM labelled.whole) AS labelled) AS compared) AS judged GROUP BY item_number;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_different_records";

-- frequency/unrounded
SELECT SUM(CASE WHEN kanon_source.charge IS NULL THEN 0 WHEN CAST(kanon_source.charge AS DOUBLE) > -1000000000000000 AND CAST(kanon_source.charge AS DOUBLE) < 1000000000000000 THEN 0 ELSE 1 END) AS "large0" FROM "clinic"."visits" AS kanon_source;

-- «verbs/warnings/digits 1»
(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("lookup0".l0 AS TEXT) COLLATE "binary", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')

-- «verbs/warnings/digits 2»
(REPLACE«verbs/warnings/digits 1» IN ('-', '-.') AND SUBSTRING(CAST("lookup0".l0 AS TEXT) COLLATE "binary", 1, 1) = '-')

-- «verbs/warnings/digits 3»
(CASE WHEN REPLACE«verbs/warnings/digits 1» IN ('', '.') OR «verbs/warnings/digits 2» THEN LENGTH(CAST("lookup0".l0 AS TEXT) COLLATE "binary") END)

-- verbs/warnings/digits
SELECT 0 AS item_number, COUNT(*) AS all_values, SUM(CASE WHEN REPLACE«verbs/warnings/digits 1» IN ('', '.') OR «verbs/warnings/digits 2» THEN 1 ELSE 0 END) AS numbers, MIN«verbs/warnings/digits 3» AS shortest, MAX«verbs/warnings/digits 3» AS longest FROM "lookup0" AS "lookup0" WHERE NOT "lookup0".l0 IS NULL;

-- verbs/warnings/codes
SELECT 0 AS item_number, LENGTH(CAST(labels.value AS TEXT)) AS code_length, COUNT(*) AS code_values, SUM(labels.value_rows) AS code_rows FROM "lookup0" AS labels WHERE labels.value >= 0 GROUP BY LENGTH(CAST(labels.value AS TEXT));

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_given" ("l0" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_given" VALUES
  ('2000-12-31');

-- verbs/hierarchy/given
CREATE TEMPORARY TABLE "kanon_run_given_raw" AS SELECT CAST(given.l0 AS DATE) AS "q0", 1 AS row_count FROM "kanon_run_given" AS given;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_given_raw";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_given";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joint";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_kept1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_kept0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_matrix";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_rollup1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_rollup0";

-- evaluate/achieved
WITH "kanon_run_reference0" AS (SELECT value AS reference_value, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share FROM (SELECT CAST("original"."dx" AS TEXT) COLLATE "binary" AS value, COUNT(DISTINCT "original"."person") AS reference_count FROM "clinic"."visits" AS original GROUP BY CAST("original"."dx" AS TEXT) COLLATE "binary") AS value_counts)
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, MAX(all_size) AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "all_size", "class_rows", "class_size", "m0", CASE WHEN (NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS satisfied FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", CASE WHEN MAX(pooled.class_rows) = MAX(pooled.value_rows) THEN MAX(pooled.class_rows) END AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."all_size") AS "all_size", MAX(pooled."m0") AS "m0" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "all_size", NULL AS "m0" FROM (SELECT "q0" AS "k0", "q1" AS "k1", CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size, SUM(COUNT(DISTINCT unit)) OVER () AS all_size FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", "checked"."person" AS unit, 1 AS row_count FROM "clinic"."other" AS checked) AS frequency GROUP BY "q0", "q1") AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, NULL, "m0" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 THEN SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) ELSE NULL END AS "m0" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, SUM(value_count) OVER (PARTITION BY "k0", "k1") AS class_total FROM (SELECT held."k0" AS "k0", held."k1" AS "k1", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, CAST(COUNT(*) AS BIGINT) AS value_rows, COUNT(DISTINCT unit) AS value_count FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, "checked"."person" AS unit, 1 AS row_count FROM "clinic"."other" AS checked) AS frequency GROUP BY "q0", "q1", value_code) AS held LEFT JOIN "kanon_run_reference0" AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share FROM "kanon_run_reference0" AS every_value) AS of_null) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."other" AS checked;

-- «verbs/warnings/spelling 1»
(DISTINCT CASE WHEN plain IN ('', '-', '--', '.', '?', '??', '???', 'n/a', 'na', 'n.a.', '#n/a', 'nan', 'nil', 'none', 'null', '<na>', 'unknown', 'unk', 'unkn', 'notknown', 'notavailable', 'notapplicable', 'notspecified', 'unspecified', 'notstated', 'missing', 'noanswer', 'noresponse', 'nodata', 'donotknow', 'don''tknow', 'dontknow', 'prefernottosay', 'refused', 'undefined', 'unbekannt', 'k.a.', 'inconnu', 'desconocido') THEN plain END)

-- verbs/warnings/spelling
SELECT 0 AS item_number, SUM(value_rows) AS filled, COUNT(*) AS different, COUNT(DISTINCT plain) AS folded, COUNT«verbs/warnings/spelling 1» AS missing_words, SUM(CASE WHEN listed = 1 THEN value_rows ELSE 0 END) AS list_rows, COUNT(*) AS native_values FROM (SELECT value_rows, LOWER(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(counted.value, ' ', ''), '	', ''), '
', ''), '', ''), ' ', '')) COLLATE "binary" AS plain, CASE WHEN LENGTH(REPLACE(counted.value, ';', '')) < LENGTH(counted.value) THEN 1 WHEN LENGTH(REPLACE(counted.value, '|', '')) < LENGTH(counted.value) THEN 1 WHEN LENGTH(REPLACE(counted.value, '
', '')) < LENGTH(counted.value) THEN 1 WHEN LENGTH(REPLACE(counted.value, ',', '')) < LENGTH(counted.value) THEN 1 ELSE 0 END AS listed FROM (SELECT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS value, COUNT(*) AS value_rows FROM "clinic"."other" AS kanon_source WHERE NOT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" IS NULL GROUP BY CAST("kanon_source"."dx" AS TEXT) COLLATE "binary") AS counted) AS spelled;

-- «evaluate/achieved 7»
(SELECT value AS reference_value, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share FROM (SELECT CAST("original"."dx" AS TEXT) COLLATE "binary" AS value, COUNT(*) AS reference_count FROM "clinic"."visits" AS original GROUP BY CAST("original"."dx" AS TEXT) COLLATE "binary") AS value_counts)

-- «evaluate/achieved 8»
(SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, 1 AS row_count FROM "clinic"."visits_release" AS checked)

-- «evaluate/achieved 9»
(SELECT "class_number" AS "k0", value_code, row_count AS value_rows, row_count AS value_count, class_total FROM (SELECT numbers.class_number AS class_number, numbers.class_total AS class_total, cells.value_code AS value_code, cells.row_count AS row_count FROM "kanon_run_with_cells" AS cells JOIN "kanon_run_with_numbers" AS numbers ON cells."q0" IS NOT DISTINCT FROM numbers."q0" AND cells."q1" IS NOT DISTINCT FROM numbers."q1") AS frequency)

-- evaluate/achieved
WITH "kanon_run_reference0" AS «evaluate/achieved 7»,
"kanon_run_with_cells" AS (SELECT "q0", "q1", value_code, CAST(COUNT(*) AS BIGINT) AS row_count FROM «evaluate/achieved 8» AS frequency GROUP BY "q0", "q1", value_code), "kanon_run_with_numbers" AS (SELECT "q0", "q1", CAST(SUM(row_count) AS BIGINT) AS class_total, ROW_NUMBER() OVER (ORDER BY COUNT(*) ASC) AS class_number FROM "kanon_run_with_cells" AS cells GROUP BY "q0", "q1") SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", CASE WHEN (NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS satisfied FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 THEN SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) ELSE NULL END AS "m0" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, class_total FROM (SELECT held."k0" AS "k0", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, held.class_total AS class_total, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share FROM «evaluate/achieved 9» AS held LEFT JOIN "kanon_run_reference0" AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share FROM "kanon_run_reference0" AS every_value) AS of_null) AS counted) AS ranked GROUP BY "k0") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."visits_release" AS checked;

-- evaluate/histogram
WITH "kanon_run_reference0" AS «evaluate/achieved 7»
SELECT 0 AS histogram, bin_number, COUNT(*) AS bin_classes, SUM(class_size) AS bin_records, MIN(class_size) AS bin_smallest, SUM(class_rows) AS bin_rows FROM (SELECT class_rows, class_size, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS bin_number FROM (SELECT CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_size FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM "clinic"."visits_release" AS checked) AS frequency GROUP BY "q0", "q1") AS counted) AS binned GROUP BY bin_number
UNION ALL
SELECT 1 AS histogram, bin_number, COUNT(*) AS bin_classes, SUM(class_size) AS bin_records, MIN(class_size) AS bin_smallest, SUM(class_rows) AS bin_rows FROM (SELECT class_rows, class_size, CASE WHEN "m0" <= 1.00000000000000006e-09 THEN 0 WHEN "m0" <= 5.00000010000000022e-02 THEN 1 WHEN "m0" <= 1.00000001000000005e-01 THEN 2 WHEN "m0" <= 1.50000000999999994e-01 THEN 3 WHEN "m0" <= 2.00000001000000011e-01 THEN 4 WHEN "m0" <= 2.50000001000000027e-01 THEN 5 WHEN "m0" <= 3.00000001000000016e-01 THEN 6 WHEN "m0" <= 3.50000001000000005e-01 THEN 7 WHEN "m0" <= 4.00000001000000049e-01 THEN 8 WHEN "m0" <= 4.50000001000000038e-01 THEN 9 WHEN "m0" <= 5.00000000999999972e-01 THEN 10 WHEN "m0" <= 5.50000001000000016e-01 THEN 11 WHEN "m0" <= 6.00000000999999950e-01 THEN 12 WHEN "m0" <= 6.50000000999999994e-01 THEN 13 WHEN "m0" <= 7.00000000999999927e-01 THEN 14 WHEN "m0" <= 7.50000000999999972e-01 THEN 15 WHEN "m0" <= 8.00000001000000016e-01 THEN 16 WHEN "m0" <= 8.50000000999999950e-01 THEN 17 WHEN "m0" <= 9.00000000999999994e-01 THEN 18 WHEN "m0" <= 9.50000000999999927e-01 THEN 19 WHEN "m0" <= 1.00000000100000008e+00 THEN 20 ELSE 21 END AS bin_number FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 THEN SUM(CASE WHEN class_total > 0 AND CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) > reference_share THEN CAST(value_count AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share ELSE 0 END) ELSE NULL END AS "m0" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, SUM(value_count) OVER (PARTITION BY "k0", "k1") AS class_total FROM (SELECT held."k0" AS "k0", held."k1" AS "k1", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, CAST(COUNT(*) AS BIGINT) AS value_rows, CAST(COUNT(*) AS BIGINT) AS value_count FROM «evaluate/achieved 8» AS frequency GROUP BY "q0", "q1", value_code) AS held LEFT JOIN "kanon_run_reference0" AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share FROM "kanon_run_reference0" AS every_value) AS of_null) AS counted) AS ranked GROUP BY "k0", "k1") AS counted) AS binned GROUP BY bin_number
UNION ALL
SELECT 0 AS histogram, -2 AS bin_number, NULL AS bin_classes, NULL AS bin_records, NULL AS bin_smallest, COUNT(*) AS bin_rows FROM "clinic"."visits_release" AS checked;

-- verbs/warnings/spelling
SELECT 0 AS item_number, SUM(value_rows) AS filled, COUNT(*) AS different, COUNT(DISTINCT plain) AS folded, COUNT«verbs/warnings/spelling 1» AS missing_words, SUM(CASE WHEN listed = 1 THEN value_rows ELSE 0 END) AS list_rows, COUNT(*) AS native_values FROM (SELECT value_rows, LOWER(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(counted.value, ' ', ''), '	', ''), '
', ''), '', ''), ' ', '')) COLLATE "binary" AS plain, CASE WHEN LENGTH(REPLACE(counted.value, ';', '')) < LENGTH(counted.value) THEN 1 WHEN LENGTH(REPLACE(counted.value, '|', '')) < LENGTH(counted.value) THEN 1 WHEN LENGTH(REPLACE(counted.value, '
', '')) < LENGTH(counted.value) THEN 1 WHEN LENGTH(REPLACE(counted.value, ',', '')) < LENGTH(counted.value) THEN 1 ELSE 0 END AS listed FROM (SELECT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS value, COUNT(*) AS value_rows FROM "clinic"."visits_release" AS kanon_source WHERE NOT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" IS NULL GROUP BY CAST("kanon_source"."dx" AS TEXT) COLLATE "binary") AS counted) AS spelled;

-- «frequency/raw 1»
((CASE WHEN ABS("kanon_source"."weight") < 1e18 AND "kanon_source"."weight" = FLOOR("kanon_source"."weight") THEN CAST(CAST("kanon_source"."weight" AS BIGINT) AS TEXT) ELSE CAST("kanon_source"."weight" AS TEXT) END || '') AS TEXT)

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_external" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST«frequency/raw 1» COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."people" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST«frequency/raw 1» COLLATE "binary";

-- «frequency/raw 2»
(CASE WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST((CAST("kanon_source"."age" AS TEXT) || '') AS TEXT) COLLATE "binary", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') IN ('.', '-.') THEN RTRIM(RTRIM(CAST((CAST("kanon_source"."age" AS TEXT) || '') AS TEXT) COLLATE "binary", '0'), '.') ELSE CAST((CAST("kanon_source"."age" AS TEXT) || '') AS TEXT) COLLATE "binary" END)

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_linked" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST«frequency/raw 1» COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", own."l2" AS "l2", '*' AS "l3" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 2 THEN SUBSTRING(CAST(value AS TEXT), 1, 2) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 2) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_external" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_external" GROUP BY "q1") AS distinct_values) AS own;

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_0_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 0 AS attribute, 1 AS level, COUNT(*) AS split_labels FROM (SELECT "l1" FROM "kanon_run_0_lookup0" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS split;

-- «hierarchies/coverage 8»
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_0_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_0_lookup1" AS labels JOIN "kanon_run_0_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_0_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_0_lookup0" AS labels JOIN "kanon_run_0_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value
UNION ALL
«hierarchies/coverage 8»;

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_linked" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_0_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_linked" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_linked" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- «disclosure/attacks/cover 1»
(SELECT value, CAST("l2" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" WHERE value IS NULL OR NOT "l2" IS NULL UNION ALL SELECT value, CAST("l3" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0")

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_linked_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 1» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_linked") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- «disclosure/attacks/cover 3»
(CASE WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("l0" AS TEXT) COLLATE "binary", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') IN ('.', '-.') THEN RTRIM(RTRIM(CAST("l0" AS TEXT) COLLATE "binary", '0'), '.') ELSE CAST("l0" AS TEXT) COLLATE "binary" END)

-- «disclosure/attacks/cover 4»
(CASE WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("l1" AS TEXT) COLLATE "binary", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') IN ('.', '-.') THEN RTRIM(RTRIM(CAST("l1" AS TEXT) COLLATE "binary", '0'), '.') ELSE CAST("l1" AS TEXT) COLLATE "binary" END)

-- «disclosure/attacks/cover 2»
(SELECT value, «disclosure/attacks/cover 3» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" WHERE value IS NULL OR NOT "l0" IS NULL UNION ALL SELECT value, «disclosure/attacks/cover 4» COLLATE "binary" AS label FROM "kanon_run_0_lookup1")

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_linked_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_linked") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_linked_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."p0" AS "p0", vectors."row_count" AS "row_count", cover.label AS "label0" FROM "kanon_run_external" AS vectors JOIN "kanon_run_linked_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "p0" FROM "kanon_run_linked") AS released ON vectors."p0" IS NOT DISTINCT FROM released."p0";

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_linked_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."p0" AS "p0", vectors."row_count" AS "row_count", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_linked_labelled0" AS vectors JOIN "kanon_run_linked_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0", "p0" FROM "kanon_run_linked") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."p0" IS NOT DISTINCT FROM released."p0";

-- «disclosure/attacks/counted 1»
(SELECT SUM(own.row_count) FROM "kanon_run_external" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_external") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value)

-- «disclosure/attacks/counted 2»
(SELECT SUM(own.row_count) FROM "kanon_run_linked" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_linked") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_linked") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_linked") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value)

-- «disclosure/attacks/counted 3»
(SELECT "q0", "q1", "p0", people, CAST(1 AS DOUBLE) / CAST(matches AS DOUBLE) AS risk, CASE WHEN matches < 3 THEN 1 ELSE 0 END AS exposed, CASE WHEN matches < 3 THEN 1 ELSE 0 END AS beyond FROM (SELECT "vectors"."q0" AS "q0", "vectors"."q1" AS "q1", "vectors"."p0" AS "p0", MIN("vectors".row_count) AS people, SUM("released".row_count) AS matches FROM "kanon_run_linked_labelled1" AS vectors JOIN "kanon_run_linked" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" AND vectors."p0" IS NOT DISTINCT FROM released."p0" GROUP BY "vectors"."q0", "vectors"."q1", "vectors"."p0") AS matched)

-- disclosure/attacks/counted
SELECT (SELECT SUM(row_count) FROM "kanon_run_external") AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, (SELECT SUM(row_count) FROM "kanon_run_linked") AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."people" AS whole) AS "there0", «disclosure/attacks/counted 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 2» AS "found1" FROM «disclosure/attacks/counted 3» AS cases;

-- disclosure/attacks/revealed
SELECT "q0", "q1", "p0", people FROM «disclosure/attacks/counted 3» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC, "p0" ASC LIMIT 3;

-- «disclosure/attacks/counted 4»
(SELECT "q0", "q1", "p0", people, CAST(1 AS DOUBLE) / CAST(matches AS DOUBLE) AS risk, CASE WHEN matches < 3 THEN 1 ELSE 0 END AS exposed, CASE WHEN matches < 3 THEN 1 ELSE 0 END AS beyond FROM (SELECT "released"."q0" AS "q0", "released"."q1" AS "q1", "released"."p0" AS "p0", MIN("released".row_count) AS people, SUM("vectors".row_count) AS matches FROM "kanon_run_linked_labelled1" AS vectors JOIN "kanon_run_linked" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" AND vectors."p0" IS NOT DISTINCT FROM released."p0" GROUP BY "released"."q0", "released"."q1", "released"."p0") AS matched)

-- disclosure/attacks/counted
SELECT (SELECT SUM(row_count) FROM "kanon_run_linked") AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, (SELECT SUM(row_count) FROM "kanon_run_external") AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."people" AS whole) AS "there0", «disclosure/attacks/counted 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 2» AS "found1" FROM «disclosure/attacks/counted 4» AS cases;

-- disclosure/attacks/revealed
SELECT "q0", "q1", "p0", people FROM «disclosure/attacks/counted 4» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC, "p0" ASC LIMIT 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_linked_labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_linked_labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_linked_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_linked_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_0_lookup1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_0_lookup0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_linked";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_external";

-- «disclosure/attacks/counted 7»
(SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", "checked"."age" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, 0 AS reference_share, 1 AS row_count FROM "clinic"."visits_release" AS checked)

-- «disclosure/attacks/counted 6»
(SELECT "q0", "q1", value_code, held, ROW_NUMBER() OVER (PARTITION BY "q0", "q1" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, held DESC) AS value_position FROM (SELECT frequency."q0", frequency."q1", frequency.value_code AS value_code, 0 AS reference_share, SUM(frequency.row_count) AS held FROM «disclosure/attacks/counted 7» AS frequency GROUP BY frequency."q0", frequency."q1", frequency.value_code) AS held_values)

-- «disclosure/attacks/counted 5»
(SELECT "q0", "q1", SUM(held) AS people, CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position = 1 THEN held ELSE 0 END) AS DOUBLE) / CAST(NULLIF(SUM(CASE WHEN NOT value_code IS NULL AND (value_position = 1 OR value_position > 1) THEN held ELSE 0 END), 0) AS DOUBLE) AS risk, CASE WHEN COUNT(value_code) BETWEEN 1 AND 1 THEN 1 ELSE 0 END AS exposed, CASE WHEN COUNT(value_code) BETWEEN 1 AND 1 THEN 1 ELSE 0 END AS beyond FROM «disclosure/attacks/counted 6» AS ranked GROUP BY "q0", "q1")

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows FROM «disclosure/attacks/counted 5» AS cases;

-- disclosure/attacks/revealed
SELECT "q0", "q1", people FROM «disclosure/attacks/counted 5» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC LIMIT 3;

-- «disclosure/attacks/counted 8»
(SELECT "q0", "q1", SUM(held) AS people, CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position = 1 THEN held ELSE 0 END) AS DOUBLE) / CAST(NULLIF(SUM(CASE WHEN NOT value_code IS NULL AND (value_position = 1 OR value_position > 2) THEN held ELSE 0 END), 0) AS DOUBLE) AS risk, CASE WHEN COUNT(value_code) BETWEEN 1 AND 2 THEN 1 ELSE 0 END AS exposed, CASE WHEN COUNT(value_code) BETWEEN 1 AND 1 THEN 1 ELSE 0 END AS beyond FROM «disclosure/attacks/counted 6» AS ranked GROUP BY "q0", "q1")

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows FROM «disclosure/attacks/counted 8» AS cases;

-- disclosure/attacks/revealed
SELECT "q0", "q1", people FROM «disclosure/attacks/counted 8» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC LIMIT 3;

-- evaluate/examine/reference
CREATE TEMPORARY TABLE "kanon_run_prior" AS SELECT value AS reference_value, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share FROM (SELECT CAST("original"."dx" AS TEXT) COLLATE "binary" AS value, COUNT(*) AS reference_count FROM "clinic"."other" AS original GROUP BY CAST("original"."dx" AS TEXT) COLLATE "binary") AS value_counts;

-- «disclosure/attacks/counted 9»
(SELECT "q0", "q1", SUM(held) AS people, MAX(CAST(held AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share) AS risk, CASE WHEN MAX(CAST(held AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share) > 5.00000000999999972e-01 THEN 1 ELSE 0 END AS exposed, CASE WHEN MAX(CAST(held AS DOUBLE) / CAST(class_total AS DOUBLE) - reference_share) > 5.00000000999999972e-01 THEN 1 ELSE 0 END AS beyond FROM (SELECT "q0", "q1", held, reference_share, SUM(held) OVER (PARTITION BY "q0", "q1") AS class_total FROM (SELECT frequency."q0", frequency."q1", frequency.value_code AS value_code, COALESCE(MIN(CASE WHEN frequency.value_code IS NULL THEN of_null.reference_share ELSE reference.reference_share END), 0) AS reference_share, SUM(frequency.row_count) AS held FROM «disclosure/attacks/counted 7» AS frequency LEFT JOIN "kanon_run_prior" AS reference ON frequency.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share FROM "kanon_run_prior" AS every_value) AS of_null GROUP BY frequency."q0", frequency."q1", frequency.value_code) AS held_values) AS totalled GROUP BY "q0", "q1")

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows FROM «disclosure/attacks/counted 9» AS cases;

-- disclosure/attacks/revealed
SELECT "q0", "q1", people FROM «disclosure/attacks/counted 9» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC LIMIT 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_prior";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_meanings" AS SELECT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "q0", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_0_domain0" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_0_domain0" VALUES
  ('a', 'x', '*'),
  ('b', 'y', '*');

-- «hierarchies/lookup_rows 2»
(SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1" FROM "kanon_run_0_domain0")

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_meanings" GROUP BY "q0") AS found LEFT JOIN «hierarchies/lookup_rows 2» AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- «hierarchies/coverage 9»
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_0_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_0_lookup0" AS labels JOIN "kanon_run_0_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
«hierarchies/coverage 9»;

-- hierarchies/label_counts
SELECT COUNT(DISTINCT "l1") AS "different_labels1" FROM "kanon_run_0_lookup0" AS checked;

-- «disclosure/attacks/counted 10»
(SELECT "q0", "q1", SUM(held) AS people, CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position = 1 THEN held ELSE 0 END) AS DOUBLE) / CAST(NULLIF(SUM(CASE WHEN NOT value_code IS NULL AND (value_position = 1 OR value_position > 1) THEN held ELSE 0 END), 0) AS DOUBLE) AS risk, CASE WHEN COUNT(value_code) BETWEEN 1 AND 1 THEN 1 ELSE 0 END AS exposed, CASE WHEN COUNT(value_code) BETWEEN 1 AND 1 THEN 1 ELSE 0 END AS beyond FROM (SELECT "q0", "q1", value_code, held, ROW_NUMBER() OVER (PARTITION BY "q0", "q1" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, held DESC) AS value_position FROM (SELECT frequency."q0", frequency."q1", labels."l1" AS value_code, 0 AS reference_share, SUM(frequency.row_count) AS held FROM «disclosure/attacks/counted 7» AS frequency JOIN "kanon_run_0_lookup0" AS labels ON frequency.value_code IS NOT DISTINCT FROM labels.value GROUP BY frequency."q0", frequency."q1", labels."l1") AS held_values) AS ranked GROUP BY "q0", "q1")

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_meanings" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value) AS "found0" FROM «disclosure/attacks/counted 10» AS cases;

-- disclosure/attacks/revealed
SELECT "q0", "q1", people FROM «disclosure/attacks/counted 10» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC LIMIT 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_0_domain0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_meanings";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_joined_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", CAST«frequency/raw 1» COLLATE "binary" AS "p1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", own."l2" AS "l2", '*' AS "l3" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 2 THEN SUBSTRING(CAST(value AS TEXT), 1, 2) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 2) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_joined_people" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_joined_people" GROUP BY "q1") AS distinct_values) AS own;

-- disclosure/attacks/people
CREATE TEMPORARY TABLE "kanon_run_joined_each" AS SELECT DISTINCT "q0", "q1" FROM "kanon_run_joined_people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_joined_labels0" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", CAST«frequency/raw 1» COLLATE "binary" AS "p1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_joined_labels0" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_0_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_joined_labels0" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_joined_labels0" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_joined0_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 1» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_joined_labels0") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_joined0_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_joined_labels0") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/unknown
SELECT SUM(CASE WHEN "cover0".known IS NULL OR "cover1".known IS NULL THEN released.row_count ELSE 0 END) AS unknown_rows, SUM(released.row_count) AS row_count FROM "kanon_run_joined_labels0" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_joined0_cover0") AS "cover0" ON released."q0" IS NOT DISTINCT FROM "cover0".label LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_joined0_cover1") AS "cover1" ON released."q1" IS NOT DISTINCT FROM "cover1".label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_joined0_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", cover.label AS "label0" FROM "kanon_run_joined_each" AS vectors JOIN "kanon_run_joined0_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_joined0_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_joined0_labelled0" AS vectors JOIN "kanon_run_joined0_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_joined_labels0") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- disclosure/attacks/candidates
CREATE TEMPORARY TABLE "kanon_run_joined_candidates0" AS SELECT vectors."q0" AS "q0", vectors."q1" AS "q1", released."p0" AS "p0", released."p1" AS "p1", SUM(released.row_count) AS matches FROM "kanon_run_joined0_labelled1" AS vectors JOIN "kanon_run_joined_labels0" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" GROUP BY vectors."q0", vectors."q1", released."p0", released."p1";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_joined_labels1" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", CAST«frequency/raw 1» COLLATE "binary" AS "p1", COUNT(*) AS row_count FROM "clinic"."before" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_joined_labels1" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_0_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_joined_labels1" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_joined_labels1" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_joined1_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 1» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_joined_labels1") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_joined1_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_joined_labels1") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/unknown
SELECT SUM(CASE WHEN "cover0".known IS NULL OR "cover1".known IS NULL THEN released.row_count ELSE 0 END) AS unknown_rows, SUM(released.row_count) AS row_count FROM "kanon_run_joined_labels1" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_joined1_cover0") AS "cover0" ON released."q0" IS NOT DISTINCT FROM "cover0".label LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_joined1_cover1") AS "cover1" ON released."q1" IS NOT DISTINCT FROM "cover1".label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_joined1_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", cover.label AS "label0" FROM "kanon_run_joined_each" AS vectors JOIN "kanon_run_joined1_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_joined1_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_joined1_labelled0" AS vectors JOIN "kanon_run_joined1_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_joined_labels1") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- disclosure/attacks/candidates
CREATE TEMPORARY TABLE "kanon_run_joined_candidates1" AS SELECT vectors."q0" AS "q0", vectors."q1" AS "q1", released."p0" AS "p0", released."p1" AS "p1", SUM(released.row_count) AS matches FROM "kanon_run_joined1_labelled1" AS vectors JOIN "kanon_run_joined_labels1" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" GROUP BY vectors."q0", vectors."q1", released."p0", released."p1";

-- disclosure/attacks/marked_candidates
CREATE TEMPORARY TABLE "kanon_run_joined_told" AS SELECT "q0", "q1", "p0", "p1", mark, matches, SUM(mark) OVER (PARTITION BY "q0", "q1", "p0", "p1") AS releases, COUNT(*) OVER (PARTITION BY "q0", "q1", "p0", "p1") AS release_count, MIN(mark) OVER (PARTITION BY "q0", "q1", "p0", "p1") AS first_mark FROM (SELECT "q0", "q1", "p0", "p1", matches, CAST(1 AS BIGINT) AS mark FROM "kanon_run_joined_candidates0" UNION ALL SELECT "q0", "q1", "p0", "p1", matches, CAST(2 AS BIGINT) AS mark FROM "kanon_run_joined_candidates1") AS candidates;

-- «disclosure/attacks/counted 11»
(SELECT together."q0" AS "q0", together."q1" AS "q1", together.releases AS releases, MIN(placed.matches) AS fewest FROM "kanon_run_with_together" AS together JOIN "kanon_run_joined_told" AS placed ON together.mark = placed.mark AND together."q0" IS NOT DISTINCT FROM placed."q0" AND together."q1" IS NOT DISTINCT FROM placed."q1" GROUP BY together."q0", together."q1", together.releases, placed."p0", placed."p1" HAVING COUNT(*) = MIN(together.release_count))

-- «disclosure/attacks/counted 12»
(SELECT people."q0" AS "q0", people."q1" AS "q1", people."p0" AS "p0", people."p1" AS "p1", people.row_count AS people, CAST(1 AS DOUBLE) / CAST(sized.size AS DOUBLE) AS risk, CASE WHEN sized.size < 3 THEN 1 ELSE 0 END AS exposed, CASE WHEN sized.size < 3 THEN 1 ELSE 0 END AS beyond FROM "kanon_run_joined_people" AS people JOIN "kanon_run_joined_told" AS own ON own.mark = 1 AND own.release_count > 1 AND people."q0" IS NOT DISTINCT FROM own."q0" AND people."q1" IS NOT DISTINCT FROM own."q1" AND people."p0" IS NOT DISTINCT FROM own."p0" AND people."p1" IS NOT DISTINCT FROM own."p1" JOIN "kanon_run_with_sized" AS sized ON own.releases = sized.releases AND own."q0" IS NOT DISTINCT FROM sized."q0" AND own."q1" IS NOT DISTINCT FROM sized."q1")

-- disclosure/attacks/counted
WITH "kanon_run_with_together" AS (SELECT DISTINCT "q0", "q1", releases, release_count, mark FROM "kanon_run_joined_told" WHERE first_mark = 1 AND release_count > 1), "kanon_run_with_common" AS «disclosure/attacks/counted 11», "kanon_run_with_sized" AS (SELECT "q0", "q1", releases, SUM(fewest) AS size FROM "kanon_run_with_common" AS common GROUP BY "q0", "q1", releases) SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, (SELECT SUM(row_count) FROM "kanon_run_joined_people") AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_joined_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_joined_people") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value JOIN (SELECT DISTINCT "p1" AS value FROM "kanon_run_joined_people") AS "again3" ON own."p1" IS NOT DISTINCT FROM "again3".value) AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_joined_labels0" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_joined_labels0") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_joined_labels0") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_joined_labels0") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value JOIN (SELECT DISTINCT "p1" AS value FROM "kanon_run_joined_labels0") AS "again3" ON own."p1" IS NOT DISTINCT FROM "again3".value) AS "found1", (SELECT COUNT(*) FROM "clinic"."before" AS whole) AS "there2", (SELECT SUM(own.row_count) FROM "kanon_run_joined_labels1" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_joined_labels1") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_joined_labels1") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_joined_labels1") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value JOIN (SELECT DISTINCT "p1" AS value FROM "kanon_run_joined_labels1") AS "again3" ON own."p1" IS NOT DISTINCT FROM "again3".value) AS "found2" FROM «disclosure/attacks/counted 12» AS cases;

-- disclosure/attacks/revealed
WITH "kanon_run_with_together" AS (SELECT DISTINCT "q0", "q1", releases, release_count, mark FROM "kanon_run_joined_told" WHERE first_mark = 1 AND release_count > 1), "kanon_run_with_common" AS «disclosure/attacks/counted 11», "kanon_run_with_sized" AS (SELECT "q0", "q1", releases, SUM(fewest) AS size FROM "kanon_run_with_common" AS common GROUP BY "q0", "q1", releases) SELECT "q0", "q1", people FROM «disclosure/attacks/counted 12» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC LIMIT 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined_told";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined1_labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined1_labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined_candidates1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined1_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined1_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined_labels1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined0_labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined0_labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined_candidates0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined0_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined0_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined_labels0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined_each";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined_people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_values_0__people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", own."l2" AS "l2", '*' AS "l3" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 2 THEN SUBSTRING(CAST(value AS TEXT), 1, 2) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 2) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_values_0__people" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_values_0__people" GROUP BY "q1") AS distinct_values) AS own;

-- disclosure/attacks/people
CREATE TEMPORARY TABLE "kanon_run_values_0__each" AS SELECT DISTINCT "q0", "q1" FROM "kanon_run_values_0__people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_values_0__labels0" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_values_0__labels0" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_0_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_values_0__labels0" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_values_0__labels0" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_values_0_0_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 1» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_values_0__labels0") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_values_0_0_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_values_0__labels0") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/unknown
SELECT SUM(CASE WHEN "cover0".known IS NULL OR "cover1".known IS NULL THEN released.row_count ELSE 0 END) AS unknown_rows, SUM(released.row_count) AS row_count FROM "kanon_run_values_0__labels0" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_values_0_0_cover0") AS "cover0" ON released."q0" IS NOT DISTINCT FROM "cover0".label LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_values_0_0_cover1") AS "cover1" ON released."q1" IS NOT DISTINCT FROM "cover1".label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_values_0_0_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", cover.label AS "label0" FROM "kanon_run_values_0__each" AS vectors JOIN "kanon_run_values_0_0_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_values_0_0_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_values_0_0_labelled0" AS vectors JOIN "kanon_run_values_0_0_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_values_0__labels0") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- disclosure/attacks/candidates
CREATE TEMPORARY TABLE "kanon_run_values_0__candidates0" AS SELECT vectors."q0" AS "q0", vectors."q1" AS "q1", released."p0" AS "p0", SUM(released.row_count) AS matches FROM "kanon_run_values_0_0_labelled1" AS vectors JOIN "kanon_run_values_0__labels0" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" GROUP BY vectors."q0", vectors."q1", released."p0";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_values_0__labels1" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."before" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_values_0__labels1" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_0_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_values_0__labels1" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_values_0__labels1" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_values_0_1_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 1» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_values_0__labels1") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_values_0_1_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_values_0__labels1") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/unknown
SELECT SUM(CASE WHEN "cover0".known IS NULL OR "cover1".known IS NULL THEN released.row_count ELSE 0 END) AS unknown_rows, SUM(released.row_count) AS row_count FROM "kanon_run_values_0__labels1" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_values_0_1_cover0") AS "cover0" ON released."q0" IS NOT DISTINCT FROM "cover0".label LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_values_0_1_cover1") AS "cover1" ON released."q1" IS NOT DISTINCT FROM "cover1".label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_values_0_1_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", cover.label AS "label0" FROM "kanon_run_values_0__each" AS vectors JOIN "kanon_run_values_0_1_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_values_0_1_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_values_0_1_labelled0" AS vectors JOIN "kanon_run_values_0_1_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_values_0__labels1") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- disclosure/attacks/candidates
CREATE TEMPORARY TABLE "kanon_run_values_0__candidates1" AS SELECT vectors."q0" AS "q0", vectors."q1" AS "q1", released."p0" AS "p0", SUM(released.row_count) AS matches FROM "kanon_run_values_0_1_labelled1" AS vectors JOIN "kanon_run_values_0__labels1" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" GROUP BY vectors."q0", vectors."q1", released."p0";

-- disclosure/attacks/marked_candidates
CREATE TEMPORARY TABLE "kanon_run_values_0__told" AS SELECT "q0", "q1", "p0", mark, matches, SUM(mark) OVER (PARTITION BY "q0", "q1", "p0") AS releases, COUNT(*) OVER (PARTITION BY "q0", "q1", "p0") AS release_count, MIN(mark) OVER (PARTITION BY "q0", "q1", "p0") AS first_mark FROM (SELECT "q0", "q1", "p0", matches, CAST(1 AS BIGINT) AS mark FROM "kanon_run_values_0__candidates0" UNION ALL SELECT "q0", "q1", "p0", matches, CAST(2 AS BIGINT) AS mark FROM "kanon_run_values_0__candidates1") AS candidates WHERE NOT "p0" IS NULL;

-- «disclosure/attacks/counted 13»
(SELECT together."q0" AS "q0", together."q1" AS "q1", together.releases AS releases, MIN(placed.matches) AS fewest FROM "kanon_run_with_together" AS together JOIN "kanon_run_values_0__told" AS placed ON together.mark = placed.mark AND together."q0" IS NOT DISTINCT FROM placed."q0" AND together."q1" IS NOT DISTINCT FROM placed."q1" GROUP BY together."q0", together."q1", together.releases, placed."p0" HAVING COUNT(*) = MIN(together.release_count))

-- «disclosure/attacks/counted 14»
(SELECT people."q0" AS "q0", people."q1" AS "q1", people."p0" AS "p0", people.row_count AS people, CAST(1 AS DOUBLE) / CAST(sized.size AS DOUBLE) AS risk, CASE WHEN sized.size < 2 THEN 1 ELSE 0 END AS exposed, CASE WHEN sized.size < 2 THEN 1 ELSE 0 END AS beyond FROM "kanon_run_values_0__people" AS people JOIN "kanon_run_values_0__told" AS own ON own.mark = 1 AND own.release_count > 1 AND people."q0" IS NOT DISTINCT FROM own."q0" AND people."q1" IS NOT DISTINCT FROM own."q1" AND people."p0" IS NOT DISTINCT FROM own."p0" JOIN "kanon_run_with_sized" AS sized ON own.releases = sized.releases AND own."q0" IS NOT DISTINCT FROM sized."q0" AND own."q1" IS NOT DISTINCT FROM sized."q1")

-- disclosure/attacks/counted
WITH "kanon_run_with_together" AS (SELECT DISTINCT "q0", "q1", releases, release_count, mark FROM "kanon_run_values_0__told" WHERE first_mark = 1 AND release_count > 1), "kanon_run_with_common" AS «disclosure/attacks/counted 13», "kanon_run_with_sized" AS (SELECT "q0", "q1", releases, SUM(1) AS size FROM "kanon_run_with_common" AS common GROUP BY "q0", "q1", releases) SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, (SELECT SUM(row_count) FROM "kanon_run_values_0__people") AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_values_0__people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_values_0__people") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value) AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_values_0__labels0" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_values_0__labels0") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_values_0__labels0") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_values_0__labels0") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value) AS "found1", (SELECT COUNT(*) FROM "clinic"."before" AS whole) AS "there2", (SELECT SUM(own.row_count) FROM "kanon_run_values_0__labels1" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_values_0__labels1") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_values_0__labels1") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_values_0__labels1") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value) AS "found2" FROM «disclosure/attacks/counted 14» AS cases;

-- disclosure/attacks/revealed
WITH "kanon_run_with_together" AS (SELECT DISTINCT "q0", "q1", releases, release_count, mark FROM "kanon_run_values_0__told" WHERE first_mark = 1 AND release_count > 1), "kanon_run_with_common" AS «disclosure/attacks/counted 13», "kanon_run_with_sized" AS (SELECT "q0", "q1", releases, SUM(1) AS size FROM "kanon_run_with_common" AS common GROUP BY "q0", "q1", releases) SELECT "q0", "q1", people FROM «disclosure/attacks/counted 14» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC LIMIT 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0__told";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0_1_labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0_1_labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0__candidates1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0_1_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0_1_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0__labels1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0_0_labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0_0_labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0__candidates0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0_0_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0_0_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0__labels0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0__each";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_values_0__people";

-- «frequency/raw 3»
((CASE WHEN REPLACE(CAST(CAST("kanon_source"."seen" AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT), '.', '') = CAST(CAST("kanon_source"."seen" AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT) THEN CAST(CAST("kanon_source"."seen" AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT) ELSE RTRIM(RTRIM(CAST(CAST("kanon_source"."seen" AT TIME ZONE 'UTC' AS TIMESTAMP) AS TEXT), '0'), '.') END || '+00' || '') AS TEXT)

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_view0" AS SELECT CAST((CAST("kanon_source"."person" AS TEXT) || '') AS TEXT) COLLATE "binary" AS "p0", «frequency/raw 2» COLLATE "binary" AS "p1", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "p2", CAST«frequency/raw 1» COLLATE "binary" AS "p3", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p4", CAST«frequency/raw 3» COLLATE "binary" AS "p5", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST((CAST("kanon_source"."person" AS TEXT) || '') AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST«frequency/raw 3» COLLATE "binary";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_view1" AS SELECT CAST((CAST("kanon_source"."person" AS TEXT) || '') AS TEXT) COLLATE "binary" AS "p0", «frequency/raw 2» COLLATE "binary" AS "p1", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "p2", CAST«frequency/raw 1» COLLATE "binary" AS "p3", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p4", CAST«frequency/raw 3» COLLATE "binary" AS "p5", COUNT(*) AS row_count FROM "clinic"."areas" AS kanon_source GROUP BY CAST((CAST("kanon_source"."person" AS TEXT) || '') AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST«frequency/raw 3» COLLATE "binary";

-- disclosure/attacks/joined_views
CREATE TEMPORARY TABLE "kanon_run_joined_views" AS SELECT "view0"."p0" AS "c0", "view0"."p1" AS "c1", "view0"."p2" AS "c2", "view0"."p3" AS "c3", "view0"."p4" AS "c4", "view0"."p5" AS "c5", DENSE_RANK() OVER (ORDER BY "view0"."p2" ASC, "view0"."p1" ASC) AS identity_number FROM "kanon_run_view0" AS "view0" JOIN "kanon_run_view1" AS "view1" ON "view0"."p0" IS NOT DISTINCT FROM "view1"."p0" AND "view0"."p1" IS NOT DISTINCT FROM "view1"."p1" AND "view0"."p2" IS NOT DISTINCT FROM "view1"."p2" AND "view0"."p3" IS NOT DISTINCT FROM "view1"."p3" AND "view0"."p4" IS NOT DISTINCT FROM "view1"."p4" AND "view0"."p5" IS NOT DISTINCT FROM "view1"."p5";

-- «disclosure/attacks/view_rows 1»
(SELECT SUM(own.row_count) FROM "kanon_run_view0" AS own JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_view0") AS "again0" ON own."p0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "p1" AS value FROM "kanon_run_view0") AS "again1" ON own."p1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p2" AS value FROM "kanon_run_view0") AS "again2" ON own."p2" IS NOT DISTINCT FROM "again2".value JOIN (SELECT DISTINCT "p3" AS value FROM "kanon_run_view0") AS "again3" ON own."p3" IS NOT DISTINCT FROM "again3".value JOIN (SELECT DISTINCT "p4" AS value FROM "kanon_run_view0") AS "again4" ON own."p4" IS NOT DISTINCT FROM "again4".value JOIN (SELECT DISTINCT "p5" AS value FROM "kanon_run_view0") AS "again5" ON own."p5" IS NOT DISTINCT FROM "again5".value)

-- «disclosure/attacks/view_rows 2»
(SELECT SUM(own.row_count) FROM "kanon_run_view1" AS own JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_view1") AS "again0" ON own."p0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "p1" AS value FROM "kanon_run_view1") AS "again1" ON own."p1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p2" AS value FROM "kanon_run_view1") AS "again2" ON own."p2" IS NOT DISTINCT FROM "again2".value JOIN (SELECT DISTINCT "p3" AS value FROM "kanon_run_view1") AS "again3" ON own."p3" IS NOT DISTINCT FROM "again3".value JOIN (SELECT DISTINCT "p4" AS value FROM "kanon_run_view1") AS "again4" ON own."p4" IS NOT DISTINCT FROM "again4".value JOIN (SELECT DISTINCT "p5" AS value FROM "kanon_run_view1") AS "again5" ON own."p5" IS NOT DISTINCT FROM "again5".value)

-- disclosure/attacks/view_rows
SELECT (SELECT COUNT(*) FROM "kanon_run_view0") AS "own0", (SELECT COUNT(*) FROM (SELECT DISTINCT "c0", "c1", "c2", "c3", "c4", "c5" FROM "kanon_run_joined_views") AS "projected0") AS "matched0", (SELECT COUNT(*) FROM "kanon_run_view1") AS "own1", (SELECT COUNT(*) FROM (SELECT DISTINCT "c0", "c1", "c2", "c3", "c4", "c5" FROM "kanon_run_joined_views") AS "projected1") AS "matched1", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there0", «disclosure/attacks/view_rows 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."areas" AS whole) AS "there1", «disclosure/attacks/view_rows 2» AS "found1";

-- «disclosure/attacks/counted 15»
(SELECT MIN("q0") AS "c2", MIN("q1") AS "c1", 1 AS people, CAST(1 AS DOUBLE) / CAST(MIN(cover_size) AS DOUBLE) AS risk, CASE WHEN MIN(cover_size) < 3 THEN 1 ELSE 0 END AS exposed, CASE WHEN MIN(cover_size) < 3 THEN 1 ELSE 0 END AS beyond FROM (SELECT MIN("c2") AS "q0", MIN("c1") AS "q1", MIN(identity_number) AS person, COUNT(DISTINCT "c4") AS cover_size FROM "kanon_run_joined_views" WHERE NOT "c4" IS NULL GROUP BY "c2", "c1" HAVING MIN(identity_number) = MAX(identity_number) UNION ALL SELECT MIN("c2") AS "q0", MIN("c1") AS "q1", MIN(identity_number) AS person, COUNT(DISTINCT "c4") AS cover_size FROM "kanon_run_joined_views" WHERE NOT "c4" IS NULL GROUP BY "c0", "c1", "c2", "c3", "c4", "c5" HAVING MIN(identity_number) = MAX(identity_number) UNION ALL SELECT MIN("c2") AS "q0", MIN("c1") AS "q1", MIN(identity_number) AS person, COUNT(DISTINCT "c4") AS cover_size FROM "kanon_run_joined_views" WHERE NOT "c4" IS NULL GROUP BY "c0", "c1", "c2", "c3", "c4", "c5" HAVING MIN(identity_number) = MAX(identity_number)) AS covers GROUP BY person)

-- disclosure/attacks/counted
SELECT (SELECT COUNT(*) FROM (SELECT DISTINCT identity_number FROM "kanon_run_joined_views") AS identities) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there0", «disclosure/attacks/view_rows 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."areas" AS whole) AS "there1", «disclosure/attacks/view_rows 2» AS "found1" FROM «disclosure/attacks/counted 15» AS cases;

-- disclosure/attacks/revealed
SELECT "c2", "c1", people FROM «disclosure/attacks/counted 15» AS cases WHERE exposed = 1 ORDER BY risk DESC, "c2" ASC, "c1" ASC LIMIT 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_joined_views";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_view1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_view0";

-- release/count
SELECT COUNT(*) AS row_count FROM "clinic"."visits_release" AS counted;

-- release/count
SELECT COUNT(*) AS row_count FROM "clinic"."before" AS counted;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_placed_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", CAST«frequency/raw 1» COLLATE "binary" AS "p1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", own."l2" AS "l2", '*' AS "l3" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 2 THEN SUBSTRING(CAST(value AS TEXT), 1, 2) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 2) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_placed_people" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_placed_people" GROUP BY "q1") AS distinct_values) AS own;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_placed0" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", CAST«frequency/raw 1» COLLATE "binary" AS "p1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_placed0" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_0_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_placed0" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_placed0" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_placed0_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 1» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_placed0") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_placed0_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_placed0") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/unknown
SELECT SUM(CASE WHEN "cover0".known IS NULL OR "cover1".known IS NULL THEN released.row_count ELSE 0 END) AS unknown_rows, SUM(released.row_count) AS row_count FROM "kanon_run_placed0" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_placed0_cover0") AS "cover0" ON released."q0" IS NOT DISTINCT FROM "cover0".label LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_placed0_cover1") AS "cover1" ON released."q1" IS NOT DISTINCT FROM "cover1".label;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_placed1" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", CAST«frequency/raw 1» COLLATE "binary" AS "p1", COUNT(*) AS row_count FROM "clinic"."before" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", CAST«frequency/raw 1» COLLATE "binary";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_placed1" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_0_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_placed1" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_placed1" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_placed1_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 1» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_placed1") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_placed1_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_placed1") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/unknown
SELECT SUM(CASE WHEN "cover0".known IS NULL OR "cover1".known IS NULL THEN released.row_count ELSE 0 END) AS unknown_rows, SUM(released.row_count) AS row_count FROM "kanon_run_placed1" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_placed1_cover0") AS "cover0" ON released."q0" IS NOT DISTINCT FROM "cover0".label LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_placed1_cover1") AS "cover1" ON released."q1" IS NOT DISTINCT FROM "cover1".label;

-- «frequency/all_found 1»
(SELECT SUM(own.row_count) FROM "kanon_run_placed_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_placed_people") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value JOIN (SELECT DISTINCT "p1" AS value FROM "kanon_run_placed_people") AS "again3" ON own."p1" IS NOT DISTINCT FROM "again3".value)

-- «frequency/all_found 2»
(SELECT SUM(own.row_count) FROM "kanon_run_placed0" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_placed0") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_placed0") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_placed0") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value JOIN (SELECT DISTINCT "p1" AS value FROM "kanon_run_placed0") AS "again3" ON own."p1" IS NOT DISTINCT FROM "again3".value)

-- «frequency/all_found 3»
(SELECT SUM(own.row_count) FROM "kanon_run_placed1" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_placed1") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_placed1") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_placed1") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value JOIN (SELECT DISTINCT "p1" AS value FROM "kanon_run_placed1") AS "again3" ON own."p1" IS NOT DISTINCT FROM "again3".value)

-- frequency/all_found
SELECT 1 AS known, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «frequency/all_found 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «frequency/all_found 2» AS "found1", (SELECT COUNT(*) FROM "clinic"."before" AS whole) AS "there2", «frequency/all_found 3» AS "found2";

-- «disclosure/attacks/position_cells 2»
(CASE WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST((CAST("checked"."age" AS TEXT) || '') AS TEXT) COLLATE "binary", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') IN ('.', '-.') THEN RTRIM(RTRIM(CAST((CAST("checked"."age" AS TEXT) || '') AS TEXT) COLLATE "binary", '0'), '.') ELSE CAST((CAST("checked"."age" AS TEXT) || '') AS TEXT) COLLATE "binary" END)

-- «disclosure/attacks/position_cells 3»
((CASE WHEN ABS("checked"."weight") < 1e18 AND "checked"."weight" = FLOOR("checked"."weight") THEN CAST(CAST("checked"."weight" AS BIGINT) AS TEXT) ELSE CAST("checked"."weight" AS TEXT) END || '') AS TEXT)

-- «disclosure/attacks/position_cells 1»
(SELECT "r0_q0", "r0_q1", "r0_p0", "r0_p1", "r1_q0", "r1_q1", "r1_p0", "r1_p1", COUNT(*) AS held FROM (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "r0_q0", «disclosure/attacks/position_cells 2» COLLATE "binary" AS "r0_q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS "r0_p0", CAST«disclosure/attacks/position_cells 3» COLLATE "binary" AS "r0_p1", ROW_NUMBER() OVER (ORDER BY checked.rowid ASC) AS position FROM "clinic"."visits_release" AS checked) AS "rows0" JOIN (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "r1_q0", «disclosure/attacks/position_cells 2» COLLATE "binary" AS "r1_q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS "r1_p0", CAST«disclosure/attacks/position_cells 3» COLLATE "binary" AS "r1_p1", ROW_NUMBER() OVER (ORDER BY checked.rowid ASC) AS position FROM "clinic"."before" AS checked) AS "rows1" ON "rows1".position = "rows0".position GROUP BY "r0_q0", "r0_q1", "r0_p0", "r0_p1", "r1_q0", "r1_q1", "r1_p0", "r1_p1")

-- «disclosure/attacks/position_cells 4»
(SELECT "labels0"."q0" AS "r0_q0", "labels0"."q1" AS "r0_q1", "labels0"."p0" AS "r0_p0", "labels0"."p1" AS "r0_p1", "labels1"."q0" AS "r1_q0", "labels1"."q1" AS "r1_q1", "labels1"."p0" AS "r1_p0", "labels1"."p1" AS "r1_p1", SUM(people.row_count) AS possible FROM "kanon_run_placed_people" AS people JOIN "kanon_run_placed0_cover0" AS "cover0_0" ON people."q0" IS NOT DISTINCT FROM "cover0_0".value JOIN "kanon_run_placed0_cover1" AS "cover0_1" ON people."q1" IS NOT DISTINCT FROM "cover0_1".value JOIN "kanon_run_placed0" AS "labels0" ON "cover0_0".label IS NOT DISTINCT FROM "labels0"."q0" AND "cover0_1".label IS NOT DISTINCT FROM "labels0"."q1" AND people."p0" IS NOT DISTINCT FROM "labels0"."p0" AND people."p1" IS NOT DISTINCT FROM "labels0"."p1" JOIN "kanon_run_placed1_cover0" AS "cover1_0" ON people."q0" IS NOT DISTINCT FROM "cover1_0".value JOIN "kanon_run_placed1_cover1" AS "cover1_1" ON people."q1" IS NOT DISTINCT FROM "cover1_1".value JOIN "kanon_run_placed1" AS "labels1" ON "cover1_0".label IS NOT DISTINCT FROM "labels1"."q0" AND "cover1_1".label IS NOT DISTINCT FROM "labels1"."q1" AND people."p0" IS NOT DISTINCT FROM "labels1"."p0" AND people."p1" IS NOT DISTINCT FROM "labels1"."p1" GROUP BY "labels0"."q0", "labels0"."q1", "labels0"."p0", "labels0"."p1", "labels1"."q0", "labels1"."q1", "labels1"."p0", "labels1"."p1")

-- «disclosure/attacks/position_cells 5»
(SELECT "r0_q0", "r0_q1", "r0_p0", "r0_p1", "r1_q0", "r1_q1", "r1_p0", "r1_p1", SUM(held) AS held, SUM(possible) AS possible FROM (SELECT "r0_q0", "r0_q1", "r0_p0", "r0_p1", "r1_q0", "r1_q1", "r1_p0", "r1_p1", held, 0 AS possible FROM "kanon_run_with_placed" AS placed UNION ALL SELECT "r0_q0", "r0_q1", "r0_p0", "r0_p1", "r1_q0", "r1_q1", "r1_p0", "r1_p1", 0 AS held, possible FROM "kanon_run_with_behind" AS behind) AS both_counts GROUP BY "r0_q0", "r0_q1", "r0_p0", "r0_p1", "r1_q0", "r1_q1", "r1_p0", "r1_p1")

-- disclosure/attacks/position_cells
WITH "kanon_run_with_placed" AS «disclosure/attacks/position_cells 1», "kanon_run_with_behind" AS «disclosure/attacks/position_cells 4» SELECT DENSE_RANK() OVER (ORDER BY "r0_q0" ASC, "r0_q1" ASC, "r0_p0" ASC, "r0_p1" ASC) AS "class0", DENSE_RANK() OVER (ORDER BY "r1_q0" ASC, "r1_q1" ASC, "r1_p0" ASC, "r1_p1" ASC) AS "class1", DENSE_RANK() OVER (ORDER BY "r0_q0" ASC, "r0_q1" ASC, "r1_q0" ASC, "r1_q1" ASC) AS joint_class, held, possible FROM «disclosure/attacks/position_cells 5» AS cells LIMIT 200001;

-- disclosure/attacks/position_revealed
WITH "kanon_run_with_placed" AS «disclosure/attacks/position_cells 1», "kanon_run_with_behind" AS «disclosure/attacks/position_cells 4» SELECT "r0_q0", "r0_q1", "r1_q0", "r1_q1", people FROM (SELECT "r0_q0", "r0_q1", "r1_q0", "r1_q1", SUM(held) AS held, SUM(CASE WHEN held < possible THEN held ELSE possible END) AS people FROM «disclosure/attacks/position_cells 5» AS cells GROUP BY "r0_q0", "r0_q1", "r1_q0", "r1_q1") AS joint_classes WHERE held < 3 AND people > 0 ORDER BY held ASC, "r0_q0" ASC, "r0_q1" ASC, "r1_q0" ASC, "r1_q1" ASC LIMIT 3;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_ordered_values" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_3_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", own."l2" AS "l2", '*' AS "l3" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 2 THEN SUBSTRING(CAST(value AS TEXT), 1, 2) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 2) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_ordered_values" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_3_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_ordered_values" GROUP BY "q1") AS distinct_values) AS own;

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_3_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 0 AS attribute, 1 AS level, COUNT(*) AS split_labels FROM (SELECT "l1" FROM "kanon_run_3_lookup0" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS split;

-- hierarchies/coverage
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_3_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_3_lookup0" AS labels JOIN "kanon_run_3_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value
UNION ALL
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_3_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_3_lookup1" AS labels JOIN "kanon_run_3_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_ordered_labels" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_ordered_labels" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_3_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_3_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_3_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_3_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_ordered_labels" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_ordered_labels" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_ordered_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM (SELECT value, CAST("l2" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_3_lookup0" WHERE value IS NULL OR NOT "l2" IS NULL UNION ALL SELECT value, CAST("l3" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_3_lookup0") AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_ordered_labels") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_ordered_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM (SELECT value, «disclosure/attacks/cover 3» COLLATE "binary" AS label FROM "kanon_run_3_lookup1" WHERE value IS NULL OR NOT "l0" IS NULL UNION ALL SELECT value, «disclosure/attacks/cover 4» COLLATE "binary" AS label FROM "kanon_run_3_lookup1") AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_ordered_labels") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/order
WITH "kanon_run_with_released_rows" AS (SELECT CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q0", «disclosure/attacks/position_cells 2» COLLATE "binary" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS "p0", CAST«disclosure/attacks/position_cells 3» COLLATE "binary" AS "p1", checked.rowid AS row_id FROM "clinic"."visits_release" AS checked), "kanon_run_with_released_places" AS (SELECT "q0", "q1", "p0", "p1", (CAST(ROW_NUMBER() OVER (PARTITION BY "q0", "q1" ORDER BY row_id ASC) AS DOUBLE) - 0.5) / CAST(COUNT(*) OVER (PARTITION BY "q0", "q1") AS DOUBLE) AS place FROM "kanon_run_with_released_rows" AS released_rows), "kanon_run_with_released_groups" AS (SELECT "q0", "q1", "p0", "p1", COUNT(*) AS row_count, SUM(place) / CAST(COUNT(*) AS DOUBLE) AS place FROM "kanon_run_with_released_places" AS released_places GROUP BY "q0", "q1", "p0", "p1"), "kanon_run_with_source_rows" AS (SELECT "cover0".label AS "q0", "cover1".label AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", CAST«frequency/raw 1» COLLATE "binary" AS "p1", kanon_source.rowid AS row_id FROM "clinic"."other" AS kanon_source JOIN "kanon_run_ordered_cover0" AS "cover0" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "cover0".value JOIN "kanon_run_ordered_cover1" AS "cover1" ON "kanon_source"."age" IS NOT DISTINCT FROM "cover1".value), "kanon_run_with_source_places" AS (SELECT "q0", "q1", "p0", "p1", (CAST(ROW_NUMBER() OVER (PARTITION BY "q0", "q1" ORDER BY row_id ASC) AS DOUBLE) - 0.5) / CAST(COUNT(*) OVER (PARTITION BY "q0", "q1") AS DOUBLE) AS place FROM "kanon_run_with_source_rows" AS source_rows), "kanon_run_with_source_groups" AS (SELECT "q0", "q1", "p0", "p1", COUNT(*) AS row_count, SUM(place) / CAST(COUNT(*) AS DOUBLE) AS place FROM "kanon_run_with_source_places" AS source_places GROUP BY "q0", "q1", "p0", "p1"), "kanon_run_with_compared" AS (SELECT ours.row_count AS row_count, ours.place AS ours, theirs.place AS theirs, ROW_NUMBER() OVER (PARTITION BY ours."q0", ours."q1" ORDER BY ours."p0" ASC, ours."p1" ASC) AS position_in_class, COUNT(*) OVER (PARTITION BY ours."q0", ours."q1") AS groups_in_class FROM "kanon_run_with_released_groups" AS ours JOIN "kanon_run_with_source_groups" AS theirs ON ours."q0" IS NOT DISTINCT FROM theirs."q0" AND ours."q1" IS NOT DISTINCT FROM theirs."q1" AND ours."p0" IS NOT DISTINCT FROM theirs."p0" AND ours."p1" IS NOT DISTINCT FROM theirs."p1") SELECT SUM(CASE WHEN groups_in_class > 1 THEN row_count ELSE 0 END) AS examined, COUNT(*) AS groups_found, SUM(CASE WHEN position_in_class = 1 THEN 1 ELSE 0 END) AS classes, SUM(row_count * (ours - 0.5) * (theirs - 0.5)) AS product, SUM(row_count * (ours - 0.5) * (ours - 0.5)) AS our_spread, SUM(row_count * (theirs - 0.5) * (theirs - 0.5)) AS their_spread, (SELECT COUNT(*) FROM "kanon_run_with_released_rows" AS released_rows) AS released_there, (SELECT SUM(own.row_count) FROM "kanon_run_with_released_groups" AS own JOIN "kanon_run_with_released_groups" AS again ON own."q0" IS NOT DISTINCT FROM again."q0" AND own."q1" IS NOT DISTINCT FROM again."q1" AND own."p0" IS NOT DISTINCT FROM again."p0" AND own."p1" IS NOT DISTINCT FROM again."p1") AS released_found, (SELECT COUNT(*) FROM "kanon_run_with_source_rows" AS source_rows) AS source_there, (SELECT SUM(own.row_count) FROM "kanon_run_with_source_groups" AS own JOIN "kanon_run_with_source_groups" AS again ON own."q0" IS NOT DISTINCT FROM again."q0" AND own."q1" IS NOT DISTINCT FROM again."q1" AND own."p0" IS NOT DISTINCT FROM again."p0" AND own."p1" IS NOT DISTINCT FROM again."p1") AS source_found, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «frequency/all_found 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «frequency/all_found 2» AS "found1", (SELECT COUNT(*) FROM "clinic"."before" AS whole) AS "there2", «frequency/all_found 3» AS "found2", (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there3", (SELECT SUM(own.row_count) FROM "kanon_run_ordered_values" AS own JOIN "kanon_run_3_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_3_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value) AS "found3", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there4", (SELECT SUM(own.row_count) FROM "kanon_run_ordered_labels" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_ordered_labels") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_ordered_labels") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value) AS "found4" FROM "kanon_run_with_compared" AS compared;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_ordered_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_ordered_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_ordered_labels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_3_lookup1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_3_lookup0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_ordered_values";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_placed1_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_placed1_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_placed1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_placed0_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_placed0_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_placed0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_placed_people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_consistent_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_consistent_rows" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", own."l2" AS "l2", '*' AS "l3" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 2 THEN SUBSTRING(CAST(value AS TEXT), 1, 2) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 2) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_consistent_people" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_consistent_people" GROUP BY "q1") AS distinct_values) AS own;

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 AND "known0" + "known1" + "known2" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_consistent_rows" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_differences
SELECT SUM(CASE WHEN CAST("l1" AS TEXT) COLLATE "binary" IS DISTINCT FROM CAST("l2" AS TEXT) COLLATE "binary" AND ("found0".known = 1 OR "found1".known = 1) THEN 1 ELSE 0 END) AS "different0" FROM "kanon_run_0_lookup0" LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_consistent_rows" WHERE "q0" <> '*') AS "found0" ON CAST("l1" AS TEXT) COLLATE "binary" = "found0".label LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS known FROM "kanon_run_consistent_rows" WHERE "q0" <> '*') AS "found1" ON CAST("l2" AS TEXT) COLLATE "binary" = "found1".label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_consistent_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 1» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_consistent_rows") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_consistent_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_consistent_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", cover.label AS "label0" FROM "kanon_run_consistent_people" AS vectors JOIN "kanon_run_consistent_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_consistent_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_consistent_labelled0" AS vectors JOIN "kanon_run_consistent_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_consistent_rows") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- «disclosure/attacks/consistent 1»
(SELECT SUM(own.row_count) FROM "kanon_run_consistent_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- «disclosure/attacks/consistent 2»
(SELECT SUM(own.row_count) FROM "kanon_run_consistent_rows" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_consistent_rows") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_consistent_rows") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- disclosure/attacks/consistent
SELECT (SELECT COALESCE(SUM(row_count), 0) FROM "kanon_run_consistent_people") - COALESCE(SUM(CASE WHEN person_edge = 1 THEN people ELSE 0 END), 0) AS alone, (SELECT COALESCE(SUM(row_count), 0) FROM "kanon_run_consistent_rows") - COALESCE(SUM(CASE WHEN row_edge = 1 THEN released ELSE 0 END), 0) AS unmatched, MAX(degree) AS degree, COALESCE(SUM(CASE WHEN row_edge = 1 AND released > records THEN released - records ELSE 0 END), 0) AS missing, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/consistent 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/consistent 2» AS "found1" FROM (SELECT vectors.row_count AS people, released.row_count AS released, COUNT(*) OVER (PARTITION BY vectors."q0", vectors."q1") AS degree, SUM(vectors.row_count) OVER (PARTITION BY released."q0", released."q1") AS records, ROW_NUMBER() OVER (PARTITION BY vectors."q0", vectors."q1" ORDER BY released.row_count ASC) AS person_edge, ROW_NUMBER() OVER (PARTITION BY released."q0", released."q1" ORDER BY vectors.row_count ASC) AS row_edge FROM "kanon_run_consistent_labelled1" AS vectors JOIN "kanon_run_consistent_rows" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1") AS edges;

-- disclosure/attacks/graph
SELECT own, low, high, place, MIN(released) AS released, SUM(people) AS people FROM (SELECT CASE WHEN COUNT(*) OVER (PARTITION BY person) <= 2 THEN 0 ELSE person END AS own, MIN(place) OVER (PARTITION BY person) AS low, MAX(place) OVER (PARTITION BY person) AS high, place, released, people FROM (SELECT DENSE_RANK() OVER (ORDER BY vectors."q0" ASC, vectors."q1" ASC) AS person, DENSE_RANK() OVER (ORDER BY released."q0" ASC, released."q1" ASC) AS place, vectors.row_count AS people, released.row_count AS released FROM "kanon_run_consistent_labelled1" AS vectors JOIN "kanon_run_consistent_rows" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1") AS edges) AS edges_known GROUP BY own, low, high, place LIMIT 50001;

-- «disclosure/attacks/counted 16»
(SELECT "q0", "q1", people, CAST(1 AS DOUBLE) / CAST(matches AS DOUBLE) AS risk, CASE WHEN matches < 3 THEN 1 ELSE 0 END AS exposed, CASE WHEN matches < 3 THEN 1 ELSE 0 END AS beyond FROM (SELECT "vectors"."q0" AS "q0", "vectors"."q1" AS "q1", MIN("vectors".row_count) AS people, SUM("released".row_count) AS matches FROM "kanon_run_consistent_labelled1" AS vectors JOIN "kanon_run_consistent_rows" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" GROUP BY "vectors"."q0", "vectors"."q1") AS matched)

-- disclosure/attacks/counted
SELECT (SELECT SUM(row_count) FROM "kanon_run_consistent_people") AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/consistent 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/consistent 2» AS "found1" FROM «disclosure/attacks/counted 16» AS cases;

-- disclosure/attacks/revealed
SELECT "q0", "q1", people FROM «disclosure/attacks/counted 16» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC LIMIT 3;

-- «disclosure/attacks/counted 17»
(SELECT "q0", "q1", people, CAST(1 AS DOUBLE) / CAST(matches AS DOUBLE) AS risk, CASE WHEN matches < 3 THEN 1 ELSE 0 END AS exposed, CASE WHEN matches < 3 THEN 1 ELSE 0 END AS beyond FROM (SELECT "released"."q0" AS "q0", "released"."q1" AS "q1", MIN("released".row_count) AS people, SUM("vectors".row_count) AS matches FROM "kanon_run_consistent_labelled1" AS vectors JOIN "kanon_run_consistent_rows" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" GROUP BY "released"."q0", "released"."q1") AS matched)

-- disclosure/attacks/counted
SELECT (SELECT SUM(row_count) FROM "kanon_run_consistent_rows") AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/consistent 1» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/consistent 2» AS "found1" FROM «disclosure/attacks/counted 17» AS cases;

-- disclosure/attacks/revealed
SELECT "q0", "q1", people FROM «disclosure/attacks/counted 17» AS cases WHERE exposed = 1 ORDER BY risk DESC, "q0" ASC, "q1" ASC LIMIT 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_rows";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_minimal0_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", '*' AS "l2" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_minimal0_people" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_minimal0_people" GROUP BY "q1") AS distinct_values) AS own;

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_0_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split;

-- hierarchies/coverage
«hierarchies/coverage 9»
UNION ALL
«hierarchies/coverage 8»;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_minimal0_labels" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- frequency/all_found
SELECT 1 AS known, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_minimal0_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value) AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_minimal0_labels" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_minimal0_labels") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_minimal0_labels") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_minimal0_labels") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value) AS "found1";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_minimal0_labels" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 THEN 1 ELSE 0 END) AS "missed1" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1" FROM (SELECT "q1" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1" FROM "kanon_run_minimal0_labels" UNION ALL SELECT «disclosure/attacks/cover 3» COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1" FROM "kanon_run_0_lookup1" UNION ALL SELECT «disclosure/attacks/cover 4» COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1" FROM "kanon_run_0_lookup1") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/numbered
CREATE TEMPORARY TABLE "kanon_run_minimal0_numbered" AS SELECT "q0", "q1", DENSE_RANK() OVER (ORDER BY "q0" ASC, "q1" ASC) AS class_number, DENSE_RANK() OVER (ORDER BY "p0" ASC) AS value_number, CASE WHEN "p0" IS NULL THEN 1 ELSE 0 END AS missing, 1 AS protected_value, row_count FROM "kanon_run_minimal0_labels";

-- disclosure/attacks/numbered_counts
SELECT class_number, value_number, missing, protected_value, row_count FROM "kanon_run_minimal0_numbered" LIMIT 10001;

-- «disclosure/attacks/cells 1»
(CASE WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("lookup1"."l1" AS TEXT) COLLATE "binary", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') IN ('.', '-.') THEN RTRIM(RTRIM(CAST("lookup1"."l1" AS TEXT) COLLATE "binary", '0'), '.') ELSE CAST("lookup1"."l1" AS TEXT) COLLATE "binary" END)

-- disclosure/attacks/cells
SELECT class_number, cell_rows FROM (SELECT classes.class_number AS class_number, "lookup0"."l0" AS finer, SUM(vectors.row_count) AS cell_rows FROM "kanon_run_minimal0_people" AS vectors JOIN "kanon_run_0_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_0_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value LEFT JOIN (SELECT DISTINCT "q0", "q1", class_number FROM "kanon_run_minimal0_numbered") AS classes ON CAST("lookup0"."l1" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM classes."q0" AND «disclosure/attacks/cells 1» COLLATE "binary" IS NOT DISTINCT FROM classes."q1" GROUP BY classes.class_number, "lookup0"."l0") AS cells LIMIT 10001;

-- disclosure/attacks/cells
SELECT class_number, cell_rows FROM (SELECT classes.class_number AS class_number, "lookup1"."l0" AS finer, SUM(vectors.row_count) AS cell_rows FROM "kanon_run_minimal0_people" AS vectors JOIN "kanon_run_0_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_0_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value LEFT JOIN (SELECT DISTINCT "q0", "q1", class_number FROM "kanon_run_minimal0_numbered") AS classes ON CAST("lookup0"."l1" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM classes."q0" AND «disclosure/attacks/cells 1» COLLATE "binary" IS NOT DISTINCT FROM classes."q1" GROUP BY classes.class_number, "lookup1"."l0") AS cells LIMIT 10001;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_minimal0_numbered";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_minimal0_labels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_minimal0_people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_guessed0__people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", '*' AS "l2" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_guessed0__people" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_guessed0__people" GROUP BY "q1") AS distinct_values) AS own;

-- disclosure/attacks/people
CREATE TEMPORARY TABLE "kanon_run_guessed0__each" AS SELECT DISTINCT "q0", "q1" FROM "kanon_run_guessed0__people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_guessed0__labels0" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1" FROM "kanon_run_guessed0__labels0" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- «disclosure/attacks/cover 5»
(SELECT value, CAST("l1" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" WHERE value IS NULL OR NOT "l1" IS NULL UNION ALL SELECT value, CAST("l2" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0")

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_guessed0_0_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 5» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_guessed0__labels0") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_guessed0_0_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_guessed0__labels0") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/unknown
SELECT SUM(CASE WHEN "cover0".known IS NULL OR "cover1".known IS NULL THEN released.row_count ELSE 0 END) AS unknown_rows, SUM(released.row_count) AS row_count FROM "kanon_run_guessed0__labels0" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_guessed0_0_cover0") AS "cover0" ON released."q0" IS NOT DISTINCT FROM "cover0".label LEFT JOIN (SELECT DISTINCT label, 1 AS known FROM "kanon_run_guessed0_0_cover1") AS "cover1" ON released."q1" IS NOT DISTINCT FROM "cover1".label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_guessed0_0_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", cover.label AS "label0" FROM "kanon_run_guessed0__each" AS vectors JOIN "kanon_run_guessed0_0_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_guessed0_0_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_guessed0_0_labelled0" AS vectors JOIN "kanon_run_guessed0_0_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_guessed0__labels0") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- disclosure/attacks/candidates
CREATE TEMPORARY TABLE "kanon_run_guessed0__candidates0" AS SELECT vectors."q0" AS "q0", vectors."q1" AS "q1", released."p0" AS "p0", SUM(released.row_count) AS matches FROM "kanon_run_guessed0_0_labelled1" AS vectors JOIN "kanon_run_guessed0__labels0" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" GROUP BY vectors."q0", vectors."q1", released."p0";

-- disclosure/attacks/believed
CREATE TEMPORARY TABLE "kanon_run_guessed0_beliefs0" AS SELECT candidates."q0" AS "q0", candidates."q1" AS "q1", candidates."p0" AS value, candidates.matches AS prior, listed.people AS people, CAST(candidates.matches AS DOUBLE) / CAST(SUM(candidates.matches) OVER (PARTITION BY candidates."q0", candidates."q1") AS DOUBLE) AS belief FROM "kanon_run_guessed0__candidates0" AS candidates JOIN (SELECT "q0", "q1", SUM(row_count) AS people FROM "kanon_run_guessed0__people" GROUP BY "q0", "q1") AS listed ON candidates."q0" IS NOT DISTINCT FROM listed."q0" AND candidates."q1" IS NOT DISTINCT FROM listed."q1" WHERE NOT candidates."p0" IS NULL;

-- disclosure/attacks/learned
CREATE TEMPORARY TABLE "kanon_run_guessed0_learned1" AS SELECT "q0", "q1", value, prior, people, CAST(prior AS DOUBLE) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q0")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q1")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) AS likelihood FROM "kanon_run_guessed0_beliefs0";

-- disclosure/attacks/beliefs
CREATE TEMPORARY TABLE "kanon_run_guessed0_beliefs1" AS SELECT "q0", "q1", value, prior, people, likelihood / SUM(likelihood) OVER (PARTITION BY "q0", "q1") AS belief FROM "kanon_run_guessed0_learned1";

-- disclosure/attacks/learned
CREATE TEMPORARY TABLE "kanon_run_guessed0_learned2" AS SELECT "q0", "q1", value, prior, people, CAST(prior AS DOUBLE) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q0")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q1")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) AS likelihood FROM "kanon_run_guessed0_beliefs1";

-- disclosure/attacks/beliefs
CREATE TEMPORARY TABLE "kanon_run_guessed0_beliefs2" AS SELECT "q0", "q1", value, prior, people, likelihood / SUM(likelihood) OVER (PARTITION BY "q0", "q1") AS belief FROM "kanon_run_guessed0_learned2";

-- disclosure/attacks/learned
CREATE TEMPORARY TABLE "kanon_run_guessed0_learned3" AS SELECT "q0", "q1", value, prior, people, CAST(prior AS DOUBLE) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q0")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q1")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) AS likelihood FROM "kanon_run_guessed0_beliefs2";

-- disclosure/attacks/beliefs
CREATE TEMPORARY TABLE "kanon_run_guessed0_beliefs3" AS SELECT "q0", "q1", value, prior, people, likelihood / SUM(likelihood) OVER (PARTITION BY "q0", "q1") AS belief FROM "kanon_run_guessed0_learned3";

-- disclosure/attacks/learned
CREATE TEMPORARY TABLE "kanon_run_guessed0_learned4" AS SELECT "q0", "q1", value, prior, people, CAST(prior AS DOUBLE) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q0")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q1")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) AS likelihood FROM "kanon_run_guessed0_beliefs3";

-- disclosure/attacks/beliefs
CREATE TEMPORARY TABLE "kanon_run_guessed0_beliefs4" AS SELECT "q0", "q1", value, prior, people, likelihood / SUM(likelihood) OVER (PARTITION BY "q0", "q1") AS belief FROM "kanon_run_guessed0_learned4";

-- disclosure/attacks/learned
CREATE TEMPORARY TABLE "kanon_run_guessed0_learned5" AS SELECT "q0", "q1", value, prior, people, CAST(prior AS DOUBLE) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q0")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) * (1 + SUM(people * belief) OVER (PARTITION BY value, "q1")) * 1 / (1 + SUM(people * belief) OVER (PARTITION BY value)) AS likelihood FROM "kanon_run_guessed0_beliefs4";

-- disclosure/attacks/beliefs
CREATE TEMPORARY TABLE "kanon_run_guessed0_beliefs5" AS SELECT "q0", "q1", value, prior, people, likelihood / SUM(likelihood) OVER (PARTITION BY "q0", "q1") AS belief FROM "kanon_run_guessed0_learned5";

-- disclosure/attacks/guessed
SELECT SUM(people.row_count) AS examined, SUM(CASE WHEN guesses.belief >= guesses.strongest - 1.00000000000000006e-09 THEN CAST(people.row_count AS DOUBLE) / guesses.equally_strong ELSE 0 END) AS guessed_right, SUM(CASE WHEN guesses.prior = guesses.most THEN CAST(people.row_count AS DOUBLE) / guesses.equally_frequent ELSE 0 END) AS usually_right, SUM(CAST(people.row_count AS DOUBLE) * guesses.belief) AS believed, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_guessed0__people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_guessed0__people") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value) AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_guessed0__labels0" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_guessed0__labels0") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_guessed0__labels0") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_guessed0__labels0") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value) AS "found1" FROM "kanon_run_guessed0__people" AS people JOIN (SELECT "q0", "q1", value, belief, prior, strongest, most, SUM(CASE WHEN belief >= strongest - 1.00000000000000006e-09 THEN 1 ELSE 0 END) OVER (PARTITION BY "q0", "q1") AS equally_strong, SUM(CASE WHEN prior = most THEN 1 ELSE 0 END) OVER (PARTITION BY "q0", "q1") AS equally_frequent FROM (SELECT "q0", "q1", value, belief, prior, MAX(belief) OVER (PARTITION BY "q0", "q1") AS strongest, MAX(prior) OVER (PARTITION BY "q0", "q1") AS most FROM "kanon_run_guessed0_beliefs5") AS compared) AS guesses ON people."q0" IS NOT DISTINCT FROM guesses."q0" AND people."q1" IS NOT DISTINCT FROM guesses."q1" AND people."p0" = guesses.value;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_beliefs5";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_learned5";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_beliefs4";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_learned4";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_beliefs3";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_learned3";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_beliefs2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_learned2";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_beliefs1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_learned1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_beliefs0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_0_labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_0_labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0__candidates0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_0_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0_0_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0__labels0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0__each";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_guessed0__people";

-- «disclosure/attacks/recursive_level 2»
(SELECT frequency."q0", frequency."q1", frequency.value_code AS value_code, 0 AS reference_share, SUM(frequency.row_count) AS held FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, 0 AS reference_share, 1 AS row_count FROM "clinic"."visits_release" AS checked) AS frequency GROUP BY frequency."q0", frequency."q1", frequency.value_code)

-- «disclosure/attacks/recursive_level 1»
(SELECT "q0", "q1", value_code, CASE WHEN value_code IS NULL THEN 0 ELSE held END AS held, ROW_NUMBER() OVER (PARTITION BY "q0", "q1" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, held DESC) AS value_position FROM «disclosure/attacks/recursive_level 2» AS held_values)

-- disclosure/attacks/recursive_level
SELECT MIN(reached) AS reached FROM (SELECT SUM(CASE WHEN values_left > 0 AND CAST(most AS DOUBLE) / CAST(values_left AS DOUBLE) < 3.00000000000000000e+00 THEN 1 ELSE 0 END) AS reached FROM (SELECT "q0", "q1", MAX(held) OVER (PARTITION BY "q0", "q1") AS most, CASE WHEN value_code IS NULL THEN 0 ELSE SUM(held) OVER (PARTITION BY "q0", "q1" ORDER BY value_position DESC) END AS values_left FROM «disclosure/attacks/recursive_level 1» AS ranked WHERE value_code IS NULL OR value_position = 1 OR value_position > 1) AS kept GROUP BY "q0", "q1") AS classes;

-- disclosure/attacks/recursive_level
SELECT MIN(reached) AS reached FROM (SELECT SUM(CASE WHEN values_left > 0 AND CAST(most AS DOUBLE) / CAST(values_left AS DOUBLE) < 3.00000000000000000e+00 THEN 1 ELSE 0 END) AS reached FROM (SELECT "q0", "q1", MAX(held) OVER (PARTITION BY "q0", "q1") AS most, CASE WHEN value_code IS NULL THEN 0 ELSE SUM(held) OVER (PARTITION BY "q0", "q1" ORDER BY value_position DESC) END AS values_left FROM «disclosure/attacks/recursive_level 1» AS ranked WHERE value_code IS NULL OR value_position = 1 OR value_position > 2) AS kept GROUP BY "q0", "q1") AS classes;

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows FROM (SELECT "q0", "q1", SUM(held) AS people, CAST(SUM(CASE WHEN NOT value_code IS NULL AND value_position = 1 THEN held ELSE 0 END) AS DOUBLE) / CAST(NULLIF(SUM(CASE WHEN NOT value_code IS NULL AND (value_position = 1 OR value_position > 2) THEN held ELSE 0 END), 0) AS DOUBLE) AS risk, CASE WHEN COUNT(value_code) BETWEEN 1 AND 2 THEN 1 ELSE 0 END AS exposed, CASE WHEN COUNT(value_code) BETWEEN 1 AND 1 THEN 1 ELSE 0 END AS beyond FROM (SELECT "q0", "q1", value_code, held, ROW_NUMBER() OVER (PARTITION BY "q0", "q1" ORDER BY CASE WHEN value_code IS NULL THEN 1 ELSE 0 END ASC, held DESC) AS value_position FROM «disclosure/attacks/recursive_level 2» AS held_values) AS ranked GROUP BY "q0", "q1") AS cases;

-- frequency/population/persons
SELECT COUNT(*) AS row_count, COUNT(DISTINCT "checked"."person") AS different FROM "clinic"."census" AS checked;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_population0" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."census" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary";

-- frequency/population/rows
CREATE TEMPORARY TABLE "kanon_run_rows0" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM "clinic"."census" AS kanon_source;

-- frequency/population/by_person
CREATE TEMPORARY TABLE "kanon_run_persons0" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST(CAST("kanon_source"."person" AS TEXT) AS TEXT) COLLATE "binary" AS person, COUNT(*) AS row_count FROM "clinic"."census" AS kanon_source WHERE NOT CAST(CAST("kanon_source"."person" AS TEXT) AS TEXT) COLLATE "binary" IS NULL GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST(CAST("kanon_source"."person" AS TEXT) AS TEXT) COLLATE "binary";

-- frequency/population/moving
SELECT COUNT(*) AS moving FROM (SELECT person FROM "kanon_run_persons0" GROUP BY person HAVING COUNT(*) > 1) AS several;

-- frequency/population/persons
SELECT COUNT(*) AS row_count, COUNT(DISTINCT "checked"."person") AS different FROM "clinic"."other_census" AS checked;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_population1" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."other_census" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary";

-- frequency/population/rows
CREATE TEMPORARY TABLE "kanon_run_rows1" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM "clinic"."other_census" AS kanon_source;

-- frequency/population/by_person
CREATE TEMPORARY TABLE "kanon_run_persons1" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST(CAST("kanon_source"."person" AS TEXT) AS TEXT) COLLATE "binary" AS person, COUNT(*) AS row_count FROM "clinic"."other_census" AS kanon_source WHERE NOT CAST(CAST("kanon_source"."person" AS TEXT) AS TEXT) COLLATE "binary" IS NULL GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST(CAST("kanon_source"."person" AS TEXT) AS TEXT) COLLATE "binary";

-- frequency/population/moving
SELECT COUNT(*) AS moving FROM (SELECT person FROM "kanon_run_persons1" GROUP BY person HAVING COUNT(*) > 1) AS several;

-- frequency/population/known
CREATE TEMPORARY TABLE "kanon_run_known" AS SELECT "q0", "q1", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_rows0" UNION ALL SELECT "q0", "q1", CAST(0 AS BIGINT) AS row_count FROM "kanon_run_rows1";

-- hierarchies/range
SELECT COUNT(*) AS out_of_range FROM (SELECT DISTINCT "q0" AS value FROM "kanon_run_known") AS distinct_values WHERE NOT value IS NULL AND NOT (CAST(value AS DOUBLE) > -100000000000000 AND CAST(value AS DOUBLE) < 100000000000000);

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", '*' AS "l2" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE «hierarchies/lookup_rules 1» END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_known" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_lookup1" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_known" GROUP BY "q1") AS found LEFT JOIN «hierarchies/lookup_rows 1» AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- frequency/population/labels
CREATE TEMPORARY TABLE "kanon_run_labels0" AS SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_lookup0" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, 1 AS label_level FROM "kanon_run_lookup0" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 2 AS label_level FROM "kanon_run_lookup0" AS meant) AS meanings GROUP BY value, label;

-- frequency/population/labels
CREATE TEMPORARY TABLE "kanon_run_labels1" AS SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_lookup1" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, 1 AS label_level FROM "kanon_run_lookup1" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 2 AS label_level FROM "kanon_run_lookup1" AS meant) AS meanings GROUP BY value, label;

-- frequency/population/ambiguous
SELECT 0 AS attribute, SUM(CASE WHEN lowest <> highest THEN 1 ELSE 0 END) AS ambiguous, SUM(CASE WHEN label = '*' THEN 1 ELSE 0 END) AS asterisks FROM (SELECT label, MIN(lowest) AS lowest, MAX(lowest) AS highest FROM "kanon_run_labels0" GROUP BY label) AS meant
UNION ALL
SELECT 1 AS attribute, SUM(CASE WHEN lowest <> highest THEN 1 ELSE 0 END) AS ambiguous, SUM(CASE WHEN label = '*' THEN 1 ELSE 0 END) AS asterisks FROM (SELECT label, MIN(lowest) AS lowest, MAX(lowest) AS highest FROM "kanon_run_labels1" GROUP BY label) AS meant;

-- «frequency/population/classes 1»
(SELECT "q0", CAST(CAST(written.q0 AS TEXT) AS TEXT) COLLATE "binary" AS "l0", "q1", CAST(CAST(written.q1 AS TEXT) AS TEXT) COLLATE "binary" AS "l1" FROM (SELECT DISTINCT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1" FROM "clinic"."other" AS checked) AS written)

-- frequency/population/classes
CREATE TEMPORARY TABLE "kanon_run_classes" AS SELECT labelled.*, CASE WHEN "l0" IN ('*') AND "l1" IN ('*') THEN 1 ELSE 0 END AS is_top FROM «frequency/population/classes 1» AS labelled;

-- frequency/population/meaning
CREATE TEMPORARY TABLE "kanon_run_meaning0" AS SELECT labels.value AS value, labels.label AS label FROM "kanon_run_labels0" AS labels JOIN (SELECT DISTINCT "l0" AS label FROM "kanon_run_classes" WHERE is_top = 0) AS written ON labels.label IS NOT DISTINCT FROM written.label;

-- frequency/population/meaning
CREATE TEMPORARY TABLE "kanon_run_meaning1" AS SELECT labels.value AS value, labels.label AS label FROM "kanon_run_labels1" AS labels JOIN (SELECT DISTINCT "l1" AS label FROM "kanon_run_classes" WHERE is_top = 0) AS written ON labels.label IS NOT DISTINCT FROM written.label;

-- «frequency/all_found 4»
(SELECT SUM(own.row_count) FROM "kanon_run_rows0" AS own JOIN "kanon_run_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- «frequency/all_found 5»
(SELECT COUNT(*) FROM "kanon_run_classes" AS own JOIN (SELECT DISTINCT "l0" AS value FROM "kanon_run_classes") AS "again0" ON own."l0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "l1" AS value FROM "kanon_run_classes") AS "again1" ON own."l1" IS NOT DISTINCT FROM "again1".value)

-- frequency/all_found
SELECT 1 AS known, (SELECT COUNT(*) FROM "clinic"."census" AS whole) AS "there0", «frequency/all_found 4» AS "found0", (SELECT COUNT(*) FROM "clinic"."other_census" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_rows1" AS own JOIN "kanon_run_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value) AS "found1", (SELECT COUNT(*) FROM "kanon_run_classes" AS whole) AS "there2", «frequency/all_found 5» AS "found2";

-- frequency/population/matched
CREATE TEMPORARY TABLE "kanon_run_matched0" AS SELECT "meaning0".label AS "l0", "meaning1".label AS "l1", kanon_source.person AS person, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_persons0" AS kanon_source JOIN "kanon_run_meaning0" AS "meaning0" ON kanon_source.q0 IS NOT DISTINCT FROM "meaning0".value JOIN "kanon_run_meaning1" AS "meaning1" ON kanon_source.q1 IS NOT DISTINCT FROM "meaning1".value GROUP BY "meaning0".label, "meaning1".label, kanon_source.person;

-- frequency/population/matched
CREATE TEMPORARY TABLE "kanon_run_matched1" AS SELECT "meaning0".label AS "l0", "meaning1".label AS "l1", kanon_source.person AS person, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_persons1" AS kanon_source JOIN "kanon_run_meaning0" AS "meaning0" ON kanon_source.q0 IS NOT DISTINCT FROM "meaning0".value JOIN "kanon_run_meaning1" AS "meaning1" ON kanon_source.q1 IS NOT DISTINCT FROM "meaning1".value GROUP BY "meaning0".label, "meaning1".label, kanon_source.person;

-- frequency/population/overlap
SELECT (SELECT COUNT(*) FROM "kanon_run_classes" WHERE is_top = 1) AS tops, (SELECT COUNT(*) FROM "kanon_run_classes" WHERE is_top = 0) AS others, (SELECT COUNT(*) FROM (SELECT DISTINCT "l0", "l1" FROM "kanon_run_classes" WHERE is_top = 0) AS vectors) AS looks, (SELECT COUNT(*) FROM (SELECT value FROM "kanon_run_meaning0" GROUP BY value HAVING COUNT(*) > 1) AS "several0") + (SELECT COUNT(*) FROM (SELECT value FROM "kanon_run_meaning1" GROUP BY value HAVING COUNT(*) > 1) AS "several1") AS several;

-- frequency/population/matches
CREATE TEMPORARY TABLE "kanon_run_matches1" AS SELECT vectors."q0" AS "v0", classes."q0" AS "q0", vectors."q1" AS "v1", classes."q1" AS "q1", vectors.row_count AS row_count FROM "kanon_run_population1" AS vectors JOIN "kanon_run_meaning0" AS "meaning0" ON vectors."q0" IS NOT DISTINCT FROM "meaning0".value JOIN "kanon_run_meaning1" AS "meaning1" ON vectors."q1" IS NOT DISTINCT FROM "meaning1".value JOIN (SELECT * FROM "kanon_run_classes" WHERE is_top = 0) AS classes ON classes."l0" IS NOT DISTINCT FROM "meaning0".label AND classes."l1" IS NOT DISTINCT FROM "meaning1".label;

-- frequency/population/coverage
SELECT (SELECT COUNT(*) FROM "kanon_run_population1") AS vectors, COUNT(*) AS found, SUM(CASE WHEN class_count > 1 THEN 1 ELSE 0 END) AS shared FROM (SELECT COUNT(*) AS class_count FROM "kanon_run_matches1" GROUP BY "v0", "v1") AS counted;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_widths_records" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_widths_population0" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."census" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_widths_population1" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."other_census" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary";

-- frequency/population/known
CREATE TEMPORARY TABLE "kanon_run_widths_known" AS SELECT "q0", "q1", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_widths_records" UNION ALL SELECT "q0", "q1", CAST(0 AS BIGINT) AS row_count FROM "kanon_run_widths_population0" UNION ALL SELECT "q0", "q1", CAST(0 AS BIGINT) AS row_count FROM "kanon_run_widths_population1";

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_widths_domain1" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_widths_domain1" VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*');

-- hierarchies/range
SELECT COUNT(*) AS out_of_range FROM (SELECT DISTINCT "q0" AS value FROM "kanon_run_widths_known") AS distinct_values WHERE NOT value IS NULL AND NOT (CAST(value AS DOUBLE) > -100000000000000 AND CAST(value AS DOUBLE) < 100000000000000);

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_widths_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE «hierarchies/lookup_rules 1» END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_widths_known" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_widths_lookup1" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_widths_known" GROUP BY "q1") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1" FROM "kanon_run_widths_domain1") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- hierarchies/nesting
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_widths_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split;

-- hierarchies/coverage
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_widths_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_widths_lookup0" AS labels JOIN "kanon_run_widths_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value
UNION ALL
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_widths_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_widths_lookup1" AS labels JOIN "kanon_run_widths_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value;

-- «evaluate/achieved 10»
(0.00000000000000000e+00 + CASE WHEN classes."x0" IS NULL THEN 0 ELSE LN(CAST("sizes0".label_size AS DOUBLE)) END + CASE WHEN classes."x1" IS NULL THEN 0 ELSE LN(CAST("sizes1".label_size AS DOUBLE)) END)

-- «evaluate/achieved 11»
(SELECT "q0", "q1", person AS value_code, 0 AS reference_share, CAST(NULL AS TEXT) AS unit, row_count FROM (SELECT classes."q0", classes."q1", matched.person, matched.row_count FROM "kanon_run_matched0" AS matched JOIN (SELECT * FROM "kanon_run_classes" WHERE is_top = 0) AS classes ON CAST(matched."l0" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM CAST(classes."l0" AS TEXT) COLLATE "binary" AND CAST(matched."l1" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM CAST(classes."l1" AS TEXT) COLLATE "binary" UNION ALL SELECT classes."q0", classes."q1", persons.person, persons.row_count FROM "kanon_run_classes" AS classes CROSS JOIN (SELECT kanon_source.person AS person, CAST(COALESCE(SUM(row_count), 0) AS BIGINT) AS row_count FROM "kanon_run_persons0" AS kanon_source GROUP BY kanon_source.person) AS persons WHERE classes.is_top = 1 UNION ALL SELECT "q0", "q1", CAST(NULL AS TEXT) AS person, CAST(0 AS BIGINT) AS row_count FROM "kanon_run_classes") AS counted)

-- «evaluate/achieved 12»
(SELECT "q0", "q1", person AS value_code, 0 AS reference_share, CAST(NULL AS TEXT) AS unit, row_count FROM (SELECT classes."q0", classes."q1", matched.person, matched.row_count FROM "kanon_run_matched1" AS matched JOIN (SELECT * FROM "kanon_run_classes" WHERE is_top = 0) AS classes ON CAST(matched."l0" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM CAST(classes."l0" AS TEXT) COLLATE "binary" AND CAST(matched."l1" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM CAST(classes."l1" AS TEXT) COLLATE "binary" UNION ALL SELECT classes."q0", classes."q1", persons.person, persons.row_count FROM "kanon_run_classes" AS classes CROSS JOIN (SELECT kanon_source.person AS person, CAST(COALESCE(SUM(row_count), 0) AS BIGINT) AS row_count FROM "kanon_run_persons1" AS kanon_source GROUP BY kanon_source.person) AS persons WHERE classes.is_top = 1 UNION ALL SELECT "q0", "q1", CAST(NULL AS TEXT) AS person, CAST(0 AS BIGINT) AS row_count FROM "kanon_run_classes") AS counted)

-- «evaluate/achieved 13»
(SELECT label AS code, MAX(label_size) AS label_size FROM (SELECT CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, "s0" AS label_size FROM "kanon_run_widths_lookup0" AS meant UNION ALL SELECT CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, "s1" AS label_size FROM "kanon_run_widths_lookup0" AS meant UNION ALL SELECT CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 1 AS label_size FROM "kanon_run_widths_lookup0" AS meant) AS labelled WHERE NOT label IS NULL GROUP BY label)

-- «evaluate/achieved 14»
(SELECT label AS code, MAX(label_size) AS label_size FROM (SELECT CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, "s0" AS label_size FROM "kanon_run_widths_lookup1" AS meant UNION ALL SELECT CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, "s1" AS label_size FROM "kanon_run_widths_lookup1" AS meant UNION ALL SELECT CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 4 AS label_size FROM "kanon_run_widths_lookup1" AS meant) AS labelled WHERE NOT label IS NULL GROUP BY label)

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0", MIN("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" >= 5 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" >= 5 THEN 0 ELSE class_rows END) AS "violating_rows1", MIN("m2") AS "worst2", SUM(CASE WHEN "m2" IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN "m2" > 1.20000000000000016e-08 THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN "m2" > 1.20000000000000016e-08 THEN 0 ELSE class_rows END) AS "violating_rows2", MAX(CASE WHEN "m3" > 0 THEN CAST(class_size AS DOUBLE) / CAST("m3" AS DOUBLE) END) AS "worst3", SUM(CASE WHEN CASE WHEN "m3" > 0 THEN CAST(class_size AS DOUBLE) / CAST("m3" AS DOUBLE) END IS NULL THEN 1 ELSE 0 END) AS "unbounded3", SUM(CASE WHEN "m3" >= class_size AND "m3" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m3" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m3" AS DOUBLE) THEN 0 ELSE 1 END) AS "violating_classes3", SUM(CASE WHEN "m3" >= class_size AND "m3" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m3" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m3" AS DOUBLE) THEN 0 ELSE class_rows END) AS "violating_rows3" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", "m1", "m2", "m3", CASE WHEN ("m0" >= 3) AND ("m1" >= 5) AND ("m2" > 1.20000000000000016e-08) AND ("m3" >= class_size AND "m3" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m3" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m3" AS DOUBLE)) THEN 1 ELSE 0 END AS satisfied FROM (SELECT widened.*, 1.20000000000000000e+01 * (1 - class_loss) - 3.00000000000000000e+00 * CASE WHEN "m2_own" >= 5 THEN 0 WHEN "m2_own" > 0 THEN 1 / CAST("m2_own" AS DOUBLE) ELSE 1 END AS "m2" FROM (SELECT classes."k0" AS "k0", classes."k1" AS "k1", classes."class_rows" AS "class_rows", classes."class_size" AS "class_size", classes."m0" AS "m0", classes."m1" AS "m1", classes."m2_own" AS "m2_own", classes."m3" AS "m3", «evaluate/achieved 10» / 1.38629436111989057e+00 AS class_loss FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."x0") AS "x0", MAX(pooled."x1") AS "x1", MAX(pooled."m0") AS "m0", MAX(pooled."m1") AS "m1", MAX(pooled."m2_own") AS "m2_own", MAX(pooled."m3") AS "m3" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "x0", "x1", "m0", "m1", "m2_own", NULL AS "m3" FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."x0") AS "x0", MAX(pooled."x1") AS "x1", MAX(pooled."m0") AS "m0", MAX(pooled."m1") AS "m1", MAX(pooled."m2_own") AS "m2_own" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "x0", "x1", NULL AS "m0", NULL AS "m1", NULL AS "m2_own" FROM (SELECT "q0" AS "k0", "q1" AS "k1", CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_size, MIN(CAST(CAST("q0" AS TEXT) AS TEXT) COLLATE "binary") AS "x0", MIN(CAST(CAST("q1" AS TEXT) AS TEXT) COLLATE "binary") AS "x1" FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM "clinic"."other" AS checked) AS frequency GROUP BY "q0", "q1") AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, NULL, NULL, "m0", "m1", "m2_own" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MIN("x0") AS "x0", MIN("x1") AS "x1", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m0", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m1", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m2_own" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, "x0", "x1" FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN(CAST(CAST("q0" AS TEXT) AS TEXT) COLLATE "binary") AS "x0", MIN(CAST(CAST("q1" AS TEXT) AS TEXT) COLLATE "binary") AS "x1" FROM «evaluate/achieved 11» AS frequency GROUP BY "q0", "q1", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, NULL, NULL, NULL, NULL, NULL, "m3" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MIN("x0") AS "x0", MIN("x1") AS "x1", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m3" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, "x0", "x1" FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN(CAST(CAST("q0" AS TEXT) AS TEXT) COLLATE "binary") AS "x0", MIN(CAST(CAST("q1" AS TEXT) AS TEXT) COLLATE "binary") AS "x1" FROM «evaluate/achieved 12» AS frequency GROUP BY "q0", "q1", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS classes LEFT JOIN «evaluate/achieved 13» AS "sizes0" ON classes."x0" = "sizes0".code LEFT JOIN «evaluate/achieved 14» AS "sizes1" ON classes."x1" = "sizes1".code) AS widened) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."other" AS checked;

-- verbs/warnings/repeats
SELECT COUNT(*) AS row_count, COUNT("kanon_source"."person") AS "filled0", COUNT(DISTINCT "kanon_source"."person") AS "distinct_values0" FROM "clinic"."other" AS kanon_source;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_widths_lookup1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_widths_lookup0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_widths_domain1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_widths_known";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_widths_population1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_widths_population0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_widths_records";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_matches1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_matched1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_matched0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_meaning1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_meaning0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_persons1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_rows1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_population1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_persons0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_rows0";

-- hierarchies/range
SELECT COUNT(*) AS out_of_range FROM (SELECT DISTINCT "q0" AS value FROM "kanon_run_rows0") AS distinct_values WHERE NOT value IS NULL AND NOT (CAST(value AS DOUBLE) > -100000000000000 AND CAST(value AS DOUBLE) < 100000000000000);

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", own."l1" AS "l1", '*' AS "l2" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE «hierarchies/lookup_rules 1» END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_rows0" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_lookup1" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_rows0" GROUP BY "q1") AS found LEFT JOIN «hierarchies/lookup_rows 1» AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- frequency/population/labels
CREATE TEMPORARY TABLE "kanon_run_labels0" AS SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_lookup0" AS meant) AS meanings GROUP BY value, label;

-- frequency/population/labels
CREATE TEMPORARY TABLE "kanon_run_labels1" AS SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_lookup1" AS meant) AS meanings GROUP BY value, label;

-- frequency/population/classes
CREATE TEMPORARY TABLE "kanon_run_classes" AS SELECT labelled.*, CASE WHEN 1 = 0 THEN 1 ELSE 0 END AS is_top FROM «frequency/population/classes 1» AS labelled;

-- frequency/all_found
SELECT 1 AS known, (SELECT COUNT(*) FROM "clinic"."census" AS whole) AS "there0", «frequency/all_found 4» AS "found0", (SELECT COUNT(*) FROM "kanon_run_classes" AS whole) AS "there1", «frequency/all_found 5» AS "found1";

-- frequency/population/matched
CREATE TEMPORARY TABLE "kanon_run_matched0" AS SELECT "meaning0".label AS "l0", "meaning1".label AS "l1", CAST(SUM(1) AS BIGINT) AS row_count FROM "clinic"."census" AS kanon_source JOIN "kanon_run_meaning0" AS "meaning0" ON "kanon_source"."age" IS NOT DISTINCT FROM "meaning0".value JOIN "kanon_run_meaning1" AS "meaning1" ON CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM "meaning1".value GROUP BY "meaning0".label, "meaning1".label;

-- «evaluate/achieved 15»
(SELECT "q0" AS "k0", "q1" AS "k1", CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_size FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM "clinic"."other" AS checked) AS frequency GROUP BY "q0", "q1")

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", CASE WHEN ("m0" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m0" FROM «evaluate/achieved 15» AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, "m0" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m0" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share FROM (SELECT "q0", "q1", person AS value_code, 0 AS reference_share, row_count FROM (SELECT classes."q0", classes."q1", CAST(NULL AS TEXT) AS person, matched.row_count FROM "kanon_run_matched0" AS matched JOIN (SELECT * FROM "kanon_run_classes" WHERE is_top = 0) AS classes ON CAST(matched."l0" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM CAST(classes."l0" AS TEXT) COLLATE "binary" AND CAST(matched."l1" AS TEXT) COLLATE "binary" IS NOT DISTINCT FROM CAST(classes."l1" AS TEXT) COLLATE "binary" UNION ALL SELECT classes."q0", classes."q1", persons.person, persons.row_count FROM "kanon_run_classes" AS classes CROSS JOIN (SELECT CAST(NULL AS TEXT) AS person, CAST(COALESCE(SUM(1), 0) AS BIGINT) AS row_count FROM "clinic"."census" AS kanon_source) AS persons WHERE classes.is_top = 1 UNION ALL SELECT "q0", "q1", CAST(NULL AS TEXT) AS person, CAST(0 AS BIGINT) AS row_count FROM "kanon_run_classes") AS counted) AS frequency GROUP BY "q0", "q1", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."other" AS checked;

-- verbs/warnings/repeats
SELECT COUNT(*) AS row_count, COUNT("kanon_source"."person") AS "filled0", COUNT(DISTINCT "kanon_source"."person") AS "distinct_values0", COUNT("kanon_source"."weight") AS "filled1", COUNT(DISTINCT "kanon_source"."weight") AS "distinct_values1", COUNT("kanon_source"."seen") AS "filled2", COUNT(DISTINCT "kanon_source"."seen") AS "distinct_values2" FROM "clinic"."other" AS kanon_source;

-- verbs/warnings/repeats
SELECT COUNT(*) AS row_count, COUNT("kanon_source"."person") AS "filled0", COUNT(DISTINCT "kanon_source"."person") AS "distinct_values0" FROM (SELECT whole."person" AS "person" FROM "clinic"."other" AS whole LIMIT 10000) AS kanon_source;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_population0" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", COUNT(*) AS row_count FROM "clinic"."census" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary";

-- «frequency/raw 4»
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary"

-- frequency/raw
«frequency/raw 4»;

-- frequency/population/people
CREATE TEMPORARY TABLE "kanon_run_people0" AS SELECT "q0", CAST(NULL AS TEXT) AS value_code, CAST(0 AS BIGINT) AS row_count FROM "kanon_run_raw" UNION ALL SELECT "q0", CAST(NULL AS TEXT) AS value_code, CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_population0";

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_present0" AS SELECT "lookup0"."c0" AS "code0", vectors.value_code AS value_code, 0 AS reference_share, vectors.row_count AS row_count FROM (SELECT "q0", value_code, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_people0" GROUP BY "q0", value_code) AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value;

-- frequency/population/size
SELECT SUM(CASE WHEN value_code IS NULL THEN row_count WHEN row_count > 0 THEN 1 ELSE 0 END) AS persons FROM "kanon_run_people0";

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c0" AS "code0", vectors.row_count AS row_count FROM (SELECT "q0", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value;

-- «evaluate/node 18»
("m0_own" >= class_size AND "m0_own" > 0 AND CAST(class_size AS DOUBLE) <= 1.00000000100000008e+00 * CAST("m0_own" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= 9.99999990000000061e-02 * CAST("m0_own" AS DOUBLE) AND "m0" >= 1)

-- «evaluate/node 17»
(CASE WHEN «evaluate/node 18» THEN 1 ELSE 0 END)

-- «evaluate/node 19»
(CASE WHEN «evaluate/node 18» THEN 0 ELSE class_rows END)

-- «evaluate/node 21»
(CASE WHEN ("m0_own" >= class_size AND "m0_own" > 0 AND CAST(class_size AS DOUBLE) <= 1.00000000100000008e+00 * CAST("m0_own" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= 9.99999990000000061e-02 * CAST("m0_own" AS DOUBLE)) THEN "m0_own" ELSE 0 END)

-- «evaluate/node 20»
(SELECT classes.*, SUM«evaluate/node 21» OVER () AS "m0" FROM (SELECT pooled."k0" AS "k0", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0_own") AS "m0_own" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m0_own" FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency" GROUP BY "code0") AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, "m0_own" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m0_own" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share FROM "kanon_run_present0" GROUP BY "code0", value_code) AS counted) AS ranked GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2) AS classes)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM«evaluate/node 17» AS kept_classes, SUM«evaluate/node 19» AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0" FROM «evaluate/node 20» AS classes;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM«evaluate/node 17» AS kept_classes, SUM«evaluate/node 19» AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, 0 AS "padding_0" FROM (SELECT classes.*, SUM«evaluate/node 21» OVER () AS "m0" FROM (SELECT MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0_own") AS "m0_own" FROM (SELECT class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m0_own" FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM "kanon_run_frequency") AS base UNION ALL SELECT NULL, class_rows, NULL, most_held, "m0_own" FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m0_own" FROM (SELECT value_code, value_rows, value_count, reference_share FROM (SELECT value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share FROM "kanon_run_present0" GROUP BY value_code) AS counted) AS ranked) AS judged) AS pooled) AS classes) AS classes;

-- evaluate/achieved
SELECT CASE WHEN satisfied = 1 THEN CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END ELSE -1 END AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MAX(CASE WHEN "m0_own" > 0 THEN CAST(class_size AS DOUBLE) / CAST("m0_own" AS DOUBLE) END) AS "worst0", SUM(CASE WHEN CASE WHEN "m0_own" > 0 THEN CAST(class_size AS DOUBLE) / CAST("m0_own" AS DOUBLE) END IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0_own" >= class_size AND "m0_own" > 0 AND CAST(class_size AS DOUBLE) <= 1.00000000100000008e+00 * CAST("m0_own" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= 9.99999990000000061e-02 * CAST("m0_own" AS DOUBLE) AND "m0" >= 1 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0_own" >= class_size AND "m0_own" > 0 AND CAST(class_size AS DOUBLE) <= 1.00000000100000008e+00 * CAST("m0_own" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= 9.99999990000000061e-02 * CAST("m0_own" AS DOUBLE) AND "m0" >= 1 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT "k0", "class_rows", "class_size", "m0", "m0_own", CASE WHEN «evaluate/node 18» THEN 1 ELSE 0 END AS satisfied FROM «evaluate/node 20» AS classes) AS flagged GROUP BY CASE WHEN satisfied = 1 THEN CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END ELSE -1 END;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM«evaluate/node 17» AS kept_classes, SUM«evaluate/node 19» AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN «evaluate/node 18» THEN class_rows * class_rows ELSE 0 END) AS "kept_squares", SUM(class_rows * class_rows) AS "squares" FROM «evaluate/node 20» AS classes;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN satisfied = 1 THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN satisfied = 1 THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN NOT (satisfied = 1) THEN class_rows * LN("sharing_0") ELSE 0 END) AS "suppressed_log_0" FROM (SELECT flagged.*, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) OVER (PARTITION BY "z0") AS "sharing_0" FROM (SELECT "k0", "z0", "class_rows", "class_size", "m0", "m0_own", CASE WHEN «evaluate/node 18» THEN 1 ELSE 0 END AS satisfied FROM (SELECT classes.*, SUM«evaluate/node 21» OVER () AS "m0" FROM (SELECT pooled."k0" AS "k0", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."z0") AS "z0", MAX(pooled."m0_own") AS "m0_own" FROM (SELECT "k0", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "z0", NULL AS "m0_own" FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("code0") AS "z0" FROM "kanon_run_frequency" GROUP BY "code0") AS base UNION ALL SELECT "k0", NULL, class_rows, NULL, most_held, NULL, "m0_own" FROM (SELECT "k0", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MIN("z0") AS "z0", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m0_own" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, "z0" FROM (SELECT "code0" AS "k0", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN("code0") AS "z0" FROM "kanon_run_present0" GROUP BY "code0", value_code) AS counted) AS ranked GROUP BY "k0") AS judged) AS pooled GROUP BY pooled."k0" HAVING COUNT(*) = 2) AS classes) AS classes) AS flagged) AS classes;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM«evaluate/node 17» AS kept_classes, SUM«evaluate/node 19» AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN «evaluate/node 18» THEN CAST(class_rows AS DOUBLE) ELSE 0 END) AS "kept_vectors", SUM(CAST(class_rows AS DOUBLE)) AS "vectors" FROM «evaluate/node 20» AS classes;

-- verbs/check/unknown_persons
SELECT COUNT(*) AS unknown_rows FROM "clinic"."other" AS checked WHERE "checked"."person" IS NULL;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, MAX(all_size) AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0" >= 5 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0" >= 5 THEN 0 ELSE class_rows END) AS "violating_rows0", MIN("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" > 1.20000000000000016e-08 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" > 1.20000000000000016e-08 THEN 0 ELSE class_rows END) AS "violating_rows1", MAX(CASE WHEN "m2" > 0 THEN CAST(class_size AS DOUBLE) / CAST("m2" AS DOUBLE) END) AS "worst2", SUM(CASE WHEN CASE WHEN "m2" > 0 THEN CAST(class_size AS DOUBLE) / CAST("m2" AS DOUBLE) END IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN "m2" >= class_size AND "m2" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m2" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m2" AS DOUBLE) THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN "m2" >= class_size AND "m2" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m2" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m2" AS DOUBLE) THEN 0 ELSE class_rows END) AS "violating_rows2" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "all_size", "class_rows", "class_size", "m0", "m1", "m2", CASE WHEN ("m0" >= 5) AND ("m1" > 1.20000000000000016e-08) AND ("m2" >= class_size AND "m2" > 0 AND CAST(class_size AS DOUBLE) <= 5.00000000999999972e-01 * CAST("m2" AS DOUBLE) AND CAST(class_size AS DOUBLE) >= -1.00000000000000006e-09 * CAST("m2" AS DOUBLE)) THEN 1 ELSE 0 END AS satisfied FROM (SELECT widened.*, 1.20000000000000000e+01 * (1 - class_loss) - 3.00000000000000000e+00 * CASE WHEN "m1_own" >= 5 THEN 0 WHEN "m1_own" > 0 THEN 1 / CAST("m1_own" AS DOUBLE) ELSE 1 END AS "m1" FROM (SELECT classes."k0" AS "k0", classes."k1" AS "k1", classes."class_rows" AS "class_rows", classes."class_size" AS "class_size", classes."all_size" AS "all_size", classes."m0" AS "m0", classes."m1_own" AS "m1_own", classes."m2" AS "m2", «evaluate/achieved 10» / 1.38629436111989057e+00 AS class_loss FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."all_size") AS "all_size", MAX(pooled."x0") AS "x0", MAX(pooled."x1") AS "x1", MAX(pooled."m0") AS "m0", MAX(pooled."m1_own") AS "m1_own", MAX(pooled."m2") AS "m2" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "all_size", "x0", "x1", "m0", "m1_own", NULL AS "m2" FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."all_size") AS "all_size", MAX(pooled."x0") AS "x0", MAX(pooled."x1") AS "x1", MAX(pooled."m0") AS "m0", MAX(pooled."m1_own") AS "m1_own" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "all_size", "x0", "x1", NULL AS "m0", NULL AS "m1_own" FROM (SELECT "q0" AS "k0", "q1" AS "k1", CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size, SUM(COUNT(DISTINCT unit)) OVER () AS all_size, MIN(CAST(CAST("q0" AS TEXT) AS TEXT) COLLATE "binary") AS "x0", MIN(CAST(CAST("q1" AS TEXT) AS TEXT) COLLATE "binary") AS "x1" FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", "checked"."person" AS unit, 1 AS row_count FROM "clinic"."other" AS checked) AS frequency GROUP BY "q0", "q1") AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, NULL, NULL, NULL, "m0", "m1_own" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MIN("x0") AS "x0", MIN("x1") AS "x1", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m0", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m1_own" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, "x0", "x1" FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, SUM(row_count) AS value_rows, COUNT(DISTINCT unit) AS value_count, MIN(reference_share) AS reference_share, MIN(CAST(CAST("q0" AS TEXT) AS TEXT) COLLATE "binary") AS "x0", MIN(CAST(CAST("q1" AS TEXT) AS TEXT) COLLATE "binary") AS "x1" FROM «evaluate/achieved 11» AS frequency GROUP BY "q0", "q1", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, NULL, NULL, NULL, NULL, NULL, "m2" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MIN("x0") AS "x0", MIN("x1") AS "x1", SUM(CASE WHEN value_code IS NULL THEN value_rows WHEN value_rows > 0 THEN 1 ELSE 0 END) AS "m2" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, "x0", "x1" FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, SUM(row_count) AS value_rows, COUNT(DISTINCT unit) AS value_count, MIN(reference_share) AS reference_share, MIN(CAST(CAST("q0" AS TEXT) AS TEXT) COLLATE "binary") AS "x0", MIN(CAST(CAST("q1" AS TEXT) AS TEXT) COLLATE "binary") AS "x1" FROM «evaluate/achieved 12» AS frequency GROUP BY "q0", "q1", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS classes LEFT JOIN «evaluate/achieved 13» AS "sizes0" ON classes."x0" = "sizes0".code LEFT JOIN «evaluate/achieved 14» AS "sizes1" ON classes."x1" = "sizes1".code) AS widened) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."other" AS checked;

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_domain0" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_domain0" VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*'),
  ('O', 'y', '*');

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_lookup0" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1" FROM "kanon_run_domain0") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- hierarchies/coverage
«hierarchies/coverage 1»;

-- frequency/label_numbers
«frequency/label_numbers 1»
UNION ALL
«frequency/label_numbers 2»;

-- frequency/encode
CREATE TEMPORARY TABLE "kanon_run_frequency" AS SELECT "lookup0"."c1" AS "code0", "lookup0"."c0" AS "code1", vectors.row_count AS row_count FROM (SELECT "q0", CAST(row_count AS BIGINT) AS row_count FROM "kanon_run_raw") AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value;

-- «evaluate/node 22»
(SELECT widened.*, 1.20000000000000000e+03 * (1 - class_loss) - 3.00000000000000000e+03 * CASE WHEN "class_size" >= 5 THEN 0 WHEN "class_size" > 0 THEN 1 / CAST("class_size" AS DOUBLE) ELSE 1 END AS "m0" FROM (SELECT classes."class_rows" AS "class_rows", classes."class_size" AS "class_size", classes."z0" AS "z0", (0.00000000000000000e+00 + CASE WHEN classes."x0" IS NULL THEN 0 ELSE LN(CAST("sizes0".label_size AS DOUBLE)) END) / 1.60943791243410028e+00 AS class_loss FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("code0") AS "z0", MIN("code0") AS "x0" FROM "kanon_run_frequency" GROUP BY "code0") AS classes LEFT JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "label_size" FROM "kanon_run_lookup0") AS "sizes0" ON classes."x0" = "sizes0".code) AS widened)

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN class_rows * "y0" ELSE 0 END) AS "covered_0" FROM «evaluate/node 22» AS classes JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "y0" FROM "kanon_run_lookup0") AS "sizes0" ON classes."z0" = "sizes0".code;

-- evaluate/achieved
SELECT CASE WHEN satisfied = 1 THEN CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END ELSE -1 END AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0" > 1.20000000000000016e-06 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0" > 1.20000000000000016e-06 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT "k0", "class_rows", "class_size", "m0", CASE WHEN ("m0" > 1.20000000000000016e-06) THEN 1 ELSE 0 END AS satisfied FROM (SELECT widened.*, 1.20000000000000000e+03 * (1 - class_loss) - 3.00000000000000000e+03 * CASE WHEN "class_size" >= 5 THEN 0 WHEN "class_size" > 0 THEN 1 / CAST("class_size" AS DOUBLE) ELSE 1 END AS "m0" FROM (SELECT classes."k0" AS "k0", classes."class_rows" AS "class_rows", classes."class_size" AS "class_size", (0.00000000000000000e+00 + CASE WHEN classes."x0" IS NULL THEN 0 ELSE LN(CAST("sizes0".label_size AS DOUBLE)) END) / 1.60943791243410028e+00 AS class_loss FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("code0") AS "x0" FROM "kanon_run_frequency" GROUP BY "code0") AS classes LEFT JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "label_size" FROM "kanon_run_lookup0") AS "sizes0" ON classes."x0" = "sizes0".code) AS widened) AS classes) AS flagged GROUP BY CASE WHEN satisfied = 1 THEN CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END ELSE -1 END;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN class_rows * class_rows ELSE 0 END) AS "kept_squares", SUM(class_rows * class_rows) AS "squares" FROM (SELECT widened.*, 1.20000000000000000e+03 * (1 - class_loss) - 3.00000000000000000e+03 * CASE WHEN "class_size" >= 5 THEN 0 WHEN "class_size" > 0 THEN 1 / CAST("class_size" AS DOUBLE) ELSE 1 END AS "m0" FROM (SELECT classes."class_rows" AS "class_rows", classes."class_size" AS "class_size", (0.00000000000000000e+00 + CASE WHEN classes."x0" IS NULL THEN 0 ELSE LN(CAST("sizes0".label_size AS DOUBLE)) END) / 1.60943791243410028e+00 AS class_loss FROM (SELECT CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("code0") AS "x0" FROM "kanon_run_frequency" GROUP BY "code0") AS classes LEFT JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "label_size" FROM "kanon_run_lookup0") AS "sizes0" ON classes."x0" = "sizes0".code) AS widened) AS classes;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN satisfied = 1 THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN satisfied = 1 THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN NOT (satisfied = 1) THEN class_rows * LN("sharing_0") ELSE 0 END) AS "suppressed_log_0" FROM (SELECT flagged.*, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) OVER (PARTITION BY "z0") AS "sharing_0" FROM (SELECT "k0", "z0", "class_rows", "class_size", "m0", CASE WHEN ("m0" > 1.20000000000000016e-06) THEN 1 ELSE 0 END AS satisfied FROM (SELECT widened.*, 1.20000000000000000e+03 * (1 - class_loss) - 3.00000000000000000e+03 * CASE WHEN "class_size" >= 5 THEN 0 WHEN "class_size" > 0 THEN 1 / CAST("class_size" AS DOUBLE) ELSE 1 END AS "m0" FROM (SELECT classes."k0" AS "k0", classes."class_rows" AS "class_rows", classes."class_size" AS "class_size", classes."z0" AS "z0", (0.00000000000000000e+00 + CASE WHEN classes."x0" IS NULL THEN 0 ELSE LN(CAST("sizes0".label_size AS DOUBLE)) END) / 1.60943791243410028e+00 AS class_loss FROM (SELECT "code0" AS "k0", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size, MIN("code0") AS "z0", MIN("code0") AS "x0" FROM "kanon_run_frequency" GROUP BY "code0") AS classes LEFT JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "label_size" FROM "kanon_run_lookup0") AS "sizes0" ON classes."x0" = "sizes0".code) AS widened) AS classes) AS flagged) AS classes;

-- evaluate/node
SELECT 0 AS node, COUNT(*) AS classes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN 1 ELSE 0 END) AS kept_classes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN 0 ELSE class_rows END) AS suppressed, 0 AS suppressed_monotone, SUM(class_rows) AS judged_rows, SUM(class_size) AS judged_sizes, SUM(CASE WHEN ("m0" > 1.20000000000000016e-06) THEN CAST(class_rows AS DOUBLE) * "y0" ELSE 0 END) AS "kept_vectors", SUM(CAST(class_rows AS DOUBLE) * "y0") AS "vectors" FROM «evaluate/node 22» AS classes JOIN (SELECT DISTINCT "c1" AS code, "s1" AS "y0" FROM "kanon_run_lookup0") AS "sizes0" ON classes."z0" = "sizes0".code;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_domain0";

-- disclosure/beliefs/weights
SELECT SUM(CASE WHEN CAST("checked"."weight" AS DOUBLE) >= 0 AND CAST("checked"."weight" AS DOUBLE) < 1e300 THEN 0 ELSE 1 END) AS unusable, SUM(CASE WHEN CAST("checked"."weight" AS DOUBLE) > 0 THEN 1 ELSE 0 END) AS positive FROM "clinic"."survey" AS checked;

-- «hierarchies/range 2»
(SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "s", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary")

-- «hierarchies/range 1»
WITH "kanon_run_beliefs0_counted_source" AS «hierarchies/range 2»,

-- «hierarchies/range 3»
"kanon_run_beliefs0_background" AS (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS "s", SUM(CAST("checked"."weight" AS DOUBLE)) AS weight FROM "clinic"."survey" AS checked GROUP BY "checked"."age", CAST("checked"."sex" AS TEXT) COLLATE "binary", CAST("checked"."dx" AS TEXT) COLLATE "binary"),

-- «hierarchies/range 4»
"kanon_run_beliefs0_joint" AS (SELECT "q0", "q1", "s", SUM(weight) AS weight, CAST(SUM(held) AS BIGINT) AS held FROM (SELECT "q0", "q1", "s", CAST(0 AS DOUBLE) AS weight, CAST(row_count AS BIGINT) AS held FROM "kanon_run_beliefs0_counted_source" UNION ALL SELECT "q0", "q1", "s", weight, CAST(0 AS BIGINT) FROM "kanon_run_beliefs0_background") AS known GROUP BY "q0", "q1", "s"),

-- hierarchies/range
«hierarchies/range 1»
«hierarchies/range 3»
«hierarchies/range 4»
"kanon_run_beliefs0_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs0_joint" GROUP BY "q0", "q1")
SELECT COUNT(*) AS out_of_range FROM (SELECT DISTINCT "q0" AS value FROM "kanon_run_beliefs0_vectors") AS distinct_values WHERE NOT value IS NULL AND NOT (CAST(value AS DOUBLE) > -100000000000000 AND CAST(value AS DOUBLE) < 100000000000000);

-- «hierarchies/nesting 1»
"kanon_run_with_labelled_of_4" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE «hierarchies/lookup_rules 1» END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_beliefs0_vectors" GROUP BY "q0") AS distinct_values),

-- «hierarchies/nesting 2»
"kanon_run_with_numbers1_of_4" AS (SELECT "l1", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", COUNT(*) AS label_values FROM "kanon_run_with_labelled_of_4" AS labelled GROUP BY "l1") AS own),

-- «hierarchies/nesting 3»
(SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled_of_4" AS own JOIN "kanon_run_with_numbers1_of_4" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1")

-- hierarchies/nesting
«hierarchies/range 1»
«hierarchies/range 3»
«hierarchies/range 4»
"kanon_run_beliefs0_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs0_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 1»
«hierarchies/nesting 2»
"kanon_run_beliefs0_lookup0" AS «hierarchies/nesting 3»
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_beliefs0_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split;

-- «hierarchies/coverage 10»
"kanon_run_beliefs0_lookup0" AS «hierarchies/nesting 3»,

-- «hierarchies/coverage 11»
(SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_beliefs0_vectors" GROUP BY "q1") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1" FROM "kanon_run_beliefs0_domain1") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0")

-- hierarchies/coverage
«hierarchies/range 1»
«hierarchies/range 3»
«hierarchies/range 4»
"kanon_run_beliefs0_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs0_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 1»
«hierarchies/nesting 2»
«hierarchies/coverage 10»
"kanon_run_beliefs0_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
"kanon_run_beliefs0_lookup1" AS «hierarchies/coverage 11»
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_beliefs0_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_beliefs0_lookup0" AS labels JOIN "kanon_run_beliefs0_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value
UNION ALL
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_beliefs0_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_beliefs0_lookup1" AS labels JOIN "kanon_run_beliefs0_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value;

-- «frequency/population/ambiguous 1»
"kanon_run_beliefs0_labels0" AS (SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_beliefs0_lookup0" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, 1 AS label_level FROM "kanon_run_beliefs0_lookup0" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 2 AS label_level FROM "kanon_run_beliefs0_lookup0" AS meant) AS meanings GROUP BY value, label),

-- «frequency/population/ambiguous 2»
"kanon_run_beliefs0_lookup1" AS «hierarchies/coverage 11»,

-- «frequency/population/ambiguous 3»
(SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_beliefs0_lookup1" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, 1 AS label_level FROM "kanon_run_beliefs0_lookup1" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 2 AS label_level FROM "kanon_run_beliefs0_lookup1" AS meant) AS meanings GROUP BY value, label)

-- frequency/population/ambiguous
«hierarchies/range 1»
«hierarchies/range 3»
«hierarchies/range 4»
"kanon_run_beliefs0_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs0_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 1»
«hierarchies/nesting 2»
«hierarchies/coverage 10»
«frequency/population/ambiguous 1»
"kanon_run_beliefs0_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 2»
"kanon_run_beliefs0_labels1" AS «frequency/population/ambiguous 3»
SELECT 0 AS attribute, SUM(CASE WHEN lowest <> highest THEN 1 ELSE 0 END) AS ambiguous, SUM(CASE WHEN label = '*' THEN 1 ELSE 0 END) AS asterisks FROM (SELECT label, MIN(lowest) AS lowest, MAX(lowest) AS highest FROM "kanon_run_beliefs0_labels0" GROUP BY label) AS meant
UNION ALL
SELECT 1 AS attribute, SUM(CASE WHEN lowest <> highest THEN 1 ELSE 0 END) AS ambiguous, SUM(CASE WHEN label = '*' THEN 1 ELSE 0 END) AS asterisks FROM (SELECT label, MIN(lowest) AS lowest, MAX(lowest) AS highest FROM "kanon_run_beliefs0_labels1" GROUP BY label) AS meant;

-- «disclosure/beliefs/shared 2»
(SELECT labelled.*, CASE WHEN "l0" IN ('*') AND "l1" IN ('*') THEN 1 ELSE 0 END AS is_top FROM «frequency/population/classes 1» AS labelled)

-- «disclosure/beliefs/shared 1»
"kanon_run_beliefs0_classes" AS «disclosure/beliefs/shared 2»,

-- «disclosure/beliefs/shared 3»
"kanon_run_beliefs0_meaning0" AS (SELECT labels.value AS value, labels.label AS label FROM "kanon_run_beliefs0_labels0" AS labels JOIN (SELECT DISTINCT "l0" AS label FROM "kanon_run_beliefs0_classes" WHERE is_top = 0) AS written ON labels.label IS NOT DISTINCT FROM written.label),

-- «disclosure/beliefs/shared 4»
"kanon_run_beliefs0_labels1" AS «frequency/population/ambiguous 3»,

-- «disclosure/beliefs/shared 5»
"kanon_run_beliefs0_meaning1" AS (SELECT labels.value AS value, labels.label AS label FROM "kanon_run_beliefs0_labels1" AS labels JOIN (SELECT DISTINCT "l1" AS label FROM "kanon_run_beliefs0_classes" WHERE is_top = 0) AS written ON labels.label IS NOT DISTINCT FROM written.label),

-- «disclosure/beliefs/shared 6»
"kanon_run_beliefs0_matches" AS (SELECT vectors."q0" AS "v0", classes."q0" AS "q0", vectors."q1" AS "v1", classes."q1" AS "q1", vectors.row_count AS row_count FROM "kanon_run_beliefs0_vectors" AS vectors JOIN "kanon_run_beliefs0_meaning0" AS "meaning0" ON vectors."q0" IS NOT DISTINCT FROM "meaning0".value JOIN "kanon_run_beliefs0_meaning1" AS "meaning1" ON vectors."q1" IS NOT DISTINCT FROM "meaning1".value JOIN (SELECT * FROM "kanon_run_beliefs0_classes" WHERE is_top = 0) AS classes ON classes."l0" IS NOT DISTINCT FROM "meaning0".label AND classes."l1" IS NOT DISTINCT FROM "meaning1".label),

-- «disclosure/beliefs/shared 7»
(SELECT "v0", "q0", "v1", "q1" FROM "kanon_run_beliefs0_matches" UNION ALL SELECT vectors."q0", classes."q0", vectors."q1", classes."q1" FROM "kanon_run_beliefs0_vectors" AS vectors CROSS JOIN (SELECT * FROM "kanon_run_beliefs0_classes" WHERE is_top = 1) AS classes)

-- disclosure/beliefs/shared
«hierarchies/range 1»
«hierarchies/range 3»
«hierarchies/range 4»
"kanon_run_beliefs0_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs0_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 1»
«hierarchies/nesting 2»
«hierarchies/coverage 10»
«frequency/population/ambiguous 1»
«disclosure/beliefs/shared 1»
«disclosure/beliefs/shared 3»
"kanon_run_beliefs0_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 2»
«disclosure/beliefs/shared 4»
«disclosure/beliefs/shared 5»
«disclosure/beliefs/shared 6»
"kanon_run_beliefs0_behind" AS «disclosure/beliefs/shared 7»
SELECT COUNT(*) AS shared FROM (SELECT COUNT(*) AS class_count FROM "kanon_run_beliefs0_behind" GROUP BY "v0", "v1" HAVING COUNT(*) > 1) AS several;

-- «disclosure/beliefs/compared 1»
"kanon_run_beliefs0_behind" AS «disclosure/beliefs/shared 7»,

-- «disclosure/beliefs/compared 3»
(SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "s", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary")

-- «disclosure/beliefs/compared 2»
"kanon_run_beliefs0_counted_table" AS «disclosure/beliefs/compared 3»,

-- «disclosure/beliefs/compared 4»
"kanon_run_with_cells_of_17" AS (SELECT behind."q0" AS "q0", behind."q1" AS "q1", behind."v0" AS "v0", behind."v1" AS "v1", joint.s AS s, joint.weight AS weight, joint.held AS held, CAST(0 AS BIGINT) AS released, 1 AS of_person FROM "kanon_run_beliefs0_joint" AS joint JOIN "kanon_run_beliefs0_behind" AS behind ON joint."q0" IS NOT DISTINCT FROM behind."v0" AND joint."q1" IS NOT DISTINCT FROM behind."v1" UNION ALL SELECT "q0", "q1", NULL, NULL, s, CAST(0 AS DOUBLE), CAST(0 AS BIGINT), CAST(row_count AS BIGINT), 0 FROM "kanon_run_beliefs0_counted_table"),

-- «disclosure/beliefs/compared 5»
"kanon_run_with_cells_of_class_of_17" AS (SELECT cells.*, SUM(weight) OVER (PARTITION BY "q0", "q1", s) AS class_weight, SUM(released) OVER (PARTITION BY "q0", "q1", s) AS class_count FROM "kanon_run_with_cells_of_17" AS cells),

-- «disclosure/beliefs/compared 6»
"kanon_run_with_likely_cells_of_17" AS (SELECT cells_of_class.*, CASE WHEN class_weight > 0 THEN CAST(class_count AS DOUBLE) * weight / class_weight ELSE 0 END AS likelihood FROM "kanon_run_with_cells_of_class_of_17" AS cells_of_class),

-- «disclosure/beliefs/compared 7»
"kanon_run_with_cells_of_person_of_17" AS (SELECT likely_cells.*, SUM(held) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS people, SUM(weight) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS prior_total, SUM(likelihood) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS posterior_total FROM "kanon_run_with_likely_cells_of_17" AS likely_cells),

-- «disclosure/beliefs/compared 8»
(SELECT "q0", "q1", "v0", "v1", of_person, held, people, class_weight, prior_total, posterior_total, CASE WHEN prior_total > 0 THEN weight / prior_total ELSE 0 END AS prior, CASE WHEN posterior_total > 0 THEN likelihood / posterior_total ELSE 0 END AS posterior FROM "kanon_run_with_cells_of_person_of_17" AS cells_of_person WHERE of_person = 0 OR people > 0)

-- disclosure/beliefs/compared
«hierarchies/range 1»
«hierarchies/range 3»
«hierarchies/range 4»
"kanon_run_beliefs0_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs0_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 1»
«hierarchies/nesting 2»
«hierarchies/coverage 10»
«frequency/population/ambiguous 1»
«disclosure/beliefs/shared 1»
«disclosure/beliefs/shared 3»
"kanon_run_beliefs0_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 2»
«disclosure/beliefs/shared 4»
«disclosure/beliefs/shared 5»
«disclosure/beliefs/shared 6»
«disclosure/beliefs/compared 1»
«disclosure/beliefs/compared 2»
«disclosure/beliefs/compared 4»
«disclosure/beliefs/compared 5»
«disclosure/beliefs/compared 6»
«disclosure/beliefs/compared 7»
"kanon_run_beliefs0_believed" AS «disclosure/beliefs/compared 8»
SELECT CASE WHEN persons >= 5 THEN "prior_tenth" END AS prior_from, CASE WHEN persons >= 5 THEN "posterior_tenth" END AS posterior_from, SUM(persons) AS persons FROM (SELECT CASE WHEN "prior" >= 0.9 - 1.00000000000000006e-09 THEN 9 ELSE CAST(FLOOR(10 * ("prior" + 1.00000000000000006e-09)) AS BIGINT) END AS prior_tenth, CASE WHEN "posterior" >= 0.9 - 1.00000000000000006e-09 THEN 9 ELSE CAST(FLOOR(10 * ("posterior" + 1.00000000000000006e-09)) AS BIGINT) END AS posterior_tenth, SUM(held) AS persons FROM (SELECT believed.*, MIN(CASE WHEN of_person = 0 THEN class_weight END) OVER (PARTITION BY "q0", "q1") AS least_weight FROM "kanon_run_beliefs0_believed" AS believed) AS possible WHERE of_person = 1 AND held > 0 AND prior_total > 0 AND posterior_total > 0 AND least_weight > 0 GROUP BY CASE WHEN "prior" >= 0.9 - 1.00000000000000006e-09 THEN 9 ELSE CAST(FLOOR(10 * ("prior" + 1.00000000000000006e-09)) AS BIGINT) END, CASE WHEN "posterior" >= 0.9 - 1.00000000000000006e-09 THEN 9 ELSE CAST(FLOOR(10 * ("posterior" + 1.00000000000000006e-09)) AS BIGINT) END) AS cells GROUP BY CASE WHEN persons >= 5 THEN "prior_tenth" END, CASE WHEN persons >= 5 THEN "posterior_tenth" END;

-- «disclosure/beliefs/summary 1»
"kanon_run_beliefs0_believed" AS «disclosure/beliefs/compared 8»,

-- «disclosure/beliefs/summary 2»
"kanon_run_with_persons_of_22" AS (SELECT "q0", "q1", of_person * MAX(people) AS people, CASE WHEN of_person = 0 AND MIN(class_weight) <= 0 THEN 1 ELSE 0 END AS impossible, CASE WHEN (of_person = 0 AND MIN(class_weight) <= 0) OR (of_person = 1 AND (MAX(prior_total) <= 0 OR MAX(posterior_total) <= 0)) THEN 1 ELSE 0 END AS unknown, CASE WHEN of_person = 1 AND MAX(prior_total) > 0 AND MAX(posterior_total) > 0 THEN MAX(ABS(posterior - prior)) END AS belief_change, CASE WHEN of_person = 0 THEN 0 WHEN MAX(prior_total) <= 0 OR MAX(posterior_total) <= 0 THEN 1 WHEN MAX(ABS(posterior - prior)) > 2.00000001000000011e-01 THEN 1 ELSE 0 END AS exposed FROM "kanon_run_beliefs0_believed" GROUP BY of_person, "q0", "q1", "v0", "v1"),

-- «disclosure/beliefs/summary 3»
(SELECT "q0", "q1", CASE WHEN SUM(unknown) = 0 AND SUM(people) > 0 THEN MAX(belief_change) END AS belief_change, CASE WHEN SUM(unknown) = 0 AND SUM(people) > 0 AND MAX(exposed) = 0 THEN 0 ELSE 1 END AS exposed, CASE WHEN MAX(impossible) = 1 THEN SUM(people) ELSE SUM(people * exposed) END AS exposed_persons, SUM(people) AS people, MAX(impossible) AS impossible, SUM(CASE WHEN impossible = 0 THEN people * unknown ELSE 0 END) AS unknown_persons FROM "kanon_run_with_persons_of_22" AS persons GROUP BY "q0", "q1")

-- disclosure/beliefs/summary
«hierarchies/range 1»
«hierarchies/range 3»
«hierarchies/range 4»
"kanon_run_beliefs0_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs0_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 1»
«hierarchies/nesting 2»
«hierarchies/coverage 10»
«frequency/population/ambiguous 1»
«disclosure/beliefs/shared 1»
«disclosure/beliefs/shared 3»
"kanon_run_beliefs0_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 2»
«disclosure/beliefs/shared 4»
«disclosure/beliefs/shared 5»
«disclosure/beliefs/shared 6»
«disclosure/beliefs/compared 1»
«disclosure/beliefs/compared 2»
«disclosure/beliefs/compared 4»
«disclosure/beliefs/compared 5»
«disclosure/beliefs/compared 6»
«disclosure/beliefs/compared 7»
«disclosure/beliefs/summary 1»
«disclosure/beliefs/summary 2»
"kanon_run_beliefs0_judged" AS «disclosure/beliefs/summary 3»
SELECT SUM(people) AS people, SUM(exposed_persons) AS exposed_persons, SUM(impossible) AS impossible, SUM(CASE WHEN people = 0 THEN 1 ELSE 0 END) AS unmatched, SUM(unknown_persons) AS unknown_people, MAX(belief_change) AS belief_change, (SELECT SUM(held) FROM (SELECT SUM(held) AS held FROM (SELECT "q0", "q1", held, 0 AS is_behind FROM "kanon_run_beliefs0_joint" UNION ALL SELECT "v0", "v1", 0 AS held, 1 AS is_behind FROM "kanon_run_beliefs0_behind") AS every_vector GROUP BY "q0", "q1" HAVING SUM(is_behind) > 0) AS every_person) AS all_people FROM "kanon_run_beliefs0_judged";

-- «hierarchies/range 5»
WITH "kanon_run_beliefs1_counted_source" AS «hierarchies/range 2»,

-- «hierarchies/range 6»
"kanon_run_beliefs1_joint" AS (SELECT "q0", "q1", "s", SUM(weight) AS weight, CAST(SUM(held) AS BIGINT) AS held FROM (SELECT "q0", "q1", "s", CAST(row_count AS DOUBLE) AS weight, CAST(row_count AS BIGINT) AS held FROM "kanon_run_beliefs1_counted_source") AS known GROUP BY "q0", "q1", "s"),

-- hierarchies/range
«hierarchies/range 5»
«hierarchies/range 6»
"kanon_run_beliefs1_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs1_joint" GROUP BY "q0", "q1")
SELECT COUNT(*) AS out_of_range FROM (SELECT DISTINCT "q0" AS value FROM "kanon_run_beliefs1_vectors") AS distinct_values WHERE NOT value IS NULL AND NOT (CAST(value AS DOUBLE) > -100000000000000 AND CAST(value AS DOUBLE) < 100000000000000);

-- «hierarchies/nesting 5»
(SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE «hierarchies/lookup_rules 1» END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_beliefs1_vectors" GROUP BY "q0") AS distinct_values)

-- «hierarchies/nesting 4»
"kanon_run_with_labelled_of_3" AS «hierarchies/nesting 5»,

-- «hierarchies/nesting 6»
"kanon_run_with_numbers1_of_3" AS (SELECT "l1", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", COUNT(*) AS label_values FROM "kanon_run_with_labelled_of_3" AS labelled GROUP BY "l1") AS own),

-- «hierarchies/nesting 7»
(SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled_of_3" AS own JOIN "kanon_run_with_numbers1_of_3" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1")

-- hierarchies/nesting
«hierarchies/range 5»
«hierarchies/range 6»
"kanon_run_beliefs1_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs1_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 4»
«hierarchies/nesting 6»
"kanon_run_beliefs1_lookup0" AS «hierarchies/nesting 7»
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_beliefs1_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split;

-- «hierarchies/coverage 12»
"kanon_run_beliefs1_lookup0" AS «hierarchies/nesting 7»,

-- «hierarchies/coverage 13»
(SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_beliefs1_vectors" GROUP BY "q1") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1" FROM "kanon_run_beliefs1_domain1") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0")

-- hierarchies/coverage
«hierarchies/range 5»
«hierarchies/range 6»
"kanon_run_beliefs1_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs1_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 4»
«hierarchies/nesting 6»
«hierarchies/coverage 12»
"kanon_run_beliefs1_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
"kanon_run_beliefs1_lookup1" AS «hierarchies/coverage 13»
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_beliefs1_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_beliefs1_lookup0" AS labels JOIN "kanon_run_beliefs1_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value
UNION ALL
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_beliefs1_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_beliefs1_lookup1" AS labels JOIN "kanon_run_beliefs1_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value;

-- «frequency/population/ambiguous 4»
"kanon_run_beliefs1_labels0" AS (SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_beliefs1_lookup0" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, 1 AS label_level FROM "kanon_run_beliefs1_lookup0" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 2 AS label_level FROM "kanon_run_beliefs1_lookup0" AS meant) AS meanings GROUP BY value, label),

-- «frequency/population/ambiguous 5»
"kanon_run_beliefs1_lookup1" AS «hierarchies/coverage 13»,

-- «frequency/population/ambiguous 6»
(SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_beliefs1_lookup1" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, 1 AS label_level FROM "kanon_run_beliefs1_lookup1" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 2 AS label_level FROM "kanon_run_beliefs1_lookup1" AS meant) AS meanings GROUP BY value, label)

-- frequency/population/ambiguous
«hierarchies/range 5»
«hierarchies/range 6»
"kanon_run_beliefs1_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs1_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 4»
«hierarchies/nesting 6»
«hierarchies/coverage 12»
«frequency/population/ambiguous 4»
"kanon_run_beliefs1_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 5»
"kanon_run_beliefs1_labels1" AS «frequency/population/ambiguous 6»
SELECT 0 AS attribute, SUM(CASE WHEN lowest <> highest THEN 1 ELSE 0 END) AS ambiguous, SUM(CASE WHEN label = '*' THEN 1 ELSE 0 END) AS asterisks FROM (SELECT label, MIN(lowest) AS lowest, MAX(lowest) AS highest FROM "kanon_run_beliefs1_labels0" GROUP BY label) AS meant
UNION ALL
SELECT 1 AS attribute, SUM(CASE WHEN lowest <> highest THEN 1 ELSE 0 END) AS ambiguous, SUM(CASE WHEN label = '*' THEN 1 ELSE 0 END) AS asterisks FROM (SELECT label, MIN(lowest) AS lowest, MAX(lowest) AS highest FROM "kanon_run_beliefs1_labels1" GROUP BY label) AS meant;

-- «disclosure/beliefs/shared 8»
"kanon_run_beliefs1_classes" AS «disclosure/beliefs/shared 2»,

-- «disclosure/beliefs/shared 9»
"kanon_run_beliefs1_meaning0" AS (SELECT labels.value AS value, labels.label AS label FROM "kanon_run_beliefs1_labels0" AS labels JOIN (SELECT DISTINCT "l0" AS label FROM "kanon_run_beliefs1_classes" WHERE is_top = 0) AS written ON labels.label IS NOT DISTINCT FROM written.label),

-- «disclosure/beliefs/shared 10»
"kanon_run_beliefs1_labels1" AS «frequency/population/ambiguous 6»,

-- «disclosure/beliefs/shared 11»
"kanon_run_beliefs1_meaning1" AS (SELECT labels.value AS value, labels.label AS label FROM "kanon_run_beliefs1_labels1" AS labels JOIN (SELECT DISTINCT "l1" AS label FROM "kanon_run_beliefs1_classes" WHERE is_top = 0) AS written ON labels.label IS NOT DISTINCT FROM written.label),

-- «disclosure/beliefs/shared 12»
"kanon_run_beliefs1_matches" AS (SELECT vectors."q0" AS "v0", classes."q0" AS "q0", vectors."q1" AS "v1", classes."q1" AS "q1", vectors.row_count AS row_count FROM "kanon_run_beliefs1_vectors" AS vectors JOIN "kanon_run_beliefs1_meaning0" AS "meaning0" ON vectors."q0" IS NOT DISTINCT FROM "meaning0".value JOIN "kanon_run_beliefs1_meaning1" AS "meaning1" ON vectors."q1" IS NOT DISTINCT FROM "meaning1".value JOIN (SELECT * FROM "kanon_run_beliefs1_classes" WHERE is_top = 0) AS classes ON classes."l0" IS NOT DISTINCT FROM "meaning0".label AND classes."l1" IS NOT DISTINCT FROM "meaning1".label),

-- «disclosure/beliefs/shared 13»
(SELECT "v0", "q0", "v1", "q1" FROM "kanon_run_beliefs1_matches" UNION ALL SELECT vectors."q0", classes."q0", vectors."q1", classes."q1" FROM "kanon_run_beliefs1_vectors" AS vectors CROSS JOIN (SELECT * FROM "kanon_run_beliefs1_classes" WHERE is_top = 1) AS classes)

-- disclosure/beliefs/shared
«hierarchies/range 5»
«hierarchies/range 6»
"kanon_run_beliefs1_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs1_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 4»
«hierarchies/nesting 6»
«hierarchies/coverage 12»
«frequency/population/ambiguous 4»
«disclosure/beliefs/shared 8»
«disclosure/beliefs/shared 9»
"kanon_run_beliefs1_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 5»
«disclosure/beliefs/shared 10»
«disclosure/beliefs/shared 11»
«disclosure/beliefs/shared 12»
"kanon_run_beliefs1_behind" AS «disclosure/beliefs/shared 13»
SELECT COUNT(*) AS shared FROM (SELECT COUNT(*) AS class_count FROM "kanon_run_beliefs1_behind" GROUP BY "v0", "v1" HAVING COUNT(*) > 1) AS several;

-- «disclosure/beliefs/compared 9»
"kanon_run_beliefs1_behind" AS «disclosure/beliefs/shared 13»,

-- «disclosure/beliefs/compared 10»
"kanon_run_beliefs1_counted_table" AS «disclosure/beliefs/compared 3»,

-- «disclosure/beliefs/compared 12»
(SELECT behind."q0" AS "q0", behind."q1" AS "q1", behind."v0" AS "v0", behind."v1" AS "v1", joint.s AS s, joint.weight AS weight, joint.held AS held, CAST(0 AS BIGINT) AS released, 1 AS of_person FROM "kanon_run_beliefs1_joint" AS joint JOIN "kanon_run_beliefs1_behind" AS behind ON joint."q0" IS NOT DISTINCT FROM behind."v0" AND joint."q1" IS NOT DISTINCT FROM behind."v1" UNION ALL SELECT "q0", "q1", NULL, NULL, s, CAST(0 AS DOUBLE), CAST(0 AS BIGINT), CAST(row_count AS BIGINT), 0 FROM "kanon_run_beliefs1_counted_table")

-- «disclosure/beliefs/compared 11»
"kanon_run_with_cells_of_16" AS «disclosure/beliefs/compared 12»,

-- «disclosure/beliefs/compared 13»
"kanon_run_with_cells_of_class_of_16" AS (SELECT cells.*, SUM(weight) OVER (PARTITION BY "q0", "q1", s) AS class_weight, SUM(released) OVER (PARTITION BY "q0", "q1", s) AS class_count FROM "kanon_run_with_cells_of_16" AS cells),

-- «disclosure/beliefs/compared 14»
"kanon_run_with_likely_cells_of_16" AS (SELECT cells_of_class.*, CASE WHEN class_weight > 0 THEN CAST(class_count AS DOUBLE) * weight / class_weight ELSE 0 END AS likelihood FROM "kanon_run_with_cells_of_class_of_16" AS cells_of_class),

-- «disclosure/beliefs/compared 15»
"kanon_run_with_cells_of_person_of_16" AS (SELECT likely_cells.*, SUM(held) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS people, SUM(weight) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS prior_total, SUM(likelihood) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS posterior_total FROM "kanon_run_with_likely_cells_of_16" AS likely_cells),

-- «disclosure/beliefs/compared 16»
(SELECT "q0", "q1", "v0", "v1", of_person, held, people, class_weight, prior_total, posterior_total, CASE WHEN prior_total > 0 THEN weight / prior_total ELSE 0 END AS prior, CASE WHEN posterior_total > 0 THEN likelihood / posterior_total ELSE 0 END AS posterior FROM "kanon_run_with_cells_of_person_of_16" AS cells_of_person WHERE of_person = 0 OR people > 0)

-- disclosure/beliefs/compared
«hierarchies/range 5»
«hierarchies/range 6»
"kanon_run_beliefs1_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs1_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 4»
«hierarchies/nesting 6»
«hierarchies/coverage 12»
«frequency/population/ambiguous 4»
«disclosure/beliefs/shared 8»
«disclosure/beliefs/shared 9»
"kanon_run_beliefs1_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 5»
«disclosure/beliefs/shared 10»
«disclosure/beliefs/shared 11»
«disclosure/beliefs/shared 12»
«disclosure/beliefs/compared 9»
«disclosure/beliefs/compared 10»
«disclosure/beliefs/compared 11»
«disclosure/beliefs/compared 13»
«disclosure/beliefs/compared 14»
«disclosure/beliefs/compared 15»
"kanon_run_beliefs1_believed" AS «disclosure/beliefs/compared 16»
SELECT CASE WHEN persons >= 5 THEN "prior_tenth" END AS prior_from, CASE WHEN persons >= 5 THEN "posterior_tenth" END AS posterior_from, SUM(persons) AS persons FROM (SELECT CASE WHEN "prior" >= 0.9 - 1.00000000000000006e-09 THEN 9 ELSE CAST(FLOOR(10 * ("prior" + 1.00000000000000006e-09)) AS BIGINT) END AS prior_tenth, CASE WHEN "posterior" >= 0.9 - 1.00000000000000006e-09 THEN 9 ELSE CAST(FLOOR(10 * ("posterior" + 1.00000000000000006e-09)) AS BIGINT) END AS posterior_tenth, SUM(held) AS persons FROM (SELECT believed.*, MIN(CASE WHEN of_person = 0 THEN class_weight END) OVER (PARTITION BY "q0", "q1") AS least_weight FROM "kanon_run_beliefs1_believed" AS believed) AS possible WHERE of_person = 1 AND held > 0 AND prior_total > 0 AND posterior_total > 0 AND least_weight > 0 GROUP BY CASE WHEN "prior" >= 0.9 - 1.00000000000000006e-09 THEN 9 ELSE CAST(FLOOR(10 * ("prior" + 1.00000000000000006e-09)) AS BIGINT) END, CASE WHEN "posterior" >= 0.9 - 1.00000000000000006e-09 THEN 9 ELSE CAST(FLOOR(10 * ("posterior" + 1.00000000000000006e-09)) AS BIGINT) END) AS cells GROUP BY CASE WHEN persons >= 5 THEN "prior_tenth" END, CASE WHEN persons >= 5 THEN "posterior_tenth" END;

-- «disclosure/beliefs/summary 4»
(SELECT "q0", "q1", of_person * MAX(people) AS people, CASE WHEN of_person = 0 AND MIN(class_weight) <= 0 THEN 1 ELSE 0 END AS impossible, CASE WHEN (of_person = 0 AND MIN(class_weight) <= 0) OR (of_person = 1 AND (MAX(prior_total) <= 0 OR MAX(posterior_total) <= 0)) THEN 1 ELSE 0 END AS unknown, CASE WHEN of_person = 1 AND MAX(prior_total) > 0 AND MAX(posterior_total) > 0 THEN MAX(ABS(posterior - prior)) END AS belief_change, CASE WHEN of_person = 0 THEN 0 WHEN MAX(prior_total) <= 0 OR MAX(posterior_total) <= 0 THEN 1 WHEN MAX(CASE WHEN held > 0 AND posterior > 9.00000000999999994e-01 AND prior <= 9.00000000999999994e-01 THEN 1 ELSE 0 END) = 1 THEN 1 WHEN MAX(CASE WHEN people > held AND posterior < 9.99999900000000073e-03 AND prior >= 9.99999900000000073e-03 THEN 1 ELSE 0 END) = 1 THEN 1 ELSE 0 END AS exposed FROM "kanon_run_beliefs1_believed" GROUP BY of_person, "q0", "q1", "v0", "v1")

-- disclosure/beliefs/summary
«hierarchies/range 5»
«hierarchies/range 6»
"kanon_run_beliefs1_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs1_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 4»
«hierarchies/nesting 6»
«hierarchies/coverage 12»
«frequency/population/ambiguous 4»
«disclosure/beliefs/shared 8»
«disclosure/beliefs/shared 9»
"kanon_run_beliefs1_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 5»
«disclosure/beliefs/shared 10»
«disclosure/beliefs/shared 11»
«disclosure/beliefs/shared 12»
«disclosure/beliefs/compared 9»
«disclosure/beliefs/compared 10»
«disclosure/beliefs/compared 11»
«disclosure/beliefs/compared 13»
«disclosure/beliefs/compared 14»
«disclosure/beliefs/compared 15»
"kanon_run_beliefs1_believed" AS «disclosure/beliefs/compared 16»,
"kanon_run_with_persons_of_21" AS «disclosure/beliefs/summary 4»,
"kanon_run_beliefs1_judged" AS (SELECT "q0", "q1", CASE WHEN SUM(unknown) = 0 AND SUM(people) > 0 THEN MAX(belief_change) END AS belief_change, CASE WHEN SUM(unknown) = 0 AND SUM(people) > 0 AND MAX(exposed) = 0 THEN 0 ELSE 1 END AS exposed, CASE WHEN MAX(impossible) = 1 THEN SUM(people) ELSE SUM(people * exposed) END AS exposed_persons, SUM(people) AS people, MAX(impossible) AS impossible, SUM(CASE WHEN impossible = 0 THEN people * unknown ELSE 0 END) AS unknown_persons FROM "kanon_run_with_persons_of_21" AS persons GROUP BY "q0", "q1")
SELECT SUM(people) AS people, SUM(exposed_persons) AS exposed_persons, SUM(impossible) AS impossible, SUM(CASE WHEN people = 0 THEN 1 ELSE 0 END) AS unmatched, SUM(unknown_persons) AS unknown_people, MAX(belief_change) AS belief_change, (SELECT SUM(held) FROM (SELECT SUM(held) AS held FROM (SELECT "q0", "q1", held, 0 AS is_behind FROM "kanon_run_beliefs1_joint" UNION ALL SELECT "v0", "v1", 0 AS held, 1 AS is_behind FROM "kanon_run_beliefs1_behind") AS every_vector GROUP BY "q0", "q1" HAVING SUM(is_behind) > 0) AS every_person) AS all_people FROM "kanon_run_beliefs1_judged";

-- evaluate/achieved
«hierarchies/range 1»
«hierarchies/range 3»
«hierarchies/range 4»
"kanon_run_beliefs0_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs0_joint" GROUP BY "q0", "q1"),
«hierarchies/nesting 1»
«hierarchies/nesting 2»
«hierarchies/coverage 10»
«frequency/population/ambiguous 1»
«disclosure/beliefs/shared 1»
«disclosure/beliefs/shared 3»
"kanon_run_beliefs0_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 2»
«disclosure/beliefs/shared 4»
«disclosure/beliefs/shared 5»
«disclosure/beliefs/shared 6»
«disclosure/beliefs/compared 1»
«disclosure/beliefs/compared 2»
«disclosure/beliefs/compared 4»
«disclosure/beliefs/compared 5»
«disclosure/beliefs/compared 6»
«disclosure/beliefs/compared 7»
«disclosure/beliefs/summary 1»
«disclosure/beliefs/summary 2»
"kanon_run_beliefs0_judged" AS «disclosure/beliefs/summary 3»,
"kanon_run_beliefs1_counted_source" AS «hierarchies/range 2»,
«hierarchies/range 6»
"kanon_run_beliefs1_vectors" AS (SELECT "q0", "q1", SUM(held) AS row_count FROM "kanon_run_beliefs1_joint" GROUP BY "q0", "q1"),
"kanon_run_with_labelled_of_27" AS «hierarchies/nesting 5»,
"kanon_run_with_numbers1_of_27" AS (SELECT "l1", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", COUNT(*) AS label_values FROM "kanon_run_with_labelled_of_27" AS labelled GROUP BY "l1") AS own),
"kanon_run_beliefs1_lookup0" AS (SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled_of_27" AS own JOIN "kanon_run_with_numbers1_of_27" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1"),
«frequency/population/ambiguous 4»
«disclosure/beliefs/shared 8»
«disclosure/beliefs/shared 9»
"kanon_run_beliefs1_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 5»
«disclosure/beliefs/shared 10»
«disclosure/beliefs/shared 11»
«disclosure/beliefs/shared 12»
«disclosure/beliefs/compared 9»
«disclosure/beliefs/compared 10»
"kanon_run_with_cells_of_40" AS «disclosure/beliefs/compared 12»,
"kanon_run_with_cells_of_class_of_40" AS (SELECT cells.*, SUM(weight) OVER (PARTITION BY "q0", "q1", s) AS class_weight, SUM(released) OVER (PARTITION BY "q0", "q1", s) AS class_count FROM "kanon_run_with_cells_of_40" AS cells),
"kanon_run_with_likely_cells_of_40" AS (SELECT cells_of_class.*, CASE WHEN class_weight > 0 THEN CAST(class_count AS DOUBLE) * weight / class_weight ELSE 0 END AS likelihood FROM "kanon_run_with_cells_of_class_of_40" AS cells_of_class),
"kanon_run_with_cells_of_person_of_40" AS (SELECT likely_cells.*, SUM(held) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS people, SUM(weight) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS prior_total, SUM(likelihood) OVER (PARTITION BY of_person, "q0", "q1", "v0", "v1") AS posterior_total FROM "kanon_run_with_likely_cells_of_40" AS likely_cells),
"kanon_run_beliefs1_believed" AS (SELECT "q0", "q1", "v0", "v1", of_person, held, people, class_weight, prior_total, posterior_total, CASE WHEN prior_total > 0 THEN weight / prior_total ELSE 0 END AS prior, CASE WHEN posterior_total > 0 THEN likelihood / posterior_total ELSE 0 END AS posterior FROM "kanon_run_with_cells_of_person_of_40" AS cells_of_person WHERE of_person = 0 OR people > 0),
"kanon_run_with_persons_of_45" AS «disclosure/beliefs/summary 4»,
"kanon_run_beliefs1_judged" AS (SELECT "q0", "q1", CASE WHEN SUM(unknown) = 0 AND SUM(people) > 0 THEN MAX(belief_change) END AS belief_change, CASE WHEN SUM(unknown) = 0 AND SUM(people) > 0 AND MAX(exposed) = 0 THEN 0 ELSE 1 END AS exposed, CASE WHEN MAX(impossible) = 1 THEN SUM(people) ELSE SUM(people * exposed) END AS exposed_persons, SUM(people) AS people, MAX(impossible) AS impossible, SUM(CASE WHEN impossible = 0 THEN people * unknown ELSE 0 END) AS unknown_persons FROM "kanon_run_with_persons_of_45" AS persons GROUP BY "q0", "q1")
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0_second" = 0 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0_second" = 0 THEN 0 ELSE class_rows END) AS "violating_rows0", MAX("m0_second") AS "second0", MAX("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1_second" = 0 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1_second" = 0 THEN 0 ELSE class_rows END) AS "violating_rows1", MAX("m1_second") AS "second1" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", "m0_second", "m1", "m1_second", CASE WHEN ("m0_second" = 0) AND ("m1_second" = 0) THEN 1 ELSE 0 END AS satisfied FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0", MAX(pooled."m0_second") AS "m0_second", MAX(pooled."m1") AS "m1", MAX(pooled."m1_second") AS "m1_second" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, "m0", "m0_second", NULL AS "m1", NULL AS "m1_second" FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0", MAX(pooled."m0_second") AS "m0_second" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m0", NULL AS "m0_second" FROM «evaluate/achieved 15» AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, "m0", "m0_second" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MAX(belief_change) AS "m0", MAX(exposed) AS "m0_second" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, "belief_change", "exposed" FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN("belief_change") AS "belief_change", MIN("exposed") AS "exposed" FROM (SELECT "q0", "q1", 1 AS value_code, 0 AS reference_share, belief_change, exposed, 1 AS row_count FROM "kanon_run_beliefs0_judged") AS frequency GROUP BY "q0", "q1", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, NULL, NULL, "m1", "m1_second" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MAX(belief_change) AS "m1", MAX(exposed) AS "m1_second" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, "belief_change", "exposed" FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN("belief_change") AS "belief_change", MIN("exposed") AS "exposed" FROM (SELECT "q0", "q1", 1 AS value_code, 0 AS reference_share, belief_change, exposed, 1 AS row_count FROM "kanon_run_beliefs1_judged") AS frequency GROUP BY "q0", "q1", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."other" AS checked;

-- «hierarchies/range 7»
(SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary")

-- hierarchies/range
WITH "kanon_run_consistency_records" AS «hierarchies/range 7»
SELECT COUNT(*) AS out_of_range FROM (SELECT DISTINCT "q0" AS value FROM "kanon_run_consistency_records") AS distinct_values WHERE NOT value IS NULL AND NOT (CAST(value AS DOUBLE) > -100000000000000 AND CAST(value AS DOUBLE) < 100000000000000);

-- «hierarchies/nesting 8»
WITH "kanon_run_consistency_records" AS «hierarchies/range 7»,

-- «hierarchies/nesting 10»
(SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE «hierarchies/lookup_rules 1» END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_consistency_records" GROUP BY "q0") AS distinct_values)

-- «hierarchies/nesting 9»
"kanon_run_with_labelled_of_1" AS «hierarchies/nesting 10»,

-- «hierarchies/nesting 11»
"kanon_run_with_numbers1_of_1" AS (SELECT "l1", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", COUNT(*) AS label_values FROM "kanon_run_with_labelled_of_1" AS labelled GROUP BY "l1") AS own),

-- «hierarchies/nesting 12»
(SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled_of_1" AS own JOIN "kanon_run_with_numbers1_of_1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1")

-- hierarchies/nesting
«hierarchies/nesting 8»
«hierarchies/nesting 9»
«hierarchies/nesting 11»
"kanon_run_consistency_lookup0" AS «hierarchies/nesting 12»
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_consistency_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split;

-- «hierarchies/coverage 14»
"kanon_run_consistency_lookup0" AS «hierarchies/nesting 12»,

-- «hierarchies/coverage 15»
(SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_consistency_records" GROUP BY "q1") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1" FROM "kanon_run_consistency_domain1") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0")

-- hierarchies/coverage
«hierarchies/nesting 8»
«hierarchies/nesting 9»
«hierarchies/nesting 11»
«hierarchies/coverage 14»
"kanon_run_consistency_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
"kanon_run_consistency_lookup1" AS «hierarchies/coverage 15»
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_consistency_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_consistency_lookup0" AS labels JOIN "kanon_run_consistency_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value
UNION ALL
SELECT 1 AS attribute, (SELECT COUNT(*) FROM "kanon_run_consistency_lookup1") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_consistency_lookup1" AS labels JOIN "kanon_run_consistency_lookup1" AS found ON labels.value IS NOT DISTINCT FROM found.value;

-- «frequency/population/ambiguous 7»
"kanon_run_consistency_labels0" AS (SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_consistency_lookup0" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, 1 AS label_level FROM "kanon_run_consistency_lookup0" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 2 AS label_level FROM "kanon_run_consistency_lookup0" AS meant) AS meanings GROUP BY value, label),

-- «frequency/population/ambiguous 8»
"kanon_run_consistency_lookup1" AS «hierarchies/coverage 15»,

-- «frequency/population/ambiguous 9»
(SELECT value, label, MIN(label_level) AS lowest FROM (SELECT meant.value AS value, CAST(meant.l0 AS TEXT) COLLATE "binary" AS label, 0 AS label_level FROM "kanon_run_consistency_lookup1" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l1 AS TEXT) COLLATE "binary" AS label, 1 AS label_level FROM "kanon_run_consistency_lookup1" AS meant UNION ALL SELECT meant.value AS value, CAST(meant.l2 AS TEXT) COLLATE "binary" AS label, 2 AS label_level FROM "kanon_run_consistency_lookup1" AS meant) AS meanings GROUP BY value, label)

-- frequency/population/ambiguous
«hierarchies/nesting 8»
«hierarchies/nesting 9»
«hierarchies/nesting 11»
«hierarchies/coverage 14»
«frequency/population/ambiguous 7»
"kanon_run_consistency_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 8»
"kanon_run_consistency_labels1" AS «frequency/population/ambiguous 9»
SELECT 0 AS attribute, SUM(CASE WHEN lowest <> highest THEN 1 ELSE 0 END) AS ambiguous, SUM(CASE WHEN label = '*' THEN 1 ELSE 0 END) AS asterisks FROM (SELECT label, MIN(lowest) AS lowest, MAX(lowest) AS highest FROM "kanon_run_consistency_labels0" GROUP BY label) AS meant
UNION ALL
SELECT 1 AS attribute, SUM(CASE WHEN lowest <> highest THEN 1 ELSE 0 END) AS ambiguous, SUM(CASE WHEN label = '*' THEN 1 ELSE 0 END) AS asterisks FROM (SELECT label, MIN(lowest) AS lowest, MAX(lowest) AS highest FROM "kanon_run_consistency_labels1" GROUP BY label) AS meant;

-- «frequency/all_found 6»
(SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS TEXT) COLLATE "binary")

-- frequency/all_found
«hierarchies/nesting 8»
«hierarchies/nesting 9»
«hierarchies/nesting 11»
«hierarchies/coverage 14»
"kanon_run_consistency_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 8»
"kanon_run_consistency_rows" AS «frequency/all_found 6»
SELECT 1 AS known, (SELECT COUNT(*) FROM "clinic"."visits" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_consistency_records" AS own JOIN "kanon_run_consistency_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_consistency_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value) AS "found0", (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_consistency_rows" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_consistency_rows") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_consistency_rows") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value) AS "found1";

-- «evaluate/consistency/sizes 1»
"kanon_run_consistency_classes" AS «disclosure/beliefs/shared 2»,

-- «evaluate/consistency/sizes 2»
"kanon_run_consistency_rows" AS «frequency/all_found 6»,

-- «evaluate/consistency/sizes 3»
(SELECT classes."q0" AS "q0", classes."q1" AS "q1", classes."l0" AS "l0", classes."l1" AS "l1", CASE WHEN classes.is_top = 1 THEN CAST(0 AS BIGINT) ELSE CAST(DENSE_RANK() OVER (ORDER BY classes."l0" ASC, classes."l1" ASC) AS BIGINT) END AS place, counted.row_count AS row_count FROM "kanon_run_consistency_classes" AS classes JOIN "kanon_run_consistency_rows" AS counted ON classes."q0" IS NOT DISTINCT FROM counted."q0" AND classes."q1" IS NOT DISTINCT FROM counted."q1")

-- evaluate/consistency/sizes
«hierarchies/nesting 8»
"kanon_run_consistency_numbered" AS (SELECT CAST(ROW_NUMBER() OVER (ORDER BY "q0" ASC, "q1" ASC) AS BIGINT) AS vector, "q0", "q1", row_count FROM "kanon_run_consistency_records" AS counted),
«evaluate/consistency/sizes 1»
«evaluate/consistency/sizes 2»
"kanon_run_consistency_shown" AS «evaluate/consistency/sizes 3»
SELECT (SELECT COUNT(*) FROM "kanon_run_consistency_numbered" AS vectors) AS vectors, (SELECT COUNT(*) FROM "kanon_run_consistency_shown" AS shown) AS classes, (SELECT COALESCE(SUM(row_count), 0) FROM "kanon_run_consistency_shown" AS shown) AS judged_rows, (SELECT COALESCE(SUM(row_count), 0) FROM "kanon_run_consistency_rows" AS counted) AS all_rows;

-- «evaluate/consistency/summary 1»
"kanon_run_consistency_shown" AS «evaluate/consistency/sizes 3»,

-- «evaluate/consistency/summary 2»
"kanon_run_with_labelled_of_5" AS «hierarchies/nesting 10»,

-- «evaluate/consistency/summary 3»
"kanon_run_with_numbers1_of_5" AS (SELECT "l1", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", COUNT(*) AS label_values FROM "kanon_run_with_labelled_of_5" AS labelled GROUP BY "l1") AS own),

-- «evaluate/consistency/summary 4»
"kanon_run_consistency_lookup0" AS (SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled_of_5" AS own JOIN "kanon_run_with_numbers1_of_5" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1"),

-- «evaluate/consistency/summary 5»
"kanon_run_consistency_meaning0" AS (SELECT labels.value AS value, labels.label AS label FROM "kanon_run_consistency_labels0" AS labels JOIN (SELECT DISTINCT "l0" AS label FROM "kanon_run_consistency_classes" WHERE is_top = 0) AS written ON labels.label IS NOT DISTINCT FROM written.label),

-- «evaluate/consistency/summary 6»
"kanon_run_consistency_labelled0" AS (SELECT DISTINCT vectors.vector AS vector, vectors.row_count AS row_count, vectors."q1" AS "q1", meaning.label AS "l0" FROM "kanon_run_consistency_numbered" AS vectors JOIN "kanon_run_consistency_meaning0" AS meaning ON vectors."q0" IS NOT DISTINCT FROM meaning.value JOIN (SELECT DISTINCT "l0" FROM "kanon_run_consistency_shown" WHERE place > 0) AS released ON meaning.label IS NOT DISTINCT FROM released."l0"),

-- «evaluate/consistency/summary 7»
"kanon_run_consistency_labels1" AS «frequency/population/ambiguous 9»,

-- «evaluate/consistency/summary 8»
"kanon_run_consistency_meaning1" AS (SELECT labels.value AS value, labels.label AS label FROM "kanon_run_consistency_labels1" AS labels JOIN (SELECT DISTINCT "l1" AS label FROM "kanon_run_consistency_classes" WHERE is_top = 0) AS written ON labels.label IS NOT DISTINCT FROM written.label),

-- «evaluate/consistency/summary 9»
"kanon_run_consistency_labelled1" AS (SELECT DISTINCT vectors.vector AS vector, vectors.row_count AS row_count, vectors."l0" AS "l0", meaning.label AS "l1" FROM "kanon_run_consistency_labelled0" AS vectors JOIN "kanon_run_consistency_meaning1" AS meaning ON vectors."q1" IS NOT DISTINCT FROM meaning.value JOIN (SELECT DISTINCT "l0", "l1" FROM "kanon_run_consistency_shown" WHERE place > 0) AS released ON vectors."l0" IS NOT DISTINCT FROM released."l0" AND meaning.label IS NOT DISTINCT FROM released."l1"),

-- «evaluate/consistency/summary 11»
(SELECT vectors.vector AS vector, vectors.row_count AS records, released.place AS place, released.row_count AS released FROM "kanon_run_consistency_labelled1" AS vectors JOIN (SELECT "l0", "l1", place, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_consistency_shown" AS shown WHERE place > 0 GROUP BY "l0", "l1", place) AS released ON vectors."l0" IS NOT DISTINCT FROM released."l0" AND vectors."l1" IS NOT DISTINCT FROM released."l1" UNION ALL SELECT person_vectors.vector AS vector, person_vectors.row_count AS records, tops.place AS place, tops.row_count AS released FROM "kanon_run_consistency_numbered" AS person_vectors CROSS JOIN (SELECT place, CAST(SUM(row_count) AS BIGINT) AS row_count FROM "kanon_run_consistency_shown" AS shown WHERE place = 0 GROUP BY place) AS tops)

-- «evaluate/consistency/summary 10»
"kanon_run_consistency_edges" AS «evaluate/consistency/summary 11»

-- evaluate/consistency/summary
«hierarchies/nesting 8»
"kanon_run_consistency_numbered" AS (SELECT CAST(ROW_NUMBER() OVER (ORDER BY "q0" ASC, "q1" ASC) AS BIGINT) AS vector, "q0", "q1", row_count FROM "kanon_run_consistency_records" AS counted),
«evaluate/consistency/sizes 1»
«evaluate/consistency/sizes 2»
«evaluate/consistency/summary 1»
«evaluate/consistency/summary 2»
«evaluate/consistency/summary 3»
«evaluate/consistency/summary 4»
«frequency/population/ambiguous 7»
«evaluate/consistency/summary 5»
«evaluate/consistency/summary 6»
"kanon_run_consistency_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 8»
«evaluate/consistency/summary 7»
«evaluate/consistency/summary 8»
«evaluate/consistency/summary 9»
«evaluate/consistency/summary 10»
SELECT (SELECT COALESCE(SUM(row_count), 0) FROM "kanon_run_consistency_numbered" AS vectors) AS all_records, (SELECT COALESCE(SUM(row_count), 0) FROM "kanon_run_consistency_shown" AS shown) AS all_rows, COALESCE(SUM(CASE WHEN record_edge = 1 THEN records ELSE 0 END), 0) AS known_records, COALESCE(SUM(CASE WHEN row_edge = 1 THEN released ELSE 0 END), 0) AS known_rows, COALESCE(MAX(degree), 0) AS degree, COALESCE(SUM(CASE WHEN row_edge = 1 AND released > of_row THEN released - of_row ELSE 0 END), 0) AS missing_records FROM (SELECT records, released, COUNT(*) OVER (PARTITION BY vector) AS degree, SUM(records) OVER (PARTITION BY place) AS of_row, ROW_NUMBER() OVER (PARTITION BY vector ORDER BY place ASC) AS record_edge, ROW_NUMBER() OVER (PARTITION BY place ORDER BY vector ASC) AS row_edge FROM "kanon_run_consistency_edges" AS edges) AS shown_rows;

-- evaluate/consistency/graph
«hierarchies/nesting 8»
"kanon_run_consistency_numbered" AS (SELECT CAST(ROW_NUMBER() OVER (ORDER BY "q0" ASC, "q1" ASC) AS BIGINT) AS vector, "q0", "q1", row_count FROM "kanon_run_consistency_records" AS counted),
"kanon_run_with_labelled_of_2" AS «hierarchies/nesting 10»,
"kanon_run_with_numbers1_of_2" AS (SELECT "l1", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", COUNT(*) AS label_values FROM "kanon_run_with_labelled_of_2" AS labelled GROUP BY "l1") AS own),
"kanon_run_consistency_lookup0" AS (SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled_of_2" AS own JOIN "kanon_run_with_numbers1_of_2" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1"),
«frequency/population/ambiguous 7»
«evaluate/consistency/sizes 1»
«evaluate/consistency/summary 5»
«evaluate/consistency/sizes 2»
«evaluate/consistency/summary 1»
«evaluate/consistency/summary 6»
"kanon_run_consistency_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 8»
«evaluate/consistency/summary 7»
«evaluate/consistency/summary 8»
«evaluate/consistency/summary 9»
«evaluate/consistency/summary 10»
SELECT own, low, high, place, MIN(released) AS released, SUM(records) AS records FROM (SELECT CASE WHEN COUNT(*) OVER (PARTITION BY vector) <= 2 THEN 0 ELSE vector END AS own, MIN(place) OVER (PARTITION BY vector) AS low, MAX(place) OVER (PARTITION BY vector) AS high, place, released, records FROM "kanon_run_consistency_edges" AS edges) AS edges_known GROUP BY own, low, high, place LIMIT 50001;

-- evaluate/achieved
WITH "kanon_run_consistency_classes" AS «disclosure/beliefs/shared 2»,
«evaluate/consistency/sizes 2»
«evaluate/consistency/summary 1»
"kanon_run_consistency_records" AS «hierarchies/range 7»,
"kanon_run_consistency_numbered" AS (SELECT CAST(ROW_NUMBER() OVER (ORDER BY "q0" ASC, "q1" ASC) AS BIGINT) AS vector, "q0", "q1", row_count FROM "kanon_run_consistency_records" AS counted),
«evaluate/consistency/summary 2»
«evaluate/consistency/summary 3»
«evaluate/consistency/summary 4»
«frequency/population/ambiguous 7»
«evaluate/consistency/summary 5»
«evaluate/consistency/summary 6»
"kanon_run_consistency_domain1" AS (
SELECT * FROM (VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*')
) AS given ("l0", "l1", "l2")),
«frequency/population/ambiguous 8»
«evaluate/consistency/summary 7»
«evaluate/consistency/summary 8»
«evaluate/consistency/summary 9»
"kanon_run_consistency_edges" AS «evaluate/consistency/summary 11»,
"kanon_run_consistency_counted" AS (SELECT place, CAST(SUM(records) AS BIGINT) AS records, CAST(MIN(seen) AS BIGINT) AS fewest_rows FROM (SELECT place, records, SUM(released) OVER (PARTITION BY vector) AS seen FROM "kanon_run_consistency_edges" AS edges) AS shown_rows GROUP BY place),
"kanon_run_consistency_matches" AS (
SELECT * FROM (VALUES
  ('0', '0')
) AS given ("l0", "l1"))
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "m0" >= 2 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "m0" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows0", MIN("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows1", MIN("m2") AS "worst2", SUM(CASE WHEN "m2" IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN "m2" >= 2 THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN "m2" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows2", MIN("m3") AS "worst3", SUM(CASE WHEN "m3" IS NULL THEN 1 ELSE 0 END) AS "unbounded3", SUM(CASE WHEN "m3" >= 2 THEN 0 ELSE 1 END) AS "violating_classes3", SUM(CASE WHEN "m3" >= 2 THEN 0 ELSE class_rows END) AS "violating_rows3" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", "m1", "m2", "m3", CASE WHEN ("m0" >= 2) AND ("m1" >= 2) AND ("m2" >= 2) AND ("m3" >= 2) THEN 1 ELSE 0 END AS satisfied FROM (SELECT pooled."k0" AS "k0", pooled."k1" AS "k1", MAX(pooled.class_rows) AS class_rows, MAX(pooled.class_size) AS class_size, MAX(pooled."m0") AS "m0", MAX(pooled."m1") AS "m1", MAX(pooled."m2") AS "m2", MAX(pooled."m3") AS "m3" FROM (SELECT "k0", "k1", class_rows, NULL AS value_rows, class_size, NULL AS most_held, NULL AS "m0", NULL AS "m1", NULL AS "m2", NULL AS "m3" FROM «evaluate/achieved 15» AS base UNION ALL SELECT "k0", "k1", NULL, class_rows, NULL, most_held, "m0", "m1", "m2", "m3" FROM (SELECT "k0", "k1", SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, MIN(CASE WHEN records < fewest_rows THEN records ELSE fewest_rows END) AS "m0", MIN(fewest_rows) AS "m1", MIN(records) AS "m2", MIN(fewest_matches) AS "m3" FROM (SELECT "k0", "k1", value_code, value_rows, value_count, reference_share, "records", "fewest_rows", "fewest_matches" FROM (SELECT "q0" AS "k0", "q1" AS "k1", value_code, SUM(row_count) AS value_rows, SUM(row_count) AS value_count, MIN(reference_share) AS reference_share, MIN("records") AS "records", MIN("fewest_rows") AS "fewest_rows", MIN("fewest_matches") AS "fewest_matches" FROM (SELECT shown."q0" AS "q0", shown."q1" AS "q1", 1 AS value_code, 0 AS reference_share, COALESCE(counted.records, 0) AS records, COALESCE(counted.fewest_rows, 0) AS fewest_rows, COALESCE(CAST(matches.l1 AS BIGINT), 0) AS fewest_matches, 1 AS row_count FROM "kanon_run_consistency_shown" AS shown LEFT JOIN "kanon_run_consistency_counted" AS counted ON shown.place = counted.place LEFT JOIN "kanon_run_consistency_matches" AS matches ON shown.place = CAST(matches.l0 AS BIGINT)) AS frequency GROUP BY "q0", "q1", value_code) AS counted) AS ranked GROUP BY "k0", "k1") AS judged) AS pooled GROUP BY pooled."k0", pooled."k1" HAVING COUNT(*) = 2) AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."other" AS checked;

-- «hierarchies/coverage 16»
WITH "kanon_run_raw0" AS (SELECT CAST("original"."dx" AS TEXT) COLLATE "binary" AS "v0", COUNT(*) AS row_count FROM "clinic"."visits" AS original GROUP BY CAST("original"."dx" AS TEXT) COLLATE "binary"),

-- «hierarchies/coverage 17»
(SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."d1", 0) AS "d1", COALESCE(labelled."s1", 1) AS "s1", labelled."l2", COALESCE(labelled."c2", 0) AS "c2", COALESCE(labelled."s2", 1) AS "s2", '*' AS "l3" FROM (SELECT "v0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw0" GROUP BY "v0") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(DENSE_RANK() OVER (PARTITION BY "l2" ORDER BY "l1" ASC) - 1 AS BIGINT) AS "d1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1", "l2", CAST(DENSE_RANK() OVER (ORDER BY "l2" ASC) AS BIGINT) AS "c2", CAST(COUNT(*) OVER (PARTITION BY "l2") AS INT) AS "s2" FROM "kanon_run_domain_sensitive0") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0")

-- «hierarchies/coverage 18»
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup_sensitive0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL OR labels."l2" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup_sensitive0" AS labels JOIN "kanon_run_lookup_sensitive0" AS found ON labels.value IS NOT DISTINCT FROM found.value

-- hierarchies/coverage
«hierarchies/coverage 16»
"kanon_run_domain_sensitive0" AS (
SELECT * FROM (VALUES
  ('a', 'y', 'x', '*'),
  ('it''s', 'y', 'x', '*'),
  ('b\', 'w', 'z', '*')
) AS given ("l0", "l1", "l2", "l3")),
"kanon_run_lookup_sensitive0" AS «hierarchies/coverage 17»
«hierarchies/coverage 18»;

-- «evaluate/achieved 16»
"kanon_run_reference0" AS (SELECT value AS reference_value, COALESCE(CAST(reference_count AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS reference_share, "group1", COALESCE(CAST(SUM(reference_count) OVER (PARTITION BY "group1") AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS "group_share1", "group2", COALESCE(CAST(SUM(reference_count) OVER (PARTITION BY "group2") AS DOUBLE) / NULLIF(CAST(SUM(reference_count) OVER () AS DOUBLE), 0), 0) AS "group_share2" FROM (SELECT counts.value, counts.reference_count, lookup."c1" AS "group1", lookup."c2" AS "group2" FROM (SELECT CAST("original"."dx" AS TEXT) COLLATE "binary" AS value, COUNT(*) AS reference_count FROM "clinic"."visits" AS original GROUP BY CAST("original"."dx" AS TEXT) COLLATE "binary") AS counts LEFT JOIN "kanon_run_lookup_sensitive0" AS lookup ON counts.value IS NOT DISTINCT FROM lookup.value) AS value_counts),

-- «evaluate/achieved 17»
"kanon_run_with_cells" AS (SELECT "q0", "q1", value_code, CAST(COUNT(*) AS BIGINT) AS row_count FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value_code, 1 AS row_count FROM "clinic"."other" AS checked) AS frequency GROUP BY "q0", "q1", value_code), "kanon_run_with_numbers" AS (SELECT "q0", "q1", CAST(SUM(row_count) AS BIGINT) AS class_total, ROW_NUMBER() OVER (ORDER BY COUNT(*) ASC) AS class_number FROM "kanon_run_with_cells" AS cells GROUP BY "q0", "q1") SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END END AS size_number FROM (SELECT "class_rows", "class_size", "m0", CASE WHEN (NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS satisfied FROM (SELECT SUM(value_rows) AS class_rows, SUM(value_count) AS class_size, MAX(CASE WHEN NOT value_code IS NULL AND value_count > 0 THEN value_count END) AS most_held, CASE WHEN SUM(value_count) > 0 AND SUM(CASE WHEN value_count > 0 AND group1 IS NULL THEN 1 ELSE 0 END) = 0 THEN «evaluate/node 5» / 3 ELSE NULL END AS "m0" FROM (SELECT "k0", value_code, value_rows, value_count, reference_share, "group1", "group_share1", "group2", "group_share2", class_total, SUM(value_count) OVER (PARTITION BY "k0", "group1") AS "group_total1", SUM(value_count) OVER (PARTITION BY "k0", "group2") AS "group_total2" FROM (SELECT held."k0" AS "k0", held.value_code AS value_code, held.value_rows AS value_rows, held.value_count AS value_count, held.class_total AS class_total, COALESCE(CASE WHEN held.value_code IS NULL THEN of_null."reference_share" ELSE reference."reference_share" END, 0) AS reference_share, CASE WHEN held.value_code IS NULL THEN of_null."group1" ELSE reference."group1" END AS "group1", CASE WHEN held.value_code IS NULL THEN of_null."group_share1" ELSE reference."group_share1" END AS "group_share1", CASE WHEN held.value_code IS NULL THEN of_null."group2" ELSE reference."group2" END AS "group2", CASE WHEN held.value_code IS NULL THEN of_null."group_share2" ELSE reference."group_share2" END AS "group_share2" FROM «evaluate/achieved 9» AS held LEFT JOIN "kanon_run_reference0" AS reference ON held.value_code COLLATE "binary" = reference.reference_value CROSS JOIN (SELECT MAX(CASE WHEN reference_value IS NULL THEN reference_share END) AS reference_share, MAX(CASE WHEN reference_value IS NULL THEN "group1" END) AS "group1", MAX(CASE WHEN reference_value IS NULL THEN "group_share1" END) AS "group_share1", MAX(CASE WHEN reference_value IS NULL THEN "group2" END) AS "group2", MAX(CASE WHEN reference_value IS NULL THEN "group_share2" END) AS "group_share2" FROM "kanon_run_reference0" AS every_value) AS of_null) AS counted) AS ranked GROUP BY "k0") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."other" AS checked

-- evaluate/achieved
«hierarchies/coverage 16»
"kanon_run_domain_sensitive0" AS (
SELECT * FROM (VALUES
  ('a', 'y', 'x', '*'),
  ('it''s', 'y', 'x', '*'),
  ('b\', 'w', 'z', '*')
) AS given ("l0", "l1", "l2", "l3")),
"kanon_run_lookup_sensitive0" AS «hierarchies/coverage 17»,
«evaluate/achieved 16»
«evaluate/achieved 17»;

-- «hierarchies/nesting 13»
"kanon_run_with_labelled_of_1" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 2 THEN SUBSTRING(CAST(value AS TEXT), 1, 2) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 2) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l2" FROM (SELECT "v0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw0" GROUP BY "v0") AS distinct_values),

-- «hierarchies/nesting 14»
"kanon_run_with_numbers1_of_1" AS (SELECT "l1", "l2", CAST(DENSE_RANK() OVER (ORDER BY own."l1" ASC) AS BIGINT) AS "c1", CAST(DENSE_RANK() OVER (PARTITION BY own."l2" ORDER BY own."l1" ASC) - 1 AS BIGINT) AS "d1", CAST(SUM(label_values) OVER (PARTITION BY own."l1") AS INT) AS "s1" FROM (SELECT "l1", "l2", COUNT(*) AS label_values FROM "kanon_run_with_labelled_of_1" AS labelled GROUP BY "l1", "l2") AS own),

-- «hierarchies/nesting 15»
"kanon_run_with_numbers2_of_1" AS (SELECT "l2", CAST(DENSE_RANK() OVER (ORDER BY own."l2" ASC) AS BIGINT) AS "c2", CAST(SUM(label_values) OVER (PARTITION BY own."l2") AS INT) AS "s2" FROM (SELECT "l2", COUNT(*) AS label_values FROM "kanon_run_with_labelled_of_1" AS labelled GROUP BY "l2") AS own),

-- «hierarchies/nesting 17»
(SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "d1", "s1", own."l2" AS "l2", "c2", "s2", '*' AS "l3" FROM "kanon_run_with_labelled_of_1" AS own JOIN "kanon_run_with_numbers1_of_1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1" AND own."l2" IS NOT DISTINCT FROM "numbers1"."l2" JOIN "kanon_run_with_numbers2_of_1" AS "numbers2" ON own."l2" IS NOT DISTINCT FROM "numbers2"."l2")

-- «hierarchies/nesting 16»
"kanon_run_lookup_sensitive0" AS «hierarchies/nesting 17»

-- hierarchies/nesting
«hierarchies/coverage 16»
«hierarchies/nesting 13»
«hierarchies/nesting 14»
«hierarchies/nesting 15»
«hierarchies/nesting 16»
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS split_labels FROM (SELECT "l0" FROM "kanon_run_lookup_sensitive0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS split
UNION ALL
SELECT 0 AS attribute, 1 AS level, COUNT(*) AS split_labels FROM (SELECT "l1" FROM "kanon_run_lookup_sensitive0" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS split;

-- hierarchies/coverage
«hierarchies/coverage 16»
«hierarchies/nesting 13»
«hierarchies/nesting 14»
«hierarchies/nesting 15»
«hierarchies/nesting 16»
«hierarchies/coverage 18»;

-- hierarchies/label_counts
«hierarchies/coverage 16»
«hierarchies/nesting 13»
«hierarchies/nesting 14»
«hierarchies/nesting 15»
«hierarchies/nesting 16»
SELECT COUNT(DISTINCT "l1") AS "different_labels1", COUNT(DISTINCT "l2") AS "different_labels2" FROM "kanon_run_lookup_sensitive0" AS checked;

-- evaluate/achieved
«hierarchies/coverage 16»
«hierarchies/nesting 13»
«hierarchies/nesting 14»
«hierarchies/nesting 15»
"kanon_run_lookup_sensitive0" AS «hierarchies/nesting 17»,
«evaluate/achieved 16»
«evaluate/achieved 17»;

-- evaluate/achieved
SELECT size_number AS size_number, COUNT(*) AS classes, SUM(satisfied) AS kept_classes, SUM(class_rows) AS class_rows, SUM(class_size) AS class_sizes, NULL AS all_size, SUM(CASE WHEN satisfied = 0 THEN class_rows ELSE 0 END) AS violating_rows, MIN(class_rows) AS smallest_class, MAX(class_rows) AS largest_class, MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE class_rows END) AS "violating_rows0" FROM (SELECT flagged.*, CASE WHEN class_size < 1 THEN 0 ELSE 3 * LENGTH(CAST(CAST(class_size AS BIGINT) AS TEXT)) - CASE WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '2' THEN 2 WHEN CAST(CAST(class_size AS BIGINT) AS TEXT) < '5' THEN 1 ELSE 0 END + CASE WHEN class_size < 3 THEN 0 ELSE 1 END END AS size_number FROM (SELECT "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS satisfied FROM (SELECT CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_rows, CAST(CAST(COUNT(*) AS BIGINT) AS BIGINT) AS class_size FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM "clinic"."other" AS checked) AS frequency GROUP BY "q0", "q1") AS classes) AS flagged) AS flagged GROUP BY size_number UNION ALL SELECT -2 AS size_number, NULL AS classes, NULL AS kept_classes, COUNT(*) AS class_rows, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM "clinic"."other" AS checked;

-- disclosure/invariance
WITH "kanon_run_with_earlier_rows" AS (SELECT person, value, DENSE_RANK() OVER (ORDER BY "k0" ASC, "k1" ASC) AS class_id FROM (SELECT "checked"."age" AS "k0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "k1", "checked"."person" AS person, CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value FROM "clinic"."before" AS checked) AS earlier_table), "kanon_run_with_present_rows" AS (SELECT person, value, DENSE_RANK() OVER (ORDER BY "k0" ASC, "k1" ASC) AS class_id FROM (SELECT "checked"."age" AS "k0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "k1", "checked"."person" AS person, CAST("checked"."dx" AS TEXT) COLLATE "binary" AS value FROM "clinic"."other" AS checked) AS present_table), "kanon_run_with_earlier_classes" AS (SELECT class_id, COUNT(*) AS class_rows, COUNT(DISTINCT value) AS class_values FROM "kanon_run_with_earlier_rows" AS earlier_rows GROUP BY class_id), "kanon_run_with_present_classes" AS (SELECT class_id, COUNT(*) AS class_rows, COUNT(DISTINCT value) AS class_values FROM "kanon_run_with_present_rows" AS present_rows GROUP BY class_id), "kanon_run_with_moves" AS (SELECT older.class_id AS earlier_class, newer.class_id AS present_class, COUNT(*) AS persons FROM "kanon_run_with_earlier_rows" AS older JOIN "kanon_run_with_present_rows" AS newer ON older.person = newer.person GROUP BY older.class_id, newer.class_id), "kanon_run_with_common" AS (SELECT moves.earlier_class, moves.present_class, COUNT(*) AS common_values FROM "kanon_run_with_moves" AS moves JOIN (SELECT DISTINCT class_id, value FROM "kanon_run_with_earlier_rows" AS earlier_rows) AS older ON older.class_id = moves.earlier_class JOIN (SELECT DISTINCT class_id, value FROM "kanon_run_with_present_rows" AS present_rows) AS newer ON newer.class_id = moves.present_class AND newer.value = older.value GROUP BY moves.earlier_class, moves.present_class), "kanon_run_with_repeated" AS (SELECT person FROM "kanon_run_with_earlier_rows" AS earlier_rows WHERE NOT person IS NULL GROUP BY person HAVING COUNT(*) > 1 UNION ALL SELECT person FROM "kanon_run_with_present_rows" AS present_rows WHERE NOT person IS NULL GROUP BY person HAVING COUNT(*) > 1), "kanon_run_with_violating" AS (SELECT class_rows FROM "kanon_run_with_earlier_classes" AS earlier_classes WHERE class_rows <> class_values OR class_rows < 2 UNION ALL SELECT class_rows FROM "kanon_run_with_present_classes" AS present_classes WHERE class_rows <> class_values OR class_rows < 2) SELECT (SELECT COUNT(*) FROM "kanon_run_with_repeated" AS repeated) AS repeated_persons, (SELECT COUNT(*) FROM "kanon_run_with_violating" AS violating) AS violating_classes, (SELECT SUM(class_rows) FROM "kanon_run_with_violating" AS violating) AS violating_rows, (SELECT MIN(class_rows) FROM "kanon_run_with_earlier_classes" AS earlier_classes) AS smallest_earlier, (SELECT MIN(class_rows) FROM "kanon_run_with_present_classes" AS present_classes) AS smallest_present, (SELECT COUNT(*) FROM "kanon_run_with_earlier_classes" AS earlier_classes WHERE class_rows <> class_values) + (SELECT COUNT(*) FROM "kanon_run_with_present_classes" AS present_classes WHERE class_rows <> class_values) AS repeating_classes, (SELECT SUM(moves.persons) FROM "kanon_run_with_moves" AS moves JOIN "kanon_run_with_earlier_classes" AS earlier_classes ON earlier_classes.class_id = moves.earlier_class JOIN "kanon_run_with_present_classes" AS present_classes ON present_classes.class_id = moves.present_class LEFT JOIN "kanon_run_with_common" AS common ON common.earlier_class = moves.earlier_class AND common.present_class = moves.present_class WHERE COALESCE(common.common_values, 0) <> earlier_classes.class_values OR COALESCE(common.common_values, 0) <> present_classes.class_values) AS changed_persons, (SELECT SUM(persons) FROM "kanon_run_with_moves" AS moves) AS common_persons, (SELECT COUNT(person) FROM "kanon_run_with_earlier_rows" AS earlier_rows) AS earlier_persons, (SELECT COUNT(person) FROM "kanon_run_with_present_rows" AS present_rows) AS present_persons, (SELECT SUM(CASE WHEN older_rows > 0 AND newer_rows > 0 THEN 1 ELSE 0 END) FROM (SELECT person, SUM(of_earlier) AS older_rows, SUM(1 - of_earlier) AS newer_rows FROM (SELECT person, 1 AS of_earlier FROM "kanon_run_with_earlier_rows" AS earlier_rows UNION ALL SELECT person, 0 AS of_earlier FROM "kanon_run_with_present_rows" AS present_rows) AS every_row WHERE NOT person IS NULL GROUP BY person) AS every_person) AS persons_of_both, COALESCE((SELECT SUM(class_rows) FROM "kanon_run_with_earlier_classes" AS earlier_classes), 0) + COALESCE((SELECT SUM(class_rows) FROM "kanon_run_with_present_classes" AS present_classes), 0) AS judged_rows, (SELECT COUNT(*) FROM "clinic"."before" AS checked) + (SELECT COUNT(*) FROM "clinic"."other" AS checked) AS all_rows;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_downcoded0_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_downcoded0_classes" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_downcoded0_people" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_downcoded0_people" GROUP BY "q1") AS distinct_values) AS own;

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1" FROM "kanon_run_downcoded0_classes" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_downcoded0_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 5» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_downcoded0_classes") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_downcoded0_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_downcoded0_classes") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_downcoded0__labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", cover.label AS "label0" FROM "kanon_run_downcoded0_people" AS vectors JOIN "kanon_run_downcoded0_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_downcoded0__labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_downcoded0__labelled0" AS vectors JOIN "kanon_run_downcoded0_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_downcoded0_classes") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- disclosure/attacks/label_levels
CREATE TEMPORARY TABLE "kanon_run_downcoded0_levels" AS SELECT lookup.value AS value, 0 AS label_level, COALESCE(lookup."c0", 0) AS label_number, CAST("lookup"."l0" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_downcoded0_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 1 AS label_level, COALESCE(lookup."c1", 0) AS label_number, CAST("lookup"."l1" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_downcoded0_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 2 AS label_level, 0 AS label_number, CAST("lookup"."l2" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_downcoded0_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value;

-- disclosure/attacks/label_parts
CREATE TEMPORARY TABLE "kanon_run_downcoded0_parts" AS SELECT parts.label AS label, parts.part AS part, parts.part_label AS part_label, parts.value AS value, CASE WHEN parts.part_values = texts.text_values THEN 1 ELSE 0 END AS clear FROM (SELECT label, part, part_label, value, COUNT(*) OVER (PARTITION BY label, part) AS part_values FROM (SELECT label, part, part_label, value, part_level, MAX(part_level) OVER (PARTITION BY label) AS split_level FROM (SELECT readings.label AS label, below.label_number AS part, below.label AS part_label, below.value AS value, below.label_level AS part_level, MIN(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS first_part, MAX(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS last_part FROM (SELECT label, MAX(label_level) AS label_level FROM "kanon_run_downcoded0_levels" GROUP BY label) AS readings JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_downcoded0_classes") AS released ON readings.label = released.label JOIN "kanon_run_downcoded0_levels" AS whole ON whole.label = readings.label AND whole.label_level = readings.label_level JOIN "kanon_run_downcoded0_levels" AS below ON below.value IS NOT DISTINCT FROM whole.value AND below.label_level < whole.label_level) AS lower_labels WHERE first_part < last_part) AS splits WHERE part_level = split_level) AS parts JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_downcoded0_levels") AS texts_and_values GROUP BY label) AS texts ON parts.part_label IS NOT DISTINCT FROM texts.label;

-- disclosure/attacks/part_records
CREATE TEMPORARY TABLE "kanon_run_downcoded0_records" AS SELECT released."q0" AS "q0", released."q1" AS "q1", parts.part AS part, SUM(vectors.row_count) AS records FROM "kanon_run_downcoded0__labelled1" AS vectors JOIN "kanon_run_downcoded0_classes" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" JOIN "kanon_run_downcoded0_parts" AS parts ON parts.label = released."q0" AND parts.value IS NOT DISTINCT FROM vectors."q0" GROUP BY released."q0", released."q1", parts.part;

-- disclosure/attacks/downcoded
CREATE TEMPORARY TABLE "kanon_run_downcoded0_lowest" AS SELECT "q0", "q1", held, MAX(CASE WHEN room < held THEN 1 ELSE 0 END) AS contradicted, SUM(CASE WHEN room >= held AND held + most > room THEN held + most - room ELSE 0 END) AS claimed, SUM(CASE WHEN room >= held AND held + most - room > records THEN records WHEN room >= held AND held + most > room THEN held + most - room ELSE 0 END) AS known FROM (SELECT "q0", "q1", held, most, records, SUM(most) OVER (PARTITION BY "q0", "q1") AS room FROM (SELECT released."q0" AS "q0", released."q1" AS "q1", CAST(released.row_count AS BIGINT) AS held, CAST(COALESCE(found.records, 0) AS BIGINT) AS records, CASE WHEN parts.part IS NULL THEN NULL WHEN parts.clear = 0 THEN CAST(released.row_count AS BIGINT) ELSE CAST(released.row_count AS BIGINT) - 1 END AS most FROM "kanon_run_downcoded0_classes" AS released LEFT JOIN (SELECT DISTINCT label, part, part_label, clear FROM "kanon_run_downcoded0_parts") AS parts ON released."q0" = parts.label LEFT JOIN "kanon_run_downcoded0_records" AS found ON found.part = parts.part AND found."q0" IS NOT DISTINCT FROM released."q0" AND found."q1" IS NOT DISTINCT FROM released."q1") AS bounded) AS parts_of_classes GROUP BY "q0", "q1", held;

-- «disclosure/attacks/downcoded_facts 1»
(SELECT COALESCE(SUM(released.row_count), 0) FROM "kanon_run_downcoded0_classes" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS is_read FROM "kanon_run_downcoded0_levels") AS readings ON released."q0" IS NOT DISTINCT FROM readings.label WHERE readings.is_read IS NULL)

-- disclosure/attacks/downcoded_facts
SELECT COUNT(*) AS classes, COALESCE(SUM(contradicted), 0) AS contradicted, COALESCE(SUM(claimed - known), 0) AS refuted, «disclosure/attacks/downcoded_facts 1» AS unread FROM "kanon_run_downcoded0_lowest" AS classes;

-- disclosure/attacks/downcoded
CREATE TEMPORARY TABLE "kanon_run_downcoded0_minimal" AS SELECT "q0", "q1", held, MAX(CASE WHEN room < held THEN 1 ELSE 0 END) AS contradicted, SUM(CASE WHEN room >= held AND held + most > room THEN held + most - room ELSE 0 END) AS claimed, SUM(CASE WHEN room >= held AND held + most - room > records THEN records WHEN room >= held AND held + most > room THEN held + most - room ELSE 0 END) AS known FROM (SELECT "q0", "q1", held, most, records, SUM(most) OVER (PARTITION BY "q0", "q1") AS room FROM (SELECT released."q0" AS "q0", released."q1" AS "q1", CAST(released.row_count AS BIGINT) AS held, CAST(COALESCE(found.records, 0) AS BIGINT) AS records, CASE WHEN parts.part IS NULL THEN NULL WHEN parts.clear = 0 THEN CAST(released.row_count AS BIGINT) WHEN CAST(released.row_count AS BIGINT) < 3 THEN CAST(released.row_count AS BIGINT) WHEN CAST(released.row_count AS BIGINT) > 3 AND NOT coarser.row_count IS NULL THEN 0 WHEN CAST(released.row_count AS BIGINT) >= 6 THEN 2 ELSE CAST(released.row_count AS BIGINT) - 1 END AS most FROM "kanon_run_downcoded0_classes" AS released LEFT JOIN (SELECT DISTINCT label, part, part_label, clear FROM "kanon_run_downcoded0_parts") AS parts ON released."q0" = parts.label LEFT JOIN "kanon_run_downcoded0_classes" AS coarser ON coarser."q0" IS NOT DISTINCT FROM parts.part_label AND NOT parts.part IS NULL AND coarser."q1" IS NOT DISTINCT FROM released."q1" LEFT JOIN "kanon_run_downcoded0_records" AS found ON found.part = parts.part AND found."q0" IS NOT DISTINCT FROM released."q0" AND found."q1" IS NOT DISTINCT FROM released."q1") AS bounded) AS parts_of_classes GROUP BY "q0", "q1", held;

-- disclosure/attacks/downcoded_facts
SELECT COUNT(*) AS classes, COALESCE(SUM(contradicted), 0) AS contradicted, COALESCE(SUM(claimed - known), 0) AS refuted, «disclosure/attacks/downcoded_facts 1» AS unread FROM "kanon_run_downcoded0_minimal" AS classes;

-- «disclosure/attacks/counted 18»
(SELECT SUM(own.row_count) FROM "kanon_run_downcoded0_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- «disclosure/attacks/counted 19»
(SELECT SUM(own.row_count) FROM "kanon_run_downcoded0_classes" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_downcoded0_classes") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_downcoded0_classes") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 18» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 19» AS "found1" FROM (SELECT "q0", "q1", CASE WHEN known_ones = 1 THEN known ELSE held - known END AS people, CASE WHEN held = 0 THEN 0 ELSE 1.0 * known / held END AS risk, known_ones AS exposed, 0 AS beyond FROM "kanon_run_downcoded0_lowest" AS classes CROSS JOIN (SELECT 1 AS known_ones UNION ALL SELECT 0 AS known_ones) AS sorts WHERE known_ones = 0 OR known > 0) AS cases;

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 18» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 19» AS "found1" FROM (SELECT "q0", "q1", CASE WHEN known_ones = 1 THEN known ELSE held - known END AS people, CASE WHEN held = 0 THEN 0 ELSE 1.0 * known / held END AS risk, known_ones AS exposed, 0 AS beyond FROM "kanon_run_downcoded0_minimal" AS classes CROSS JOIN (SELECT 1 AS known_ones UNION ALL SELECT 0 AS known_ones) AS sorts WHERE known_ones = 0 OR known > 0) AS cases;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_minimal";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_lowest";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_records";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_parts";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_levels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0__labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0__labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_classes";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded0_people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_downcoded1_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_downcoded1_classes" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_downcoded1_people" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_downcoded1_people" GROUP BY "q1") AS distinct_values) AS own;

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 AND "known0" + "known1" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 AND "known0" + "known1" > 0 AND (label IS NULL OR NOT label IN ('*')) THEN 1 ELSE 0 END) AS "missed1" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1" FROM "kanon_run_downcoded1_classes" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_downcoded1_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 5» AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_downcoded1_classes") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_downcoded1_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM «disclosure/attacks/cover 2» AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_downcoded1_classes") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_downcoded1__labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", cover.label AS "label0" FROM "kanon_run_downcoded1_people" AS vectors JOIN "kanon_run_downcoded1_cover0" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_downcoded1__labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_downcoded1__labelled0" AS vectors JOIN "kanon_run_downcoded1_cover1" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_downcoded1_classes") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- «disclosure/attacks/label_levels 1»
(CASE WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("lookup"."l0" AS TEXT) COLLATE "binary", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') IN ('.', '-.') THEN RTRIM(RTRIM(CAST("lookup"."l0" AS TEXT) COLLATE "binary", '0'), '.') ELSE CAST("lookup"."l0" AS TEXT) COLLATE "binary" END)

-- «disclosure/attacks/label_levels 2»
(CASE WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("lookup"."l1" AS TEXT) COLLATE "binary", '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') IN ('.', '-.') THEN RTRIM(RTRIM(CAST("lookup"."l1" AS TEXT) COLLATE "binary", '0'), '.') ELSE CAST("lookup"."l1" AS TEXT) COLLATE "binary" END)

-- disclosure/attacks/label_levels
CREATE TEMPORARY TABLE "kanon_run_downcoded1_levels" AS SELECT lookup.value AS value, 0 AS label_level, COALESCE(lookup."c0", 0) AS label_number, «disclosure/attacks/label_levels 1» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" AS lookup JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_downcoded1_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 1 AS label_level, 0 AS label_number, «disclosure/attacks/label_levels 2» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" AS lookup JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_downcoded1_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value;

-- disclosure/attacks/label_parts
CREATE TEMPORARY TABLE "kanon_run_downcoded1_parts" AS SELECT parts.label AS label, parts.part AS part, parts.part_label AS part_label, parts.value AS value, CASE WHEN parts.part_values = texts.text_values THEN 1 ELSE 0 END AS clear FROM (SELECT label, part, part_label, value, COUNT(*) OVER (PARTITION BY label, part) AS part_values FROM (SELECT label, part, part_label, value, part_level, MAX(part_level) OVER (PARTITION BY label) AS split_level FROM (SELECT readings.label AS label, below.label_number AS part, below.label AS part_label, below.value AS value, below.label_level AS part_level, MIN(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS first_part, MAX(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS last_part FROM (SELECT label, MAX(label_level) AS label_level FROM "kanon_run_downcoded1_levels" GROUP BY label) AS readings JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_downcoded1_classes") AS released ON readings.label = released.label JOIN "kanon_run_downcoded1_levels" AS whole ON whole.label = readings.label AND whole.label_level = readings.label_level JOIN "kanon_run_downcoded1_levels" AS below ON below.value IS NOT DISTINCT FROM whole.value AND below.label_level < whole.label_level) AS lower_labels WHERE first_part < last_part) AS splits WHERE part_level = split_level) AS parts JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_downcoded1_levels") AS texts_and_values GROUP BY label) AS texts ON parts.part_label IS NOT DISTINCT FROM texts.label;

-- disclosure/attacks/part_records
CREATE TEMPORARY TABLE "kanon_run_downcoded1_records" AS SELECT released."q0" AS "q0", released."q1" AS "q1", parts.part AS part, SUM(vectors.row_count) AS records FROM "kanon_run_downcoded1__labelled1" AS vectors JOIN "kanon_run_downcoded1_classes" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" JOIN "kanon_run_downcoded1_parts" AS parts ON parts.label = released."q1" AND parts.value IS NOT DISTINCT FROM vectors."q1" GROUP BY released."q0", released."q1", parts.part;

-- disclosure/attacks/downcoded
CREATE TEMPORARY TABLE "kanon_run_downcoded1_lowest" AS SELECT "q0", "q1", held, MAX(CASE WHEN room < held THEN 1 ELSE 0 END) AS contradicted, SUM(CASE WHEN room >= held AND held + most > room THEN held + most - room ELSE 0 END) AS claimed, SUM(CASE WHEN room >= held AND held + most - room > records THEN records WHEN room >= held AND held + most > room THEN held + most - room ELSE 0 END) AS known FROM (SELECT "q0", "q1", held, most, records, SUM(most) OVER (PARTITION BY "q0", "q1") AS room FROM (SELECT released."q0" AS "q0", released."q1" AS "q1", CAST(released.row_count AS BIGINT) AS held, CAST(COALESCE(found.records, 0) AS BIGINT) AS records, CASE WHEN parts.part IS NULL THEN NULL WHEN parts.clear = 0 THEN CAST(released.row_count AS BIGINT) ELSE CAST(released.row_count AS BIGINT) - 1 END AS most FROM "kanon_run_downcoded1_classes" AS released LEFT JOIN (SELECT DISTINCT label, part, part_label, clear FROM "kanon_run_downcoded1_parts") AS parts ON released."q1" = parts.label LEFT JOIN "kanon_run_downcoded1_records" AS found ON found.part = parts.part AND found."q0" IS NOT DISTINCT FROM released."q0" AND found."q1" IS NOT DISTINCT FROM released."q1") AS bounded) AS parts_of_classes GROUP BY "q0", "q1", held;

-- «disclosure/attacks/downcoded_facts 2»
(SELECT COALESCE(SUM(released.row_count), 0) FROM "kanon_run_downcoded1_classes" AS released LEFT JOIN (SELECT DISTINCT label, 1 AS is_read FROM "kanon_run_downcoded1_levels") AS readings ON released."q1" IS NOT DISTINCT FROM readings.label WHERE readings.is_read IS NULL)

-- disclosure/attacks/downcoded_facts
SELECT COUNT(*) AS classes, COALESCE(SUM(contradicted), 0) AS contradicted, COALESCE(SUM(claimed - known), 0) AS refuted, «disclosure/attacks/downcoded_facts 2» AS unread FROM "kanon_run_downcoded1_lowest" AS classes;

-- disclosure/attacks/downcoded
CREATE TEMPORARY TABLE "kanon_run_downcoded1_minimal" AS SELECT "q0", "q1", held, MAX(CASE WHEN room < held THEN 1 ELSE 0 END) AS contradicted, SUM(CASE WHEN room >= held AND held + most > room THEN held + most - room ELSE 0 END) AS claimed, SUM(CASE WHEN room >= held AND held + most - room > records THEN records WHEN room >= held AND held + most > room THEN held + most - room ELSE 0 END) AS known FROM (SELECT "q0", "q1", held, most, records, SUM(most) OVER (PARTITION BY "q0", "q1") AS room FROM (SELECT released."q0" AS "q0", released."q1" AS "q1", CAST(released.row_count AS BIGINT) AS held, CAST(COALESCE(found.records, 0) AS BIGINT) AS records, CASE WHEN parts.part IS NULL THEN NULL WHEN parts.clear = 0 THEN CAST(released.row_count AS BIGINT) WHEN CAST(released.row_count AS BIGINT) < 3 THEN CAST(released.row_count AS BIGINT) WHEN CAST(released.row_count AS BIGINT) > 3 AND NOT coarser.row_count IS NULL THEN 0 WHEN CAST(released.row_count AS BIGINT) >= 6 THEN 2 ELSE CAST(released.row_count AS BIGINT) - 1 END AS most FROM "kanon_run_downcoded1_classes" AS released LEFT JOIN (SELECT DISTINCT label, part, part_label, clear FROM "kanon_run_downcoded1_parts") AS parts ON released."q1" = parts.label LEFT JOIN "kanon_run_downcoded1_classes" AS coarser ON coarser."q1" IS NOT DISTINCT FROM parts.part_label AND NOT parts.part IS NULL AND coarser."q0" IS NOT DISTINCT FROM released."q0" LEFT JOIN "kanon_run_downcoded1_records" AS found ON found.part = parts.part AND found."q0" IS NOT DISTINCT FROM released."q0" AND found."q1" IS NOT DISTINCT FROM released."q1") AS bounded) AS parts_of_classes GROUP BY "q0", "q1", held;

-- disclosure/attacks/downcoded_facts
SELECT COUNT(*) AS classes, COALESCE(SUM(contradicted), 0) AS contradicted, COALESCE(SUM(claimed - known), 0) AS refuted, «disclosure/attacks/downcoded_facts 2» AS unread FROM "kanon_run_downcoded1_minimal" AS classes;

-- «disclosure/attacks/counted 20»
(SELECT SUM(own.row_count) FROM "kanon_run_downcoded1_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- «disclosure/attacks/counted 21»
(SELECT SUM(own.row_count) FROM "kanon_run_downcoded1_classes" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_downcoded1_classes") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_downcoded1_classes") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 20» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 21» AS "found1" FROM (SELECT "q0", "q1", CASE WHEN known_ones = 1 THEN known ELSE held - known END AS people, CASE WHEN held = 0 THEN 0 ELSE 1.0 * known / held END AS risk, known_ones AS exposed, 0 AS beyond FROM "kanon_run_downcoded1_lowest" AS classes CROSS JOIN (SELECT 1 AS known_ones UNION ALL SELECT 0 AS known_ones) AS sorts WHERE known_ones = 0 OR known > 0) AS cases;

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 20» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 21» AS "found1" FROM (SELECT "q0", "q1", CASE WHEN known_ones = 1 THEN known ELSE held - known END AS people, CASE WHEN held = 0 THEN 0 ELSE 1.0 * known / held END AS risk, known_ones AS exposed, 0 AS beyond FROM "kanon_run_downcoded1_minimal" AS classes CROSS JOIN (SELECT 1 AS known_ones UNION ALL SELECT 0 AS known_ones) AS sorts WHERE known_ones = 0 OR known > 0) AS cases;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_minimal";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_lowest";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_records";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_parts";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_levels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1__labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1__labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_cover1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_cover0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_classes";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_downcoded1_people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_refined_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_refined_labels" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_refined_people" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_refined_people" GROUP BY "q1") AS distinct_values) AS own;

-- disclosure/attacks/label_levels
CREATE TEMPORARY TABLE "kanon_run_refined0_levels" AS SELECT lookup.value AS value, 0 AS label_level, COALESCE(lookup."c0", 0) AS label_number, CAST("lookup"."l0" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 1 AS label_level, COALESCE(lookup."c1", 0) AS label_number, CAST("lookup"."l1" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 2 AS label_level, 0 AS label_number, CAST("lookup"."l2" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value;

-- disclosure/attacks/label_levels
CREATE TEMPORARY TABLE "kanon_run_refined1_levels" AS SELECT lookup.value AS value, 0 AS label_level, COALESCE(lookup."c0", 0) AS label_number, «disclosure/attacks/label_levels 1» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" AS lookup JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 1 AS label_level, 0 AS label_number, «disclosure/attacks/label_levels 2» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" AS lookup JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value;

-- disclosure/attacks/unclear_labels
SELECT (SELECT COUNT(*) FROM (SELECT label, COUNT(DISTINCT label_level) AS level_count, COUNT(*) AS pair_count FROM "kanon_run_refined0_levels" GROUP BY label) AS pairs JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined0_levels") AS texts_and_values GROUP BY label) AS texts ON pairs.label IS NOT DISTINCT FROM texts.label WHERE pairs.pair_count <> pairs.level_count * texts.text_values) AS "unclear0", (SELECT COUNT(*) FROM (SELECT label, COUNT(DISTINCT label_level) AS level_count, COUNT(*) AS pair_count FROM "kanon_run_refined1_levels" GROUP BY label) AS pairs JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined1_levels") AS texts_and_values GROUP BY label) AS texts ON pairs.label IS NOT DISTINCT FROM texts.label WHERE pairs.pair_count <> pairs.level_count * texts.text_values) AS "unclear1";

-- disclosure/attacks/numbered_classes
CREATE TEMPORARY TABLE "kanon_run_refined_classes" AS SELECT released."q0" AS "q0", released."q1" AS "q1", CAST(released.row_count AS BIGINT) AS held, ROW_NUMBER() OVER (ORDER BY released."q0" ASC, released."q1" ASC) AS class_number, COALESCE("split0".splits, 0) + COALESCE("split1".splits, 0) AS split_columns, CASE WHEN "split0".splits = 1 OR "split1".splits = 1 THEN 0 ELSE 1 END AS one_vector FROM "kanon_run_refined_labels" AS released LEFT JOIN (SELECT whole.label AS label, 1 AS splits FROM "kanon_run_refined0_levels" AS whole JOIN "kanon_run_refined0_levels" AS low ON whole.value IS NOT DISTINCT FROM low.value AND low.label_level = 0 GROUP BY whole.label HAVING COUNT(DISTINCT low.label_number) > 1) AS "split0" ON released."q0" = "split0".label LEFT JOIN (SELECT whole.label AS label, 1 AS splits FROM "kanon_run_refined1_levels" AS whole JOIN "kanon_run_refined1_levels" AS low ON whole.value IS NOT DISTINCT FROM low.value AND low.label_level = 0 GROUP BY whole.label HAVING COUNT(DISTINCT low.label_number) > 1) AS "split1" ON released."q1" = "split1".label;

-- disclosure/attacks/light_classes
SELECT COALESCE(SUM(CASE WHEN one_vector = 0 AND held < 6 THEN 1 ELSE 0 END), 0) AS light_classes, (SELECT COUNT(*) FROM "kanon_run_refined_people") AS vectors FROM "kanon_run_refined_classes" AS classes;

-- disclosure/attacks/label_parts
CREATE TEMPORARY TABLE "kanon_run_refined0_parts" AS SELECT parts.label AS label, parts.part AS part, parts.part_label AS part_label, parts.value AS value, CASE WHEN parts.part_values = texts.text_values THEN 1 ELSE 0 END AS clear FROM (SELECT label, part, part_label, value, COUNT(*) OVER (PARTITION BY label, part) AS part_values FROM (SELECT label, part, part_label, value, part_level, MAX(part_level) OVER (PARTITION BY label) AS split_level FROM (SELECT readings.label AS label, below.label_number AS part, below.label AS part_label, below.value AS value, below.label_level AS part_level, MIN(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS first_part, MAX(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS last_part FROM (SELECT label, MAX(label_level) AS label_level FROM "kanon_run_refined0_levels" GROUP BY label) AS readings JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS released ON readings.label = released.label JOIN "kanon_run_refined0_levels" AS whole ON whole.label = readings.label AND whole.label_level = readings.label_level JOIN "kanon_run_refined0_levels" AS below ON below.value IS NOT DISTINCT FROM whole.value AND below.label_level < whole.label_level) AS lower_labels WHERE first_part < last_part) AS splits WHERE part_level = split_level) AS parts JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined0_levels") AS texts_and_values GROUP BY label) AS texts ON parts.part_label IS NOT DISTINCT FROM texts.label;

-- disclosure/attacks/labels_below
CREATE TEMPORARY TABLE "kanon_run_refined0_below" AS SELECT inside.label AS label, inside.part AS part, inside.finer AS finer, inside.finer_values AS finer_values FROM (SELECT parts.label AS label, parts.part AS part, texts.label AS finer, COUNT(*) AS finer_values FROM "kanon_run_refined0_parts" AS parts JOIN (SELECT DISTINCT levels.label AS label, levels.value AS value FROM "kanon_run_refined0_levels" AS levels JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS released ON levels.label IS NOT DISTINCT FROM released.label) AS texts ON parts.value IS NOT DISTINCT FROM texts.value GROUP BY parts.label, parts.part, texts.label) AS inside JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined0_levels") AS texts_and_values GROUP BY label) AS sizes ON inside.finer IS NOT DISTINCT FROM sizes.label AND inside.finer_values = sizes.text_values;

-- disclosure/attacks/agree_elsewhere
CREATE TEMPORARY TABLE "kanon_run_refined0_peers" AS SELECT class_number, held, one_vector, split_columns, "q0" AS label, DENSE_RANK() OVER (ORDER BY "q1" ASC) AS others FROM "kanon_run_refined_classes" AS classes;

-- «disclosure/attacks/finer_classes 1»
(SELECT coarse.class_number AS class_number, coarse.label AS label, fine.label AS finer FROM "kanon_run_refined0_peers" AS coarse JOIN "kanon_run_refined0_peers" AS fine ON coarse.others = fine.others WHERE coarse.class_number <> fine.class_number AND (fine.one_vector = 1))

-- disclosure/attacks/finer_classes
CREATE TEMPORARY TABLE "kanon_run_refined0_pairs" AS SELECT nested.class_number AS class_number, below.part AS part, below.finer AS finer, below.finer_values AS finer_values FROM «disclosure/attacks/finer_classes 1» AS nested JOIN "kanon_run_refined0_below" AS below ON nested.label = below.label AND nested.finer IS NOT DISTINCT FROM below.finer;

-- «disclosure/attacks/refined 1»
(SELECT pairs.class_number AS class_number, pairs.part AS part, SUM(pairs.finer_values) AS excluded FROM "kanon_run_refined0_pairs" AS pairs LEFT JOIN (SELECT DISTINCT above.class_number AS class_number, below.finer AS finer, 1 AS is_inside FROM "kanon_run_refined0_pairs" AS above JOIN "kanon_run_refined0_below" AS below ON above.finer = below.label) AS inside ON pairs.class_number = inside.class_number AND pairs.finer IS NOT DISTINCT FROM inside.finer WHERE inside.is_inside IS NULL GROUP BY pairs.class_number, pairs.part)

-- disclosure/attacks/refined
CREATE TEMPORARY TABLE "kanon_run_refined0_refined" AS SELECT class_number, held, label_values, CASE WHEN room < held THEN 1 ELSE 0 END AS contradicted, CASE WHEN room < held THEN 0 ELSE excluded END AS excluded, CASE WHEN room < held THEN 0 ELSE certain END AS certain, bounded FROM (SELECT class_number, MAX(held) AS held, MAX(room) AS room, SUM(part_values) AS label_values, SUM(excluded) AS excluded, SUM(CASE WHEN held + most > room THEN held + most - room ELSE 0 END) AS certain, MAX(CASE WHEN most < held - 1 THEN 1 ELSE 0 END) AS bounded FROM (SELECT held_parts.*, SUM(most) OVER (PARTITION BY class_number) AS room FROM (SELECT classes.class_number AS class_number, classes.held AS held, parts.part_values AS part_values, COALESCE(outside.excluded, 0) AS excluded, CASE WHEN outside.excluded = parts.part_values THEN 0 ELSE classes.held - 1 END AS most FROM "kanon_run_refined_classes" AS classes JOIN (SELECT label, part, COUNT(*) AS part_values FROM "kanon_run_refined0_parts" GROUP BY label, part) AS parts ON classes."q0" = parts.label LEFT JOIN «disclosure/attacks/refined 1» AS outside ON classes.class_number = outside.class_number AND parts.part = outside.part) AS held_parts) AS bounded_parts GROUP BY class_number) AS bounds;

-- disclosure/attacks/refined_values
CREATE TEMPORARY TABLE "kanon_run_refined0_values" AS SELECT DISTINCT pairs.class_number AS class_number, levels.value AS value FROM "kanon_run_refined0_pairs" AS pairs JOIN "kanon_run_refined0_levels" AS levels ON pairs.finer IS NOT DISTINCT FROM levels.label;

-- disclosure/attacks/refined_facts
SELECT COALESCE(SUM(held), 0) AS generalized, COALESCE(SUM(CASE WHEN excluded > 0 THEN held ELSE 0 END), 0) AS shrunk, COALESCE(SUM(CAST(held AS DOUBLE) * excluded / label_values), 0) AS shares, COALESCE(SUM(certain), 0) AS certain, COALESCE(SUM(CASE WHEN bounded = 1 THEN held ELSE 0 END), 0) AS bounded, COALESCE(SUM(contradicted), 0) AS contradicted FROM "kanon_run_refined0_refined" AS classes;

-- disclosure/attacks/label_parts
CREATE TEMPORARY TABLE "kanon_run_refined1_parts" AS SELECT parts.label AS label, parts.part AS part, parts.part_label AS part_label, parts.value AS value, CASE WHEN parts.part_values = texts.text_values THEN 1 ELSE 0 END AS clear FROM (SELECT label, part, part_label, value, COUNT(*) OVER (PARTITION BY label, part) AS part_values FROM (SELECT label, part, part_label, value, part_level, MAX(part_level) OVER (PARTITION BY label) AS split_level FROM (SELECT readings.label AS label, below.label_number AS part, below.label AS part_label, below.value AS value, below.label_level AS part_level, MIN(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS first_part, MAX(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS last_part FROM (SELECT label, MAX(label_level) AS label_level FROM "kanon_run_refined1_levels" GROUP BY label) AS readings JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_refined_labels") AS released ON readings.label = released.label JOIN "kanon_run_refined1_levels" AS whole ON whole.label = readings.label AND whole.label_level = readings.label_level JOIN "kanon_run_refined1_levels" AS below ON below.value IS NOT DISTINCT FROM whole.value AND below.label_level < whole.label_level) AS lower_labels WHERE first_part < last_part) AS splits WHERE part_level = split_level) AS parts JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined1_levels") AS texts_and_values GROUP BY label) AS texts ON parts.part_label IS NOT DISTINCT FROM texts.label;

-- disclosure/attacks/labels_below
CREATE TEMPORARY TABLE "kanon_run_refined1_below" AS SELECT inside.label AS label, inside.part AS part, inside.finer AS finer, inside.finer_values AS finer_values FROM (SELECT parts.label AS label, parts.part AS part, texts.label AS finer, COUNT(*) AS finer_values FROM "kanon_run_refined1_parts" AS parts JOIN (SELECT DISTINCT levels.label AS label, levels.value AS value FROM "kanon_run_refined1_levels" AS levels JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_refined_labels") AS released ON levels.label IS NOT DISTINCT FROM released.label) AS texts ON parts.value IS NOT DISTINCT FROM texts.value GROUP BY parts.label, parts.part, texts.label) AS inside JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined1_levels") AS texts_and_values GROUP BY label) AS sizes ON inside.finer IS NOT DISTINCT FROM sizes.label AND inside.finer_values = sizes.text_values;

-- disclosure/attacks/agree_elsewhere
CREATE TEMPORARY TABLE "kanon_run_refined1_peers" AS SELECT class_number, held, one_vector, split_columns, "q1" AS label, DENSE_RANK() OVER (ORDER BY "q0" ASC) AS others FROM "kanon_run_refined_classes" AS classes;

-- disclosure/attacks/finer_classes
CREATE TEMPORARY TABLE "kanon_run_refined1_pairs" AS SELECT nested.class_number AS class_number, below.part AS part, below.finer AS finer, below.finer_values AS finer_values FROM (SELECT coarse.class_number AS class_number, coarse.label AS label, fine.label AS finer FROM "kanon_run_refined1_peers" AS coarse JOIN "kanon_run_refined1_peers" AS fine ON coarse.others = fine.others WHERE coarse.class_number <> fine.class_number AND (fine.one_vector = 1)) AS nested JOIN "kanon_run_refined1_below" AS below ON nested.label = below.label AND nested.finer IS NOT DISTINCT FROM below.finer;

-- «disclosure/attacks/refined 2»
(SELECT pairs.class_number AS class_number, pairs.part AS part, SUM(pairs.finer_values) AS excluded FROM "kanon_run_refined1_pairs" AS pairs LEFT JOIN (SELECT DISTINCT above.class_number AS class_number, below.finer AS finer, 1 AS is_inside FROM "kanon_run_refined1_pairs" AS above JOIN "kanon_run_refined1_below" AS below ON above.finer = below.label) AS inside ON pairs.class_number = inside.class_number AND pairs.finer IS NOT DISTINCT FROM inside.finer WHERE inside.is_inside IS NULL GROUP BY pairs.class_number, pairs.part)

-- disclosure/attacks/refined
CREATE TEMPORARY TABLE "kanon_run_refined1_refined" AS SELECT class_number, held, label_values, CASE WHEN room < held THEN 1 ELSE 0 END AS contradicted, CASE WHEN room < held THEN 0 ELSE excluded END AS excluded, CASE WHEN room < held THEN 0 ELSE certain END AS certain, bounded FROM (SELECT class_number, MAX(held) AS held, MAX(room) AS room, SUM(part_values) AS label_values, SUM(excluded) AS excluded, SUM(CASE WHEN held + most > room THEN held + most - room ELSE 0 END) AS certain, MAX(CASE WHEN most < held - 1 THEN 1 ELSE 0 END) AS bounded FROM (SELECT held_parts.*, SUM(most) OVER (PARTITION BY class_number) AS room FROM (SELECT classes.class_number AS class_number, classes.held AS held, parts.part_values AS part_values, COALESCE(outside.excluded, 0) AS excluded, CASE WHEN outside.excluded = parts.part_values THEN 0 ELSE classes.held - 1 END AS most FROM "kanon_run_refined_classes" AS classes JOIN (SELECT label, part, COUNT(*) AS part_values FROM "kanon_run_refined1_parts" GROUP BY label, part) AS parts ON classes."q1" = parts.label LEFT JOIN «disclosure/attacks/refined 2» AS outside ON classes.class_number = outside.class_number AND parts.part = outside.part) AS held_parts) AS bounded_parts GROUP BY class_number) AS bounds;

-- disclosure/attacks/refined_values
CREATE TEMPORARY TABLE "kanon_run_refined1_values" AS SELECT DISTINCT pairs.class_number AS class_number, levels.value AS value FROM "kanon_run_refined1_pairs" AS pairs JOIN "kanon_run_refined1_levels" AS levels ON pairs.finer IS NOT DISTINCT FROM levels.label;

-- disclosure/attacks/refined_facts
SELECT COALESCE(SUM(held), 0) AS generalized, COALESCE(SUM(CASE WHEN excluded > 0 THEN held ELSE 0 END), 0) AS shrunk, COALESCE(SUM(CAST(held AS DOUBLE) * excluded / label_values), 0) AS shares, COALESCE(SUM(certain), 0) AS certain, COALESCE(SUM(CASE WHEN bounded = 1 THEN held ELSE 0 END), 0) AS bounded, COALESCE(SUM(contradicted), 0) AS contradicted FROM "kanon_run_refined1_refined" AS classes;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_refined_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", cover.label AS "label0" FROM "kanon_run_refined_people" AS vectors JOIN "kanon_run_refined0_levels" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_refined_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_refined_labelled0" AS vectors JOIN "kanon_run_refined1_levels" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_refined_classes") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- disclosure/attacks/refined_persons
CREATE TEMPORARY TABLE "kanon_run_refined_persons" AS SELECT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors.row_count AS row_count, released.class_number AS class_number, CASE WHEN "ruled0".class_number IS NULL AND "ruled1".class_number IS NULL THEN 1 ELSE 0 END AS possible FROM "kanon_run_refined_labelled1" AS vectors JOIN "kanon_run_refined_classes" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" AND vectors."label1" IS NOT DISTINCT FROM released."q1" LEFT JOIN "kanon_run_refined0_values" AS "ruled0" ON released.class_number = "ruled0".class_number AND vectors."q0" IS NOT DISTINCT FROM "ruled0".value LEFT JOIN "kanon_run_refined1_values" AS "ruled1" ON released.class_number = "ruled1".class_number AND vectors."q1" IS NOT DISTINCT FROM "ruled1".value;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_refined_held0" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- disclosure/attacks/refined_sensitive
CREATE TEMPORARY TABLE "kanon_run_refined_persons0" AS SELECT persons."q0" AS "q0", persons."q1" AS "q1", CAST(MAX(persons.row_count) AS BIGINT) AS people, CAST(COUNT(DISTINCT held.value_number) AS BIGINT) AS value_count, CAST(COUNT(DISTINCT CASE WHEN persons.possible = 1 THEN held.value_number END) AS BIGINT) AS possible_count FROM "kanon_run_refined_persons" AS persons JOIN (SELECT classes.class_number AS class_number, numbered.value_number AS value_number FROM "kanon_run_refined_classes" AS classes JOIN (SELECT "q0", "q1", DENSE_RANK() OVER (ORDER BY p0 ASC) AS value_number FROM "kanon_run_refined_held0" AS values_of_classes) AS numbered ON classes."q0" IS NOT DISTINCT FROM numbered."q0" AND classes."q1" IS NOT DISTINCT FROM numbered."q1") AS held ON persons.class_number = held.class_number GROUP BY persons."q0", persons."q1";

-- disclosure/attacks/refined_person_facts
SELECT COALESCE(SUM(CASE WHEN possible_count > 0 AND possible_count < value_count THEN people ELSE 0 END), 0) AS shrunk, COALESCE(SUM(CASE WHEN possible_count > 0 AND possible_count < value_count THEN CAST(people AS DOUBLE) * (value_count - possible_count) / value_count ELSE 0 END), 0) AS shares, COALESCE(SUM(CASE WHEN possible_count = 1 AND value_count > 1 THEN people ELSE 0 END), 0) AS alone, COALESCE(SUM(CASE WHEN possible_count = 0 THEN people ELSE 0 END), 0) AS contradicted FROM "kanon_run_refined_persons0" AS persons;

-- «disclosure/attacks/counted 22»
(SELECT SUM(own.row_count) FROM "kanon_run_refined_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- «disclosure/attacks/counted 23»
(SELECT SUM(own.row_count) FROM "kanon_run_refined_labels" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_labels") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_refined_labels") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- «disclosure/attacks/counted 24»
(SELECT SUM(own.row_count) FROM "kanon_run_refined_held0" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_held0") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_refined_held0") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_refined_held0") AS "again2" ON own."p0" IS NOT DISTINCT FROM "again2".value)

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 22» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 23» AS "found1", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there2", «disclosure/attacks/counted 24» AS "found2" FROM (SELECT classes."q0" AS "q0", classes."q1" AS "q1", classes.held AS people, COALESCE(1.0 * refined.excluded / refined.label_values, 0) AS risk, CASE WHEN refined.excluded > 0 THEN 1 ELSE 0 END AS exposed, 0 AS beyond FROM "kanon_run_refined_classes" AS classes LEFT JOIN "kanon_run_refined0_refined" AS refined ON classes.class_number = refined.class_number) AS cases;

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 22» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 23» AS "found1", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there2", «disclosure/attacks/counted 24» AS "found2" FROM (SELECT classes."q0" AS "q0", classes."q1" AS "q1", classes.held AS people, COALESCE(1.0 * refined.excluded / refined.label_values, 0) AS risk, CASE WHEN refined.excluded > 0 THEN 1 ELSE 0 END AS exposed, 0 AS beyond FROM "kanon_run_refined_classes" AS classes LEFT JOIN "kanon_run_refined1_refined" AS refined ON classes.class_number = refined.class_number) AS cases;

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 22» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 23» AS "found1", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there2", «disclosure/attacks/counted 24» AS "found2" FROM (SELECT "q0", "q1", people, CASE WHEN possible_count > 0 THEN 1.0 * (value_count - possible_count) / value_count ELSE 0 END AS risk, CASE WHEN possible_count > 0 AND possible_count < value_count THEN 1 ELSE 0 END AS exposed, 0 AS beyond FROM "kanon_run_refined_persons0" AS persons) AS cases;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined_persons0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined_held0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined_persons";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined_labelled1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined_labelled0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1_values";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1_refined";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1_pairs";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1_peers";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1_below";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1_parts";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_values";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_refined";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_pairs";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_peers";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_below";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_parts";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined_classes";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1_levels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_levels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined_labels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined_people";

-- disclosure/attacks/level_of_cells
SELECT COALESCE(SUM(CASE WHEN "at0" = 0 THEN 1 ELSE 0 END), 0) AS "missed0", COALESCE(SUM(CASE WHEN "at1" = 0 THEN 1 ELSE 0 END), 0) AS "missed1", COUNT(*) AS others FROM (SELECT released.label AS label, MAX(CASE WHEN own.label_level = 0 THEN 1 ELSE 0 END) AS "at0", MAX(CASE WHEN own.label_level = 1 THEN 1 ELSE 0 END) AS "at1" FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS released LEFT JOIN "kanon_run_refined0_levels" AS own ON released.label IS NOT DISTINCT FROM own.label WHERE released.label IS NULL OR released.label <> '*' GROUP BY released.label) AS found;

-- disclosure/attacks/label_levels
CREATE TEMPORARY TABLE "kanon_run_refined0_cell_levels" AS SELECT lookup.value AS value, 0 AS label_level, COALESCE(lookup."c0", 0) AS label_number, CAST("lookup"."l0" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 2 AS label_level, 0 AS label_number, CAST("lookup"."l2" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value;

-- disclosure/attacks/level_of_cells
SELECT COALESCE(SUM(CASE WHEN "at0" = 0 THEN 1 ELSE 0 END), 0) AS "missed0", COUNT(*) AS others FROM (SELECT released.label AS label, MAX(CASE WHEN own.label_level = 0 THEN 1 ELSE 0 END) AS "at0" FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_refined_labels") AS released LEFT JOIN "kanon_run_refined1_levels" AS own ON released.label IS NOT DISTINCT FROM own.label WHERE released.label IS NULL OR released.label <> '*' GROUP BY released.label) AS found;

-- disclosure/attacks/label_levels
CREATE TEMPORARY TABLE "kanon_run_refined1_cell_levels" AS SELECT lookup.value AS value, 0 AS label_level, COALESCE(lookup."c0", 0) AS label_number, «disclosure/attacks/label_levels 1» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" AS lookup JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 1 AS label_level, 0 AS label_number, «disclosure/attacks/label_levels 2» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" AS lookup JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_refined_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value;

-- disclosure/attacks/numbered_classes
CREATE TEMPORARY TABLE "kanon_run_refined_classes" AS SELECT released."q0" AS "q0", released."q1" AS "q1", CAST(released.row_count AS BIGINT) AS held, ROW_NUMBER() OVER (ORDER BY released."q0" ASC, released."q1" ASC) AS class_number, COALESCE("split0".splits, 0) + COALESCE("split1".splits, 0) AS split_columns, CASE WHEN "split0".splits = 1 OR "split1".splits = 1 THEN 0 ELSE 1 END AS one_vector FROM "kanon_run_refined_labels" AS released LEFT JOIN (SELECT whole.label AS label, 1 AS splits FROM "kanon_run_refined0_cell_levels" AS whole JOIN "kanon_run_refined0_cell_levels" AS low ON whole.value IS NOT DISTINCT FROM low.value AND low.label_level = 0 GROUP BY whole.label HAVING COUNT(DISTINCT low.label_number) > 1) AS "split0" ON released."q0" = "split0".label LEFT JOIN (SELECT whole.label AS label, 1 AS splits FROM "kanon_run_refined1_cell_levels" AS whole JOIN "kanon_run_refined1_cell_levels" AS low ON whole.value IS NOT DISTINCT FROM low.value AND low.label_level = 0 GROUP BY whole.label HAVING COUNT(DISTINCT low.label_number) > 1) AS "split1" ON released."q1" = "split1".label;

-- disclosure/attacks/label_parts
CREATE TEMPORARY TABLE "kanon_run_refined0_parts" AS SELECT parts.label AS label, parts.part AS part, parts.part_label AS part_label, parts.value AS value, CASE WHEN parts.part_values = texts.text_values THEN 1 ELSE 0 END AS clear FROM (SELECT label, part, part_label, value, COUNT(*) OVER (PARTITION BY label, part) AS part_values FROM (SELECT label, part, part_label, value, part_level, MAX(part_level) OVER (PARTITION BY label) AS split_level FROM (SELECT readings.label AS label, below.label_number AS part, below.label AS part_label, below.value AS value, below.label_level AS part_level, MIN(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS first_part, MAX(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS last_part FROM (SELECT label, MAX(label_level) AS label_level FROM "kanon_run_refined0_cell_levels" GROUP BY label) AS readings JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS released ON readings.label = released.label JOIN "kanon_run_refined0_cell_levels" AS whole ON whole.label = readings.label AND whole.label_level = readings.label_level JOIN "kanon_run_refined0_cell_levels" AS below ON below.value IS NOT DISTINCT FROM whole.value AND below.label_level < whole.label_level) AS lower_labels WHERE first_part < last_part) AS splits WHERE part_level = split_level) AS parts JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined0_cell_levels") AS texts_and_values GROUP BY label) AS texts ON parts.part_label IS NOT DISTINCT FROM texts.label;

-- disclosure/attacks/labels_below
CREATE TEMPORARY TABLE "kanon_run_refined0_below" AS SELECT inside.label AS label, inside.part AS part, inside.finer AS finer, inside.finer_values AS finer_values FROM (SELECT parts.label AS label, parts.part AS part, texts.label AS finer, COUNT(*) AS finer_values FROM "kanon_run_refined0_parts" AS parts JOIN (SELECT DISTINCT levels.label AS label, levels.value AS value FROM "kanon_run_refined0_cell_levels" AS levels JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS released ON levels.label IS NOT DISTINCT FROM released.label) AS texts ON parts.value IS NOT DISTINCT FROM texts.value GROUP BY parts.label, parts.part, texts.label) AS inside JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined0_cell_levels") AS texts_and_values GROUP BY label) AS sizes ON inside.finer IS NOT DISTINCT FROM sizes.label AND inside.finer_values = sizes.text_values;

-- disclosure/attacks/refined
CREATE TEMPORARY TABLE "kanon_run_refined0_refined" AS SELECT class_number, held, label_values, CASE WHEN room < held THEN 1 ELSE 0 END AS contradicted, CASE WHEN room < held THEN 0 ELSE excluded END AS excluded, CASE WHEN room < held THEN 0 ELSE certain END AS certain, bounded FROM (SELECT class_number, MAX(held) AS held, MAX(room) AS room, SUM(part_values) AS label_values, SUM(excluded) AS excluded, SUM(CASE WHEN held + most > room THEN held + most - room ELSE 0 END) AS certain, MAX(CASE WHEN most < held - 1 THEN 1 ELSE 0 END) AS bounded FROM (SELECT held_parts.*, SUM(most) OVER (PARTITION BY class_number) AS room FROM (SELECT classes.class_number AS class_number, classes.held AS held, parts.part_values AS part_values, COALESCE(outside.excluded, 0) AS excluded, CASE WHEN outside.excluded = parts.part_values THEN 0 ELSE classes.held END AS most FROM "kanon_run_refined_classes" AS classes JOIN (SELECT label, part, COUNT(*) AS part_values FROM "kanon_run_refined0_parts" GROUP BY label, part) AS parts ON classes."q0" = parts.label LEFT JOIN «disclosure/attacks/refined 1» AS outside ON classes.class_number = outside.class_number AND parts.part = outside.part) AS held_parts) AS bounded_parts GROUP BY class_number) AS bounds;

-- disclosure/attacks/refined_values
CREATE TEMPORARY TABLE "kanon_run_refined0_values" AS SELECT DISTINCT pairs.class_number AS class_number, levels.value AS value FROM "kanon_run_refined0_pairs" AS pairs JOIN "kanon_run_refined0_cell_levels" AS levels ON pairs.finer IS NOT DISTINCT FROM levels.label;

-- disclosure/attacks/label_parts
CREATE TEMPORARY TABLE "kanon_run_refined1_parts" AS SELECT parts.label AS label, parts.part AS part, parts.part_label AS part_label, parts.value AS value, CASE WHEN parts.part_values = texts.text_values THEN 1 ELSE 0 END AS clear FROM (SELECT label, part, part_label, value, COUNT(*) OVER (PARTITION BY label, part) AS part_values FROM (SELECT label, part, part_label, value, part_level, MAX(part_level) OVER (PARTITION BY label) AS split_level FROM (SELECT readings.label AS label, below.label_number AS part, below.label AS part_label, below.value AS value, below.label_level AS part_level, MIN(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS first_part, MAX(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS last_part FROM (SELECT label, MAX(label_level) AS label_level FROM "kanon_run_refined1_cell_levels" GROUP BY label) AS readings JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_refined_labels") AS released ON readings.label = released.label JOIN "kanon_run_refined1_cell_levels" AS whole ON whole.label = readings.label AND whole.label_level = readings.label_level JOIN "kanon_run_refined1_cell_levels" AS below ON below.value IS NOT DISTINCT FROM whole.value AND below.label_level < whole.label_level) AS lower_labels WHERE first_part < last_part) AS splits WHERE part_level = split_level) AS parts JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined1_cell_levels") AS texts_and_values GROUP BY label) AS texts ON parts.part_label IS NOT DISTINCT FROM texts.label;

-- disclosure/attacks/labels_below
CREATE TEMPORARY TABLE "kanon_run_refined1_below" AS SELECT inside.label AS label, inside.part AS part, inside.finer AS finer, inside.finer_values AS finer_values FROM (SELECT parts.label AS label, parts.part AS part, texts.label AS finer, COUNT(*) AS finer_values FROM "kanon_run_refined1_parts" AS parts JOIN (SELECT DISTINCT levels.label AS label, levels.value AS value FROM "kanon_run_refined1_cell_levels" AS levels JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_refined_labels") AS released ON levels.label IS NOT DISTINCT FROM released.label) AS texts ON parts.value IS NOT DISTINCT FROM texts.value GROUP BY parts.label, parts.part, texts.label) AS inside JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined1_cell_levels") AS texts_and_values GROUP BY label) AS sizes ON inside.finer IS NOT DISTINCT FROM sizes.label AND inside.finer_values = sizes.text_values;

-- disclosure/attacks/refined
CREATE TEMPORARY TABLE "kanon_run_refined1_refined" AS SELECT class_number, held, label_values, CASE WHEN room < held THEN 1 ELSE 0 END AS contradicted, CASE WHEN room < held THEN 0 ELSE excluded END AS excluded, CASE WHEN room < held THEN 0 ELSE certain END AS certain, bounded FROM (SELECT class_number, MAX(held) AS held, MAX(room) AS room, SUM(part_values) AS label_values, SUM(excluded) AS excluded, SUM(CASE WHEN held + most > room THEN held + most - room ELSE 0 END) AS certain, MAX(CASE WHEN most < held - 1 THEN 1 ELSE 0 END) AS bounded FROM (SELECT held_parts.*, SUM(most) OVER (PARTITION BY class_number) AS room FROM (SELECT classes.class_number AS class_number, classes.held AS held, parts.part_values AS part_values, COALESCE(outside.excluded, 0) AS excluded, CASE WHEN outside.excluded = parts.part_values THEN 0 ELSE classes.held END AS most FROM "kanon_run_refined_classes" AS classes JOIN (SELECT label, part, COUNT(*) AS part_values FROM "kanon_run_refined1_parts" GROUP BY label, part) AS parts ON classes."q1" = parts.label LEFT JOIN «disclosure/attacks/refined 2» AS outside ON classes.class_number = outside.class_number AND parts.part = outside.part) AS held_parts) AS bounded_parts GROUP BY class_number) AS bounds;

-- disclosure/attacks/refined_values
CREATE TEMPORARY TABLE "kanon_run_refined1_values" AS SELECT DISTINCT pairs.class_number AS class_number, levels.value AS value FROM "kanon_run_refined1_pairs" AS pairs JOIN "kanon_run_refined1_cell_levels" AS levels ON pairs.finer IS NOT DISTINCT FROM levels.label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_refined_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", cover.label AS "label0" FROM "kanon_run_refined_people" AS vectors JOIN "kanon_run_refined0_cell_levels" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_refined_labelled1" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."q1" AS "q1", vectors."row_count" AS "row_count", vectors."label0" AS "label0", cover.label AS "label1" FROM "kanon_run_refined_labelled0" AS vectors JOIN "kanon_run_refined1_cell_levels" AS cover ON vectors."q1" IS NOT DISTINCT FROM cover.value JOIN (SELECT DISTINCT "q0" FROM "kanon_run_refined_classes") AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1_cell_levels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_cell_levels";

-- disclosure/attacks/finer_classes
CREATE TEMPORARY TABLE "kanon_run_refined0_pairs" AS SELECT nested.class_number AS class_number, below.part AS part, below.finer AS finer, below.finer_values AS finer_values FROM (SELECT coarse.class_number AS class_number, coarse.label AS label, fine.label AS finer FROM "kanon_run_refined0_peers" AS coarse JOIN "kanon_run_refined0_peers" AS fine ON coarse.others = fine.others WHERE coarse.class_number <> fine.class_number AND fine.held >= 3) AS nested JOIN "kanon_run_refined0_below" AS below ON nested.label = below.label AND nested.finer IS NOT DISTINCT FROM below.finer;

-- disclosure/attacks/finer_classes
CREATE TEMPORARY TABLE "kanon_run_refined1_pairs" AS SELECT nested.class_number AS class_number, below.part AS part, below.finer AS finer, below.finer_values AS finer_values FROM (SELECT coarse.class_number AS class_number, coarse.label AS label, fine.label AS finer FROM "kanon_run_refined1_peers" AS coarse JOIN "kanon_run_refined1_peers" AS fine ON coarse.others = fine.others WHERE coarse.class_number <> fine.class_number AND fine.held >= 3) AS nested JOIN "kanon_run_refined1_below" AS below ON nested.label = below.label AND nested.finer IS NOT DISTINCT FROM below.finer;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_kept_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_kept_labels" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS WITH "kanon_run_with_labelled" AS (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0", CASE WHEN value IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(value AS TEXT)) > 1 THEN SUBSTRING(CAST(value AS TEXT), 1, 1) || REPEAT('*', LENGTH(CAST(value AS TEXT)) - 1) ELSE CAST(value AS TEXT) END) END COLLATE "binary" AS "l1" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_kept_people" GROUP BY "q0") AS distinct_values), "kanon_run_with_numbers1" AS «hierarchies/lookup_rules 4» SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY own."l1" ORDER BY own."l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", own."l1" AS "l1", "c1", "s1", '*' AS "l2" FROM "kanon_run_with_labelled" AS own JOIN "kanon_run_with_numbers1" AS "numbers1" ON own."l1" IS NOT DISTINCT FROM "numbers1"."l1";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_kept_people" GROUP BY "q1") AS distinct_values) AS own;

-- disclosure/attacks/label_levels
CREATE TEMPORARY TABLE "kanon_run_kept0_levels" AS SELECT lookup.value AS value, 0 AS label_level, COALESCE(lookup."c0", 0) AS label_number, CAST("lookup"."l0" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_kept_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 1 AS label_level, COALESCE(lookup."c1", 0) AS label_number, CAST("lookup"."l1" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_kept_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 2 AS label_level, 0 AS label_number, CAST("lookup"."l2" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" AS lookup JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_kept_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value;

-- disclosure/attacks/label_levels
CREATE TEMPORARY TABLE "kanon_run_kept1_levels" AS SELECT lookup.value AS value, 0 AS label_level, COALESCE(lookup."c0", 0) AS label_number, «disclosure/attacks/label_levels 1» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" AS lookup JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_kept_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value UNION ALL SELECT lookup.value AS value, 1 AS label_level, 0 AS label_number, «disclosure/attacks/label_levels 2» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" AS lookup JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_kept_people") AS occurring ON lookup.value IS NOT DISTINCT FROM occurring.value;

-- disclosure/attacks/unclear_labels
SELECT (SELECT COUNT(*) FROM (SELECT label, COUNT(DISTINCT label_level) AS level_count, COUNT(*) AS pair_count FROM "kanon_run_kept0_levels" GROUP BY label) AS pairs JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_kept0_levels") AS texts_and_values GROUP BY label) AS texts ON pairs.label IS NOT DISTINCT FROM texts.label WHERE pairs.pair_count <> pairs.level_count * texts.text_values) AS "unclear0", (SELECT COUNT(*) FROM (SELECT label, COUNT(DISTINCT label_level) AS level_count, COUNT(*) AS pair_count FROM "kanon_run_kept1_levels" GROUP BY label) AS pairs JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_kept1_levels") AS texts_and_values GROUP BY label) AS texts ON pairs.label IS NOT DISTINCT FROM texts.label WHERE pairs.pair_count <> pairs.level_count * texts.text_values) AS "unclear1";

-- disclosure/attacks/one_label_faults
SELECT (SELECT COUNT(*) FROM "kanon_run_kept_labels" AS released WHERE released.row_count < 3) AS small_classes, ABS((SELECT COALESCE(SUM(row_count), 0) FROM "kanon_run_kept_people" AS vectors) - (SELECT COALESCE(SUM(row_count), 0) FROM "kanon_run_kept_labels" AS released)) AS missing_rows, (SELECT COUNT(*) FROM (SELECT texts.value AS value FROM (SELECT DISTINCT value, label FROM "kanon_run_kept0_levels") AS texts LEFT JOIN (SELECT DISTINCT "q0" AS label, 1 AS is_released FROM "kanon_run_kept_labels") AS released ON texts.label IS NOT DISTINCT FROM released.label GROUP BY texts.value HAVING COALESCE(SUM(released.is_released), 0) <> 1) AS found) AS "split0", (SELECT COUNT(*) FROM (SELECT texts.value AS value FROM (SELECT DISTINCT value, label FROM "kanon_run_kept1_levels") AS texts LEFT JOIN (SELECT DISTINCT "q1" AS label, 1 AS is_released FROM "kanon_run_kept_labels") AS released ON texts.label IS NOT DISTINCT FROM released.label GROUP BY texts.value HAVING COALESCE(SUM(released.is_released), 0) <> 1) AS found) AS "split1";

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 THEN 1 ELSE 0 END) AS "missed1", SUM(CASE WHEN "known2" = 0 THEN 1 ELSE 0 END) AS "missed2" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1", MAX("at2") AS "known2" FROM (SELECT "q0" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_kept_labels" UNION ALL SELECT CAST("l0" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l1" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1", 0 AS "at2" FROM "kanon_run_0_lookup0" UNION ALL SELECT CAST("l2" AS TEXT) COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 0 AS "at1", 1 AS "at2" FROM "kanon_run_0_lookup0") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/fewest_values
SELECT MIN(own_values) AS fewest FROM (SELECT own_values, MIN(part) OVER (PARTITION BY whole) AS first_part, MAX(part) OVER (PARTITION BY whole) AS last_part FROM (SELECT above.label_number AS whole, below.label_number AS part, COUNT(*) AS own_values FROM "kanon_run_kept0_levels" AS above JOIN "kanon_run_kept0_levels" AS below ON above.value IS NOT DISTINCT FROM below.value AND below.label_level = 0 WHERE above.label_level = 1 GROUP BY above.label_number, below.label_number) AS parts) AS siblings WHERE first_part < last_part;

-- disclosure/attacks/level_misses
SELECT SUM(CASE WHEN "known0" = 0 THEN 1 ELSE 0 END) AS "missed0", SUM(CASE WHEN "known1" = 0 THEN 1 ELSE 0 END) AS "missed1" FROM (SELECT label, MAX(is_released) AS is_released, MAX("at0") AS "known0", MAX("at1") AS "known1" FROM (SELECT "q1" AS label, 1 AS is_released, 0 AS "at0", 0 AS "at1" FROM "kanon_run_kept_labels" UNION ALL SELECT «disclosure/attacks/cover 3» COLLATE "binary" AS label, 0 AS is_released, 1 AS "at0", 0 AS "at1" FROM "kanon_run_0_lookup1" UNION ALL SELECT «disclosure/attacks/cover 4» COLLATE "binary" AS label, 0 AS is_released, 0 AS "at0", 1 AS "at1" FROM "kanon_run_0_lookup1") AS labels_of_both GROUP BY label) AS found WHERE is_released = 1;

-- disclosure/attacks/fewest_values
SELECT MIN(own_values) AS fewest FROM (SELECT own_values, MIN(part) OVER (PARTITION BY whole) AS first_part, MAX(part) OVER (PARTITION BY whole) AS last_part FROM (SELECT above.label_number AS whole, below.label_number AS part, COUNT(*) AS own_values FROM "kanon_run_kept1_levels" AS above JOIN "kanon_run_kept1_levels" AS below ON above.value IS NOT DISTINCT FROM below.value AND below.label_level = 0 WHERE above.label_level = 1 GROUP BY above.label_number, below.label_number) AS parts) AS siblings WHERE first_part < last_part;

-- disclosure/attacks/one_label_rows
SELECT (SELECT COALESCE(SUM(released.row_count), 0) FROM "kanon_run_kept_labels" AS released JOIN (SELECT label FROM (SELECT DISTINCT value, label FROM "kanon_run_kept0_levels") AS texts GROUP BY label HAVING COUNT(*) > 1) AS wide ON released."q0" = wide.label) AS "wide0", (SELECT COALESCE(SUM(released.row_count), 0) FROM "kanon_run_kept_labels" AS released JOIN (SELECT label FROM (SELECT DISTINCT value, label FROM "kanon_run_kept1_levels") AS texts GROUP BY label HAVING COUNT(*) > 1) AS wide ON released."q1" = wide.label) AS "wide1";

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_kept_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value) AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_kept_labels" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_kept_labels") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_kept_labels") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value) AS "found1" FROM (SELECT released."q0" AS "q0", released."q1" AS "q1", CAST(released.row_count AS BIGINT) AS people, 0 AS risk, 0 AS exposed, 0 AS beyond FROM "kanon_run_kept_labels" AS released) AS cases;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_kept1_levels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_kept0_levels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_kept_labels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_kept_people";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_refined_people" AS SELECT "kanon_source"."age" AS "q0", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY "kanon_source"."age";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_refined_labels" AS SELECT «frequency/raw 2» COLLATE "binary" AS "q0", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY «frequency/raw 2» COLLATE "binary";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", CAST(DENSE_RANK() OVER (ORDER BY own."l0" ASC) AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY own."l0") AS INT) AS "s0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_refined_people" GROUP BY "q0") AS distinct_values) AS own;

-- hierarchies/coverage
SELECT 0 AS attribute, (SELECT COUNT(*) FROM "kanon_run_0_lookup0") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_0_lookup0" AS labels JOIN "kanon_run_0_lookup0" AS found ON labels.value IS NOT DISTINCT FROM found.value;

-- disclosure/attacks/places
CREATE TEMPORARY TABLE "kanon_run_cut_places0" AS SELECT value, label, ROW_NUMBER() OVER (ORDER BY sort ASC) AS place, ROW_NUMBER() OVER (ORDER BY sort ASC) - 1 AS domain_place FROM (SELECT own.value AS value, CAST("own"."l0" AS TEXT) COLLATE "binary" AS label, own.value AS sort FROM "kanon_run_0_lookup0" AS own WHERE NOT own.value IS NULL AND NOT own.l0 IS NULL) AS sortable;

-- disclosure/attacks/ranges
CREATE TEMPORARY TABLE "kanon_run_cut_ranges0" AS SELECT label, MIN(low_place) AS low_place, MIN(high_place) AS high_place, MIN(has_null) AS has_null FROM (SELECT found.label AS label, 1 AS low_place, 2147483647 AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found WHERE 1 = 1 AND found.label = 'not NULL' UNION ALL SELECT found.label AS label, 1 AS low_place, high.place AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS high WHERE 1 = 1 AND found.label = ('<= ' || high.label) COLLATE "binary" UNION ALL SELECT found.label AS label, low.place AS low_place, 2147483647 AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS low WHERE 1 = 1 AND found.label = ('>= ' || low.label) COLLATE "binary" UNION ALL SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 0 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING(found.label, LENGTH(('[' || low.label || ', ') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS low WHERE 1 = 1 AND (SUBSTRING(found.label, 1, LENGTH(('[' || low.label || ', ') COLLATE "binary"))) COLLATE "binary" = ('[' || low.label || ', ') COLLATE "binary") AS starts CROSS JOIN "kanon_run_cut_places0" AS high WHERE starts.behind = (high.label || ']') COLLATE "binary" AND starts.low_place < high.place UNION ALL SELECT found.label AS label, low.place AS low_place, low.place AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = low.label UNION ALL SELECT found.label AS label, 1 AS low_place, 2147483647 AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = 'not NULL' UNION ALL SELECT found.label AS label, 1 AS low_place, high.place AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS high WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = ('<= ' || high.label) COLLATE "binary" UNION ALL SELECT found.label AS label, low.place AS low_place, 2147483647 AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = ('>= ' || low.label) COLLATE "binary" UNION ALL SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 1 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", LENGTH(('[' || low.label || ', ') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", 1, LENGTH(('[' || low.label || ', ') COLLATE "binary"))) COLLATE "binary" = ('[' || low.label || ', ') COLLATE "binary") AS starts CROSS JOIN "kanon_run_cut_places0" AS high WHERE starts.behind = (high.label || ']') COLLATE "binary" AND starts.low_place < high.place) AS readings WHERE NOT label IN (SELECT label FROM "kanon_run_cut_places0") GROUP BY label HAVING COUNT(*) = 1;

-- disclosure/attacks/cut_readings
CREATE TEMPORARY TABLE "kanon_run_cut_readings0" AS SELECT readings.label AS label, CAST(low AS BIGINT) AS low, CAST(high AS BIGINT) AS high, CAST(CASE WHEN has_null = 1 THEN last_place + 1 ELSE high END AS BIGINT) AS top, CAST(COALESCE(first_value.domain_place, 0) AS BIGINT) AS low_at, CAST(COALESCE(last_value.domain_place, 0) AS BIGINT) AS top_at FROM (SELECT released.label AS label, ends.last_place AS last_place, CASE WHEN released.label IS NULL THEN ends.last_place + 1 WHEN NOT own.place IS NULL THEN own.place WHEN released.label = '*' THEN 1 ELSE ranges.low_place END AS low, CASE WHEN released.label IS NULL THEN ends.last_place + 1 WHEN NOT own.place IS NULL THEN own.place WHEN released.label = '*' OR ranges.high_place > ends.last_place THEN ends.last_place ELSE ranges.high_place END AS high, CASE WHEN released.label IS NULL OR NOT own.place IS NULL THEN 0 WHEN released.label = '*' THEN 1 ELSE ranges.has_null END AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS released CROSS JOIN (SELECT COALESCE(MAX(place), 0) AS last_place FROM "kanon_run_cut_places0") AS ends LEFT JOIN "kanon_run_cut_places0" AS own ON released.label = own.label LEFT JOIN "kanon_run_cut_ranges0" AS ranges ON released.label = ranges.label) AS readings LEFT JOIN "kanon_run_cut_places0" AS first_value ON readings.low = first_value.place LEFT JOIN "kanon_run_cut_places0" AS last_value ON CASE WHEN has_null = 1 THEN last_place + 1 ELSE high END = last_value.place;

-- disclosure/attacks/cut_unread
SELECT (SELECT COUNT(*) - COUNT(DISTINCT label) FROM "kanon_run_cut_places0" AS places) + (SELECT COUNT(*) - COUNT(low) FROM "kanon_run_cut_readings0" AS readings) AS unread;

-- disclosure/attacks/range_levels
CREATE TEMPORARY TABLE "kanon_run_refined0_ranges" AS SELECT value, 0 AS label_level, place AS label_number, label FROM "kanon_run_cut_places0" AS places UNION ALL SELECT places.value AS value, 1 AS label_level, 0 AS label_number, readings.label AS label FROM "kanon_run_cut_readings0" AS readings JOIN "kanon_run_cut_places0" AS places ON places.place >= readings.low AND places.place <= readings.high WHERE readings.low < readings.top UNION ALL SELECT value, 0 AS label_level, 0 AS label_number, CAST(NULL AS TEXT) AS label FROM "kanon_run_0_lookup0" AS lookup WHERE value IS NULL UNION ALL SELECT lookup.value AS value, 1 AS label_level, 0 AS label_number, readings.label AS label FROM "kanon_run_cut_readings0" AS readings CROSS JOIN "kanon_run_0_lookup0" AS lookup WHERE lookup.value IS NULL AND readings.low < readings.top AND readings.high < readings.top;

-- disclosure/attacks/unclear_labels
SELECT (SELECT COUNT(*) FROM (SELECT label, COUNT(DISTINCT label_level) AS level_count, COUNT(*) AS pair_count FROM "kanon_run_refined0_ranges" GROUP BY label) AS pairs JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined0_ranges") AS texts_and_values GROUP BY label) AS texts ON pairs.label IS NOT DISTINCT FROM texts.label WHERE pairs.pair_count <> pairs.level_count * texts.text_values) AS "unclear0";

-- disclosure/attacks/numbered_classes
CREATE TEMPORARY TABLE "kanon_run_refined_classes" AS SELECT released."q0" AS "q0", CAST(released.row_count AS BIGINT) AS held, ROW_NUMBER() OVER (ORDER BY released."q0" ASC) AS class_number, COALESCE("split0".splits, 0) AS split_columns, CASE WHEN "split0".splits = 1 THEN 0 ELSE 1 END AS one_vector FROM "kanon_run_refined_labels" AS released LEFT JOIN (SELECT whole.label AS label, 1 AS splits FROM "kanon_run_refined0_ranges" AS whole JOIN "kanon_run_refined0_ranges" AS low ON whole.value IS NOT DISTINCT FROM low.value AND low.label_level = 0 GROUP BY whole.label HAVING COUNT(DISTINCT low.label_number) > 1) AS "split0" ON released."q0" = "split0".label;

-- disclosure/attacks/label_parts
CREATE TEMPORARY TABLE "kanon_run_refined0_parts" AS SELECT parts.label AS label, parts.part AS part, parts.part_label AS part_label, parts.value AS value, CASE WHEN parts.part_values = texts.text_values THEN 1 ELSE 0 END AS clear FROM (SELECT label, part, part_label, value, COUNT(*) OVER (PARTITION BY label, part) AS part_values FROM (SELECT label, part, part_label, value, part_level, MAX(part_level) OVER (PARTITION BY label) AS split_level FROM (SELECT readings.label AS label, below.label_number AS part, below.label AS part_label, below.value AS value, below.label_level AS part_level, MIN(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS first_part, MAX(below.label_number) OVER (PARTITION BY readings.label, below.label_level) AS last_part FROM (SELECT label, MAX(label_level) AS label_level FROM "kanon_run_refined0_ranges" GROUP BY label) AS readings JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS released ON readings.label = released.label JOIN "kanon_run_refined0_ranges" AS whole ON whole.label = readings.label AND whole.label_level = readings.label_level JOIN "kanon_run_refined0_ranges" AS below ON below.value IS NOT DISTINCT FROM whole.value AND below.label_level < whole.label_level) AS lower_labels WHERE first_part < last_part) AS splits WHERE part_level = split_level) AS parts JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined0_ranges") AS texts_and_values GROUP BY label) AS texts ON parts.part_label IS NOT DISTINCT FROM texts.label;

-- disclosure/attacks/labels_below
CREATE TEMPORARY TABLE "kanon_run_refined0_below" AS SELECT inside.label AS label, inside.part AS part, inside.finer AS finer, inside.finer_values AS finer_values FROM (SELECT parts.label AS label, parts.part AS part, texts.label AS finer, COUNT(*) AS finer_values FROM "kanon_run_refined0_parts" AS parts JOIN (SELECT DISTINCT levels.label AS label, levels.value AS value FROM "kanon_run_refined0_ranges" AS levels JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_refined_labels") AS released ON levels.label IS NOT DISTINCT FROM released.label) AS texts ON parts.value IS NOT DISTINCT FROM texts.value GROUP BY parts.label, parts.part, texts.label) AS inside JOIN (SELECT label, COUNT(*) AS text_values FROM (SELECT DISTINCT label, value FROM "kanon_run_refined0_ranges") AS texts_and_values GROUP BY label) AS sizes ON inside.finer IS NOT DISTINCT FROM sizes.label AND inside.finer_values = sizes.text_values;

-- disclosure/attacks/agree_elsewhere
CREATE TEMPORARY TABLE "kanon_run_refined0_peers" AS SELECT class_number, held, one_vector, split_columns, "q0" AS label, 1 AS others FROM "kanon_run_refined_classes" AS classes;

-- disclosure/attacks/finer_classes
CREATE TEMPORARY TABLE "kanon_run_refined0_pairs" AS SELECT nested.class_number AS class_number, below.part AS part, below.finer AS finer, below.finer_values AS finer_values FROM «disclosure/attacks/finer_classes 1» AS nested JOIN "kanon_run_refined0_below" AS below ON nested.label = below.label AND nested.finer IS NOT DISTINCT FROM below.finer UNION SELECT peers.class_number AS class_number, inside.part AS part, inside.part_label AS finer, 1 AS finer_values FROM "kanon_run_refined0_peers" AS peers JOIN "kanon_run_cut_readings0" AS ends ON peers.label = ends.label JOIN "kanon_run_refined0_parts" AS inside ON peers.label = inside.label AND inside.part > ends.low AND inside.part < ends.high WHERE peers.held = CASE WHEN ends.high < ends.top THEN 3 ELSE 2 END UNION SELECT coarse.class_number AS class_number, inside.part AS part, inside.part_label AS finer, 1 AS finer_values FROM "kanon_run_refined0_peers" AS coarse JOIN "kanon_run_refined0_peers" AS fine ON coarse.others = fine.others JOIN "kanon_run_cut_readings0" AS ends ON fine.label = ends.label JOIN "kanon_run_refined0_parts" AS inside ON coarse.label = inside.label WHERE coarse.class_number <> fine.class_number AND fine.split_columns = 1 AND ends.low < ends.top AND CASE inside.part WHEN ends.low THEN 1 WHEN ends.high THEN 1 ELSE 0 END = 1;

-- disclosure/attacks/refined_values
CREATE TEMPORARY TABLE "kanon_run_refined0_values" AS SELECT DISTINCT pairs.class_number AS class_number, levels.value AS value FROM "kanon_run_refined0_pairs" AS pairs JOIN "kanon_run_refined0_ranges" AS levels ON pairs.finer IS NOT DISTINCT FROM levels.label;

-- disclosure/attacks/labelled
CREATE TEMPORARY TABLE "kanon_run_refined_labelled0" AS SELECT DISTINCT vectors."q0" AS "q0", vectors."row_count" AS "row_count", cover.label AS "label0" FROM "kanon_run_refined_people" AS vectors JOIN "kanon_run_refined0_ranges" AS cover ON vectors."q0" IS NOT DISTINCT FROM cover.value;

-- disclosure/attacks/refined_persons
CREATE TEMPORARY TABLE "kanon_run_refined_persons" AS SELECT vectors."q0" AS "q0", vectors.row_count AS row_count, released.class_number AS class_number, CASE WHEN "ruled0".class_number IS NULL THEN 1 ELSE 0 END AS possible FROM "kanon_run_refined_labelled0" AS vectors JOIN "kanon_run_refined_classes" AS released ON vectors."label0" IS NOT DISTINCT FROM released."q0" LEFT JOIN "kanon_run_refined0_values" AS "ruled0" ON released.class_number = "ruled0".class_number AND vectors."q0" IS NOT DISTINCT FROM "ruled0".value;

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_refined_held0" AS SELECT «frequency/raw 2» COLLATE "binary" AS "q0", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS "p0", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY «frequency/raw 2» COLLATE "binary", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- disclosure/attacks/refined_sensitive
CREATE TEMPORARY TABLE "kanon_run_refined_persons0" AS SELECT persons."q0" AS "q0", CAST(MAX(persons.row_count) AS BIGINT) AS people, CAST(COUNT(DISTINCT held.value_number) AS BIGINT) AS value_count, CAST(COUNT(DISTINCT CASE WHEN persons.possible = 1 THEN held.value_number END) AS BIGINT) AS possible_count FROM "kanon_run_refined_persons" AS persons JOIN (SELECT classes.class_number AS class_number, numbered.value_number AS value_number FROM "kanon_run_refined_classes" AS classes JOIN (SELECT "q0", DENSE_RANK() OVER (ORDER BY p0 ASC) AS value_number FROM "kanon_run_refined_held0" AS values_of_classes) AS numbered ON classes."q0" IS NOT DISTINCT FROM numbered."q0") AS held ON persons.class_number = held.class_number GROUP BY persons."q0";

-- «disclosure/attacks/counted 25»
(SELECT SUM(own.row_count) FROM "kanon_run_refined_held0" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_held0") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "p0" AS value FROM "kanon_run_refined_held0") AS "again1" ON own."p0" IS NOT DISTINCT FROM "again1".value)

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_refined_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value) AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_refined_labels" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_labels") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value) AS "found1", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there2", «disclosure/attacks/counted 25» AS "found2" FROM (SELECT classes."q0" AS "q0", classes.held AS people, COALESCE(1.0 * refined.excluded / refined.label_values, 0) AS risk, CASE WHEN refined.excluded > 0 THEN 1 ELSE 0 END AS exposed, 0 AS beyond FROM "kanon_run_refined_classes" AS classes LEFT JOIN "kanon_run_refined0_refined" AS refined ON classes.class_number = refined.class_number) AS cases;

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, NULL AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", (SELECT SUM(own.row_count) FROM "kanon_run_refined_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value) AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", (SELECT SUM(own.row_count) FROM "kanon_run_refined_labels" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_refined_labels") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value) AS "found1", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there2", «disclosure/attacks/counted 25» AS "found2" FROM (SELECT "q0", people, CASE WHEN possible_count > 0 THEN 1.0 * (value_count - possible_count) / value_count ELSE 0 END AS risk, CASE WHEN possible_count > 0 AND possible_count < value_count THEN 1 ELSE 0 END AS exposed, 0 AS beyond FROM "kanon_run_refined_persons0" AS persons) AS cases;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0_ranges";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_readings0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_ranges0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_places0";

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_consistent_people" GROUP BY "q0") AS found LEFT JOIN «hierarchies/lookup_rows 2» AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_consistent_positions0" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_consistent_positions0" VALUES
  ('a', '0'),
  ('b', '1');

-- disclosure/attacks/places
CREATE TEMPORARY TABLE "kanon_run_consistent_places0" AS SELECT value, label, ROW_NUMBER() OVER (ORDER BY sort ASC) AS place, sort AS domain_place FROM (SELECT own.value AS value, CAST("own"."l0" AS TEXT) COLLATE "binary" AS label, CAST(positions.l1 AS INT) AS sort FROM "kanon_run_0_lookup0" AS own JOIN "kanon_run_consistent_positions0" AS positions ON own.l0 = positions.l0 WHERE NOT own.value IS NULL AND NOT own.l0 IS NULL) AS sortable;

-- disclosure/attacks/ranges
CREATE TEMPORARY TABLE "kanon_run_consistent_ranges0" AS SELECT label, MIN(low_place) AS low_place, MIN(high_place) AS high_place, MIN(has_null) AS has_null FROM (SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 0 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING(found.label, LENGTH(('' || low.label || '..') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places0" AS low WHERE 1 = 1 AND (SUBSTRING(found.label, 1, LENGTH(('' || low.label || '..') COLLATE "binary"))) COLLATE "binary" = ('' || low.label || '..') COLLATE "binary") AS starts CROSS JOIN "kanon_run_consistent_places0" AS high WHERE starts.behind = (high.label || '') COLLATE "binary" AND starts.low_place < high.place UNION ALL SELECT found.label AS label, low.place AS low_place, low.place AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places0" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = low.label UNION ALL SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 1 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", LENGTH(('' || low.label || '..') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places0" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", 1, LENGTH(('' || low.label || '..') COLLATE "binary"))) COLLATE "binary" = ('' || low.label || '..') COLLATE "binary") AS starts CROSS JOIN "kanon_run_consistent_places0" AS high WHERE starts.behind = (high.label || '') COLLATE "binary" AND starts.low_place < high.place) AS readings WHERE NOT label IN (SELECT label FROM "kanon_run_consistent_places0") GROUP BY label HAVING COUNT(*) = 1;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_consistent_cover0" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM (SELECT value, CAST("l0" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" WHERE value IS NULL OR NOT "l0" IS NULL UNION ALL SELECT value, CAST("l2" AS TEXT) COLLATE "binary" AS label FROM "kanon_run_0_lookup0" UNION ALL SELECT places.value AS value, ranges.label AS label FROM "kanon_run_consistent_ranges0" AS ranges CROSS JOIN "kanon_run_consistent_places0" AS places WHERE places.place >= ranges.low_place AND places.place <= ranges.high_place UNION ALL SELECT own.value AS value, ranges.label AS label FROM "kanon_run_consistent_ranges0" AS ranges CROSS JOIN "kanon_run_0_lookup0" AS own WHERE ranges.has_null = 1 AND own.value IS NULL) AS labelled JOIN (SELECT DISTINCT "q0" AS label FROM "kanon_run_consistent_rows") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- disclosure/attacks/places
CREATE TEMPORARY TABLE "kanon_run_consistent_places1" AS SELECT value, label, ROW_NUMBER() OVER (ORDER BY sort ASC) AS place, ROW_NUMBER() OVER (ORDER BY sort ASC) - 1 AS domain_place FROM (SELECT own.value AS value, CAST("own"."l0" AS TEXT) COLLATE "binary" AS label, own.value AS sort FROM "kanon_run_0_lookup1" AS own WHERE NOT own.value IS NULL AND NOT own.l0 IS NULL) AS sortable;

-- disclosure/attacks/ranges
CREATE TEMPORARY TABLE "kanon_run_consistent_ranges1" AS SELECT label, MIN(low_place) AS low_place, MIN(high_place) AS high_place, MIN(has_null) AS has_null FROM (SELECT found.label AS label, 1 AS low_place, 2147483647 AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found WHERE 1 = 1 AND found.label = 'not NULL' UNION ALL SELECT found.label AS label, 1 AS low_place, high.place AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places1" AS high WHERE 1 = 1 AND found.label = ('<= ' || high.label) COLLATE "binary" UNION ALL SELECT found.label AS label, low.place AS low_place, 2147483647 AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places1" AS low WHERE 1 = 1 AND found.label = ('>= ' || low.label) COLLATE "binary" UNION ALL SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 0 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING(found.label, LENGTH(('[' || low.label || ', ') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places1" AS low WHERE 1 = 1 AND (SUBSTRING(found.label, 1, LENGTH(('[' || low.label || ', ') COLLATE "binary"))) COLLATE "binary" = ('[' || low.label || ', ') COLLATE "binary") AS starts CROSS JOIN "kanon_run_consistent_places1" AS high WHERE starts.behind = (high.label || ']') COLLATE "binary" AND starts.low_place < high.place UNION ALL SELECT found.label AS label, low.place AS low_place, low.place AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places1" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = low.label UNION ALL SELECT found.label AS label, 1 AS low_place, 2147483647 AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = 'not NULL' UNION ALL SELECT found.label AS label, 1 AS low_place, high.place AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places1" AS high WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = ('<= ' || high.label) COLLATE "binary" UNION ALL SELECT found.label AS label, low.place AS low_place, 2147483647 AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places1" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = ('>= ' || low.label) COLLATE "binary" UNION ALL SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 1 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", LENGTH(('[' || low.label || ', ') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found CROSS JOIN "kanon_run_consistent_places1" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", 1, LENGTH(('[' || low.label || ', ') COLLATE "binary"))) COLLATE "binary" = ('[' || low.label || ', ') COLLATE "binary") AS starts CROSS JOIN "kanon_run_consistent_places1" AS high WHERE starts.behind = (high.label || ']') COLLATE "binary" AND starts.low_place < high.place) AS readings WHERE NOT label IN (SELECT label FROM "kanon_run_consistent_places1") GROUP BY label HAVING COUNT(*) = 1;

-- disclosure/attacks/cover
CREATE TEMPORARY TABLE "kanon_run_consistent_cover1" AS SELECT DISTINCT labelled.value AS value, labelled.label AS label FROM (SELECT value, «disclosure/attacks/cover 3» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" WHERE value IS NULL OR NOT "l0" IS NULL UNION ALL SELECT value, «disclosure/attacks/cover 4» COLLATE "binary" AS label FROM "kanon_run_0_lookup1" UNION ALL SELECT places.value AS value, ranges.label AS label FROM "kanon_run_consistent_ranges1" AS ranges CROSS JOIN "kanon_run_consistent_places1" AS places WHERE places.place >= ranges.low_place AND places.place <= ranges.high_place UNION ALL SELECT own.value AS value, ranges.label AS label FROM "kanon_run_consistent_ranges1" AS ranges CROSS JOIN "kanon_run_0_lookup1" AS own WHERE ranges.has_null = 1 AND own.value IS NULL) AS labelled JOIN (SELECT DISTINCT "q1" AS label FROM "kanon_run_consistent_rows") AS found ON labelled.label IS NOT DISTINCT FROM found.label;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_ranges1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_places1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_ranges0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_places0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_consistent_positions0";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_cut_people" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."other" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- frequency/raw
CREATE TEMPORARY TABLE "kanon_run_cut_labels" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", «frequency/raw 2» COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", «frequency/raw 2» COLLATE "binary";

-- disclosure/attacks/cut_classes
CREATE TEMPORARY TABLE "kanon_run_cut_classes" AS SELECT released."q0" AS "q0", released."q1" AS "q1", CAST(released.row_count AS BIGINT) AS held, CAST(ROW_NUMBER() OVER (ORDER BY released."q0" ASC, released."q1" ASC) AS BIGINT) AS class_number FROM "kanon_run_cut_labels" AS released;

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_0_lookup0" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_cut_people" GROUP BY "q0") AS found LEFT JOIN «hierarchies/lookup_rows 2» AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- hierarchies/lookup_rules
CREATE TEMPORARY TABLE "kanon_run_0_lookup1" AS SELECT own.value AS value, own.value_rows AS value_rows, own."l0" AS "l0", '*' AS "l1" FROM (SELECT value, value_rows, CASE WHEN value IS NULL THEN NULL ELSE (CAST(value AS TEXT)) END COLLATE "binary" AS "l0" FROM (SELECT "q1" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_cut_people" GROUP BY "q1") AS distinct_values) AS own;

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_cut_positions0" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_cut_positions0" VALUES
  ('a', '0'),
  ('b', '1');

-- disclosure/attacks/places
CREATE TEMPORARY TABLE "kanon_run_cut_places0" AS SELECT value, label, ROW_NUMBER() OVER (ORDER BY sort ASC) AS place, sort AS domain_place FROM (SELECT own.value AS value, CAST("own"."l0" AS TEXT) COLLATE "binary" AS label, CAST(positions.l1 AS INT) AS sort FROM "kanon_run_0_lookup0" AS own JOIN "kanon_run_cut_positions0" AS positions ON own.l0 = positions.l0 WHERE NOT own.value IS NULL AND NOT own.l0 IS NULL) AS sortable;

-- disclosure/attacks/ranges
CREATE TEMPORARY TABLE "kanon_run_cut_ranges0" AS SELECT label, MIN(low_place) AS low_place, MIN(high_place) AS high_place, MIN(has_null) AS has_null FROM (SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 0 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING(found.label, LENGTH(('' || low.label || '..') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS low WHERE 1 = 1 AND (SUBSTRING(found.label, 1, LENGTH(('' || low.label || '..') COLLATE "binary"))) COLLATE "binary" = ('' || low.label || '..') COLLATE "binary") AS starts CROSS JOIN "kanon_run_cut_places0" AS high WHERE starts.behind = (high.label || '') COLLATE "binary" AND starts.low_place < high.place UNION ALL SELECT found.label AS label, low.place AS low_place, low.place AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = low.label UNION ALL SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 1 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", LENGTH(('' || low.label || '..') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places0" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", 1, LENGTH(('' || low.label || '..') COLLATE "binary"))) COLLATE "binary" = ('' || low.label || '..') COLLATE "binary") AS starts CROSS JOIN "kanon_run_cut_places0" AS high WHERE starts.behind = (high.label || '') COLLATE "binary" AND starts.low_place < high.place) AS readings WHERE NOT label IN (SELECT label FROM "kanon_run_cut_places0") GROUP BY label HAVING COUNT(*) = 1;

-- disclosure/attacks/cut_readings
CREATE TEMPORARY TABLE "kanon_run_cut_readings0" AS SELECT readings.label AS label, CAST(low AS BIGINT) AS low, CAST(high AS BIGINT) AS high, CAST(CASE WHEN has_null = 1 THEN last_place + 1 ELSE high END AS BIGINT) AS top, CAST(COALESCE(first_value.domain_place, 2) AS BIGINT) AS low_at, CAST(COALESCE(last_value.domain_place, 2) AS BIGINT) AS top_at FROM (SELECT released.label AS label, ends.last_place AS last_place, CASE WHEN released.label IS NULL THEN ends.last_place + 1 WHEN NOT own.place IS NULL THEN own.place WHEN released.label = '*' THEN 1 ELSE ranges.low_place END AS low, CASE WHEN released.label IS NULL THEN ends.last_place + 1 WHEN NOT own.place IS NULL THEN own.place WHEN released.label = '*' OR ranges.high_place > ends.last_place THEN ends.last_place ELSE ranges.high_place END AS high, CASE WHEN released.label IS NULL OR NOT own.place IS NULL THEN 0 WHEN released.label = '*' THEN 1 ELSE ranges.has_null END AS has_null FROM (SELECT DISTINCT "q0" AS label FROM "kanon_run_cut_labels") AS released CROSS JOIN (SELECT COALESCE(MAX(place), 0) AS last_place FROM "kanon_run_cut_places0") AS ends LEFT JOIN "kanon_run_cut_places0" AS own ON released.label = own.label LEFT JOIN "kanon_run_cut_ranges0" AS ranges ON released.label = ranges.label) AS readings LEFT JOIN "kanon_run_cut_places0" AS first_value ON readings.low = first_value.place LEFT JOIN "kanon_run_cut_places0" AS last_value ON CASE WHEN has_null = 1 THEN last_place + 1 ELSE high END = last_value.place;

-- disclosure/attacks/places
CREATE TEMPORARY TABLE "kanon_run_cut_places1" AS SELECT value, label, ROW_NUMBER() OVER (ORDER BY sort ASC) AS place, ROW_NUMBER() OVER (ORDER BY sort ASC) - 1 AS domain_place FROM (SELECT own.value AS value, CAST("own"."l0" AS TEXT) COLLATE "binary" AS label, own.value AS sort FROM "kanon_run_0_lookup1" AS own WHERE NOT own.value IS NULL AND NOT own.l0 IS NULL) AS sortable;

-- disclosure/attacks/ranges
CREATE TEMPORARY TABLE "kanon_run_cut_ranges1" AS SELECT label, MIN(low_place) AS low_place, MIN(high_place) AS high_place, MIN(has_null) AS has_null FROM (SELECT found.label AS label, 1 AS low_place, 2147483647 AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found WHERE 1 = 1 AND found.label = 'not NULL' UNION ALL SELECT found.label AS label, 1 AS low_place, high.place AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places1" AS high WHERE 1 = 1 AND found.label = ('<= ' || high.label) COLLATE "binary" UNION ALL SELECT found.label AS label, low.place AS low_place, 2147483647 AS high_place, 0 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places1" AS low WHERE 1 = 1 AND found.label = ('>= ' || low.label) COLLATE "binary" UNION ALL SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 0 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING(found.label, LENGTH(('[' || low.label || ', ') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places1" AS low WHERE 1 = 1 AND (SUBSTRING(found.label, 1, LENGTH(('[' || low.label || ', ') COLLATE "binary"))) COLLATE "binary" = ('[' || low.label || ', ') COLLATE "binary") AS starts CROSS JOIN "kanon_run_cut_places1" AS high WHERE starts.behind = (high.label || ']') COLLATE "binary" AND starts.low_place < high.place UNION ALL SELECT found.label AS label, low.place AS low_place, low.place AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places1" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = low.label UNION ALL SELECT found.label AS label, 1 AS low_place, 2147483647 AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = 'not NULL' UNION ALL SELECT found.label AS label, 1 AS low_place, high.place AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places1" AS high WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = ('<= ' || high.label) COLLATE "binary" UNION ALL SELECT found.label AS label, low.place AS low_place, 2147483647 AS high_place, 1 AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places1" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" = ('>= ' || low.label) COLLATE "binary" UNION ALL SELECT starts.label AS label, starts.low_place AS low_place, high.place AS high_place, 1 AS has_null FROM (SELECT found.label AS label, low.place AS low_place, (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", LENGTH(('[' || low.label || ', ') COLLATE "binary") + 1)) COLLATE "binary" AS behind FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS found CROSS JOIN "kanon_run_cut_places1" AS low WHERE found.label = ((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary" || ' or NULL') COLLATE "binary" AND (SUBSTRING((CASE WHEN LENGTH(found.label) > 8 THEN SUBSTRING(found.label, 1, LENGTH(found.label) - 8) END) COLLATE "binary", 1, LENGTH(('[' || low.label || ', ') COLLATE "binary"))) COLLATE "binary" = ('[' || low.label || ', ') COLLATE "binary") AS starts CROSS JOIN "kanon_run_cut_places1" AS high WHERE starts.behind = (high.label || ']') COLLATE "binary" AND starts.low_place < high.place) AS readings WHERE NOT label IN (SELECT label FROM "kanon_run_cut_places1") GROUP BY label HAVING COUNT(*) = 1;

-- disclosure/attacks/cut_readings
CREATE TEMPORARY TABLE "kanon_run_cut_readings1" AS SELECT readings.label AS label, CAST(low AS BIGINT) AS low, CAST(high AS BIGINT) AS high, CAST(CASE WHEN has_null = 1 THEN last_place + 1 ELSE high END AS BIGINT) AS top, CAST(COALESCE(first_value.domain_place, 0) AS BIGINT) AS low_at, CAST(COALESCE(last_value.domain_place, 0) AS BIGINT) AS top_at FROM (SELECT released.label AS label, ends.last_place AS last_place, CASE WHEN released.label IS NULL THEN ends.last_place + 1 WHEN NOT own.place IS NULL THEN own.place WHEN released.label = '*' THEN 1 ELSE ranges.low_place END AS low, CASE WHEN released.label IS NULL THEN ends.last_place + 1 WHEN NOT own.place IS NULL THEN own.place WHEN released.label = '*' OR ranges.high_place > ends.last_place THEN ends.last_place ELSE ranges.high_place END AS high, CASE WHEN released.label IS NULL OR NOT own.place IS NULL THEN 0 WHEN released.label = '*' THEN 1 ELSE ranges.has_null END AS has_null FROM (SELECT DISTINCT "q1" AS label FROM "kanon_run_cut_labels") AS released CROSS JOIN (SELECT COALESCE(MAX(place), 0) AS last_place FROM "kanon_run_cut_places1") AS ends LEFT JOIN "kanon_run_cut_places1" AS own ON released.label = own.label LEFT JOIN "kanon_run_cut_ranges1" AS ranges ON released.label = ranges.label) AS readings LEFT JOIN "kanon_run_cut_places1" AS first_value ON readings.low = first_value.place LEFT JOIN "kanon_run_cut_places1" AS last_value ON CASE WHEN has_null = 1 THEN last_place + 1 ELSE high END = last_value.place;

-- disclosure/attacks/cut_unread
SELECT (SELECT COUNT(*) - COUNT(DISTINCT label) FROM "kanon_run_cut_places0" AS places) + (SELECT COUNT(*) - COUNT(low) FROM "kanon_run_cut_readings0" AS readings) + (SELECT COUNT(*) - COUNT(DISTINCT label) FROM "kanon_run_cut_places1" AS places) + (SELECT COUNT(*) - COUNT(low) FROM "kanon_run_cut_readings1" AS readings) AS unread;

-- disclosure/attacks/cut_boxes
CREATE TEMPORARY TABLE "kanon_run_cut_boxes" AS SELECT classes.class_number AS class_number, classes.held AS held, 0 AS attribute, readings.low AS low, readings.high AS high, readings.top AS top, readings.low_at AS low_at, readings.top_at AS top_at FROM "kanon_run_cut_classes" AS classes JOIN "kanon_run_cut_readings0" AS readings ON classes."q0" IS NOT DISTINCT FROM readings.label UNION ALL SELECT classes.class_number AS class_number, classes.held AS held, 1 AS attribute, readings.low AS low, readings.high AS high, readings.top AS top, readings.low_at AS low_at, readings.top_at AS top_at FROM "kanon_run_cut_classes" AS classes JOIN "kanon_run_cut_readings1" AS readings ON classes."q1" IS NOT DISTINCT FROM readings.label;

-- disclosure/attacks/cut_places
CREATE TEMPORARY TABLE "kanon_run_cut_places" AS SELECT 0 AS attribute, CAST(place AS BIGINT) AS place FROM "kanon_run_cut_places0" AS places UNION ALL SELECT 0 AS attribute, CAST(COALESCE(MAX(place), 0) + 1 AS BIGINT) AS place FROM "kanon_run_cut_places0" AS places UNION ALL SELECT 1 AS attribute, CAST(place AS BIGINT) AS place FROM "kanon_run_cut_places1" AS places UNION ALL SELECT 1 AS attribute, CAST(COALESCE(MAX(place), 0) + 1 AS BIGINT) AS place FROM "kanon_run_cut_places1" AS places;

-- disclosure/attacks/cut_covered
CREATE TEMPORARY TABLE "kanon_run_cut_covered" AS SELECT attribute, place, class_count, class_sum FROM (SELECT attribute, place, occurs, SUM(class_count) OVER (PARTITION BY attribute ORDER BY place ASC) AS class_count, SUM(class_sum) OVER (PARTITION BY attribute ORDER BY place ASC) AS class_sum FROM (SELECT attribute, place, MAX(occurs) AS occurs, SUM(class_count) AS class_count, SUM(class_sum) AS class_sum FROM (SELECT attribute, place, 1 AS occurs, 0 AS class_count, 0 AS class_sum FROM "kanon_run_cut_places" AS places UNION ALL SELECT attribute, low, 0, 1, class_number FROM "kanon_run_cut_boxes" AS beginnings UNION ALL SELECT attribute, high + 1, 0, -1, -class_number FROM "kanon_run_cut_boxes" AS endings UNION ALL SELECT attribute, top, 0, 1, class_number FROM "kanon_run_cut_boxes" AS with_null WHERE top > high) AS ends GROUP BY attribute, place) AS changes) AS covered WHERE occurs = 1;

-- disclosure/attacks/cut_sure
CREATE TEMPORARY TABLE "kanon_run_cut_sure" AS SELECT class_number, attribute, place, MAX(sure_rows) AS sure_rows FROM (SELECT class_number, attribute, "low" AS place, CASE WHEN low = top THEN held ELSE 1 END AS sure_rows FROM "kanon_run_cut_boxes" AS "low_ends" UNION ALL SELECT class_number, attribute, "high" AS place, CASE WHEN low = top THEN held ELSE 1 END AS sure_rows FROM "kanon_run_cut_boxes" AS "high_ends" UNION ALL SELECT class_number, attribute, "top" AS place, CASE WHEN low = top THEN held ELSE 1 END AS sure_rows FROM "kanon_run_cut_boxes" AS "top_ends" UNION ALL SELECT class_sum AS class_number, attribute, place, 1 AS sure_rows FROM "kanon_run_cut_covered" AS covered WHERE class_count = 1) AS known GROUP BY class_number, attribute, place;

-- disclosure/attacks/cut_spare
CREATE TEMPORARY TABLE "kanon_run_cut_spare" AS SELECT boxes.*, boxes.high - boxes.low + 1 + CASE WHEN boxes.top > boxes.high THEN 1 ELSE 0 END AS label_values, known.sure_values AS sure_values, boxes.held - known.sure_rows AS free FROM "kanon_run_cut_boxes" AS boxes JOIN (SELECT class_number, attribute, CAST(COUNT(*) AS BIGINT) AS sure_values, CAST(SUM(sure_rows) AS BIGINT) AS sure_rows FROM "kanon_run_cut_sure" AS sure GROUP BY class_number, attribute) AS known ON boxes.class_number = known.class_number AND boxes.attribute = known.attribute;

-- disclosure/attacks/cut_impossible
SELECT (SELECT COUNT(*) FROM "kanon_run_cut_spare" AS spare WHERE held < 3 OR free < 0) AS small_classes, (SELECT COUNT(*) FROM "kanon_run_cut_covered" AS covered WHERE class_count = 0) AS lost_values;

-- disclosure/attacks/cut_members
CREATE TEMPORARY TABLE "kanon_run_cut_members" AS SELECT class_number, 1 AS part FROM "kanon_run_cut_classes" AS classes;

-- «disclosure/attacks/cut_steps 1»
(SELECT part, attribute, MAX(top) OVER (PARTITION BY part, attribute ORDER BY low ASC) AS reach, LEAD(low) OVER (PARTITION BY part, attribute ORDER BY low ASC) AS next_low, CAST(SUM(held) OVER (PARTITION BY part, attribute ORDER BY low ASC) AS BIGINT) AS low_rows, CAST(SUM(held) OVER (PARTITION BY part, attribute) AS BIGINT) AS part_rows, MIN(low_at) OVER (PARTITION BY part, attribute) AS first_at, MAX(top_at) OVER (PARTITION BY part, attribute) AS last_at FROM "kanon_run_with_held" AS held)

-- «disclosure/attacks/cut_steps 2»
(SELECT offered.*, CAST(FLOOR(CAST(last_at - first_at AS DOUBLE) * CASE attribute WHEN 0 THEN 5.00000000000000000e-01 WHEN 1 THEN 1.00000000000000000e+00 END * 1e9 + 0.5) AS BIGINT) AS width, ROW_NUMBER() OVER (PARTITION BY part, attribute ORDER BY allowable DESC, ABS(2 * low_rows - part_rows) ASC, reach ASC) AS nearness FROM "kanon_run_with_offered" AS offered)

-- «disclosure/attacks/cut_steps 3»
(SELECT part, attribute, width FROM (SELECT part, attribute, width, ROW_NUMBER() OVER (PARTITION BY part ORDER BY width DESC, attribute ASC) AS choice FROM "kanon_run_with_ranked" AS ranked WHERE nearness = 1 AND allowable = 1) AS widest WHERE choice = 1)

-- disclosure/attacks/cut_steps
CREATE TEMPORARY TABLE "kanon_run_cut_steps0" AS WITH "kanon_run_with_held" AS (SELECT members.part AS part, boxes.attribute AS attribute, boxes.low AS low, MAX(boxes.top) AS top, MIN(boxes.low_at) AS low_at, MAX(boxes.top_at) AS top_at, SUM(boxes.held) AS held FROM "kanon_run_cut_members" AS members JOIN "kanon_run_cut_boxes" AS boxes ON members.class_number = boxes.class_number GROUP BY members.part, boxes.attribute, boxes.low), "kanon_run_with_summed" AS «disclosure/attacks/cut_steps 1», "kanon_run_with_offered" AS (SELECT summed.*, CASE WHEN next_low > reach AND low_rows >= 3 AND part_rows - low_rows >= 3 THEN 1 ELSE 0 END AS allowable FROM "kanon_run_with_summed" AS summed WHERE first_at < last_at), "kanon_run_with_ranked" AS «disclosure/attacks/cut_steps 2», "kanon_run_with_chosen" AS «disclosure/attacks/cut_steps 3» SELECT ranked.part AS part, ranked.attribute AS attribute, ranked.part_rows AS part_rows, ranked.low_rows AS low_rows, ranked.reach AS cut_after, ranked.next_low AS cut_before, CASE WHEN ranked.attribute = chosen.attribute THEN 1 ELSE 0 END AS is_cut FROM "kanon_run_with_ranked" AS ranked LEFT JOIN "kanon_run_with_chosen" AS chosen ON ranked.part = chosen.part WHERE ranked.nearness = 1 AND (chosen.part IS NULL AND ranked.part_rows >= 6 OR ranked.width > chosen.width OR ranked.width = chosen.width AND ranked.attribute <= chosen.attribute);

-- «disclosure/attacks/cut_effects 1»
(SELECT part, attribute, place, SUM(below) AS below, SUM(above) AS above FROM (SELECT kept.part AS part, kept.attribute AS attribute, sure.place AS place, sure.sure_rows AS below, sure.sure_rows AS above FROM "kanon_run_with_kept" AS kept JOIN "kanon_run_cut_sure" AS sure ON kept.class_number = sure.class_number AND kept.attribute = sure.attribute UNION ALL SELECT part, attribute, top, free, 0 FROM "kanon_run_with_kept" AS kept UNION ALL SELECT part, attribute, low, 0, free FROM "kanon_run_with_kept" AS kept) AS ends GROUP BY part, attribute, place)

-- «disclosure/attacks/cut_effects 2»
(SELECT part, attribute, place, CAST(SUM(below) OVER (PARTITION BY part, attribute ORDER BY place ASC) AS BIGINT) AS up_to, CAST(SUM(above) OVER (PARTITION BY part, attribute ORDER BY place DESC) AS BIGINT) AS from_on FROM "kanon_run_with_counted" AS counted)

-- «disclosure/attacks/cut_effects 3»
(SELECT part, attribute, MAX(CASE WHEN from_on >= 3 THEN place END) AS first_heavy, MIN(CASE WHEN up_to >= 3 THEN place END) AS last_heavy FROM "kanon_run_with_summed" AS summed GROUP BY part, attribute)

-- «disclosure/attacks/cut_effects 4»
(SELECT bounds.part AS part, bounds.attribute AS attribute, bounds.first_heavy AS first_heavy, bounds.last_heavy AS last_heavy, 2 - COALESCE(MAX(CASE WHEN summed.place < bounds.first_heavy THEN summed.up_to END), 0) AS below_slack, 2 - COALESCE(MAX(CASE WHEN summed.place > bounds.last_heavy THEN summed.from_on END), 0) AS above_slack FROM "kanon_run_with_bounds" AS bounds JOIN "kanon_run_with_summed" AS summed ON bounds.part = summed.part AND bounds.attribute = summed.attribute GROUP BY bounds.part, bounds.attribute, bounds.first_heavy, bounds.last_heavy)

-- «disclosure/attacks/cut_effects 5»
(SELECT kept.class_number AS class_number, kept.attribute AS attribute, CASE WHEN heavy.below_slack = 0 AND kept.top >= heavy.first_heavy THEN heavy.first_heavy END AS none_below, CASE WHEN heavy.above_slack = 0 AND kept.low <= heavy.last_heavy THEN heavy.last_heavy END AS none_above, CASE WHEN heavy.first_heavy = heavy.last_heavy AND kept.low <= heavy.first_heavy AND kept.top >= heavy.first_heavy THEN kept.free - CASE WHEN kept.low < heavy.first_heavy THEN heavy.below_slack ELSE 0 END - CASE WHEN kept.top > heavy.first_heavy THEN heavy.above_slack ELSE 0 END ELSE 0 END AS most_certain, CASE WHEN heavy.first_heavy > heavy.last_heavy THEN 1 ELSE 0 END AS contradicted FROM "kanon_run_with_kept" AS kept JOIN "kanon_run_with_heavy" AS heavy ON kept.part = heavy.part AND kept.attribute = heavy.attribute)

-- disclosure/attacks/cut_effects
CREATE TEMPORARY TABLE "kanon_run_cut_effects0" AS WITH "kanon_run_with_edges" AS (SELECT steps.part AS part, steps.attribute AS attribute, spare.class_number AS class_number, spare.free AS free, CAST(SUM(spare.free + sure.sure_rows) OVER (PARTITION BY steps.part) AS BIGINT) - ABS(2 * steps.low_rows - steps.part_rows) - CASE WHEN 2 * steps.low_rows >= steps.part_rows THEN 1 ELSE 0 END AS slack FROM "kanon_run_cut_steps0" AS steps JOIN "kanon_run_cut_members" AS members ON steps.part = members.part JOIN "kanon_run_cut_spare" AS spare ON members.class_number = spare.class_number AND steps.attribute = spare.attribute JOIN "kanon_run_cut_sure" AS sure ON spare.class_number = sure.class_number AND spare.attribute = sure.attribute AND sure.place = CASE WHEN 2 * steps.low_rows >= steps.part_rows THEN steps.cut_after ELSE steps.cut_before END WHERE steps.is_cut = 1 AND CASE WHEN 2 * steps.low_rows >= steps.part_rows AND spare.top = steps.cut_after THEN 1 WHEN 2 * steps.low_rows < steps.part_rows AND spare.low = steps.cut_before THEN 1 ELSE 0 END = 1), "kanon_run_with_kept" AS (SELECT steps.part AS part, steps.attribute AS attribute, spare.class_number AS class_number, spare.low AS low, spare.top AS top, spare.free AS free FROM "kanon_run_cut_steps0" AS steps JOIN "kanon_run_cut_members" AS members ON steps.part = members.part JOIN "kanon_run_cut_spare" AS spare ON members.class_number = spare.class_number AND steps.attribute = spare.attribute WHERE steps.is_cut = 0), "kanon_run_with_counted" AS «disclosure/attacks/cut_effects 1», "kanon_run_with_summed" AS «disclosure/attacks/cut_effects 2», "kanon_run_with_bounds" AS «disclosure/attacks/cut_effects 3», "kanon_run_with_heavy" AS «disclosure/attacks/cut_effects 4» SELECT class_number, attribute, CASE WHEN slack = 0 THEN 1 ELSE 0 END AS pinned, CAST(NULL AS BIGINT) AS none_below, CAST(NULL AS BIGINT) AS none_above, CASE WHEN free > slack THEN free - slack ELSE 0 END AS certain, CASE WHEN slack < 0 THEN 1 ELSE 0 END AS contradicted FROM "kanon_run_with_edges" AS edges UNION ALL SELECT class_number, attribute, 0 AS pinned, none_below, none_above, CASE WHEN most_certain > 0 THEN most_certain ELSE 0 END AS certain, contradicted FROM «disclosure/attacks/cut_effects 5» AS bounded;

-- disclosure/attacks/cut_round
SELECT (SELECT COUNT(*) FROM "kanon_run_cut_steps0" AS steps WHERE is_cut = 1) AS cut_parts, (SELECT COUNT(*) FROM (SELECT members.part AS part FROM "kanon_run_cut_members" AS members LEFT JOIN "kanon_run_cut_steps0" AS steps ON members.part = steps.part AND steps.is_cut = 1 WHERE steps.part IS NULL GROUP BY members.part HAVING COUNT(*) > 1) AS whole) + (SELECT COALESCE(SUM(contradicted), 0) FROM "kanon_run_cut_effects0" AS effects) AS contradicted;

-- disclosure/attacks/cut_moved
CREATE TEMPORARY TABLE "kanon_run_cut_moved0" AS SELECT class_number, DENSE_RANK() OVER (ORDER BY whole ASC, side ASC) AS part FROM (SELECT members.class_number AS class_number, members.part AS whole, CASE WHEN boxes.low <= steps.cut_after THEN 0 ELSE 1 END AS side FROM "kanon_run_cut_members" AS members JOIN "kanon_run_cut_steps0" AS steps ON members.part = steps.part AND steps.is_cut = 1 JOIN "kanon_run_cut_boxes" AS boxes ON members.class_number = boxes.class_number AND steps.attribute = boxes.attribute) AS sides;

-- disclosure/attacks/cut_steps
CREATE TEMPORARY TABLE "kanon_run_cut_steps1" AS WITH "kanon_run_with_held" AS (SELECT members.part AS part, boxes.attribute AS attribute, boxes.low AS low, MAX(boxes.top) AS top, MIN(boxes.low_at) AS low_at, MAX(boxes.top_at) AS top_at, SUM(boxes.held) AS held FROM "kanon_run_cut_moved0" AS members JOIN "kanon_run_cut_boxes" AS boxes ON members.class_number = boxes.class_number GROUP BY members.part, boxes.attribute, boxes.low), "kanon_run_with_summed" AS «disclosure/attacks/cut_steps 1», "kanon_run_with_offered" AS (SELECT summed.*, CASE WHEN next_low > reach AND low_rows >= 3 AND part_rows - low_rows >= 3 THEN 1 ELSE 0 END AS allowable FROM "kanon_run_with_summed" AS summed WHERE first_at < last_at), "kanon_run_with_ranked" AS «disclosure/attacks/cut_steps 2», "kanon_run_with_chosen" AS «disclosure/attacks/cut_steps 3» SELECT ranked.part AS part, ranked.attribute AS attribute, ranked.part_rows AS part_rows, ranked.low_rows AS low_rows, ranked.reach AS cut_after, ranked.next_low AS cut_before, CASE WHEN ranked.attribute = chosen.attribute THEN 1 ELSE 0 END AS is_cut FROM "kanon_run_with_ranked" AS ranked LEFT JOIN "kanon_run_with_chosen" AS chosen ON ranked.part = chosen.part WHERE ranked.nearness = 1 AND (chosen.part IS NULL AND ranked.part_rows >= 6 OR ranked.width > chosen.width OR ranked.width = chosen.width AND ranked.attribute <= chosen.attribute);

-- disclosure/attacks/cut_effects
CREATE TEMPORARY TABLE "kanon_run_cut_effects1" AS WITH "kanon_run_with_edges" AS (SELECT steps.part AS part, steps.attribute AS attribute, spare.class_number AS class_number, spare.free AS free, CAST(SUM(spare.free + sure.sure_rows) OVER (PARTITION BY steps.part) AS BIGINT) - ABS(2 * steps.low_rows - steps.part_rows) - CASE WHEN 2 * steps.low_rows >= steps.part_rows THEN 1 ELSE 0 END AS slack FROM "kanon_run_cut_steps1" AS steps JOIN "kanon_run_cut_moved0" AS members ON steps.part = members.part JOIN "kanon_run_cut_spare" AS spare ON members.class_number = spare.class_number AND steps.attribute = spare.attribute JOIN "kanon_run_cut_sure" AS sure ON spare.class_number = sure.class_number AND spare.attribute = sure.attribute AND sure.place = CASE WHEN 2 * steps.low_rows >= steps.part_rows THEN steps.cut_after ELSE steps.cut_before END WHERE steps.is_cut = 1 AND CASE WHEN 2 * steps.low_rows >= steps.part_rows AND spare.top = steps.cut_after THEN 1 WHEN 2 * steps.low_rows < steps.part_rows AND spare.low = steps.cut_before THEN 1 ELSE 0 END = 1), "kanon_run_with_kept" AS (SELECT steps.part AS part, steps.attribute AS attribute, spare.class_number AS class_number, spare.low AS low, spare.top AS top, spare.free AS free FROM "kanon_run_cut_steps1" AS steps JOIN "kanon_run_cut_moved0" AS members ON steps.part = members.part JOIN "kanon_run_cut_spare" AS spare ON members.class_number = spare.class_number AND steps.attribute = spare.attribute WHERE steps.is_cut = 0), "kanon_run_with_counted" AS «disclosure/attacks/cut_effects 1», "kanon_run_with_summed" AS «disclosure/attacks/cut_effects 2», "kanon_run_with_bounds" AS «disclosure/attacks/cut_effects 3», "kanon_run_with_heavy" AS «disclosure/attacks/cut_effects 4» SELECT class_number, attribute, CASE WHEN slack = 0 THEN 1 ELSE 0 END AS pinned, CAST(NULL AS BIGINT) AS none_below, CAST(NULL AS BIGINT) AS none_above, CASE WHEN free > slack THEN free - slack ELSE 0 END AS certain, CASE WHEN slack < 0 THEN 1 ELSE 0 END AS contradicted FROM "kanon_run_with_edges" AS edges UNION ALL SELECT class_number, attribute, 0 AS pinned, none_below, none_above, CASE WHEN most_certain > 0 THEN most_certain ELSE 0 END AS certain, contradicted FROM «disclosure/attacks/cut_effects 5» AS bounded;

-- disclosure/attacks/cut_round
SELECT (SELECT COUNT(*) FROM "kanon_run_cut_steps1" AS steps WHERE is_cut = 1) AS cut_parts, (SELECT COUNT(*) FROM (SELECT members.part AS part FROM "kanon_run_cut_moved0" AS members LEFT JOIN "kanon_run_cut_steps1" AS steps ON members.part = steps.part AND steps.is_cut = 1 WHERE steps.part IS NULL GROUP BY members.part HAVING COUNT(*) > 1) AS whole) + (SELECT COALESCE(SUM(contradicted), 0) FROM "kanon_run_cut_effects1" AS effects) AS contradicted;

-- «disclosure/attacks/cut_refined 1»
(SELECT class_number, attribute, pinned, none_below, none_above, certain FROM "kanon_run_cut_effects0" AS "effects0" UNION ALL SELECT class_number, attribute, pinned, none_below, none_above, certain FROM "kanon_run_cut_effects1" AS "effects1")

-- disclosure/attacks/cut_refined
CREATE TEMPORARY TABLE "kanon_run_refined0" AS SELECT known.class_number AS class_number, known.held AS held, known.label_values AS label_values, known.label_values - known.sure_values - CASE WHEN known.free = 0 OR known.pinned = 1 OR known.first_place > known.last_place THEN 0 ELSE known.last_place - known.first_place + 1 - COUNT(sure.place) END AS excluded, known.held - known.free + known.certain AS certain, CASE WHEN known.certain > 0 THEN 1 ELSE 0 END AS bounded, 0 AS contradicted FROM (SELECT spare.class_number AS class_number, spare.held AS held, spare.label_values AS label_values, spare.sure_values AS sure_values, spare.free AS free, COALESCE(found.pinned, 0) AS pinned, COALESCE(found.certain, 0) AS certain, CASE WHEN found.none_below > spare.low THEN found.none_below ELSE spare.low END AS first_place, CASE WHEN found.none_above < spare.high THEN found.none_above ELSE spare.high END AS last_place FROM "kanon_run_cut_spare" AS spare LEFT JOIN (SELECT class_number, MAX(pinned) AS pinned, MAX(certain) AS certain, MAX(none_below) AS none_below, MIN(none_above) AS none_above FROM «disclosure/attacks/cut_refined 1» AS every_effect WHERE attribute = 0 GROUP BY class_number) AS found ON spare.class_number = found.class_number WHERE spare.attribute = 0 AND spare.label_values > 1) AS known LEFT JOIN "kanon_run_cut_sure" AS sure ON known.class_number = sure.class_number AND sure.attribute = 0 AND sure.place >= known.first_place AND sure.place <= known.last_place GROUP BY known.class_number, known.held, known.label_values, known.sure_values, known.free, known.pinned, known.certain, known.first_place, known.last_place;

-- disclosure/attacks/refined_facts
SELECT COALESCE(SUM(held), 0) AS generalized, COALESCE(SUM(CASE WHEN excluded > 0 THEN held ELSE 0 END), 0) AS shrunk, COALESCE(SUM(CAST(held AS DOUBLE) * excluded / label_values), 0) AS shares, COALESCE(SUM(certain), 0) AS certain, COALESCE(SUM(CASE WHEN bounded = 1 THEN held ELSE 0 END), 0) AS bounded, COALESCE(SUM(contradicted), 0) AS contradicted FROM "kanon_run_refined0" AS classes;

-- disclosure/attacks/cut_refined
CREATE TEMPORARY TABLE "kanon_run_refined1" AS SELECT known.class_number AS class_number, known.held AS held, known.label_values AS label_values, known.label_values - known.sure_values - CASE WHEN known.free = 0 OR known.pinned = 1 OR known.first_place > known.last_place THEN 0 ELSE known.last_place - known.first_place + 1 - COUNT(sure.place) END AS excluded, known.held - known.free + known.certain AS certain, CASE WHEN known.certain > 0 THEN 1 ELSE 0 END AS bounded, 0 AS contradicted FROM (SELECT spare.class_number AS class_number, spare.held AS held, spare.label_values AS label_values, spare.sure_values AS sure_values, spare.free AS free, COALESCE(found.pinned, 0) AS pinned, COALESCE(found.certain, 0) AS certain, CASE WHEN found.none_below > spare.low THEN found.none_below ELSE spare.low END AS first_place, CASE WHEN found.none_above < spare.high THEN found.none_above ELSE spare.high END AS last_place FROM "kanon_run_cut_spare" AS spare LEFT JOIN (SELECT class_number, MAX(pinned) AS pinned, MAX(certain) AS certain, MAX(none_below) AS none_below, MIN(none_above) AS none_above FROM «disclosure/attacks/cut_refined 1» AS every_effect WHERE attribute = 1 GROUP BY class_number) AS found ON spare.class_number = found.class_number WHERE spare.attribute = 1 AND spare.label_values > 1) AS known LEFT JOIN "kanon_run_cut_sure" AS sure ON known.class_number = sure.class_number AND sure.attribute = 1 AND sure.place >= known.first_place AND sure.place <= known.last_place GROUP BY known.class_number, known.held, known.label_values, known.sure_values, known.free, known.pinned, known.certain, known.first_place, known.last_place;

-- disclosure/attacks/refined_facts
SELECT COALESCE(SUM(held), 0) AS generalized, COALESCE(SUM(CASE WHEN excluded > 0 THEN held ELSE 0 END), 0) AS shrunk, COALESCE(SUM(CAST(held AS DOUBLE) * excluded / label_values), 0) AS shares, COALESCE(SUM(certain), 0) AS certain, COALESCE(SUM(CASE WHEN bounded = 1 THEN held ELSE 0 END), 0) AS bounded, COALESCE(SUM(contradicted), 0) AS contradicted FROM "kanon_run_refined1" AS classes;

-- «disclosure/attacks/counted 26»
(SELECT SUM(own.row_count) FROM "kanon_run_cut_people" AS own JOIN "kanon_run_0_lookup0" AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN "kanon_run_0_lookup1" AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- «disclosure/attacks/counted 27»
(SELECT SUM(own.row_count) FROM "kanon_run_cut_labels" AS own JOIN (SELECT DISTINCT "q0" AS value FROM "kanon_run_cut_labels") AS "again0" ON own."q0" IS NOT DISTINCT FROM "again0".value JOIN (SELECT DISTINCT "q1" AS value FROM "kanon_run_cut_labels") AS "again1" ON own."q1" IS NOT DISTINCT FROM "again1".value)

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 26» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 27» AS "found1" FROM (SELECT classes."q0" AS "q0", classes."q1" AS "q1", classes.held AS people, COALESCE(1.0 * refined.excluded / refined.label_values, 0) AS risk, CASE WHEN refined.excluded > 0 THEN 1 ELSE 0 END AS exposed, 0 AS beyond FROM "kanon_run_cut_classes" AS classes LEFT JOIN "kanon_run_refined0" AS refined ON classes.class_number = refined.class_number) AS cases;

-- disclosure/attacks/counted
SELECT SUM(people) AS examined, SUM(CASE WHEN exposed = 1 THEN people ELSE 0 END) AS exposed_people, SUM(CASE WHEN beyond = 1 THEN people ELSE 0 END) AS beyond_people, MAX(risk) AS highest_risk, SUM(people) AS people, 0 AS others, (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS all_rows, (SELECT COUNT(*) FROM "clinic"."other" AS whole) AS "there0", «disclosure/attacks/counted 26» AS "found0", (SELECT COUNT(*) FROM "clinic"."visits_release" AS whole) AS "there1", «disclosure/attacks/counted 27» AS "found1" FROM (SELECT classes."q0" AS "q0", classes."q1" AS "q1", classes.held AS people, COALESCE(1.0 * refined.excluded / refined.label_values, 0) AS risk, CASE WHEN refined.excluded > 0 THEN 1 ELSE 0 END AS exposed, 0 AS beyond FROM "kanon_run_cut_classes" AS classes LEFT JOIN "kanon_run_refined1" AS refined ON classes.class_number = refined.class_number) AS cases;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_refined0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_moved1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_effects1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_steps1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_moved0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_effects0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_steps0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_members";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_covered";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_places";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_spare";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_sure";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_boxes";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_readings1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_ranges1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_places1";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_positions0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_classes";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_labels";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cut_people";

-- «verbs/init/columns 1»
(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("kanon_source"."sex" AS TEXT), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')

-- «verbs/init/columns 2»
(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("kanon_source"."dx" AS TEXT), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')

-- verbs/init/columns
SELECT COUNT(*) AS row_count, COUNT("kanon_source"."person") AS "filled0", COUNT(DISTINCT "kanon_source"."person") AS "distinct_values0", MIN(LENGTH(CAST("kanon_source"."person" AS TEXT))) AS "shortest0", MAX(LENGTH(CAST("kanon_source"."person" AS TEXT))) AS "longest0", SUM(CASE WHEN LENGTH(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("kanon_source"."person" AS TEXT), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')) = 0 THEN 1 ELSE 0 END) AS "digits0", CASE WHEN MAX(CAST("kanon_source"."person" AS DOUBLE)) > MIN(CAST("kanon_source"."person" AS DOUBLE)) THEN FLOOR(3 * LN(MAX(CAST("kanon_source"."person" AS DOUBLE)) - MIN(CAST("kanon_source"."person" AS DOUBLE))) / LN(10)) END AS "thirds0", COUNT("kanon_source"."age") AS "filled1", COUNT(DISTINCT "kanon_source"."age") AS "distinct_values1", CASE WHEN MAX(CAST("kanon_source"."age" AS DOUBLE)) > MIN(CAST("kanon_source"."age" AS DOUBLE)) THEN FLOOR(3 * LN(MAX(CAST("kanon_source"."age" AS DOUBLE)) - MIN(CAST("kanon_source"."age" AS DOUBLE))) / LN(10)) END AS "thirds1", COUNT(CAST("kanon_source"."sex" AS TEXT) COLLATE "binary") AS "filled2", COUNT(DISTINCT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary") AS "distinct_values2", MIN(LENGTH(CAST("kanon_source"."sex" AS TEXT))) AS "shortest2", MAX(LENGTH(CAST("kanon_source"."sex" AS TEXT))) AS "longest2", SUM(CASE WHEN LENGTH(REPLACE«verbs/init/columns 1») = 0 THEN 1 ELSE 0 END) AS "digits2", SUM(CASE WHEN LENGTH(REPLACE(CAST("kanon_source"."sex" AS TEXT), '@', '')) = LENGTH(CAST("kanon_source"."sex" AS TEXT)) - 1 THEN 1 ELSE 0 END) AS "email2", SUM(CASE WHEN LEFT(CAST("kanon_source"."sex" AS TEXT), 4) = 'http' THEN 1 ELSE 0 END) AS "url2", SUM(CASE WHEN LENGTH(CAST("kanon_source"."sex" AS TEXT)) <= 15 AND REPLACE«verbs/init/columns 1» = '...' THEN 1 ELSE 0 END) AS "ip2", SUM(CASE WHEN LENGTH(CAST("kanon_source"."sex" AS TEXT)) = 11 AND REPLACE«verbs/init/columns 1» = '--' THEN 1 ELSE 0 END) AS "ssn2", SUM(CASE WHEN LENGTH(CAST("kanon_source"."sex" AS TEXT)) = 12 AND REPLACE«verbs/init/columns 1» = '--' THEN 1 ELSE 0 END) AS "phone2", SUM(CASE WHEN SUBSTRING(CAST("kanon_source"."sex" AS TEXT), 5, 1) <> '-' OR SUBSTRING(CAST("kanon_source"."sex" AS TEXT), 8, 1) <> '-' THEN 0 WHEN LENGTH(CAST("kanon_source"."sex" AS TEXT)) <> 10 AND (LENGTH(CAST("kanon_source"."sex" AS TEXT)) < 16 OR NOT SUBSTRING(CAST("kanon_source"."sex" AS TEXT), 11, 1) IN (' ', 'T')) THEN 0 WHEN NOT SUBSTRING(CAST("kanon_source"."sex" AS TEXT), 6, 2) IN ('01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12') THEN 0 WHEN NOT SUBSTRING(CAST("kanon_source"."sex" AS TEXT), 9, 2) IN ('01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19', '20', '21', '22', '23', '24', '25', '26', '27', '28', '29', '30', '31') THEN 0 WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(LEFT(CAST("kanon_source"."sex" AS TEXT), 10), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') = '--' THEN 1 ELSE 0 END) AS "dates2", SUM(CASE WHEN NOT LEFT(CAST("kanon_source"."sex" AS TEXT), 1) IN ('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-', '.') THEN 0 WHEN CAST("kanon_source"."sex" AS TEXT) IN ('-', '.', '-.') OR LENGTH(CAST("kanon_source"."sex" AS TEXT)) > 40 THEN 0 WHEN LEFT(CAST("kanon_source"."sex" AS TEXT), 1) = '0' AND LENGTH(CAST("kanon_source"."sex" AS TEXT)) > 1 AND SUBSTRING(CAST("kanon_source"."sex" AS TEXT), 2, 1) <> '.' THEN 0 WHEN LENGTH(REPLACE(SUBSTRING(CAST("kanon_source"."sex" AS TEXT), 2, 40), '-', '')) < LENGTH(SUBSTRING(CAST("kanon_source"."sex" AS TEXT), 2, 40)) THEN 0 WHEN REPLACE«verbs/init/columns 1» IN ('', '-', '.', '-.') THEN 1 ELSE 0 END) AS "numbers2", COUNT("kanon_source"."weight") AS "filled3", COUNT(DISTINCT "kanon_source"."weight") AS "distinct_values3", CASE WHEN MAX(CAST("kanon_source"."weight" AS DOUBLE)) > MIN(CAST("kanon_source"."weight" AS DOUBLE)) THEN FLOOR(3 * LN(MAX(CAST("kanon_source"."weight" AS DOUBLE)) - MIN(CAST("kanon_source"."weight" AS DOUBLE))) / LN(10)) END AS "thirds3", COUNT(CAST("kanon_source"."dx" AS TEXT) COLLATE "binary") AS "filled4", COUNT(DISTINCT CAST("kanon_source"."dx" AS TEXT) COLLATE "binary") AS "distinct_values4", MIN(LENGTH(CAST("kanon_source"."dx" AS TEXT))) AS "shortest4", MAX(LENGTH(CAST("kanon_source"."dx" AS TEXT))) AS "longest4", SUM(CASE WHEN LENGTH(REPLACE«verbs/init/columns 2») = 0 THEN 1 ELSE 0 END) AS "digits4", SUM(CASE WHEN LENGTH(REPLACE(CAST("kanon_source"."dx" AS TEXT), '@', '')) = LENGTH(CAST("kanon_source"."dx" AS TEXT)) - 1 THEN 1 ELSE 0 END) AS "email4", SUM(CASE WHEN LEFT(CAST("kanon_source"."dx" AS TEXT), 4) = 'http' THEN 1 ELSE 0 END) AS "url4", SUM(CASE WHEN LENGTH(CAST("kanon_source"."dx" AS TEXT)) <= 15 AND REPLACE«verbs/init/columns 2» = '...' THEN 1 ELSE 0 END) AS "ip4", SUM(CASE WHEN LENGTH(CAST("kanon_source"."dx" AS TEXT)) = 11 AND REPLACE«verbs/init/columns 2» = '--' THEN 1 ELSE 0 END) AS "ssn4", SUM(CASE WHEN LENGTH(CAST("kanon_source"."dx" AS TEXT)) = 12 AND REPLACE«verbs/init/columns 2» = '--' THEN 1 ELSE 0 END) AS "phone4", SUM(CASE WHEN SUBSTRING(CAST("kanon_source"."dx" AS TEXT), 5, 1) <> '-' OR SUBSTRING(CAST("kanon_source"."dx" AS TEXT), 8, 1) <> '-' THEN 0 WHEN LENGTH(CAST("kanon_source"."dx" AS TEXT)) <> 10 AND (LENGTH(CAST("kanon_source"."dx" AS TEXT)) < 16 OR NOT SUBSTRING(CAST("kanon_source"."dx" AS TEXT), 11, 1) IN (' ', 'T')) THEN 0 WHEN NOT SUBSTRING(CAST("kanon_source"."dx" AS TEXT), 6, 2) IN ('01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12') THEN 0 WHEN NOT SUBSTRING(CAST("kanon_source"."dx" AS TEXT), 9, 2) IN ('01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19', '20', '21', '22', '23', '24', '25', '26', '27', '28', '29', '30', '31') THEN 0 WHEN REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(LEFT(CAST("kanon_source"."dx" AS TEXT), 10), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '') = '--' THEN 1 ELSE 0 END) AS "dates4", SUM(CASE WHEN NOT LEFT(CAST("kanon_source"."dx" AS TEXT), 1) IN ('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '-', '.') THEN 0 WHEN CAST("kanon_source"."dx" AS TEXT) IN ('-', '.', '-.') OR LENGTH(CAST("kanon_source"."dx" AS TEXT)) > 40 THEN 0 WHEN LEFT(CAST("kanon_source"."dx" AS TEXT), 1) = '0' AND LENGTH(CAST("kanon_source"."dx" AS TEXT)) > 1 AND SUBSTRING(CAST("kanon_source"."dx" AS TEXT), 2, 1) <> '.' THEN 0 WHEN LENGTH(REPLACE(SUBSTRING(CAST("kanon_source"."dx" AS TEXT), 2, 40), '-', '')) < LENGTH(SUBSTRING(CAST("kanon_source"."dx" AS TEXT), 2, 40)) THEN 0 WHEN REPLACE«verbs/init/columns 2» IN ('', '-', '.', '-.') THEN 1 ELSE 0 END) AS "numbers4", COUNT("kanon_source"."seen") AS "filled5", COUNT(DISTINCT "kanon_source"."seen") AS "distinct_values5" FROM "clinic"."visits" AS kanon_source;

-- verbs/hierarchy/labels
SELECT 0 AS attribute, 0 AS level, COUNT(*) AS labels, MIN(row_count) AS fewest_rows FROM (SELECT labelled."l0" AS label, SUM(found.row_count) AS row_count FROM "kanon_run_lookup0" AS labelled JOIN (SELECT "q0" AS value, SUM(row_count) AS row_count FROM "kanon_run_raw" GROUP BY "q0") AS found ON labelled.value = found.value WHERE NOT labelled."l0" IS NULL GROUP BY labelled."l0") AS labels
UNION ALL
SELECT 0 AS attribute, 1 AS level, COUNT(*) AS labels, MIN(row_count) AS fewest_rows FROM (SELECT labelled."l1" AS label, SUM(found.row_count) AS row_count FROM "kanon_run_lookup0" AS labelled JOIN (SELECT "q0" AS value, SUM(row_count) AS row_count FROM "kanon_run_raw" GROUP BY "q0") AS found ON labelled.value = found.value WHERE NOT labelled."l1" IS NULL GROUP BY labelled."l1") AS labels;

-- verbs/hierarchy/paths
SELECT "label_0", "label_1", row_count FROM (SELECT (CAST(labelled.value AS TEXT)) AS label_0, labelled."l1" AS "label_1", found.row_count FROM "kanon_run_lookup0" AS labelled JOIN (SELECT "q0" AS value, SUM(row_count) AS row_count FROM "kanon_run_raw" GROUP BY "q0") AS found ON labelled.value = found.value WHERE NOT labelled.l0 IS NULL) AS paths ORDER BY row_count DESC, label_0 ASC LIMIT 3;

-- verbs/hierarchy/labels
SELECT 1 AS attribute, 0 AS level, COUNT(*) AS labels, MIN(row_count) AS fewest_rows FROM (SELECT labelled."l0" AS label, SUM(found.row_count) AS row_count FROM "kanon_run_lookup1" AS labelled JOIN (SELECT "q1" AS value, SUM(row_count) AS row_count FROM "kanon_run_raw" GROUP BY "q1") AS found ON labelled.value = found.value WHERE NOT labelled."l0" IS NULL GROUP BY labelled."l0") AS labels
UNION ALL
SELECT 1 AS attribute, 1 AS level, COUNT(*) AS labels, MIN(row_count) AS fewest_rows FROM (SELECT labelled."l1" AS label, SUM(found.row_count) AS row_count FROM "kanon_run_lookup1" AS labelled JOIN (SELECT "q1" AS value, SUM(row_count) AS row_count FROM "kanon_run_raw" GROUP BY "q1") AS found ON labelled.value = found.value WHERE NOT labelled."l1" IS NULL GROUP BY labelled."l1") AS labels;

-- verbs/hierarchy/paths
SELECT "label_0", "label_1", row_count FROM (SELECT (CAST(labelled.value AS TEXT)) AS label_0, labelled."l1" AS "label_1", found.row_count FROM "kanon_run_lookup1" AS labelled JOIN (SELECT "q1" AS value, SUM(row_count) AS row_count FROM "kanon_run_raw" GROUP BY "q1") AS found ON labelled.value = found.value WHERE NOT labelled.l0 IS NULL) AS paths ORDER BY row_count DESC, label_0 ASC LIMIT 3;

-- «disclosure/risk/histogram 1»
(SELECT "q0" AS "k0", "q1" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", "checked"."person" AS unit, 1 AS row_count FROM "clinic"."visits_release" AS checked) AS frequency GROUP BY "q0", "q1")

-- disclosure/risk/histogram
SELECT class_size, COUNT(*) AS size_classes, SUM(class_rows) AS size_rows FROM «disclosure/risk/histogram 1» AS classes GROUP BY class_size UNION ALL SELECT -1 AS class_size, NULL AS size_classes, COUNT(*) AS size_rows FROM "clinic"."visits_release" AS checked;

-- disclosure/risk/population
WITH "kanon_run_with_united" AS (SELECT "k0", "k1", class_size AS table_records, 0 AS population_records, class_rows FROM «disclosure/risk/histogram 1» AS of_table UNION ALL SELECT "k0", "k1", 0 AS table_records, class_size AS population_records, class_rows FROM (SELECT "q0" AS "k0", "q1" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, COUNT(DISTINCT unit) AS class_size FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", "checked"."person" AS unit, 1 AS row_count FROM "clinic"."census" AS checked) AS frequency GROUP BY "q0", "q1") AS of_population), "kanon_run_with_matched" AS (SELECT SUM(table_records) AS class_size, SUM(population_records) AS population_size, SUM(class_rows) AS class_rows FROM "kanon_run_with_united" AS united GROUP BY "k0", "k1") SELECT SUM(CASE WHEN class_size > 0 THEN 1 ELSE 0 END) AS classes, SUM(class_size) AS records, MIN(CASE WHEN class_size > 0 THEN population_size END) AS smallest, SUM(CASE WHEN class_size > 0 THEN population_size ELSE 0 END) AS population_records, SUM(CASE WHEN population_size > 0 THEN CAST(class_size AS DOUBLE) / CAST(population_size AS DOUBLE) ELSE 0 END) AS expected, SUM(CASE WHEN population_size <= 19 THEN class_size ELSE 0 END) AS at_risk, SUM(CASE WHEN population_size = 1 THEN class_size ELSE 0 END) AS uniques, SUM(CASE WHEN population_size < class_size THEN 1 ELSE 0 END) AS missing_classes, SUM(CASE WHEN population_size < class_size THEN class_size ELSE 0 END) AS missing_records, SUM(class_rows) AS judged_rows, (SELECT COUNT(*) FROM "clinic"."visits_release" AS checked) + (SELECT COUNT(*) FROM "clinic"."census" AS checked) AS all_rows FROM "kanon_run_with_matched" AS matched;

-- «disclosure/risk/combinations 1»
(SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", "checked"."person" AS unit, COUNT(*) AS row_count FROM "clinic"."visits_release" AS checked GROUP BY "checked"."age", CAST("checked"."sex" AS TEXT) COLLATE "binary", "checked"."person")

-- disclosure/risk/combinations
WITH "kanon_run_with_vectors" AS «disclosure/risk/combinations 1» SELECT 0 AS combination, SUM(CASE WHEN class_size > 0 THEN 1 ELSE 0 END) AS classes, SUM(class_size) AS records, SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS uniques, SUM(CAST(class_size AS DOUBLE) * CAST(class_size - 1 AS DOUBLE)) AS equal_pairs, SUM(class_rows) AS judged_rows, (SELECT COUNT(*) FROM "clinic"."visits_release" AS checked) AS all_rows FROM (SELECT COUNT(DISTINCT unit) AS class_size, SUM(row_count) AS class_rows FROM "kanon_run_with_vectors" AS vectors GROUP BY "q0") AS classes UNION ALL SELECT 1 AS combination, SUM(CASE WHEN class_size > 0 THEN 1 ELSE 0 END) AS classes, SUM(class_size) AS records, SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS uniques, SUM(CAST(class_size AS DOUBLE) * CAST(class_size - 1 AS DOUBLE)) AS equal_pairs, SUM(class_rows) AS judged_rows, NULL AS all_rows FROM (SELECT COUNT(DISTINCT unit) AS class_size, SUM(row_count) AS class_rows FROM "kanon_run_with_vectors" AS vectors GROUP BY "q1") AS classes;

-- disclosure/risk/combinations
WITH "kanon_run_with_vectors" AS «disclosure/risk/combinations 1» SELECT 0 AS combination, SUM(CASE WHEN class_size > 0 THEN 1 ELSE 0 END) AS classes, SUM(class_size) AS records, SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS uniques, SUM(CAST(class_size AS DOUBLE) * CAST(class_size - 1 AS DOUBLE)) AS equal_pairs, SUM(class_rows) AS judged_rows, (SELECT COUNT(*) FROM "clinic"."visits_release" AS checked) AS all_rows FROM (SELECT COUNT(DISTINCT unit) AS class_size, SUM(row_count) AS class_rows FROM "kanon_run_with_vectors" AS vectors GROUP BY "q0", "q1") AS classes;

-- disclosure/risk/histogram
SELECT class_size, COUNT(*) AS size_classes, SUM(class_rows) AS size_rows FROM (SELECT "q0" AS "k0", "q1" AS "k1", CAST(SUM(row_count) AS BIGINT) AS class_rows, CAST(SUM(row_count) AS BIGINT) AS class_size FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", 1 AS row_count FROM "clinic"."visits_release" AS checked) AS frequency GROUP BY "q0", "q1") AS classes GROUP BY class_size UNION ALL SELECT -1 AS class_size, NULL AS size_classes, COUNT(*) AS size_rows FROM "clinic"."visits_release" AS checked;

-- «disclosure/risk/combinations 2»
(SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS TEXT) COLLATE "binary" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits_release" AS checked GROUP BY "checked"."age", CAST("checked"."sex" AS TEXT) COLLATE "binary")

-- disclosure/risk/combinations
WITH "kanon_run_with_vectors" AS «disclosure/risk/combinations 2» SELECT 0 AS combination, SUM(CASE WHEN class_size > 0 THEN 1 ELSE 0 END) AS classes, SUM(class_size) AS records, SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS uniques, SUM(CAST(class_size AS DOUBLE) * CAST(class_size - 1 AS DOUBLE)) AS equal_pairs, SUM(class_rows) AS judged_rows, (SELECT COUNT(*) FROM "clinic"."visits_release" AS checked) AS all_rows FROM (SELECT SUM(row_count) AS class_size, SUM(row_count) AS class_rows FROM "kanon_run_with_vectors" AS vectors GROUP BY "q0") AS classes UNION ALL SELECT 1 AS combination, SUM(CASE WHEN class_size > 0 THEN 1 ELSE 0 END) AS classes, SUM(class_size) AS records, SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS uniques, SUM(CAST(class_size AS DOUBLE) * CAST(class_size - 1 AS DOUBLE)) AS equal_pairs, SUM(class_rows) AS judged_rows, NULL AS all_rows FROM (SELECT SUM(row_count) AS class_size, SUM(row_count) AS class_rows FROM "kanon_run_with_vectors" AS vectors GROUP BY "q1") AS classes;

-- disclosure/risk/combinations
WITH "kanon_run_with_vectors" AS «disclosure/risk/combinations 2» SELECT 0 AS combination, SUM(CASE WHEN class_size > 0 THEN 1 ELSE 0 END) AS classes, SUM(class_size) AS records, SUM(CASE WHEN class_size = 1 THEN 1 ELSE 0 END) AS uniques, SUM(CAST(class_size AS DOUBLE) * CAST(class_size - 1 AS DOUBLE)) AS equal_pairs, SUM(class_rows) AS judged_rows, (SELECT COUNT(*) FROM "clinic"."visits_release" AS checked) AS all_rows FROM (SELECT SUM(row_count) AS class_size, SUM(row_count) AS class_rows FROM "kanon_run_with_vectors" AS vectors GROUP BY "q0", "q1") AS classes;

-- tables/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age";

-- tables/totals
SELECT SUM(row_count) AS row_count, 0 AS unknown_rows, 0 AS blank_rows, 0 AS negative, 0 AS most, 0 AS unfit FROM "kanon_run_raw";

-- engines/scratch/load
INSERT INTO "kanon_run_domain0" VALUES
  ('M', 'x', '*'),
  ('F', 'y', '*');

-- tables/finest
CREATE TEMPORARY TABLE "kanon_run_finest" AS SELECT CAST(lookup0.l0 AS TEXT) COLLATE "binary" AS "c0_0", CAST(lookup0.l1 AS TEXT) COLLATE "binary" AS "c0_1", CAST(lookup1.l0 AS TEXT) COLLATE "binary" AS "c1_0", CAST(SUM(vectors.row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value GROUP BY CAST(lookup0.l0 AS TEXT) COLLATE "binary", CAST(lookup0.l1 AS TEXT) COLLATE "binary", CAST(lookup1.l0 AS TEXT) COLLATE "binary";

-- tables/judged
SELECT (SELECT SUM(row_count) FROM "kanon_run_finest") AS judged_rows, (SELECT SUM(row_count) FROM "kanon_run_raw") AS all_rows;

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", "c0_1", "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", CAST(NULL AS TEXT) AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", "c0_1", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_0", "c0_1") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_1", "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 3 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", CAST(NULL AS TEXT) AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_1", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_1") AS cells WHERE contributors > 0 UNION ALL SELECT 4 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 5 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", CAST(NULL AS TEXT) AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest) AS cells WHERE contributors > 0;

-- tables/crowded
SELECT 0 AS branch, COUNT(*) AS cell_count FROM "kanon_run_cells" AS inner_cells JOIN "kanon_run_cells" AS outer_cells ON inner_cells."c0_1" IS NOT DISTINCT FROM outer_cells."c0_1" AND inner_cells."c1_0" IS NOT DISTINCT FROM outer_cells."c1_0" WHERE inner_cells.branch = 0 AND outer_cells.branch = 2 AND outer_cells.contributors - inner_cells.contributors < 2 UNION ALL SELECT 1 AS branch, COUNT(*) AS cell_count FROM "kanon_run_cells" AS inner_cells JOIN "kanon_run_cells" AS outer_cells ON inner_cells."c0_1" IS NOT DISTINCT FROM outer_cells."c0_1" WHERE inner_cells.branch = 1 AND outer_cells.branch = 3 AND outer_cells.contributors - inner_cells.contributors < 2 UNION ALL SELECT 2 AS branch, COUNT(*) AS cell_count FROM "kanon_run_cells" AS inner_cells JOIN "kanon_run_cells" AS outer_cells ON inner_cells."c1_0" IS NOT DISTINCT FROM outer_cells."c1_0" WHERE inner_cells.branch = 2 AND outer_cells.branch = 4 AND outer_cells.contributors - inner_cells.contributors < 2 UNION ALL SELECT 3 AS branch, COUNT(*) AS cell_count FROM "kanon_run_cells" AS inner_cells JOIN "kanon_run_cells" AS outer_cells ON 1 = 1 WHERE inner_cells.branch = 3 AND outer_cells.branch = 5 AND outer_cells.contributors - inner_cells.contributors < 2;

-- tables/crowded
SELECT 0 AS branch, COUNT(*) AS cell_count FROM "kanon_run_cells" AS inner_cells JOIN "kanon_run_cells" AS outer_cells ON inner_cells."c0_0" IS NOT DISTINCT FROM outer_cells."c0_0" AND inner_cells."c0_1" IS NOT DISTINCT FROM outer_cells."c0_1" WHERE inner_cells.branch = 0 AND outer_cells.branch = 1 AND outer_cells.contributors - inner_cells.contributors < 2 UNION ALL SELECT 2 AS branch, COUNT(*) AS cell_count FROM "kanon_run_cells" AS inner_cells JOIN "kanon_run_cells" AS outer_cells ON inner_cells."c0_1" IS NOT DISTINCT FROM outer_cells."c0_1" WHERE inner_cells.branch = 2 AND outer_cells.branch = 3 AND outer_cells.contributors - inner_cells.contributors < 2 UNION ALL SELECT 4 AS branch, COUNT(*) AS cell_count FROM "kanon_run_cells" AS inner_cells JOIN "kanon_run_cells" AS outer_cells ON 1 = 1 WHERE inner_cells.branch = 4 AND outer_cells.branch = 5 AND outer_cells.contributors - inner_cells.contributors < 2;

-- tables/sensitive
SELECT branch, COUNT(*) AS cell_count, SUM(CASE WHEN below = 1 OR by_dominance > 0 OR "by_difference0" > 0 THEN 1 ELSE 0 END) AS sensitive_cells FROM "kanon_run_cells" GROUP BY branch;

-- tables/count
SELECT COUNT(*) AS cell_count FROM "kanon_run_cells" WHERE branch = 0 OR branch = 2 OR branch = 4;

-- tables/fetch
SELECT branch, "c0_0", "c0_1", "c1_0", cell_value, 0 AS cell_count, below, alone AS contributor, by_dominance, "by_difference0" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 2 OR branch = 4;

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_protected" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL, "l3" TEXT NOT NULL, "l4" TEXT NOT NULL, "l5" TEXT NOT NULL, "l6" TEXT NOT NULL, "l7" TEXT NOT NULL, "l8" TEXT NOT NULL, "l9" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_protected" VALUES
  ('1', '0', '1', '0', '1', '0', '1', '0', '1', '0');

-- tables/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT CASE WHEN loaded."l0" = '1' THEN loaded."l1" END AS "sex", CASE WHEN loaded."l2" = '1' THEN CAST(loaded."l3" AS BIGINT) END AS "sex_level", CASE WHEN loaded."l4" = '1' THEN loaded."l5" END AS "age", CASE WHEN loaded."l6" = '1' THEN CAST(loaded."l7" AS BIGINT) END AS "value", CASE WHEN loaded."l8" = '1' THEN CAST(loaded."l9" AS BIGINT) END AS "suppressed" FROM "kanon_run_protected" AS loaded;

-- tables/read
SELECT written."sex", written."sex_level", written."age", written."value", written."suppressed" FROM "clinic"."kanon_run_release" AS written;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '389a8f6cb7931cf9e00183ecd43eb5bf53db4f518076c72ee4caf03e0dc28816', '{"kanon_sql": "0.1.0", "published_at": "(the time)", "release": "clinic.visits_release", "run_id": "run", "spec": {"count": null, "decimals": 0, "dimensions": {"age": {"hierarchy": {}, "levels": [0], "total": false}, "sex": {"hierarchy": {"tree": {"levels": 2, "sha256": "de11069a9528796c10e1b18837070a1b3c12fc165b3c1cb125d34a547ee0b582", "values": 2}}, "levels": [0, 1], "total": true}}, "kind": "table", "ledger": null, "mean": false, "measure": null, "percent_of": null, "protection": {"method": "collapsing"}, "release": "clinic.visits_release", "rules": {"dominance": null, "estimate": null, "margin_difference": 2, "p_percent": null, "pq": null, "threshold": 3}, "source": "clinic.visits", "steps": null, "tables": null, "total_label": "*", "unit": null, "version": 1, "weight": null}, "spec_hash": "389a8f6cb7931cf9e00183ecd43eb5bf53db4f518076c72ee4caf03e0dc28816", "table": {"cells": {"suppressed": 0, "total": 1}, "dimensions": ["sex", "age"], "further": [], "levels": [[0, 1], [0]], "measured": "rows", "method": "collapsing", "warnings": []}, "versions": {"engine": "duckdb ", "python": "(the version)", "sqlglot": "30.30.0"}}');

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_protected";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_cells";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_finest";

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", "c0_1", "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_1", "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c1_0") AS cells WHERE contributors > 0;

-- tables/count
SELECT COUNT(*) AS cell_count FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2;

-- tables/fetch
SELECT branch, "c0_0", "c0_1", "c1_0", cell_value, 0 AS cell_count, below, alone AS contributor, by_dominance, "by_difference0" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'c38020519e1b73fae77d0028efe92bea410b6c9c909ccb1886a61d92ab1ac3a0', '{"kanon_sql": "0.1.0", "published_at": "(the time)", "release": "clinic.visits_release", "run_id": "run", "spec": {"count": null, "decimals": 0, "dimensions": {"age": {"hierarchy": {}, "levels": [0], "total": false}, "sex": {"hierarchy": {"tree": {"levels": 2, "sha256": "de11069a9528796c10e1b18837070a1b3c12fc165b3c1cb125d34a547ee0b582", "values": 2}}, "levels": [0, 1], "total": true}}, "kind": "table", "ledger": null, "mean": false, "measure": null, "percent_of": null, "protection": {"method": "suppression", "width": null}, "release": "clinic.visits_release", "rules": {"dominance": null, "estimate": null, "margin_difference": null, "p_percent": null, "pq": null, "threshold": 3}, "source": "clinic.visits", "steps": null, "tables": null, "total_label": "*", "unit": null, "version": 1, "weight": null}, "spec_hash": "c38020519e1b73fae77d0028efe92bea410b6c9c909ccb1886a61d92ab1ac3a0", "table": {"cells": {"suppressed": 0, "total": 1}, "dimensions": ["sex", "age"], "further": [], "levels": [[0, 1], [0]], "measured": "rows", "method": "suppression", "warnings": []}, "versions": {"engine": "duckdb ", "python": "(the version)", "sqlglot": "30.30.0"}}');

-- tables/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS unit, COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- tables/totals
SELECT SUM(row_count) AS row_count, SUM(CASE WHEN unit IS NULL THEN row_count ELSE 0 END) AS unknown_rows, 0 AS blank_rows, 0 AS negative, 0 AS most, 0 AS unfit FROM "kanon_run_raw";

-- tables/finest
CREATE TEMPORARY TABLE "kanon_run_finest" AS SELECT CAST(lookup0.l0 AS TEXT) COLLATE "binary" AS "c0_0", CAST(lookup0.l1 AS TEXT) COLLATE "binary" AS "c0_1", CAST(lookup1.l0 AS TEXT) COLLATE "binary" AS "c1_0", vectors.unit AS unit, CAST(SUM(vectors.row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value GROUP BY CAST(lookup0.l0 AS TEXT) COLLATE "binary", CAST(lookup0.l1 AS TEXT) COLLATE "binary", CAST(lookup1.l0 AS TEXT) COLLATE "binary", vectors.unit;

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", "c0_1", "c1_0", COUNT(*) AS cell_value, COUNT(*) AS contributors FROM (SELECT "c0_0", "c0_1", "c1_0", unit, SUM(row_count) AS row_count FROM "kanon_run_finest" AS finest GROUP BY "c0_0", "c0_1", "c1_0", "unit") AS persons GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_1", "c1_0", COUNT(*) AS cell_value, COUNT(*) AS contributors FROM (SELECT "c0_1", "c1_0", unit, SUM(row_count) AS row_count FROM "kanon_run_finest" AS finest GROUP BY "c0_1", "c1_0", "unit") AS persons GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c1_0", COUNT(*) AS cell_value, COUNT(*) AS contributors FROM (SELECT "c1_0", unit, SUM(row_count) AS row_count FROM "kanon_run_finest" AS finest GROUP BY "c1_0", "unit") AS persons GROUP BY "c1_0") AS cells WHERE contributors > 0;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '18a933edc72d18bb218bcb32c82d493f2eb06e164fc7f1845a186eead51723cf', '{"kanon_sql": "0.1.0", "published_at": "(the time)", "release": "clinic.visits_release", "run_id": "run", "spec": {"count": null, "decimals": 0, "dimensions": {"age": {"hierarchy": {}, "levels": [0], "total": false}, "sex": {"hierarchy": {"tree": {"levels": 2, "sha256": "de11069a9528796c10e1b18837070a1b3c12fc165b3c1cb125d34a547ee0b582", "values": 2}}, "levels": [0, 1], "total": true}}, "kind": "table", "ledger": null, "mean": false, "measure": null, "percent_of": null, "protection": {"method": "suppression", "width": null}, "release": "clinic.visits_release", "rules": {"dominance": null, "estimate": null, "margin_difference": null, "p_percent": null, "pq": null, "threshold": 3}, "source": "clinic.visits", "steps": null, "tables": null, "total_label": "*", "unit": "dx", "version": 1, "weight": null}, "spec_hash": "18a933edc72d18bb218bcb32c82d493f2eb06e164fc7f1845a186eead51723cf", "table": {"cells": {"suppressed": 0, "total": 1}, "dimensions": ["sex", "age"], "further": [], "levels": [[0, 1], [0]], "measured": "persons", "method": "suppression", "warnings": []}, "versions": {"engine": "duckdb ", "python": "(the version)", "sqlglot": "30.30.0"}}');

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", "c0_1", "c1_0", SUM(row_count) AS cell_value, COUNT(*) AS contributors FROM (SELECT "c0_0", "c0_1", "c1_0", unit, SUM(row_count) AS row_count FROM "kanon_run_finest" AS finest GROUP BY "c0_0", "c0_1", "c1_0", "unit") AS persons GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_1", "c1_0", SUM(row_count) AS cell_value, COUNT(*) AS contributors FROM (SELECT "c0_1", "c1_0", unit, SUM(row_count) AS row_count FROM "kanon_run_finest" AS finest GROUP BY "c0_1", "c1_0", "unit") AS persons GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c1_0", SUM(row_count) AS cell_value, COUNT(*) AS contributors FROM (SELECT "c1_0", unit, SUM(row_count) AS row_count FROM "kanon_run_finest" AS finest GROUP BY "c1_0", "unit") AS persons GROUP BY "c1_0") AS cells WHERE contributors > 0;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '9599e6cf007a37e216cc6422474f512d5fbfc5847557a665a923072904d50ff2', '{"kanon_sql": "0.1.0", "published_at": "(the time)", "release": "clinic.visits_release", "run_id": "run", "spec": {"count": "rows", "decimals": 0, "dimensions": {"age": {"hierarchy": {}, "levels": [0], "total": false}, "sex": {"hierarchy": {"tree": {"levels": 2, "sha256": "de11069a9528796c10e1b18837070a1b3c12fc165b3c1cb125d34a547ee0b582", "values": 2}}, "levels": [0, 1], "total": true}}, "kind": "table", "ledger": null, "mean": false, "measure": null, "percent_of": null, "protection": {"method": "suppression", "width": null}, "release": "clinic.visits_release", "rules": {"dominance": null, "estimate": null, "margin_difference": null, "p_percent": null, "pq": null, "threshold": 3}, "source": "clinic.visits", "steps": null, "tables": null, "total_label": "*", "unit": "dx", "version": 1, "weight": null}, "spec_hash": "9599e6cf007a37e216cc6422474f512d5fbfc5847557a665a923072904d50ff2", "table": {"cells": {"suppressed": 0, "total": 1}, "dimensions": ["sex", "age"], "further": [], "levels": [[0, 1], [0]], "measured": "rows", "method": "suppression", "warnings": []}, "versions": {"engine": "duckdb ", "python": "(the version)", "sqlglot": "30.30.0"}}');

-- tables/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", "kanon_source"."person" AS amount, MIN("kanon_source"."person") AS least, MAX("kanon_source"."person") AS most, COUNT("kanon_source"."person") AS known_count, 0 AS unfit, COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", "kanon_source"."person";

-- tables/totals
SELECT SUM(row_count) AS row_count, 0 AS unknown_rows, SUM(row_count - known_count) AS blank_rows, SUM(CASE WHEN least < 0 THEN 1 ELSE 0 END) AS negative, MAX(most) AS most, SUM(unfit) AS unfit FROM "kanon_run_raw";

-- tables/finest
CREATE TEMPORARY TABLE "kanon_run_finest" AS SELECT CAST(lookup0.l0 AS TEXT) COLLATE "binary" AS "c0_0", CAST(lookup0.l1 AS TEXT) COLLATE "binary" AS "c0_1", CAST(lookup1.l0 AS TEXT) COLLATE "binary" AS "c1_0", vectors.amount AS amount, CAST(SUM(vectors.known_count) AS BIGINT) AS contribution_count, CAST(SUM(vectors.row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value GROUP BY CAST(lookup0.l0 AS TEXT) COLLATE "binary", CAST(lookup0.l1 AS TEXT) COLLATE "binary", CAST(lookup1.l0 AS TEXT) COLLATE "binary", vectors.amount;

-- «tables/cells 1»
(SELECT "c0_0", "c0_1", "c1_0", amount, times, SUM(times) OVER (PARTITION BY "c0_0", "c0_1", "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c0_0", "c0_1", "c1_0", amount, SUM(contribution_count) AS times FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c0_0", "c0_1", "c1_0", "amount") AS contributions)

-- «tables/cells 2»
(SELECT "c0_1", "c1_0", amount, times, SUM(times) OVER (PARTITION BY "c0_1", "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c0_1", "c1_0", amount, SUM(contribution_count) AS times FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c0_1", "c1_0", "amount") AS contributions)

-- «tables/cells 3»
(SELECT "c1_0", amount, times, SUM(times) OVER (PARTITION BY "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c1_0", amount, SUM(contribution_count) AS times FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c1_0", "amount") AS contributions)

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c0_0", "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n FROM «tables/cells 1» AS ranked GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n FROM «tables/cells 2» AS ranked GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n FROM «tables/cells 3» AS ranked GROUP BY "c1_0") AS cells WHERE contributors > 0;

-- tables/fetch
SELECT branch, "c0_0", "c0_1", "c1_0", cell_value, 0 AS cell_count, below, alone AS contributor, by_dominance, "by_difference0", "by_difference1" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '61bae9208862a50ec232342f2a4bb02a38f8bc04a42a694053f4e74ce51d268f', '{"kanon_sql": "0.1.0", "published_at": "(the time)", "release": "clinic.visits_release", "run_id": "run", "spec": {"count": null, "decimals": 0, "dimensions": {"age": {"hierarchy": {}, "levels": [0], "total": false}, "sex": {"hierarchy": {"tree": {"levels": 2, "sha256": "de11069a9528796c10e1b18837070a1b3c12fc165b3c1cb125d34a547ee0b582", "values": 2}}, "levels": [0, 1], "total": true}}, "kind": "table", "ledger": null, "mean": false, "measure": "person", "percent_of": null, "protection": {"method": "suppression", "percent": 20}, "release": "clinic.visits_release", "rules": {"dominance": {"k": 75, "n": 2}, "estimate": null, "margin_difference": null, "p_percent": 10, "pq": {"p": 10, "q": 50}, "threshold": 3}, "source": "clinic.visits", "steps": null, "tables": null, "total_label": "*", "unit": null, "version": 1, "weight": null}, "spec_hash": "61bae9208862a50ec232342f2a4bb02a38f8bc04a42a694053f4e74ce51d268f", "table": {"cells": {"suppressed": 0, "total": 1}, "dimensions": ["sex", "age"], "further": [], "levels": [[0, 1], [0]], "measured": "person", "method": "suppression", "warnings": []}, "versions": {"engine": "duckdb ", "python": "(the version)", "sqlglot": "30.30.0"}}');

-- tables/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS unit, CAST(SUM("kanon_source"."person") AS BIGINT) AS amount, MIN("kanon_source"."person") AS least, MAX("kanon_source"."person") AS most, COUNT("kanon_source"."person") AS known_count, 0 AS unfit, COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- tables/totals
SELECT SUM(row_count) AS row_count, SUM(CASE WHEN unit IS NULL THEN row_count ELSE 0 END) AS unknown_rows, SUM(row_count - known_count) AS blank_rows, SUM(CASE WHEN least < 0 THEN 1 ELSE 0 END) AS negative, MAX(most) AS most, SUM(unfit) AS unfit FROM "kanon_run_raw";

-- tables/finest
CREATE TEMPORARY TABLE "kanon_run_finest" AS SELECT CAST(lookup0.l0 AS TEXT) COLLATE "binary" AS "c0_0", CAST(lookup0.l1 AS TEXT) COLLATE "binary" AS "c0_1", CAST(lookup1.l0 AS TEXT) COLLATE "binary" AS "c1_0", vectors.unit AS unit, CAST(SUM(vectors.amount) AS BIGINT) AS amount, CAST(SUM(vectors.known_count) AS BIGINT) AS contribution_count, CAST(SUM(vectors.row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value GROUP BY CAST(lookup0.l0 AS TEXT) COLLATE "binary", CAST(lookup0.l1 AS TEXT) COLLATE "binary", CAST(lookup1.l0 AS TEXT) COLLATE "binary", vectors.unit;

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, first_unit, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c0_0", "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(unit) AS first_unit FROM (SELECT "c0_0", "c0_1", "c1_0", amount, times, unit, ROW_NUMBER() OVER (PARTITION BY "c0_0", "c0_1", "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c0_0", "c0_1", "c1_0", unit, SUM(amount) AS amount, 1 AS times FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c0_0", "c0_1", "c1_0", "unit") AS contributions) AS ranked GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, first_unit, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(unit) AS first_unit FROM (SELECT "c0_1", "c1_0", amount, times, unit, ROW_NUMBER() OVER (PARTITION BY "c0_1", "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c0_1", "c1_0", unit, SUM(amount) AS amount, 1 AS times FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c0_1", "c1_0", "unit") AS contributions) AS ranked GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, first_unit, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(unit) AS first_unit FROM (SELECT "c1_0", amount, times, unit, ROW_NUMBER() OVER (PARTITION BY "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c1_0", unit, SUM(amount) AS amount, 1 AS times FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c1_0", "unit") AS contributions) AS ranked GROUP BY "c1_0") AS cells WHERE contributors > 0;

-- tables/fetch
SELECT branch, "c0_0", "c0_1", "c1_0", cell_value, 0 AS cell_count, below, CASE WHEN alone = 1 THEN DENSE_RANK() OVER (ORDER BY first_unit ASC) ELSE 0 END AS contributor, by_dominance, "by_difference0", "by_difference1" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '1534e2067dc4270cac02f3be2b20724bceeb012a03d0c86f2d8fa5ab56da50d6', '{"kanon_sql": "0.1.0", "published_at": "(the time)", "release": "clinic.visits_release", "run_id": "run", "spec": {"count": null, "decimals": 0, "dimensions": {"age": {"hierarchy": {}, "levels": [0], "total": false}, "sex": {"hierarchy": {"tree": {"levels": 2, "sha256": "de11069a9528796c10e1b18837070a1b3c12fc165b3c1cb125d34a547ee0b582", "values": 2}}, "levels": [0, 1], "total": true}}, "kind": "table", "ledger": null, "mean": false, "measure": "person", "percent_of": null, "protection": {"method": "suppression", "percent": 20}, "release": "clinic.visits_release", "rules": {"dominance": {"k": 75, "n": 2}, "estimate": null, "margin_difference": null, "p_percent": 10, "pq": {"p": 10, "q": 50}, "threshold": 3}, "source": "clinic.visits", "steps": null, "tables": null, "total_label": "*", "unit": "dx", "version": 1, "weight": null}, "spec_hash": "1534e2067dc4270cac02f3be2b20724bceeb012a03d0c86f2d8fa5ab56da50d6", "table": {"cells": {"suppressed": 0, "total": 1}, "dimensions": ["sex", "age"], "further": [], "levels": [[0, 1], [0]], "measured": "person", "method": "suppression", "warnings": []}, "versions": {"engine": "duckdb ", "python": "(the version)", "sqlglot": "30.30.0"}}');

-- tables/raw
«frequency/raw 4»;

-- engines/scratch/load
INSERT INTO "kanon_run_domain1" VALUES
  ('M', 'x', '*'),
  ('F', 'y', '*');

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_domain2" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_domain2" VALUES
  ('M', 'z', '*'),
  ('F', 'v', '*');

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_lookup1" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS found LEFT JOIN «hierarchies/lookup_rows 1» AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- hierarchies/lookup_rows
CREATE TEMPORARY TABLE "kanon_run_lookup2" AS SELECT found.value, found.value_rows, labelled."l0", COALESCE(labelled."c0", 0) AS "c0", COALESCE(labelled."d0", 0) AS "d0", COALESCE(labelled."s0", 1) AS "s0", labelled."l1", COALESCE(labelled."c1", 0) AS "c1", COALESCE(labelled."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT "q0" AS value, CAST(SUM(row_count) AS BIGINT) AS value_rows FROM "kanon_run_raw" GROUP BY "q0") AS found LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0" ASC) AS BIGINT) AS "c0", CAST(DENSE_RANK() OVER (PARTITION BY "l1" ORDER BY "l0" ASC) - 1 AS BIGINT) AS "d0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INT) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1" ASC) AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INT) AS "s1" FROM "kanon_run_domain2") AS labelled ON (CAST(found.value AS TEXT)) COLLATE "binary" = labelled."l0";

-- hierarchies/coverage
«hierarchies/coverage 5»
UNION ALL
«hierarchies/coverage 2»
UNION ALL
SELECT 2 AS attribute, (SELECT COUNT(*) FROM "kanon_run_lookup2") AS domain_values, COUNT(*) AS found_values, SUM(CASE WHEN labels.value IS NULL THEN 1 ELSE 0 END) AS null_values, SUM(CASE WHEN labels.value IS NULL THEN found.value_rows ELSE 0 END) AS null_rows, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN 1 ELSE 0 END) AS uncovered_values, SUM(CASE WHEN NOT labels.value IS NULL AND (labels."l0" IS NULL OR labels."l1" IS NULL) THEN found.value_rows ELSE 0 END) AS uncovered_rows FROM "kanon_run_lookup2" AS labels JOIN "kanon_run_lookup2" AS found ON labels.value IS NOT DISTINCT FROM found.value;

-- tables/finest
CREATE TEMPORARY TABLE "kanon_run_finest" AS SELECT CAST(lookup0.l0 AS TEXT) COLLATE "binary" AS "c0_0", CAST(lookup1.l1 AS TEXT) COLLATE "binary" AS "c0_0_1", CAST(lookup2.l1 AS TEXT) COLLATE "binary" AS "c0_1_1", CAST(SUM(vectors.row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q0" IS NOT DISTINCT FROM "lookup1".value JOIN "kanon_run_lookup2" AS "lookup2" ON vectors."q0" IS NOT DISTINCT FROM "lookup2".value GROUP BY CAST(lookup0.l0 AS TEXT) COLLATE "binary", CAST(lookup1.l1 AS TEXT) COLLATE "binary", CAST(lookup2.l1 AS TEXT) COLLATE "binary";

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_0_1" AS "c0_0_1", "c0_1_1" AS "c0_1_1", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", "c0_0_1", "c0_1_1", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_0", "c0_0_1", "c0_1_1") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_0_1", CAST(NULL AS TEXT) AS "c0_1_1", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest) AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_0_1" AS "c0_0_1", CAST(NULL AS TEXT) AS "c0_1_1", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0_1", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_0_1") AS cells WHERE contributors > 0 UNION ALL SELECT 3 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_0_1", "c0_1_1" AS "c0_1_1", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_1_1", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_finest" AS finest GROUP BY "c0_1_1") AS cells WHERE contributors > 0;

-- tables/count
SELECT COUNT(*) AS cell_count FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2 OR branch = 3;

-- tables/fetch
SELECT branch, "c0_0", "c0_0_1", "c0_1_1", cell_value, 0 AS cell_count, below, alone AS contributor, by_dominance, "by_difference0" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2 OR branch = 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_domain2";

-- hierarchies/coverage
«hierarchies/coverage 5»
UNION ALL
«hierarchies/coverage 6»;

-- tables/finest
CREATE TEMPORARY TABLE "kanon_run_finest" AS SELECT CAST(lookup0.l0 AS TEXT) COLLATE "binary" AS "c0_0", CAST(lookup1.l0 AS TEXT) COLLATE "binary" AS "c1_0", CAST(SUM(vectors.row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value GROUP BY CAST(lookup0.l0 AS TEXT) COLLATE "binary", CAST(lookup1.l0 AS TEXT) COLLATE "binary";

-- tables/merge/categories
SELECT DISTINCT 0 AS dimension, "c0_0" AS label FROM "kanon_run_finest" AS finest;

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_every_group_loaded0" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL, "l3" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_every_group_loaded0" VALUES
  ('1', '0', '1', '0-0');

-- tables/merge/groups
CREATE TEMPORARY TABLE "kanon_run_every_group_groups0" AS SELECT CAST(CASE WHEN loaded.l0 = '1' THEN loaded.l1 END AS TEXT) COLLATE "binary" AS label, CAST(CASE WHEN loaded.l2 = '1' THEN loaded.l3 END AS TEXT) COLLATE "binary" AS merged FROM "kanon_run_every_group_loaded0" AS loaded;

-- tables/merge/relabelled
CREATE TEMPORARY TABLE "kanon_run_every_group" AS SELECT "groups0".merged AS "c0_0", finest."c1_0" AS "c1_0", finest."row_count" FROM "kanon_run_finest" AS finest JOIN "kanon_run_every_group_groups0" AS "groups0" ON finest."c0_0" IS NOT DISTINCT FROM "groups0".label;

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_group_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_every_group" AS finest GROUP BY "c0_0", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, "c0_0" AS "c0_0", CAST(NULL AS TEXT) AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_every_group" AS finest GROUP BY "c0_0") AS cells WHERE contributors > 0;

-- tables/merge/sensitive
SELECT DISTINCT "c0_0" FROM "kanon_run_group_cells" WHERE below = 1 OR by_dominance > 0 OR "by_difference0" > 0;

-- engines/scratch/domain
CREATE TEMPORARY TABLE "kanon_run_merged_loaded0" ("l0" TEXT NOT NULL, "l1" TEXT NOT NULL, "l2" TEXT NOT NULL, "l3" TEXT NOT NULL);

-- engines/scratch/load
INSERT INTO "kanon_run_merged_loaded0" VALUES
  ('1', '0', '1', '0');

-- tables/merge/groups
CREATE TEMPORARY TABLE "kanon_run_merged_groups0" AS SELECT CAST(CASE WHEN loaded.l0 = '1' THEN loaded.l1 END AS TEXT) COLLATE "binary" AS label, CAST(CASE WHEN loaded.l2 = '1' THEN loaded.l3 END AS TEXT) COLLATE "binary" AS merged FROM "kanon_run_merged_loaded0" AS loaded;

-- tables/merge/relabelled
CREATE TEMPORARY TABLE "kanon_run_merged" AS SELECT "groups0".merged AS "c0_0", finest."c1_0" AS "c1_0", finest."row_count" FROM "kanon_run_finest" AS finest JOIN "kanon_run_merged_groups0" AS "groups0" ON finest."c0_0" IS NOT DISTINCT FROM "groups0".label;

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_merged" AS finest GROUP BY "c0_0", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, "c0_0" AS "c0_0", CAST(NULL AS TEXT) AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c0_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_merged" AS finest GROUP BY "c0_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT "c1_0", SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_merged" AS finest GROUP BY "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 3 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, 0 AS alone, 0 AS by_dominance, 0 AS by_difference0 FROM (SELECT SUM(row_count) AS cell_value, SUM(row_count) AS contributors FROM "kanon_run_merged" AS finest) AS cells WHERE contributors > 0;

-- tables/fetch
SELECT branch, "c0_0", "c1_0", cell_value, 0 AS cell_count, below, alone AS contributor, by_dominance, "by_difference0" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2 OR branch = 3;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_merged";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_merged_groups0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_merged_loaded0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_group_cells";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_every_group";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_every_group_groups0";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_every_group_loaded0";

-- tables/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS unit, "kanon_source"."weight" AS holding, CAST(SUM("kanon_source"."person") AS BIGINT) AS amount, MIN("kanon_source"."person") AS least, MAX("kanon_source"."person") AS most, COUNT("kanon_source"."person") AS known_count, 0 AS unfit, COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary", "kanon_source"."weight";

-- tables/holdings
SELECT COUNT(*) AS divided FROM (SELECT unit FROM "kanon_run_raw" AS vectors GROUP BY unit HAVING COUNT(DISTINCT holding) + MAX(CASE WHEN holding IS NULL THEN 1 ELSE 0 END) > 1) AS units;

-- tables/finest
CREATE TEMPORARY TABLE "kanon_run_finest" AS SELECT CAST(lookup0.l0 AS TEXT) COLLATE "binary" AS "c0_0", CAST(lookup0.l1 AS TEXT) COLLATE "binary" AS "c0_1", CAST(lookup1.l0 AS TEXT) COLLATE "binary" AS "c1_0", vectors.unit AS unit, vectors.holding AS holding, CASE WHEN vectors.holding IS NULL THEN vectors.unit END AS lone_unit, CAST(SUM(vectors.amount) AS BIGINT) AS amount, CAST(SUM(vectors.known_count) AS BIGINT) AS contribution_count, CAST(SUM(vectors.row_count) AS BIGINT) AS row_count FROM "kanon_run_raw" AS vectors JOIN "kanon_run_lookup0" AS "lookup0" ON vectors."q0" IS NOT DISTINCT FROM "lookup0".value JOIN "kanon_run_lookup1" AS "lookup1" ON vectors."q1" IS NOT DISTINCT FROM "lookup1".value GROUP BY CAST(lookup0.l0 AS TEXT) COLLATE "binary", CAST(lookup0.l1 AS TEXT) COLLATE "binary", CAST(lookup1.l0 AS TEXT) COLLATE "binary", vectors.unit, vectors.holding;

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN 1 = 0 THEN 1 ELSE 0 END AS below, CASE WHEN holders = 1 THEN 1 ELSE 0 END AS alone, first_unit, first_holding, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0" FROM (SELECT "c0_0", "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(units) AS contributors, SUM(times) AS holders, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(holding) AS first_holding, MIN(lone_unit) AS first_unit FROM (SELECT "c0_0", "c0_1", "c1_0", amount, times, holding, lone_unit, units, ROW_NUMBER() OVER (PARTITION BY "c0_0", "c0_1", "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c0_0", "c0_1", "c1_0", holding, lone_unit, SUM(amount) AS amount, 1 AS times, COUNT(DISTINCT unit) AS units FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c0_0", "c0_1", "c1_0", "holding", "lone_unit") AS contributions) AS ranked GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN 1 = 0 THEN 1 ELSE 0 END AS below, CASE WHEN holders = 1 THEN 1 ELSE 0 END AS alone, first_unit, first_holding, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0" FROM (SELECT "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(units) AS contributors, SUM(times) AS holders, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(holding) AS first_holding, MIN(lone_unit) AS first_unit FROM (SELECT "c0_1", "c1_0", amount, times, holding, lone_unit, units, ROW_NUMBER() OVER (PARTITION BY "c0_1", "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c0_1", "c1_0", holding, lone_unit, SUM(amount) AS amount, 1 AS times, COUNT(DISTINCT unit) AS units FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c0_1", "c1_0", "holding", "lone_unit") AS contributions) AS ranked GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(contributors AS BIGINT) AS contributors, CASE WHEN 1 = 0 THEN 1 ELSE 0 END AS below, CASE WHEN holders = 1 THEN 1 ELSE 0 END AS alone, first_unit, first_holding, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0" FROM (SELECT "c1_0", SUM(amount * times) AS cell_value, SUM(units) AS contributors, SUM(times) AS holders, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(holding) AS first_holding, MIN(lone_unit) AS first_unit FROM (SELECT "c1_0", amount, times, holding, lone_unit, units, ROW_NUMBER() OVER (PARTITION BY "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c1_0", holding, lone_unit, SUM(amount) AS amount, 1 AS times, COUNT(DISTINCT unit) AS units FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c1_0", "holding", "lone_unit") AS contributions) AS ranked GROUP BY "c1_0") AS cells WHERE contributors > 0;

-- tables/fetch
SELECT branch, "c0_0", "c0_1", "c1_0", cell_value, 0 AS cell_count, below, CASE WHEN alone = 1 THEN DENSE_RANK() OVER (ORDER BY first_holding ASC, first_unit ASC) ELSE 0 END AS contributor, by_dominance, "by_difference0" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2;

-- release/manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '25f8b5520f58bbb787db30d048ff1e2bfb7a23debcec7139d94923967c4bfa23', '{"kanon_sql": "0.1.0", "published_at": "(the time)", "release": "clinic.visits_release", "run_id": "run", "spec": {"count": null, "decimals": 0, "dimensions": {"age": {"hierarchy": {}, "levels": [0], "total": false}, "sex": {"hierarchy": {"tree": {"levels": 2, "sha256": "de11069a9528796c10e1b18837070a1b3c12fc165b3c1cb125d34a547ee0b582", "values": 2}}, "levels": [0, 1], "total": true}}, "kind": "table", "ledger": null, "mean": false, "measure": "person", "percent_of": null, "protection": {"method": "suppression", "percent": 20}, "release": "clinic.visits_release", "rules": {"dominance": {"by": "weight", "k": 75, "n": 2}, "estimate": null, "margin_difference": null, "p_percent": {"by": "weight", "p": 10}, "pq": null, "threshold": null}, "source": "clinic.visits", "steps": null, "tables": null, "total_label": "*", "unit": "dx", "version": 1, "weight": null}, "spec_hash": "25f8b5520f58bbb787db30d048ff1e2bfb7a23debcec7139d94923967c4bfa23", "table": {"cells": {"suppressed": 0, "total": 1}, "dimensions": ["sex", "age"], "further": [], "levels": [[0, 1], [0]], "measured": "person", "method": "suppression", "warnings": []}, "versions": {"engine": "duckdb ", "python": "(the version)", "sqlglot": "30.30.0"}}');

-- «tables/raw 1»
(FLOOR(FLOOR(CAST("kanon_source"."weight" AS DOUBLE) * 100 + 5.00000000000000000e-01) - CASE WHEN FLOOR(CAST("kanon_source"."weight" AS DOUBLE) * 100 + 5.00000000000000000e-01) / 100 > CAST("kanon_source"."weight" AS DOUBLE) THEN 1 ELSE 0 END) AS BIGINT)

-- «tables/raw 2»
(CASE WHEN ("kanon_source"."weight" > -10000000000000 AND "kanon_source"."weight" < 10000000000000) THEN CAST«tables/raw 1» END)

-- «tables/raw 3»
(CASE WHEN "kanon_source"."weight" IS NULL THEN 0 WHEN ("kanon_source"."weight" > -10000000000000 AND "kanon_source"."weight" < 10000000000000) THEN CASE WHEN CAST«tables/raw 1» = -(CAST(FLOOR(FLOOR(CAST((-("kanon_source"."weight")) AS DOUBLE) * 100 + 5.00000000000000000e-01) - CASE WHEN FLOOR(CAST((-("kanon_source"."weight")) AS DOUBLE) * 100 + 5.00000000000000000e-01) / 100 > CAST((-("kanon_source"."weight")) AS DOUBLE) THEN 1 ELSE 0 END) AS BIGINT)) THEN 0 ELSE 1 END ELSE 1 END)

-- tables/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CASE WHEN ("kanon_source"."weight" > -10000000000000 AND "kanon_source"."weight" < 10000000000000) THEN CAST«tables/raw 1» END AS amount, MIN«tables/raw 2» AS least, MAX«tables/raw 2» AS most, COUNT«tables/raw 2» AS known_count, MAX«tables/raw 3» AS unfit, COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CASE WHEN ("kanon_source"."weight" > -10000000000000 AND "kanon_source"."weight" < 10000000000000) THEN CAST«tables/raw 1» END;

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(entries AS BIGINT) AS cell_count, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c0_0", "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(times) AS entries, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n FROM «tables/cells 1» AS ranked GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(entries AS BIGINT) AS cell_count, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(times) AS entries, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n FROM «tables/cells 2» AS ranked GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(entries AS BIGINT) AS cell_count, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(times) AS entries, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n FROM «tables/cells 3» AS ranked GROUP BY "c1_0") AS cells WHERE contributors > 0;

-- tables/fetch
SELECT branch, "c0_0", "c0_1", "c1_0", cell_value, cell_count AS cell_count, below, alone AS contributor, by_dominance, "by_difference0", "by_difference1" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2;

-- tables/raw
CREATE TEMPORARY TABLE "kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS TEXT) COLLATE "binary" AS "q0", "kanon_source"."age" AS "q1", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary" AS unit, CAST(SUM«tables/raw 2» AS BIGINT) AS amount, MIN«tables/raw 2» AS least, MAX«tables/raw 2» AS most, COUNT«tables/raw 2» AS known_count, MAX«tables/raw 3» AS unfit, COUNT(*) AS row_count FROM "clinic"."visits" AS kanon_source GROUP BY CAST("kanon_source"."sex" AS TEXT) COLLATE "binary", "kanon_source"."age", CAST("kanon_source"."dx" AS TEXT) COLLATE "binary";

-- tables/cells
CREATE TEMPORARY TABLE "kanon_run_cells" AS SELECT 0 AS branch, "c0_0" AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(entries AS BIGINT) AS cell_count, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, first_unit, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c0_0", "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(entries) AS entries, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(unit) AS first_unit FROM (SELECT "c0_0", "c0_1", "c1_0", amount, times, entries, unit, ROW_NUMBER() OVER (PARTITION BY "c0_0", "c0_1", "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c0_0", "c0_1", "c1_0", unit, SUM(amount) AS amount, 1 AS times, SUM(contribution_count) AS entries FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c0_0", "c0_1", "c1_0", "unit") AS contributions) AS ranked GROUP BY "c0_0", "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 1 AS branch, CAST(NULL AS TEXT) AS "c0_0", "c0_1" AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(entries AS BIGINT) AS cell_count, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, first_unit, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c0_1", "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(entries) AS entries, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(unit) AS first_unit FROM (SELECT "c0_1", "c1_0", amount, times, entries, unit, ROW_NUMBER() OVER (PARTITION BY "c0_1", "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c0_1", "c1_0", unit, SUM(amount) AS amount, 1 AS times, SUM(contribution_count) AS entries FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c0_1", "c1_0", "unit") AS contributions) AS ranked GROUP BY "c0_1", "c1_0") AS cells WHERE contributors > 0 UNION ALL SELECT 2 AS branch, CAST(NULL AS TEXT) AS "c0_0", CAST(NULL AS TEXT) AS "c0_1", "c1_0" AS "c1_0", CAST(cell_value AS BIGINT) AS cell_value, CAST(entries AS BIGINT) AS cell_count, CAST(contributors AS BIGINT) AS contributors, CASE WHEN contributors < 3 THEN 1 ELSE 0 END AS below, CASE WHEN contributors = 1 THEN 1 ELSE 0 END AS alone, first_unit, CAST(CASE WHEN (10000 * first_n) > (7500 * cell_value) THEN ((10000 * first_n) - (7500 * cell_value) + 7500 - 1) // 7500 ELSE 0 END AS BIGINT) AS by_dominance, CAST(CASE WHEN (1000 * first_1) > (10000 * (cell_value - first_2)) THEN ((1000 * first_1) - (10000 * (cell_value - first_2)) + 10000 - 1) // 10000 ELSE 0 END AS BIGINT) AS "by_difference0", CAST(CASE WHEN (1000 * first_1) > (5000 * (cell_value - first_2)) THEN ((1000 * first_1) - (5000 * (cell_value - first_2)) + 5000 - 1) // 5000 ELSE 0 END AS BIGINT) AS "by_difference1" FROM (SELECT "c1_0", SUM(amount * times) AS cell_value, SUM(times) AS contributors, SUM(entries) AS entries, SUM(CASE WHEN place - times >= 1 THEN 0 WHEN place <= 1 THEN amount * times ELSE amount * (1 - (place - times)) END) AS first_1, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_2, SUM(CASE WHEN place - times >= 2 THEN 0 WHEN place <= 2 THEN amount * times ELSE amount * (2 - (place - times)) END) AS first_n, MIN(unit) AS first_unit FROM (SELECT "c1_0", amount, times, entries, unit, ROW_NUMBER() OVER (PARTITION BY "c1_0" ORDER BY amount DESC) AS place FROM (SELECT "c1_0", unit, SUM(amount) AS amount, 1 AS times, SUM(contribution_count) AS entries FROM "kanon_run_finest" AS finest WHERE NOT amount IS NULL GROUP BY "c1_0", "unit") AS contributions) AS ranked GROUP BY "c1_0") AS cells WHERE contributors > 0;

-- tables/fetch
SELECT branch, "c0_0", "c0_1", "c1_0", cell_value, cell_count AS cell_count, below, CASE WHEN alone = 1 THEN DENSE_RANK() OVER (ORDER BY first_unit ASC) ELSE 0 END AS contributor, by_dominance, "by_difference0", "by_difference1" FROM "kanon_run_cells" WHERE branch = 0 OR branch = 1 OR branch = 2;

-- verbs/doctor/probe_text
WITH "kanon_run_with_texts" AS (SELECT 'a' AS probe UNION ALL SELECT 'A' AS probe UNION ALL SELECT 'a ' AS probe UNION ALL SELECT 'á' AS probe), "kanon_run_with_exact_texts" AS (SELECT CAST(probe AS TEXT) COLLATE "binary" AS probe FROM "kanon_run_with_texts" AS texts), "kanon_run_with_probes" AS (SELECT probe FROM "kanon_run_with_exact_texts" AS exact_texts GROUP BY probe) SELECT COUNT(*) AS different FROM "kanon_run_with_probes" AS probes;

-- verbs/doctor/probe_create
CREATE TEMPORARY TABLE "kanon_run_probe" AS SELECT 1 AS probe;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_probe";

-- verbs/doctor/probe_create
CREATE TABLE "kanon_run_doctor" AS SELECT 1 AS probe;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_doctor";

-- release/manifest/pending
SELECT release_name, run_id, manifest FROM "kanon_sql_manifest" WHERE published_at = 'pending' ORDER BY run_id ASC;

-- engines/scratch/recorded
SELECT run_id, object_name, created_at FROM "kanon_sql_scratch" ORDER BY created_at ASC, object_name ASC;

-- release/ledger/entries
SELECT manifest FROM "kanon_state"."kanon_sql_state" WHERE run_id <> 'turn' AND published_at <> 'withdrawn' ORDER BY published_at ASC, run_id ASC;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_00_release";

-- engines/scratch/forget
DELETE FROM "kanon_sql_scratch" WHERE object_name = '["kanon_00_release"]';

-- release/manifest/settle
INSERT INTO "kanon_sql_manifest" SELECT release_name, run_id, '(the time)' AS published_at, spec_hash, manifest FROM "kanon_sql_manifest" WHERE run_id = '0a' AND published_at = 'pending' AND NOT run_id IN (SELECT run_id FROM "kanon_sql_manifest" WHERE published_at <> 'pending');

-- release/manifest/settled
DELETE FROM "kanon_sql_manifest" WHERE run_id = '0a' AND published_at = 'pending';

-- verbs/demo/mark
CREATE TABLE IF NOT EXISTS "kanon_sql_demo" (made_by TEXT NOT NULL);

-- «verbs/demo/random 1»
(SELECT 0 AS digit UNION ALL SELECT 1 AS digit UNION ALL SELECT 2 AS digit UNION ALL SELECT 3 AS digit UNION ALL SELECT 4 AS digit UNION ALL SELECT 5 AS digit UNION ALL SELECT 6 AS digit UNION ALL SELECT 7 AS digit UNION ALL SELECT 8 AS digit UNION ALL SELECT 9 AS digit)

-- «verbs/demo/random 2»
(SELECT CAST(ones.digit + 10 * tens.digit + 100 * hundreds.digit + 1000 * thousands.digit + 10000 * myriads.digit AS BIGINT) AS id FROM "kanon_run_with_digits" AS ones CROSS JOIN "kanon_run_with_digits" AS tens CROSS JOIN "kanon_run_with_digits" AS hundreds CROSS JOIN "kanon_run_with_digits" AS thousands CROSS JOIN "kanon_run_with_digits" AS myriads)

-- verbs/demo/random
CREATE TEMPORARY TABLE "kanon_run_patient_draws" AS WITH "kanon_run_with_digits" AS «verbs/demo/random 1», "kanon_run_with_numbers" AS «verbs/demo/random 2», "kanon_run_with_first_draws" AS (SELECT id, (id * 48271 + 27609016) % 2147483647 AS "r0", (id * 48271 + 34977803) % 2147483647 AS "r1", (id * 48271 + 42346590) % 2147483647 AS "r2", (id * 48271 + 49715377) % 2147483647 AS "r3", (id * 48271 + 57084164) % 2147483647 AS "r4", (id * 48271 + 64452951) % 2147483647 AS "r5", (id * 48271 + 71821738) % 2147483647 AS "r6", (id * 48271 + 79190525) % 2147483647 AS "r7", (id * 48271 + 86559312) % 2147483647 AS "r8", (id * 48271 + 93928099) % 2147483647 AS "r9", (id * 48271 + 101296886) % 2147483647 AS "r10", (id * 48271 + 108665673) % 2147483647 AS "r11", (id * 48271 + 116034460) % 2147483647 AS "r12", (id * 48271 + 123403247) % 2147483647 AS "r13", (id * 48271 + 130772034) % 2147483647 AS "r14", (id * 48271 + 138140821) % 2147483647 AS "r15" FROM "kanon_run_with_numbers" AS numbers WHERE id < 30000), "kanon_run_with_second_draws" AS (SELECT id, ("r0" * "r0" + 15485863) % 2147483647 AS "r0", ("r1" * "r1" + 30971726) % 2147483647 AS "r1", ("r2" * "r2" + 46457589) % 2147483647 AS "r2", ("r3" * "r3" + 61943452) % 2147483647 AS "r3", ("r4" * "r4" + 77429315) % 2147483647 AS "r4", ("r5" * "r5" + 92915178) % 2147483647 AS "r5", ("r6" * "r6" + 108401041) % 2147483647 AS "r6", ("r7" * "r7" + 123886904) % 2147483647 AS "r7", ("r8" * "r8" + 139372767) % 2147483647 AS "r8", ("r9" * "r9" + 154858630) % 2147483647 AS "r9", ("r10" * "r10" + 170344493) % 2147483647 AS "r10", ("r11" * "r11" + 185830356) % 2147483647 AS "r11", ("r12" * "r12" + 201316219) % 2147483647 AS "r12", ("r13" * "r13" + 216802082) % 2147483647 AS "r13", ("r14" * "r14" + 232287945) % 2147483647 AS "r14", ("r15" * "r15" + 247773808) % 2147483647 AS "r15" FROM "kanon_run_with_first_draws" AS first_draws), "kanon_run_with_third_draws" AS (SELECT id, ("r0" * "r0" + id) % 2147483647 AS "r0", ("r1" * "r1" + id) % 2147483647 AS "r1", ("r2" * "r2" + id) % 2147483647 AS "r2", ("r3" * "r3" + id) % 2147483647 AS "r3", ("r4" * "r4" + id) % 2147483647 AS "r4", ("r5" * "r5" + id) % 2147483647 AS "r5", ("r6" * "r6" + id) % 2147483647 AS "r6", ("r7" * "r7" + id) % 2147483647 AS "r7", ("r8" * "r8" + id) % 2147483647 AS "r8", ("r9" * "r9" + id) % 2147483647 AS "r9", ("r10" * "r10" + id) % 2147483647 AS "r10", ("r11" * "r11" + id) % 2147483647 AS "r11", ("r12" * "r12" + id) % 2147483647 AS "r12", ("r13" * "r13" + id) % 2147483647 AS "r13", ("r14" * "r14" + id) % 2147483647 AS "r14", ("r15" * "r15" + id) % 2147483647 AS "r15" FROM "kanon_run_with_second_draws" AS second_draws) SELECT id, ("r0" * 16807) % 2147483647 AS "r0", ("r1" * 16807) % 2147483647 AS "r1", ("r2" * 16807) % 2147483647 AS "r2", ("r3" * 16807) % 2147483647 AS "r3", ("r4" * 16807) % 2147483647 AS "r4", ("r5" * 16807) % 2147483647 AS "r5", ("r6" * 16807) % 2147483647 AS "r6", ("r7" * 16807) % 2147483647 AS "r7", ("r8" * 16807) % 2147483647 AS "r8", ("r9" * 16807) % 2147483647 AS "r9", ("r10" * 16807) % 2147483647 AS "r10", ("r11" * 16807) % 2147483647 AS "r11", ("r12" * 16807) % 2147483647 AS "r12", ("r13" * 16807) % 2147483647 AS "r13", ("r14" * 16807) % 2147483647 AS "r14", ("r15" * 16807) % 2147483647 AS "r15" FROM "kanon_run_with_third_draws" AS third_draws;

-- verbs/demo/random
CREATE TEMPORARY TABLE "kanon_run_visit_draws" AS WITH "kanon_run_with_digits" AS «verbs/demo/random 1», "kanon_run_with_numbers" AS «verbs/demo/random 2», "kanon_run_with_first_draws" AS (SELECT id, (id * 48271 + 8986820) % 2147483647 AS "r0", (id * 48271 + 16355607) % 2147483647 AS "r1", (id * 48271 + 23724394) % 2147483647 AS "r2", (id * 48271 + 31093181) % 2147483647 AS "r3", (id * 48271 + 38461968) % 2147483647 AS "r4", (id * 48271 + 45830755) % 2147483647 AS "r5", (id * 48271 + 53199542) % 2147483647 AS "r6", (id * 48271 + 60568329) % 2147483647 AS "r7", (id * 48271 + 67937116) % 2147483647 AS "r8" FROM "kanon_run_with_numbers" AS numbers WHERE id < 50000), "kanon_run_with_second_draws" AS (SELECT id, ("r0" * "r0" + 15485863) % 2147483647 AS "r0", ("r1" * "r1" + 30971726) % 2147483647 AS "r1", ("r2" * "r2" + 46457589) % 2147483647 AS "r2", ("r3" * "r3" + 61943452) % 2147483647 AS "r3", ("r4" * "r4" + 77429315) % 2147483647 AS "r4", ("r5" * "r5" + 92915178) % 2147483647 AS "r5", ("r6" * "r6" + 108401041) % 2147483647 AS "r6", ("r7" * "r7" + 123886904) % 2147483647 AS "r7", ("r8" * "r8" + 139372767) % 2147483647 AS "r8" FROM "kanon_run_with_first_draws" AS first_draws), "kanon_run_with_third_draws" AS (SELECT id, ("r0" * "r0" + id) % 2147483647 AS "r0", ("r1" * "r1" + id) % 2147483647 AS "r1", ("r2" * "r2" + id) % 2147483647 AS "r2", ("r3" * "r3" + id) % 2147483647 AS "r3", ("r4" * "r4" + id) % 2147483647 AS "r4", ("r5" * "r5" + id) % 2147483647 AS "r5", ("r6" * "r6" + id) % 2147483647 AS "r6", ("r7" * "r7" + id) % 2147483647 AS "r7", ("r8" * "r8" + id) % 2147483647 AS "r8" FROM "kanon_run_with_second_draws" AS second_draws) SELECT id, ("r0" * 16807) % 2147483647 AS "r0", ("r1" * 16807) % 2147483647 AS "r1", ("r2" * 16807) % 2147483647 AS "r2", ("r3" * 16807) % 2147483647 AS "r3", ("r4" * 16807) % 2147483647 AS "r4", ("r5" * 16807) % 2147483647 AS "r5", ("r6" * 16807) % 2147483647 AS "r6", ("r7" * 16807) % 2147483647 AS "r7", ("r8" * 16807) % 2147483647 AS "r8" FROM "kanon_run_with_third_draws" AS third_draws;

-- verbs/demo/patients
CREATE TEMPORARY TABLE "kanon_run_patients" AS SELECT id, CAST(100001 + (id * 17389) % 30000 AS INT) AS patient_id, CASE WHEN sex = 'Female' THEN CASE WHEN "r3" % 34 < 1 THEN 'Ada' WHEN "r3" % 34 < 2 THEN 'Alice' WHEN "r3" % 34 < 3 THEN 'Amara' WHEN "r3" % 34 < 4 THEN 'Anna' WHEN "r3" % 34 < 5 THEN 'Beatriz' WHEN "r3" % 34 < 6 THEN 'Carla' WHEN "r3" % 34 < 7 THEN 'Chen' WHEN "r3" % 34 < 8 THEN 'Clara' WHEN "r3" % 34 < 9 THEN 'Diana' WHEN "r3" % 34 < 10 THEN 'Elena' WHEN "r3" % 34 < 11 THEN 'Emma' WHEN "r3" % 34 < 12 THEN 'Fatima' WHEN "r3" % 34 < 13 THEN 'Grace' WHEN "r3" % 34 < 14 THEN 'Hannah' WHEN "r3" % 34 < 15 THEN 'Ines' WHEN "r3" % 34 < 16 THEN 'Iris' WHEN "r3" % 34 < 17 THEN 'Jana' WHEN "r3" % 34 < 18 THEN 'Julia' WHEN "r3" % 34 < 19 THEN 'Karin' WHEN "r3" % 34 < 20 THEN 'Lena' WHEN "r3" % 34 < 21 THEN 'Lucia' WHEN "r3" % 34 < 22 THEN 'Maria' WHEN "r3" % 34 < 23 THEN 'Mei' WHEN "r3" % 34 < 24 THEN 'Nadia' WHEN "r3" % 34 < 25 THEN 'Nora' WHEN "r3" % 34 < 26 THEN 'Olga' WHEN "r3" % 34 < 27 THEN 'Paula' WHEN "r3" % 34 < 28 THEN 'Rosa' WHEN "r3" % 34 < 29 THEN 'Sara' WHEN "r3" % 34 < 30 THEN 'Sofia' WHEN "r3" % 34 < 31 THEN 'Tara' WHEN "r3" % 34 < 32 THEN 'Vera' WHEN "r3" % 34 < 33 THEN 'Yuki' WHEN "r3" % 34 < 34 THEN 'Zoe' END ELSE CASE WHEN "r3" % 34 < 1 THEN 'Adam' WHEN "r3" % 34 < 2 THEN 'Ahmed' WHEN "r3" % 34 < 3 THEN 'Anton' WHEN "r3" % 34 < 4 THEN 'Bruno' WHEN "r3" % 34 < 5 THEN 'Carlos' WHEN "r3" % 34 < 6 THEN 'Daniel' WHEN "r3" % 34 < 7 THEN 'David' WHEN "r3" % 34 < 8 THEN 'Elias' WHEN "r3" % 34 < 9 THEN 'Emil' WHEN "r3" % 34 < 10 THEN 'Felix' WHEN "r3" % 34 < 11 THEN 'Gabriel' WHEN "r3" % 34 < 12 THEN 'Hassan' WHEN "r3" % 34 < 13 THEN 'Hugo' WHEN "r3" % 34 < 14 THEN 'Igor' WHEN "r3" % 34 < 15 THEN 'Ivan' WHEN "r3" % 34 < 16 THEN 'Jakob' WHEN "r3" % 34 < 17 THEN 'Jonas' WHEN "r3" % 34 < 18 THEN 'Karl' WHEN "r3" % 34 < 19 THEN 'Kenji' WHEN "r3" % 34 < 20 THEN 'Leo' WHEN "r3" % 34 < 21 THEN 'Lukas' WHEN "r3" % 34 < 22 THEN 'Marco' WHEN "r3" % 34 < 23 THEN 'Martin' WHEN "r3" % 34 < 24 THEN 'Nico' WHEN "r3" % 34 < 25 THEN 'Omar' WHEN "r3" % 34 < 26 THEN 'Oscar' WHEN "r3" % 34 < 27 THEN 'Pablo' WHEN "r3" % 34 < 28 THEN 'Paul' WHEN "r3" % 34 < 29 THEN 'Pedro' WHEN "r3" % 34 < 30 THEN 'Rafael' WHEN "r3" % 34 < 31 THEN 'Samuel' WHEN "r3" % 34 < 32 THEN 'Simon' WHEN "r3" % 34 < 33 THEN 'Tomas' WHEN "r3" % 34 < 34 THEN 'Victor' END END || ' ' || CASE WHEN "r4" % 26 < 1 THEN 'A' WHEN "r4" % 26 < 2 THEN 'B' WHEN "r4" % 26 < 3 THEN 'C' WHEN "r4" % 26 < 4 THEN 'D' WHEN "r4" % 26 < 5 THEN 'E' WHEN "r4" % 26 < 6 THEN 'F' WHEN "r4" % 26 < 7 THEN 'G' WHEN "r4" % 26 < 8 THEN 'H' WHEN "r4" % 26 < 9 THEN 'I' WHEN "r4" % 26 < 10 THEN 'J' WHEN "r4" % 26 < 11 THEN 'K' WHEN "r4" % 26 < 12 THEN 'L' WHEN "r4" % 26 < 13 THEN 'M' WHEN "r4" % 26 < 14 THEN 'N' WHEN "r4" % 26 < 15 THEN 'O' WHEN "r4" % 26 < 16 THEN 'P' WHEN "r4" % 26 < 17 THEN 'Q' WHEN "r4" % 26 < 18 THEN 'R' WHEN "r4" % 26 < 19 THEN 'S' WHEN "r4" % 26 < 20 THEN 'T' WHEN "r4" % 26 < 21 THEN 'U' WHEN "r4" % 26 < 22 THEN 'V' WHEN "r4" % 26 < 23 THEN 'W' WHEN "r4" % 26 < 24 THEN 'X' WHEN "r4" % 26 < 25 THEN 'Y' WHEN "r4" % 26 < 26 THEN 'Z' END || '. ' || CASE WHEN "r10" % 71 < 1 THEN 'Abbott' WHEN "r10" % 71 < 2 THEN 'Adler' WHEN "r10" % 71 < 3 THEN 'Almeida' WHEN "r10" % 71 < 4 THEN 'Baker' WHEN "r10" % 71 < 5 THEN 'Bauer' WHEN "r10" % 71 < 6 THEN 'Bianchi' WHEN "r10" % 71 < 7 THEN 'Brandt' WHEN "r10" % 71 < 8 THEN 'Carter' WHEN "r10" % 71 < 9 THEN 'Castro' WHEN "r10" % 71 < 10 THEN 'Chang' WHEN "r10" % 71 < 11 THEN 'Costa' WHEN "r10" % 71 < 12 THEN 'Dietrich' WHEN "r10" % 71 < 13 THEN 'Duarte' WHEN "r10" % 71 < 14 THEN 'Eriksen' WHEN "r10" % 71 < 15 THEN 'Evans' WHEN "r10" % 71 < 16 THEN 'Ferrari' WHEN "r10" % 71 < 17 THEN 'Fischer' WHEN "r10" % 71 < 18 THEN 'Foster' WHEN "r10" % 71 < 19 THEN 'Garcia' WHEN "r10" % 71 < 20 THEN 'Gruber' WHEN "r10" % 71 < 21 THEN 'Haddad' WHEN "r10" % 71 < 22 THEN 'Hansen' WHEN "r10" % 71 < 23 THEN 'Herrera' WHEN "r10" % 71 < 24 THEN 'Hughes' WHEN "r10" % 71 < 25 THEN 'Ito' WHEN "r10" % 71 < 26 THEN 'Ivanova' WHEN "r10" % 71 < 27 THEN 'Jansen' WHEN "r10" % 71 < 28 THEN 'Johnson' WHEN "r10" % 71 < 29 THEN 'Kaya' WHEN "r10" % 71 < 30 THEN 'Keller' WHEN "r10" % 71 < 31 THEN 'Khan' WHEN "r10" % 71 < 32 THEN 'Kim' WHEN "r10" % 71 < 33 THEN 'Kowalski' WHEN "r10" % 71 < 34 THEN 'Larsen' WHEN "r10" % 71 < 35 THEN 'Lee' WHEN "r10" % 71 < 36 THEN 'Lindqvist' WHEN "r10" % 71 < 37 THEN 'Lopez' WHEN "r10" % 71 < 38 THEN 'Marino' WHEN "r10" % 71 < 39 THEN 'Meyer' WHEN "r10" % 71 < 40 THEN 'Miller' WHEN "r10" % 71 < 41 THEN 'Moreau' WHEN "r10" % 71 < 42 THEN 'Morris' WHEN "r10" % 71 < 43 THEN 'Nakamura' WHEN "r10" % 71 < 44 THEN 'Nguyen' WHEN "r10" % 71 < 45 THEN 'Novak' WHEN "r10" % 71 < 46 THEN 'Olsen' WHEN "r10" % 71 < 47 THEN 'Ortiz' WHEN "r10" % 71 < 48 THEN 'Park' WHEN "r10" % 71 < 49 THEN 'Patel' WHEN "r10" % 71 < 50 THEN 'Petrov' WHEN "r10" % 71 < 51 THEN 'Price' WHEN "r10" % 71 < 52 THEN 'Quinn' WHEN "r10" % 71 < 53 THEN 'Ramos' WHEN "r10" % 71 < 54 THEN 'Reyes' WHEN "r10" % 71 < 55 THEN 'Rossi' WHEN "r10" % 71 < 56 THEN 'Sato' WHEN "r10" % 71 < 57 THEN 'Schmid' WHEN "r10" % 71 < 58 THEN 'Silva' WHEN "r10" % 71 < 59 THEN 'Singh' WHEN "r10" % 71 < 60 THEN 'Suzuki' WHEN "r10" % 71 < 61 THEN 'Tanaka' WHEN "r10" % 71 < 62 THEN 'Torres' WHEN "r10" % 71 < 63 THEN 'Turner' WHEN "r10" % 71 < 64 THEN 'Vargas' WHEN "r10" % 71 < 65 THEN 'Vogel' WHEN "r10" % 71 < 66 THEN 'Wagner' WHEN "r10" % 71 < 67 THEN 'Walker' WHEN "r10" % 71 < 68 THEN 'Weber' WHEN "r10" % 71 < 69 THEN 'Wong' WHEN "r10" % 71 < 70 THEN 'Young' WHEN "r10" % 71 < 71 THEN 'Ziegler' END AS name, '000-' || SUBSTRING(CAST(1000000 + (id * 7919 + 271828) % 1000000 AS TEXT), 2, 2) || '-' || SUBSTRING(CAST(1000000 + (id * 7919 + 271828) % 1000000 AS TEXT), 4, 4) AS ssn, sex, CAST(CAST(2024 - age AS TEXT) || '-' || SUBSTRING(CAST(100 + birth_month AS TEXT), 2, 2) || '-' || SUBSTRING(CAST(101 + r6 % CASE WHEN birth_month = 2 THEN 28 WHEN birth_month IN (4, 6, 9, 11) THEN 30 ELSE 31 END AS TEXT), 2, 2) AS DATE) AS birth_date, age, CASE WHEN "r7" % 1000 < 260 THEN '941' WHEN "r7" % 1000 < 430 THEN '946' WHEN "r7" % 1000 < 560 THEN '940' WHEN "r7" % 1000 < 680 THEN '945' WHEN "r7" % 1000 < 775 THEN '951' WHEN "r7" % 1000 < 845 THEN '950' WHEN "r7" % 1000 < 900 THEN '943' WHEN "r7" % 1000 < 940 THEN '947' WHEN "r7" % 1000 < 975 THEN '949' WHEN "r7" % 1000 < 1000 THEN '944' END || SUBSTRING(CAST(100 + CAST(FLOOR((r8 % 100) * (r9 % 100) / 250) AS BIGINT) AS TEXT), 2, 2) AS zip, CASE WHEN age < 18 THEN CASE WHEN "r11" % 1 < 1 THEN 'Never married' END WHEN age < 30 THEN CASE WHEN "r11" % 100 < 78 THEN 'Never married' WHEN "r11" % 100 < 93 THEN 'Married' WHEN "r11" % 100 < 97 THEN 'Registered partnership' WHEN "r11" % 100 < 99 THEN 'Divorced' WHEN "r11" % 100 < 100 THEN 'Separated' END WHEN age < 60 THEN CASE WHEN "r11" % 100 < 27 THEN 'Never married' WHEN "r11" % 100 < 76 THEN 'Married' WHEN "r11" % 100 < 81 THEN 'Registered partnership' WHEN "r11" % 100 < 94 THEN 'Divorced' WHEN "r11" % 100 < 98 THEN 'Separated' WHEN "r11" % 100 < 100 THEN 'Widowed' END WHEN age < 200 THEN CASE WHEN "r11" % 100 < 9 THEN 'Never married' WHEN "r11" % 100 < 62 THEN 'Married' WHEN "r11" % 100 < 64 THEN 'Registered partnership' WHEN "r11" % 100 < 78 THEN 'Divorced' WHEN "r11" % 100 < 80 THEN 'Separated' WHEN "r11" % 100 < 100 THEN 'Widowed' END END AS marital_status, CASE WHEN age < 6 THEN CASE WHEN "r12" % 1 < 1 THEN 'No schooling' END WHEN age < 12 THEN CASE WHEN "r12" % 1 < 1 THEN 'Primary school' END WHEN age < 18 THEN CASE WHEN "r12" % 100 < 10 THEN 'Primary school' WHEN "r12" % 100 < 100 THEN 'Lower secondary' END WHEN age < 30 THEN CASE WHEN "r12" % 100 < 12 THEN 'Lower secondary' WHEN "r12" % 100 < 50 THEN 'Upper secondary' WHEN "r12" % 100 < 72 THEN 'Vocational' WHEN "r12" % 100 < 92 THEN 'Bachelor' WHEN "r12" % 100 < 99 THEN 'Master' WHEN "r12" % 100 < 100 THEN 'Doctorate' END WHEN age < 200 THEN CASE WHEN "r12" % 100 < 2 THEN 'No schooling' WHEN "r12" % 100 < 11 THEN 'Primary school' WHEN "r12" % 100 < 28 THEN 'Lower secondary' WHEN "r12" % 100 < 52 THEN 'Upper secondary' WHEN "r12" % 100 < 77 THEN 'Vocational' WHEN "r12" % 100 < 91 THEN 'Bachelor' WHEN "r12" % 100 < 98 THEN 'Master' WHEN "r12" % 100 < 100 THEN 'Doctorate' END END AS education, CASE WHEN age < 18 THEN CASE WHEN "r13" % 100 < 24 THEN 'Respiratory infection' WHEN "r13" % 100 < 39 THEN 'Asthma' WHEN "r13" % 100 < 55 THEN 'Injury' WHEN "r13" % 100 < 67 THEN 'Allergy' WHEN "r13" % 100 < 78 THEN 'Gastroenteritis' WHEN "r13" % 100 < 87 THEN 'Skin condition' WHEN "r13" % 100 < 90 THEN 'Migraine' WHEN "r13" % 100 < 94 THEN 'Anxiety disorder' WHEN "r13" % 100 < 97 THEN 'Urinary infection' WHEN "r13" % 100 < 100 THEN 'Anaemia' END WHEN age < 50 THEN CASE WHEN "r13" % 109 < 15 THEN 'Respiratory infection' WHEN "r13" % 109 < 30 THEN 'Back pain' WHEN "r13" % 109 < 41 THEN 'Anxiety disorder' WHEN "r13" % 109 < 51 THEN 'Depression' WHEN "r13" % 109 < 61 THEN 'Injury' WHEN "r13" % 109 < 68 THEN 'Gastroenteritis' WHEN "r13" % 109 < 74 THEN 'Skin condition' WHEN "r13" % 109 < 80 THEN 'Migraine' WHEN "r13" % 109 < 86 THEN 'Allergy' WHEN "r13" % 109 < 91 THEN 'Hypertension' WHEN "r13" % 109 < 96 THEN 'Asthma' WHEN "r13" % 109 < 100 THEN 'Urinary infection' WHEN "r13" % 109 < 103 THEN 'Diabetes' WHEN "r13" % 109 < 106 THEN 'Thyroid disorder' WHEN "r13" % 109 < 108 THEN 'Anaemia' WHEN "r13" % 109 < 109 THEN 'HIV' END WHEN age < 200 THEN CASE WHEN "r13" % 100 < 18 THEN 'Hypertension' WHEN "r13" % 100 < 31 THEN 'Diabetes' WHEN "r13" % 100 < 42 THEN 'Back pain' WHEN "r13" % 100 < 51 THEN 'Respiratory infection' WHEN "r13" % 100 < 61 THEN 'Arthritis' WHEN "r13" % 100 < 68 THEN 'Heart failure' WHEN "r13" % 100 < 74 THEN 'COPD' WHEN "r13" % 100 < 80 THEN 'Depression' WHEN "r13" % 100 < 85 THEN 'Cancer' WHEN "r13" % 100 < 89 THEN 'Urinary infection' WHEN "r13" % 100 < 92 THEN 'Thyroid disorder' WHEN "r13" % 100 < 96 THEN 'Injury' WHEN "r13" % 100 < 98 THEN 'Skin condition' WHEN "r13" % 100 < 100 THEN 'Anaemia' END END AS chronic_condition FROM (SELECT *, CASE WHEN "r2" % 1000 < 527 THEN 'Female' WHEN "r2" % 1000 < 1000 THEN 'Male' END AS sex, 1 + r5 % 12 AS birth_month, CAST(CASE WHEN r0 % 1000 < 60 THEN 1 + r1 % 4 WHEN r0 % 1000 < 155 THEN 5 + r1 % 13 WHEN r0 % 1000 < 280 THEN 18 + r1 % 12 WHEN r0 % 1000 < 450 THEN 30 + r1 % 15 WHEN r0 % 1000 < 655 THEN 45 + r1 % 15 WHEN r0 % 1000 < 870 THEN 60 + r1 % 15 WHEN r0 % 1000 < 990 THEN 75 + r1 % 15 WHEN r0 % 1000 < 1000 THEN 90 + r1 % 10 END AS INT) AS age FROM "kanon_run_patient_draws") AS persons;

-- engines/scratch/drop
DROP TABLE IF EXISTS "visits";

-- verbs/demo/visits
CREATE TABLE "visits" AS WITH "kanon_run_with_draws_of_patients" AS (SELECT *, CASE WHEN id < 30000 THEN id WHEN r0 % 2 = 0 THEN r1 % 5000 ELSE r1 % 30000 END AS patient FROM "kanon_run_visit_draws"), "kanon_run_with_diagnosed" AS (SELECT draws.id, draws.r3, draws.r4, draws.r5, CASE WHEN "r2" % 100 < 11 THEN '01' WHEN "r2" % 100 < 21 THEN '02' WHEN "r2" % 100 < 30 THEN '03' WHEN "r2" % 100 < 38 THEN '04' WHEN "r2" % 100 < 46 THEN '05' WHEN "r2" % 100 < 53 THEN '06' WHEN "r2" % 100 < 59 THEN '07' WHEN "r2" % 100 < 65 THEN '08' WHEN "r2" % 100 < 73 THEN '09' WHEN "r2" % 100 < 82 THEN '10' WHEN "r2" % 100 < 91 THEN '11' WHEN "r2" % 100 < 100 THEN '12' END AS visit_month, patients.patient_id, patients.name, patients.ssn, patients.sex, patients.birth_date, patients.age, patients.zip, patients.marital_status, patients.education, CASE WHEN patients.sex = 'Female' AND patients.age >= 18 AND patients.age < 45 AND r8 % 100 < 12 THEN 'Pregnancy care' WHEN r8 % 100 < 55 THEN patients.chronic_condition ELSE CASE WHEN age < 18 THEN CASE WHEN "r7" % 100 < 24 THEN 'Respiratory infection' WHEN "r7" % 100 < 39 THEN 'Asthma' WHEN "r7" % 100 < 55 THEN 'Injury' WHEN "r7" % 100 < 67 THEN 'Allergy' WHEN "r7" % 100 < 78 THEN 'Gastroenteritis' WHEN "r7" % 100 < 87 THEN 'Skin condition' WHEN "r7" % 100 < 90 THEN 'Migraine' WHEN "r7" % 100 < 94 THEN 'Anxiety disorder' WHEN "r7" % 100 < 97 THEN 'Urinary infection' WHEN "r7" % 100 < 100 THEN 'Anaemia' END WHEN age < 50 THEN CASE WHEN "r7" % 109 < 15 THEN 'Respiratory infection' WHEN "r7" % 109 < 30 THEN 'Back pain' WHEN "r7" % 109 < 41 THEN 'Anxiety disorder' WHEN "r7" % 109 < 51 THEN 'Depression' WHEN "r7" % 109 < 61 THEN 'Injury' WHEN "r7" % 109 < 68 THEN 'Gastroenteritis' WHEN "r7" % 109 < 74 THEN 'Skin condition' WHEN "r7" % 109 < 80 THEN 'Migraine' WHEN "r7" % 109 < 86 THEN 'Allergy' WHEN "r7" % 109 < 91 THEN 'Hypertension' WHEN "r7" % 109 < 96 THEN 'Asthma' WHEN "r7" % 109 < 100 THEN 'Urinary infection' WHEN "r7" % 109 < 103 THEN 'Diabetes' WHEN "r7" % 109 < 106 THEN 'Thyroid disorder' WHEN "r7" % 109 < 108 THEN 'Anaemia' WHEN "r7" % 109 < 109 THEN 'HIV' END WHEN age < 200 THEN CASE WHEN "r7" % 100 < 18 THEN 'Hypertension' WHEN "r7" % 100 < 31 THEN 'Diabetes' WHEN "r7" % 100 < 42 THEN 'Back pain' WHEN "r7" % 100 < 51 THEN 'Respiratory infection' WHEN "r7" % 100 < 61 THEN 'Arthritis' WHEN "r7" % 100 < 68 THEN 'Heart failure' WHEN "r7" % 100 < 74 THEN 'COPD' WHEN "r7" % 100 < 80 THEN 'Depression' WHEN "r7" % 100 < 85 THEN 'Cancer' WHEN "r7" % 100 < 89 THEN 'Urinary infection' WHEN "r7" % 100 < 92 THEN 'Thyroid disorder' WHEN "r7" % 100 < 96 THEN 'Injury' WHEN "r7" % 100 < 98 THEN 'Skin condition' WHEN "r7" % 100 < 100 THEN 'Anaemia' END END END AS diagnosis FROM "kanon_run_with_draws_of_patients" AS draws JOIN "kanon_run_patients" AS patients ON draws.patient = patients.id), "kanon_run_with_placed" AS (SELECT *, CASE WHEN diagnosis IN ('Respiratory infection', 'Gastroenteritis', 'Allergy', 'Skin condition', 'Urinary infection', 'Migraine') THEN 'General medicine' WHEN diagnosis IN ('Diabetes', 'Thyroid disorder', 'Anaemia', 'HIV') THEN 'Internal medicine' WHEN diagnosis IN ('Hypertension', 'Heart failure') THEN 'Cardiology' WHEN diagnosis IN ('Asthma', 'COPD') THEN 'Pulmonology' WHEN diagnosis IN ('Back pain', 'Arthritis', 'Injury') THEN 'Orthopaedics' WHEN diagnosis IN ('Anxiety disorder', 'Depression') THEN 'Psychiatry' WHEN diagnosis IN ('Cancer') THEN 'Oncology' WHEN diagnosis IN ('Pregnancy care') THEN 'Maternity' END AS ward, CASE WHEN diagnosis IN ('Respiratory infection', 'Gastroenteritis', 'Allergy', 'Skin condition', 'Urinary infection', 'Migraine') THEN 120 WHEN diagnosis IN ('Diabetes', 'Thyroid disorder', 'Anaemia', 'HIV') THEN 210 WHEN diagnosis IN ('Hypertension', 'Heart failure') THEN 340 WHEN diagnosis IN ('Asthma', 'COPD') THEN 260 WHEN diagnosis IN ('Back pain', 'Arthritis', 'Injury') THEN 280 WHEN diagnosis IN ('Anxiety disorder', 'Depression') THEN 190 WHEN diagnosis IN ('Cancer') THEN 890 WHEN diagnosis IN ('Pregnancy care') THEN 310 END AS base_charge FROM "kanon_run_with_diagnosed" AS diagnosed) SELECT CAST(id + 1 AS INT) AS visit_id, patient_id, name, ssn, sex, birth_date, age, zip, marital_status, education, CAST('2024' || '-' || visit_month || '-' || SUBSTRING(CAST(101 + r3 % CASE WHEN visit_month = '02' THEN 28 WHEN visit_month IN ('04', '06', '09', '11') THEN 30 ELSE 31 END AS TEXT), 2, 2) AS DATE) AS visit_date, ward, diagnosis, CAST(100 * FLOOR((base_charge + CAST(FLOOR(3 * base_charge * (r4 % 1000) * (r5 % 1000) / 1000000) AS BIGINT)) / 100) AS DECIMAL(10, 2)) AS charge FROM "kanon_run_with_placed" AS placed;

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_patients";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_visit_draws";

-- engines/scratch/drop
DROP TABLE IF EXISTS "kanon_run_patient_draws";
