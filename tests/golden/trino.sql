-- scratch/create_record
CREATE TABLE IF NOT EXISTS "kanon_scratch"."kanon_sql_scratch" ("run_id" VARCHAR, "object_name" VARCHAR, "created_at" VARCHAR);

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_raw"]', '(the time)');

-- frequency/raw
CREATE TABLE "kanon_scratch"."kanon_run_raw" AS SELECT "kanon_source"."age" AS "q0", CAST("kanon_source"."sex" AS VARCHAR) AS "q1", COUNT(*) AS "row_count" FROM "clinic"."visits" AS "kanon_source" GROUP BY "kanon_source"."age", CAST("kanon_source"."sex" AS VARCHAR);

-- frequency/totals
SELECT (SELECT SUM("row_count") FROM "kanon_scratch"."kanon_run_raw") AS "row_count", (SELECT SUM("row_count") FROM "kanon_scratch"."kanon_run_raw" WHERE "q0" IS NULL OR "q1" IS NULL) AS "null_rows", NULL AS "persons", NULL AS "most_vectors";

-- hierarchy/range
SELECT COUNT(*) AS "out_of_range" FROM (SELECT DISTINCT "q0" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "distinct_values" WHERE NOT "value" IS NULL AND NOT (CAST("value" AS DOUBLE) > -1000000000000000 AND CAST("value" AS DOUBLE) < 1000000000000000);

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_lookup0"]', '(the time)');

-- hierarchy/lookup_rules
CREATE TABLE "kanon_scratch"."kanon_run_lookup0" AS SELECT "value", "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1") AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INTEGER) AS "s1", '*' AS "l2" FROM (SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE (CAST("value" AS VARCHAR)) END AS "l0", CASE WHEN "value" IS NULL THEN NULL ELSE (CASE WHEN CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) < 0 THEN '< 0.0' WHEN CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) >= 800 THEN '>= 80.0' ELSE CONCAT(CAST('[' AS VARCHAR), CAST(CASE WHEN (CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25) < 0 THEN '0.0' ELSE CAST(CAST(CAST((CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25) AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS VARCHAR) END AS VARCHAR), CAST(', ' AS VARCHAR), CAST(CASE WHEN ((CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25) + 25) > 800 THEN '80.0' ELSE CAST(CAST(CAST(((CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST("value" AS DECIMAL(28, 10)) - CASE WHEN CAST("value" AS DECIMAL(28, 10)) > "value" THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25) + 25) AS DECIMAL(18, 0)) * 0.1 AS DECIMAL(28, 1)) AS VARCHAR) END AS VARCHAR), CAST(')' AS VARCHAR)) END) END AS "l1" FROM (SELECT DISTINCT "q0" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "distinct_values") AS "labelled";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_domain1"]', '(the time)');

-- hierarchy/domain
CREATE TABLE "kanon_scratch"."kanon_run_domain1" ("l0" VARCHAR, "l1" VARCHAR, "l2" VARCHAR);

-- hierarchy/load
INSERT INTO "kanon_scratch"."kanon_run_domain1" VALUES
  ('M', 'x', '*'),
  ('it''s', 'x', '*'),
  ('F\', 'y', '*');

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_lookup1"]', '(the time)');

-- hierarchy/lookup_rows
CREATE TABLE "kanon_scratch"."kanon_run_lookup1" AS SELECT "found"."value", "labelled"."l0", COALESCE("labelled"."c0", 0) AS "c0", COALESCE("labelled"."s0", 1) AS "s0", "labelled"."l1", COALESCE("labelled"."c1", 0) AS "c1", COALESCE("labelled"."s1", 1) AS "s1", '*' AS "l2" FROM (SELECT DISTINCT "q1" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "found" LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1") AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INTEGER) AS "s1" FROM "kanon_scratch"."kanon_run_domain1") AS "labelled" ON (CAST("found"."value" AS VARCHAR)) = "labelled"."l0";

-- hierarchy/nesting
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l0" FROM "kanon_scratch"."kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 0 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l0" FROM "kanon_scratch"."kanon_run_domain1" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS "split";

-- hierarchy/coverage
SELECT 0 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup0") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup0" AS "labels" JOIN (SELECT "q0" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value"
UNION ALL
SELECT 1 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup1") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup1" AS "labels" JOIN (SELECT "q1" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q1") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_frequency"]', '(the time)');

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_frequency" AS SELECT "lookup0"."c0" AS "c0_0", "lookup0"."c1" AS "c0_1", "lookup1"."c0" AS "c1_0", "lookup1"."c1" AS "c1_1", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", "q1", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0", "q1") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_lookup1" AS "lookup1" ON "vectors"."q1" IS NOT DISTINCT FROM "lookup1"."value";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_raw";

-- frequency/marginals
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 0 AS "attribute", 1 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_1" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_1") AS "labels" JOIN (SELECT DISTINCT "c1" * 1 AS "code", "s1" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 1 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_1" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_1") AS "labels" JOIN (SELECT DISTINCT "c1" * 1 AS "code", "s1" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code";

-- scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_frequency") AS "row_count";

-- evaluate/node
SELECT 0 AS "node", COUNT(*) AS "classes", SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS "kept_classes", SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE "class_rows" END) AS "suppressed", 0 AS "suppressed_monotone", 0 AS "padding_0", 0 AS "padding_1" FROM (SELECT SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0", "c1_0") AS "classes";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_suppressed"]', '(the time)');

-- evaluate/suppressed
CREATE TABLE "kanon_scratch"."kanon_run_suppressed" AS SELECT "k0", "k1", "class_rows" FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "c0_0" AS "k0", "c1_0" AS "k1", SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0", "c1_0") AS "classes") AS "flagged" WHERE "satisfied" = 0;

-- scratch/create_record
CREATE TABLE IF NOT EXISTS "clinic"."kanon_sql_scratch" ("run_id" VARCHAR, "object_name" VARCHAR, "created_at" VARCHAR);

-- scratch/record
INSERT INTO "clinic"."kanon_sql_scratch" VALUES ('run', '["clinic", "kanon_run_release"]', '(the time)');

-- release/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "lookup0"."l0" AS "age", "lookup1"."l0" AS "sex", "kanon_source"."dx" AS "dx" FROM "clinic"."visits" AS "kanon_source" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "kanon_source"."age" IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_lookup1" AS "lookup1" ON CAST("kanon_source"."sex" AS VARCHAR) IS NOT DISTINCT FROM "lookup1"."value" LEFT JOIN "kanon_scratch"."kanon_run_suppressed" AS "suppressed" ON "lookup0"."c0" * 1 = "suppressed"."k0" AND "lookup1"."c0" * 1 = "suppressed"."k1" WHERE "suppressed"."class_rows" IS NULL ORDER BY RAND();

-- release/count
SELECT COUNT(*) AS "row_count" FROM "clinic"."kanon_run_release" AS "counted";

-- release/labels
SELECT 0 AS "attribute", COALESCE(SUM("written"."row_count"), 0) AS "foreign_rows" FROM (SELECT CAST("checked"."age" AS VARCHAR) AS "label", COUNT(*) AS "row_count" FROM "clinic"."kanon_run_release" AS "checked" GROUP BY CAST("checked"."age" AS VARCHAR)) AS "written" LEFT JOIN (SELECT DISTINCT "l0" AS "label", 1 AS "known" FROM "kanon_scratch"."kanon_run_lookup0") AS "labels" ON "written"."label" IS NOT DISTINCT FROM "labels"."label" WHERE "labels"."known" IS NULL
UNION ALL
SELECT 1 AS "attribute", COALESCE(SUM("written"."row_count"), 0) AS "foreign_rows" FROM (SELECT CAST("checked"."sex" AS VARCHAR) AS "label", COUNT(*) AS "row_count" FROM "clinic"."kanon_run_release" AS "checked" GROUP BY CAST("checked"."sex" AS VARCHAR)) AS "written" LEFT JOIN (SELECT DISTINCT "l0" AS "label", 1 AS "known" FROM "kanon_scratch"."kanon_run_lookup1") AS "labels" ON "written"."label" IS NOT DISTINCT FROM "labels"."label" WHERE "labels"."known" IS NULL;

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0" FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "q0" AS "k0", "q1" AS "k1", SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size" FROM (SELECT CAST("checked"."age" AS VARCHAR) AS "q0", CAST("checked"."sex" AS VARCHAR) AS "q1", 1 AS "row_count" FROM "clinic"."kanon_run_release" AS "checked") AS "frequency" GROUP BY "q0", "q1") AS "classes") AS "flagged";

-- manifest/create
CREATE TABLE IF NOT EXISTS "clinic"."kanon_sql_manifest" ("release_name" VARCHAR, "run_id" VARCHAR, "published_at" VARCHAR, "spec_hash" VARCHAR, "manifest" VARCHAR);

-- release/rename
ALTER TABLE "clinic"."kanon_run_release" RENAME TO "clinic"."visits_release";

-- manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '7ea2a6a03d2f93bfe7e85692a50eaa2e02d18b1df627269326740818c235eeb2', '{"published_at": "(the time)"}');

-- scratch/drop
DROP TABLE IF EXISTS "clinic"."kanon_run_release";

-- scratch/forget
DELETE FROM "clinic"."kanon_sql_scratch" WHERE "object_name" = '["clinic", "kanon_run_release"]';

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_suppressed";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_frequency";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_lookup1";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_domain1";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_lookup0";

-- scratch/forget_run
DELETE FROM "kanon_scratch"."kanon_sql_scratch" WHERE "run_id" = 'run';

-- frequency/raw
CREATE TABLE "kanon_scratch"."kanon_run_raw" AS SELECT CAST("kanon_source"."zip" AS VARCHAR) AS "q0", "kanon_source"."born" AS "q1", COUNT(*) AS "row_count" FROM (
SELECT * FROM clinic_visits
) AS "kanon_source" GROUP BY CAST("kanon_source"."zip" AS VARCHAR), "kanon_source"."born";

-- hierarchy/lookup_rules
CREATE TABLE "kanon_scratch"."kanon_run_lookup0" AS SELECT "value", "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1") AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INTEGER) AS "s1", '*' AS "l2" FROM (SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE (CAST("value" AS VARCHAR)) END AS "l0", CASE WHEN "value" IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST("value" AS VARCHAR)) > 3 THEN CONCAT(CAST(SUBSTR(CAST("value" AS VARCHAR), 1, 3) AS VARCHAR), CAST(RPAD('*', (LENGTH(CAST("value" AS VARCHAR)) - 3), '*') AS VARCHAR)) ELSE CAST("value" AS VARCHAR) END) END AS "l1" FROM (SELECT DISTINCT "q0" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "distinct_values") AS "labelled";

-- hierarchy/lookup_rules
CREATE TABLE "kanon_scratch"."kanon_run_lookup1" AS SELECT "value", "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1") AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INTEGER) AS "s1", "l2", CAST(DENSE_RANK() OVER (ORDER BY "l2") AS BIGINT) AS "c2", CAST(COUNT(*) OVER (PARTITION BY "l2") AS INTEGER) AS "s2", "l3", CAST(DENSE_RANK() OVER (ORDER BY "l3") AS BIGINT) AS "c3", CAST(COUNT(*) OVER (PARTITION BY "l3") AS INTEGER) AS "s3", "l4", CAST(DENSE_RANK() OVER (ORDER BY "l4") AS BIGINT) AS "c4", CAST(COUNT(*) OVER (PARTITION BY "l4") AS INTEGER) AS "s4", '*' AS "l5" FROM (SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE (CAST("value" AS VARCHAR)) END AS "l0", CASE WHEN "value" IS NULL THEN NULL ELSE (CAST(CAST("value" AS DATE) AS VARCHAR)) END AS "l1", CASE WHEN "value" IS NULL THEN NULL ELSE (CONCAT(CAST(EXTRACT(YEAR FROM "value") AS VARCHAR), CAST(CASE WHEN EXTRACT(MONTH FROM "value") < 10 THEN '-0' ELSE '-' END AS VARCHAR), CAST(EXTRACT(MONTH FROM "value") AS VARCHAR))) END AS "l2", CASE WHEN "value" IS NULL THEN NULL ELSE (CONCAT(CAST(EXTRACT(YEAR FROM "value") AS VARCHAR), CAST(CASE WHEN EXTRACT(MONTH FROM "value") <= 3 THEN '-Q1' WHEN EXTRACT(MONTH FROM "value") <= 6 THEN '-Q2' WHEN EXTRACT(MONTH FROM "value") <= 9 THEN '-Q3' ELSE '-Q4' END AS VARCHAR))) END AS "l3", CASE WHEN "value" IS NULL THEN NULL ELSE (CONCAT(CAST(EXTRACT(YEAR FROM "value") - ((EXTRACT(YEAR FROM "value") % 10) + 10) % 10 AS VARCHAR), CAST('-' AS VARCHAR), CAST(EXTRACT(YEAR FROM "value") - ((EXTRACT(YEAR FROM "value") % 10) + 10) % 10 + 9 AS VARCHAR))) END AS "l4" FROM (SELECT DISTINCT "q1" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "distinct_values") AS "labelled";

-- hierarchy/nesting
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l0" FROM "kanon_scratch"."kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 0 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l0" FROM "kanon_scratch"."kanon_run_lookup1" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 1 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l1" FROM "kanon_scratch"."kanon_run_lookup1" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 2 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l2" FROM "kanon_scratch"."kanon_run_lookup1" WHERE NOT "l2" IS NULL GROUP BY "l2" HAVING COUNT(DISTINCT "l3") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 3 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l3" FROM "kanon_scratch"."kanon_run_lookup1" WHERE NOT "l3" IS NULL GROUP BY "l3" HAVING COUNT(DISTINCT "l4") > 1) AS "split";

-- hierarchy/coverage
SELECT 0 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup0") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup0" AS "labels" JOIN (SELECT "q0" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value"
UNION ALL
SELECT 1 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup1") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL OR "labels"."l2" IS NULL OR "labels"."l3" IS NULL OR "labels"."l4" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL OR "labels"."l2" IS NULL OR "labels"."l3" IS NULL OR "labels"."l4" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup1" AS "labels" JOIN (SELECT "q1" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q1") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value";

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_frequency" AS SELECT "lookup0"."c0" AS "c0_0", "lookup0"."c1" AS "c0_1", "lookup1"."c0" AS "c1_0", "lookup1"."c1" AS "c1_1", "lookup1"."c2" AS "c1_2", "lookup1"."c3" AS "c1_3", "lookup1"."c4" AS "c1_4", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", "q1", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" WHERE NOT "q0" IS NULL AND NOT "q1" IS NULL GROUP BY "q0", "q1") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_lookup1" AS "lookup1" ON "vectors"."q1" IS NOT DISTINCT FROM "lookup1"."value";

-- frequency/marginals
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 0 AS "attribute", 1 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_1" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_1") AS "labels" JOIN (SELECT DISTINCT "c1" * 1 AS "code", "s1" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 1 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_1" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_1") AS "labels" JOIN (SELECT DISTINCT "c1" * 1 AS "code", "s1" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 2 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_2" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_2") AS "labels" JOIN (SELECT DISTINCT "c2" * 1 AS "code", "s2" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 3 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_3" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_3") AS "labels" JOIN (SELECT DISTINCT "c3" * 1 AS "code", "s3" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 4 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_4" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_4") AS "labels" JOIN (SELECT DISTINCT "c4" * 1 AS "code", "s4" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code";

-- evaluate/node
SELECT 0 AS "node", COUNT(*) AS "classes", SUM(CASE WHEN "satisfied" = 1 THEN 1 ELSE 0 END) AS "kept_classes", SUM(CASE WHEN "satisfied" = 1 THEN 0 ELSE "class_rows" END) AS "suppressed", 0 AS "suppressed_monotone", SUM(CASE WHEN NOT ("satisfied" = 1) THEN "class_rows" * LN("sharing_0") ELSE 0 END) AS "suppressed_log_0", SUM(CASE WHEN NOT ("satisfied" = 1) THEN "class_rows" * LN("sharing_1") ELSE 0 END) AS "suppressed_log_1" FROM (SELECT "flagged".*, SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) OVER (PARTITION BY "z0") AS "sharing_0", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) OVER (PARTITION BY "z1") AS "sharing_1" FROM (SELECT "k0", "k1", "class_rows", "class_size", "z0", "z1", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "c0_0" AS "k0", "c1_0" AS "k1", SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size", MIN("c0_0") AS "z0", MIN("c1_0") AS "z1" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0", "c1_0") AS "classes") AS "flagged") AS "classes";

-- release/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "lookup0"."l0" AS "zip", "lookup1"."l0" AS "born", "kanon_source"."dx" AS "dx" FROM (
SELECT * FROM clinic_visits
) AS "kanon_source" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."zip" AS VARCHAR) IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_lookup1" AS "lookup1" ON "kanon_source"."born" IS NOT DISTINCT FROM "lookup1"."value" LEFT JOIN "kanon_scratch"."kanon_run_suppressed" AS "suppressed" ON "lookup0"."c0" * 1 = "suppressed"."k0" AND "lookup1"."c0" * 1 = "suppressed"."k1" WHERE "suppressed"."class_rows" IS NULL AND NOT CAST("kanon_source"."zip" AS VARCHAR) IS NULL AND NOT "kanon_source"."born" IS NULL ORDER BY RAND();

-- release/labels
SELECT 0 AS "attribute", COALESCE(SUM("written"."row_count"), 0) AS "foreign_rows" FROM (SELECT CAST("checked"."zip" AS VARCHAR) AS "label", COUNT(*) AS "row_count" FROM "clinic"."kanon_run_release" AS "checked" GROUP BY CAST("checked"."zip" AS VARCHAR)) AS "written" LEFT JOIN (SELECT DISTINCT "l0" AS "label", 1 AS "known" FROM "kanon_scratch"."kanon_run_lookup0") AS "labels" ON "written"."label" IS NOT DISTINCT FROM "labels"."label" WHERE "labels"."known" IS NULL
UNION ALL
SELECT 1 AS "attribute", COALESCE(SUM("written"."row_count"), 0) AS "foreign_rows" FROM (SELECT CAST("checked"."born" AS VARCHAR) AS "label", COUNT(*) AS "row_count" FROM "clinic"."kanon_run_release" AS "checked" GROUP BY CAST("checked"."born" AS VARCHAR)) AS "written" LEFT JOIN (SELECT DISTINCT "l0" AS "label", 1 AS "known" FROM "kanon_scratch"."kanon_run_lookup1") AS "labels" ON "written"."label" IS NOT DISTINCT FROM "labels"."label" WHERE "labels"."known" IS NULL;

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0" FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "q0" AS "k0", "q1" AS "k1", SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size" FROM (SELECT CAST("checked"."zip" AS VARCHAR) AS "q0", CAST("checked"."born" AS VARCHAR) AS "q1", 1 AS "row_count" FROM "clinic"."kanon_run_release" AS "checked") AS "frequency" GROUP BY "q0", "q1") AS "classes") AS "flagged";

-- manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'fe2012543d9325edf43d29bc2101a54e22d84ce4594e556c6606907b287d5bf7', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TABLE "kanon_scratch"."kanon_run_raw" AS SELECT CAST("kanon_source"."age" AS VARCHAR) AS "q0", COUNT(*) AS "row_count" FROM "clinic"."visits" AS "kanon_source" GROUP BY CAST("kanon_source"."age" AS VARCHAR);

-- frequency/totals
SELECT (SELECT SUM("row_count") FROM "kanon_scratch"."kanon_run_raw") AS "row_count", (SELECT SUM("row_count") FROM "kanon_scratch"."kanon_run_raw" WHERE "q0" IS NULL) AS "null_rows", NULL AS "persons", NULL AS "most_vectors";

-- hierarchy/lookup_rules
CREATE TABLE "kanon_scratch"."kanon_run_lookup0" AS SELECT "value", "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1") AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INTEGER) AS "s1", "l2", CAST(DENSE_RANK() OVER (ORDER BY "l2") AS BIGINT) AS "c2", CAST(COUNT(*) OVER (PARTITION BY "l2") AS INTEGER) AS "s2", '*' AS "l3" FROM (SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE (CAST("value" AS VARCHAR)) END AS "l0", CASE WHEN "value" IS NULL THEN NULL ELSE (CASE WHEN (CAST(((FLOOR(CAST("value" AS DOUBLE) / 10)) - (FLOOR(CAST("value" AS DOUBLE) / 10)) % (2)) / (2) AS BIGINT) * 20) = FLOOR((CAST(((FLOOR(CAST("value" AS DOUBLE) / 10)) - (FLOOR(CAST("value" AS DOUBLE) / 10)) % (2)) / (2) AS BIGINT) * 20)) AND ABS((CAST(((FLOOR(CAST("value" AS DOUBLE) / 10)) - (FLOOR(CAST("value" AS DOUBLE) / 10)) % (2)) / (2) AS BIGINT) * 20)) < 1e18 THEN CAST(CAST((CAST(((FLOOR(CAST("value" AS DOUBLE) / 10)) - (FLOOR(CAST("value" AS DOUBLE) / 10)) % (2)) / (2) AS BIGINT) * 20) AS BIGINT) AS VARCHAR) ELSE CAST((CAST(((FLOOR(CAST("value" AS DOUBLE) / 10)) - (FLOOR(CAST("value" AS DOUBLE) / 10)) % (2)) / (2) AS BIGINT) * 20) AS VARCHAR) END) END AS "l1", CASE WHEN "value" IS NULL THEN NULL ELSE (CAST((CASE WHEN "value" < 40 THEN 'young' END) AS VARCHAR)) END AS "l2" FROM (SELECT DISTINCT "q0" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "distinct_values") AS "labelled";

-- hierarchy/nesting
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l0" FROM "kanon_scratch"."kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS "split"
UNION ALL
SELECT 0 AS "attribute", 1 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l1" FROM "kanon_scratch"."kanon_run_lookup0" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS "split";

-- hierarchy/coverage
SELECT 0 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup0") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL OR "labels"."l2" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL OR "labels"."l2" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup0" AS "labels" JOIN (SELECT "q0" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value";

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_frequency" AS SELECT "lookup0"."c0" AS "c0_0", "lookup0"."c1" AS "c0_1", "lookup0"."c2" AS "c0_2", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value";

-- frequency/marginals
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 0 AS "attribute", 1 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_1" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_1") AS "labels" JOIN (SELECT DISTINCT "c1" * 1 AS "code", "s1" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 0 AS "attribute", 2 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_2" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_2") AS "labels" JOIN (SELECT DISTINCT "c2" * 1 AS "code", "s2" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code";

-- evaluate/node
SELECT 0 AS "node", COUNT(*) AS "classes", SUM(CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END) AS "kept_classes", SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE "class_rows" END) AS "suppressed", 0 AS "suppressed_monotone", SUM(CASE WHEN ("class_size" >= 3) THEN CAST("class_rows" AS DOUBLE) ELSE 0 END) AS "kept_vectors", SUM(CAST("class_rows" AS DOUBLE)) AS "vectors" FROM (SELECT SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "classes";

-- evaluate/suppressed
CREATE TABLE "kanon_scratch"."kanon_run_suppressed" AS SELECT "k0", "class_rows" FROM (SELECT "k0", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "c0_0" AS "k0", SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "classes") AS "flagged" WHERE "satisfied" = 0;

-- release/write
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "lookup0"."l0" AS "age", "kanon_source"."dx" AS "dx" FROM "clinic"."visits" AS "kanon_source" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."age" AS VARCHAR) IS NOT DISTINCT FROM "lookup0"."value" LEFT JOIN "kanon_scratch"."kanon_run_suppressed" AS "suppressed" ON "lookup0"."c0" * 1 = "suppressed"."k0" WHERE "suppressed"."class_rows" IS NULL ORDER BY RAND();

-- release/labels
SELECT 0 AS "attribute", COALESCE(SUM("written"."row_count"), 0) AS "foreign_rows" FROM (SELECT CAST("checked"."age" AS VARCHAR) AS "label", COUNT(*) AS "row_count" FROM "clinic"."kanon_run_release" AS "checked" GROUP BY CAST("checked"."age" AS VARCHAR)) AS "written" LEFT JOIN (SELECT DISTINCT "l0" AS "label", 1 AS "known" FROM "kanon_scratch"."kanon_run_lookup0") AS "labels" ON "written"."label" IS NOT DISTINCT FROM "labels"."label" WHERE "labels"."known" IS NULL;

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0" FROM (SELECT "k0", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "q0" AS "k0", SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size" FROM (SELECT CAST("checked"."age" AS VARCHAR) AS "q0", 1 AS "row_count" FROM "clinic"."kanon_run_release" AS "checked") AS "frequency" GROUP BY "q0") AS "classes") AS "flagged";

-- manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '3c626e77835face0e267d57296aaf11b393abfcbed8caf9bac0fb37d75a374e2', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TABLE "kanon_scratch"."kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS VARCHAR) AS "q0", CAST("kanon_source"."dx" AS VARCHAR) AS "v0", COUNT(*) AS "row_count" FROM "clinic"."visits" AS "kanon_source" GROUP BY CAST("kanon_source"."sex" AS VARCHAR), CAST("kanon_source"."dx" AS VARCHAR);

-- hierarchy/lookup_rules
CREATE TABLE "kanon_scratch"."kanon_run_lookup0" AS SELECT "value", "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", '*' AS "l1" FROM (SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE (CAST("value" AS VARCHAR)) END AS "l0" FROM (SELECT DISTINCT "q0" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "distinct_values") AS "labelled";

-- hierarchy/coverage
SELECT 0 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup0") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup0" AS "labels" JOIN (SELECT "q0" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_sensitive0"]', '(the time)');

-- frequency/sensitive
CREATE TABLE "kanon_scratch"."kanon_run_sensitive0" AS SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY "value") AS INTEGER) END AS "code", CAST("reference_count" AS DOUBLE) / CAST(SUM("reference_count") OVER () AS DOUBLE) AS "reference_share" FROM (SELECT "v0" AS "value", SUM("row_count") AS "reference_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "v0") AS "value_counts";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_values0"]', '(the time)');

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_values0" AS SELECT "lookup0"."c0" AS "c0_0", "sensitive"."code" AS "value_code", "sensitive"."reference_share" AS "reference_share", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", "v0", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0", "v0") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_sensitive0" AS "sensitive" ON "vectors"."v0" IS NOT DISTINCT FROM "sensitive"."value";

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_frequency" AS SELECT "lookup0"."c0" AS "c0_0", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value";

-- frequency/marginals
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code";

-- scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_frequency") + (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_values0") AS "row_count";

-- evaluate/node
SELECT 0 AS "node", COUNT(*) AS "classes", SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END) AS "kept_classes", SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 0 ELSE "class_rows" END) AS "suppressed", 0 AS "suppressed_monotone", SUM(CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN "class_rows" * "class_rows" ELSE 0 END) AS "kept_squares", SUM("class_rows" * "class_rows") AS "squares" FROM (SELECT SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", COUNT(CASE WHEN "value_count" > 0 THEN "value_code" END) AS "m1", CASE WHEN SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" END)) - SUM(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" * LN("value_count") ELSE 0 END) / CAST(SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" END) AS DOUBLE) ELSE 0 END AS "m2", CASE WHEN SUM(CASE WHEN NOT "value_code" IS NULL AND "value_position" >= 2 THEN "value_count" ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN "value_position" = 1 THEN "value_count" ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT "value_code" IS NULL AND "value_position" >= 2 THEN "value_count" ELSE 0 END) AS DOUBLE) ELSE NULL END AS "m3", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m4" FROM (SELECT "k0", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0") AS "class_total", ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN "value_code" IS NULL THEN 1 ELSE 0 END, "value_count" DESC) AS "value_position" FROM (SELECT "c0_0" AS "k0", "value_code", SUM("row_count") AS "value_rows", SUM("row_count") AS "value_count", MIN("reference_share") AS "reference_share" FROM "kanon_scratch"."kanon_run_values0" GROUP BY "c0_0", "value_code") AS "counted") AS "ranked" GROUP BY "k0") AS "classes";

-- evaluate/suppressed
CREATE TABLE "kanon_scratch"."kanon_run_suppressed" AS SELECT "k0", "class_rows" FROM (SELECT "k0", "class_rows", "class_size", "m1", "m2", "m3", "m4", CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "k0", SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", COUNT(CASE WHEN "value_count" > 0 THEN "value_code" END) AS "m1", CASE WHEN SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" END)) - SUM(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" * LN("value_count") ELSE 0 END) / CAST(SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" END) AS DOUBLE) ELSE 0 END AS "m2", CASE WHEN SUM(CASE WHEN NOT "value_code" IS NULL AND "value_position" >= 2 THEN "value_count" ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN "value_position" = 1 THEN "value_count" ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT "value_code" IS NULL AND "value_position" >= 2 THEN "value_count" ELSE 0 END) AS DOUBLE) ELSE NULL END AS "m3", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m4" FROM (SELECT "k0", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0") AS "class_total", ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN "value_code" IS NULL THEN 1 ELSE 0 END, "value_count" DESC) AS "value_position" FROM (SELECT "c0_0" AS "k0", "value_code", SUM("row_count") AS "value_rows", SUM("row_count") AS "value_count", MIN("reference_share") AS "reference_share" FROM "kanon_scratch"."kanon_run_values0" GROUP BY "c0_0", "value_code") AS "counted") AS "ranked" GROUP BY "k0") AS "classes") AS "flagged" WHERE "satisfied" = 0;

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_staged"]', '(the time)');

-- release/write
CREATE TABLE "kanon_scratch"."kanon_run_staged" AS SELECT CASE WHEN NOT "suppressed"."class_rows" IS NULL THEN '*' ELSE "lookup0"."l0" END AS "sex", "kanon_source"."dx" AS "dx", CASE WHEN NOT "suppressed"."class_rows" IS NULL THEN 1 ELSE 0 END AS "kanon_masked" FROM "clinic"."visits" AS "kanon_source" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."sex" AS VARCHAR) IS NOT DISTINCT FROM "lookup0"."value" LEFT JOIN "kanon_scratch"."kanon_run_suppressed" AS "suppressed" ON "lookup0"."c0" * 1 = "suppressed"."k0";

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0", MIN("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE "class_rows" END) AS "violating_rows1", MIN("m2") AS "worst2", SUM(CASE WHEN "m2" IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN "m2" >= 6.93147179559945315e-01 THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN "m2" >= 6.93147179559945315e-01 THEN 0 ELSE "class_rows" END) AS "violating_rows2", MAX("m3") AS "worst3", SUM(CASE WHEN "m3" IS NULL THEN 1 ELSE 0 END) AS "unbounded3", SUM(CASE WHEN NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00 THEN 0 ELSE 1 END) AS "violating_classes3", SUM(CASE WHEN NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00 THEN 0 ELSE "class_rows" END) AS "violating_rows3", MAX("m4") AS "worst4", SUM(CASE WHEN "m4" IS NULL THEN 1 ELSE 0 END) AS "unbounded4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS "violating_classes4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01 THEN 0 ELSE "class_rows" END) AS "violating_rows4" FROM (SELECT "k0", "class_rows", "class_size", "m1", "m2", "m3", "m4", CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "k0", SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", COUNT(CASE WHEN "value_count" > 0 THEN "value_code" END) AS "m1", CASE WHEN SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" END)) - SUM(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" * LN("value_count") ELSE 0 END) / CAST(SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" END) AS DOUBLE) ELSE 0 END AS "m2", CASE WHEN SUM(CASE WHEN NOT "value_code" IS NULL AND "value_position" >= 2 THEN "value_count" ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN "value_position" = 1 THEN "value_count" ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT "value_code" IS NULL AND "value_position" >= 2 THEN "value_count" ELSE 0 END) AS DOUBLE) ELSE NULL END AS "m3", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m4" FROM (SELECT "k0", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0") AS "class_total", ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN "value_code" IS NULL THEN 1 ELSE 0 END, "value_count" DESC) AS "value_position" FROM (SELECT "q0" AS "k0", "value_code", SUM("row_count") AS "value_rows", SUM("row_count") AS "value_count", MIN("reference_share") AS "reference_share" FROM (SELECT CAST("checked"."sex" AS VARCHAR) AS "q0", CAST("checked"."dx" AS VARCHAR) AS "value_code", COALESCE("reference"."reference_share", 0) AS "reference_share", 1 AS "row_count" FROM "kanon_scratch"."kanon_run_staged" AS "checked" LEFT JOIN (SELECT "value" AS "reference_value", "reference_share" FROM "kanon_scratch"."kanon_run_sensitive0") AS "reference" ON CAST("checked"."dx" AS VARCHAR) IS NOT DISTINCT FROM "reference"."reference_value") AS "frequency" GROUP BY "q0", "value_code") AS "counted") AS "ranked" GROUP BY "k0") AS "classes") AS "flagged";

-- release/copy
CREATE TABLE "clinic"."kanon_run_release" AS SELECT "sex", "dx" FROM "kanon_scratch"."kanon_run_staged" AS "staged" ORDER BY RAND();

-- release/count
SELECT COUNT(*) AS "row_count", SUM("kanon_masked") AS "masked_rows" FROM "kanon_scratch"."kanon_run_staged" AS "counted";

-- release/labels
SELECT 0 AS "attribute", COALESCE(SUM("written"."row_count"), 0) AS "foreign_rows" FROM (SELECT CAST("checked"."sex" AS VARCHAR) AS "label", COUNT(*) AS "row_count" FROM "clinic"."kanon_run_release" AS "checked" GROUP BY CAST("checked"."sex" AS VARCHAR)) AS "written" LEFT JOIN (SELECT DISTINCT "l0" AS "label", 1 AS "known" FROM "kanon_scratch"."kanon_run_lookup0") AS "labels" ON "written"."label" IS NOT DISTINCT FROM "labels"."label" WHERE "labels"."known" IS NULL AND ("written"."label" IS NULL OR "written"."label" <> '*');

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0", MIN("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN "m1" >= 2 THEN 0 ELSE "class_rows" END) AS "violating_rows1", MIN("m2") AS "worst2", SUM(CASE WHEN "m2" IS NULL THEN 1 ELSE 0 END) AS "unbounded2", SUM(CASE WHEN "m2" >= 6.93147179559945315e-01 THEN 0 ELSE 1 END) AS "violating_classes2", SUM(CASE WHEN "m2" >= 6.93147179559945315e-01 THEN 0 ELSE "class_rows" END) AS "violating_rows2", MAX("m3") AS "worst3", SUM(CASE WHEN "m3" IS NULL THEN 1 ELSE 0 END) AS "unbounded3", SUM(CASE WHEN NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00 THEN 0 ELSE 1 END) AS "violating_classes3", SUM(CASE WHEN NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00 THEN 0 ELSE "class_rows" END) AS "violating_rows3", MAX("m4") AS "worst4", SUM(CASE WHEN "m4" IS NULL THEN 1 ELSE 0 END) AS "unbounded4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS "violating_classes4", SUM(CASE WHEN NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01 THEN 0 ELSE "class_rows" END) AS "violating_rows4" FROM (SELECT "k0", "class_rows", "class_size", "m1", "m2", "m3", "m4", CASE WHEN ("class_size" >= 3) AND ("m1" >= 2) AND ("m2" >= 6.93147179559945315e-01) AND (NOT "m3" IS NULL AND "m3" < 3.00000000000000000e+00) AND (NOT "m4" IS NULL AND "m4" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "k0", SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", COUNT(CASE WHEN "value_count" > 0 THEN "value_code" END) AS "m1", CASE WHEN SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" END)) - SUM(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" * LN("value_count") ELSE 0 END) / CAST(SUM(CASE WHEN NOT "value_code" IS NULL THEN "value_count" END) AS DOUBLE) ELSE 0 END AS "m2", CASE WHEN SUM(CASE WHEN NOT "value_code" IS NULL AND "value_position" >= 2 THEN "value_count" ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN "value_position" = 1 THEN "value_count" ELSE 0 END) AS DOUBLE) / CAST(SUM(CASE WHEN NOT "value_code" IS NULL AND "value_position" >= 2 THEN "value_count" ELSE 0 END) AS DOUBLE) ELSE NULL END AS "m3", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m4" FROM (SELECT "k0", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0") AS "class_total", ROW_NUMBER() OVER (PARTITION BY "k0" ORDER BY CASE WHEN "value_code" IS NULL THEN 1 ELSE 0 END, "value_count" DESC) AS "value_position" FROM (SELECT "q0" AS "k0", "value_code", SUM("row_count") AS "value_rows", SUM("row_count") AS "value_count", MIN("reference_share") AS "reference_share" FROM (SELECT CAST("checked"."sex" AS VARCHAR) AS "q0", CAST("checked"."dx" AS VARCHAR) AS "value_code", COALESCE("reference"."reference_share", 0) AS "reference_share", 1 AS "row_count" FROM "clinic"."kanon_run_release" AS "checked" LEFT JOIN (SELECT "value" AS "reference_value", "reference_share" FROM "kanon_scratch"."kanon_run_sensitive0") AS "reference" ON CAST("checked"."dx" AS VARCHAR) IS NOT DISTINCT FROM "reference"."reference_value") AS "frequency" GROUP BY "q0", "value_code") AS "counted") AS "ranked" GROUP BY "k0") AS "classes") AS "flagged";

-- manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', 'baad42cc522e05b33866b7b4807f98c2a9a5bff681dd91dea8b7389260367018', '{"published_at": "(the time)"}');

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_staged";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_values0";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_sensitive0";

-- frequency/raw
CREATE TABLE "kanon_scratch"."kanon_run_raw" AS SELECT CAST("kanon_source"."sex" AS VARCHAR) AS "q0", CAST("kanon_source"."dx" AS VARCHAR) AS "v0", CAST("kanon_source"."person" AS VARCHAR) AS "unit", COUNT(*) AS "row_count" FROM "clinic"."visits" AS "kanon_source" GROUP BY CAST("kanon_source"."sex" AS VARCHAR), CAST("kanon_source"."dx" AS VARCHAR), CAST("kanon_source"."person" AS VARCHAR);

-- frequency/totals
SELECT (SELECT SUM("row_count") FROM "kanon_scratch"."kanon_run_raw") AS "row_count", (SELECT SUM("row_count") FROM "kanon_scratch"."kanon_run_raw" WHERE "q0" IS NULL) AS "null_rows", (SELECT COUNT(DISTINCT "unit") FROM "kanon_scratch"."kanon_run_raw") AS "persons", (SELECT MAX("vectors") FROM (SELECT "unit", COUNT(*) AS "vectors" FROM (SELECT DISTINCT "unit", "q0" FROM "kanon_scratch"."kanon_run_raw" WHERE NOT "unit" IS NULL) AS "person_vectors" GROUP BY "unit") AS "vectors_per_person") AS "most_vectors";

-- frequency/sensitive
CREATE TABLE "kanon_scratch"."kanon_run_sensitive0" AS SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY "value") AS INTEGER) END AS "code", CAST("reference_count" AS DOUBLE) / CAST(SUM("reference_count") OVER () AS DOUBLE) AS "reference_share" FROM (SELECT "v0" AS "value", COUNT(DISTINCT "unit") AS "reference_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "v0") AS "value_counts";

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_values0" AS SELECT "lookup0"."c0" AS "c0_0", "sensitive"."code" AS "value_code", "sensitive"."reference_share" AS "reference_share", "vectors"."person_count" AS "person_count", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", "v0", COUNT(DISTINCT "unit") AS "person_count", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0", "v0") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_sensitive0" AS "sensitive" ON "vectors"."v0" IS NOT DISTINCT FROM "sensitive"."value";

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_frequency" AS SELECT "lookup0"."c0" AS "c0_0", "vectors"."person_count" AS "person_count", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", COUNT(DISTINCT "unit") AS "person_count", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value";

-- evaluate/node
SELECT 0 AS "node", COUNT(*) AS "classes", SUM(CASE WHEN ("class_size" >= 3) AND (NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END) AS "kept_classes", SUM(CASE WHEN ("class_size" >= 3) AND (NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01) THEN 0 ELSE "class_rows" END) AS "suppressed", SUM(CASE WHEN ("class_size" >= 3) THEN 0 ELSE "class_rows" END) AS "suppressed_monotone", 0 AS "padding_0" FROM (SELECT "base"."k0", "base"."class_rows", "base"."class_size", "values0"."m1" FROM (SELECT "c0_0" AS "k0", SUM("row_count") AS "class_rows", SUM("person_count") AS "class_size" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "base" JOIN (SELECT "k0", SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m1" FROM (SELECT "k0", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0") AS "class_total" FROM (SELECT "c0_0" AS "k0", "value_code", SUM("row_count") AS "value_rows", SUM("person_count") AS "value_count", MIN("reference_share") AS "reference_share" FROM "kanon_scratch"."kanon_run_values0" GROUP BY "c0_0", "value_code") AS "counted") AS "ranked" GROUP BY "k0") AS "values0" ON "base"."k0" IS NOT DISTINCT FROM "values0"."k0") AS "classes";

-- evaluate/suppressed
CREATE TABLE "kanon_scratch"."kanon_run_suppressed" AS SELECT "k0", "class_rows" FROM (SELECT "k0", "class_rows", "class_size", "m1", CASE WHEN ("class_size" >= 3) AND (NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "base"."k0", "base"."class_rows", "base"."class_size", "values0"."m1" FROM (SELECT "c0_0" AS "k0", SUM("row_count") AS "class_rows", SUM("person_count") AS "class_size" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "base" JOIN (SELECT "k0", SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m1" FROM (SELECT "k0", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0") AS "class_total" FROM (SELECT "c0_0" AS "k0", "value_code", SUM("row_count") AS "value_rows", SUM("person_count") AS "value_count", MIN("reference_share") AS "reference_share" FROM "kanon_scratch"."kanon_run_values0" GROUP BY "c0_0", "value_code") AS "counted") AS "ranked" GROUP BY "k0") AS "values0" ON "base"."k0" IS NOT DISTINCT FROM "values0"."k0") AS "classes") AS "flagged" WHERE "satisfied" = 0;

-- release/write
CREATE TABLE "kanon_scratch"."kanon_run_staged" AS SELECT CASE WHEN NOT "suppressed"."class_rows" IS NULL THEN '*' ELSE "lookup0"."l0" END AS "sex", "kanon_source"."dx" AS "dx", CASE WHEN NOT "suppressed"."class_rows" IS NULL THEN 1 ELSE 0 END AS "kanon_masked", CAST("kanon_source"."person" AS VARCHAR) AS "kanon_unit" FROM "clinic"."visits" AS "kanon_source" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON CAST("kanon_source"."sex" AS VARCHAR) IS NOT DISTINCT FROM "lookup0"."value" LEFT JOIN "kanon_scratch"."kanon_run_suppressed" AS "suppressed" ON "lookup0"."c0" * 1 = "suppressed"."k0";

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0", MAX("m1") AS "worst1", SUM(CASE WHEN "m1" IS NULL THEN 1 ELSE 0 END) AS "unbounded1", SUM(CASE WHEN NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS "violating_classes1", SUM(CASE WHEN NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01 THEN 0 ELSE "class_rows" END) AS "violating_rows1" FROM (SELECT "k0", "class_rows", "class_size", "m1", CASE WHEN ("class_size" >= 3) AND (NOT "m1" IS NULL AND "m1" <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "base"."k0", "base"."class_rows", "base"."class_size", "values0"."m1" FROM (SELECT "q0" AS "k0", SUM("row_count") AS "class_rows", COUNT(DISTINCT "unit") AS "class_size" FROM (SELECT CAST("checked"."sex" AS VARCHAR) AS "q0", CAST("checked"."kanon_unit" AS VARCHAR) AS "unit", 1 AS "row_count" FROM "kanon_scratch"."kanon_run_staged" AS "checked") AS "frequency" GROUP BY "q0") AS "base" JOIN (SELECT "k0", SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m1" FROM (SELECT "k0", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0") AS "class_total" FROM (SELECT "q0" AS "k0", "value_code", SUM("row_count") AS "value_rows", COUNT(DISTINCT "unit") AS "value_count", MIN("reference_share") AS "reference_share" FROM (SELECT CAST("checked"."sex" AS VARCHAR) AS "q0", CAST("checked"."dx" AS VARCHAR) AS "value_code", COALESCE("reference"."reference_share", 0) AS "reference_share", CAST("checked"."kanon_unit" AS VARCHAR) AS "unit", 1 AS "row_count" FROM "kanon_scratch"."kanon_run_staged" AS "checked" LEFT JOIN (SELECT "value" AS "reference_value", "reference_share" FROM "kanon_scratch"."kanon_run_sensitive0") AS "reference" ON CAST("checked"."dx" AS VARCHAR) IS NOT DISTINCT FROM "reference"."reference_value") AS "frequency" GROUP BY "q0", "value_code") AS "counted") AS "ranked" GROUP BY "k0") AS "values0" ON "base"."k0" IS NOT DISTINCT FROM "values0"."k0") AS "classes") AS "flagged";

-- release/count
SELECT COUNT(*) AS "row_count", SUM("kanon_masked") AS "masked_rows", COUNT(DISTINCT CASE WHEN "kanon_masked" = 0 THEN "kanon_unit" END) AS "persons" FROM "kanon_scratch"."kanon_run_staged" AS "counted";

-- manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '11ced13f543a3ed70cc9ebc0e452677bf1c1f2cc02d09ec9ae7baf2080ad6f91', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TABLE "kanon_scratch"."kanon_run_raw" AS SELECT "kanon_source"."weight" AS "q0", CAST("kanon_source"."sex" AS VARCHAR) AS "q1", "kanon_source"."seen" AS "q2", CAST("kanon_source"."dx" AS VARCHAR) AS "v0", "kanon_source"."person" AS "unit", COUNT(*) AS "row_count" FROM "clinic"."visits" AS "kanon_source" GROUP BY "kanon_source"."weight", CAST("kanon_source"."sex" AS VARCHAR), "kanon_source"."seen", CAST("kanon_source"."dx" AS VARCHAR), "kanon_source"."person";

-- frequency/totals
SELECT (SELECT SUM("row_count") FROM "kanon_scratch"."kanon_run_raw") AS "row_count", (SELECT SUM("row_count") FROM "kanon_scratch"."kanon_run_raw" WHERE "q0" IS NULL OR "q1" IS NULL OR "q2" IS NULL) AS "null_rows", (SELECT COUNT(DISTINCT "unit") FROM "kanon_scratch"."kanon_run_raw") AS "persons", (SELECT MAX("vectors") FROM (SELECT "unit", COUNT(*) AS "vectors" FROM (SELECT DISTINCT "unit", "q0", "q1", "q2" FROM "kanon_scratch"."kanon_run_raw" WHERE NOT "unit" IS NULL) AS "person_vectors" GROUP BY "unit") AS "vectors_per_person") AS "most_vectors";

-- hierarchy/lookup_rules
CREATE TABLE "kanon_scratch"."kanon_run_lookup0" AS SELECT "value", "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1") AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INTEGER) AS "s1", '*' AS "l2" FROM (SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE (CASE WHEN "value" = FLOOR("value") AND ABS("value") < 1e18 THEN CAST(CAST("value" AS BIGINT) AS VARCHAR) ELSE CAST("value" AS VARCHAR) END) END AS "l0", CASE WHEN "value" IS NULL THEN NULL ELSE (CASE WHEN (FLOOR("value")) = FLOOR((FLOOR("value"))) AND ABS((FLOOR("value"))) < 1e18 THEN CAST(CAST((FLOOR("value")) AS BIGINT) AS VARCHAR) ELSE CAST((FLOOR("value")) AS VARCHAR) END) END AS "l1" FROM (SELECT DISTINCT "q0" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "distinct_values") AS "labelled";

-- hierarchy/copy
CREATE TABLE "kanon_scratch"."kanon_run_domain1" AS SELECT CAST("person" AS VARCHAR) AS "l0", CAST("age" AS VARCHAR) AS "l1", CAST("sex" AS VARCHAR) AS "l2", CAST("weight" AS VARCHAR) AS "l3", CAST("dx" AS VARCHAR) AS "l4", CAST("seen" AS VARCHAR) AS "l5" FROM "clinic"."sexes";

-- hierarchy/domain_summary
SELECT (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_domain1") AS "row_count", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_domain1" WHERE "l0" IS NULL OR "l1" IS NULL OR "l2" IS NULL OR "l3" IS NULL OR "l4" IS NULL OR "l5" IS NULL) AS "missing_labels", (SELECT COUNT(*) FROM (SELECT "l0" FROM "kanon_scratch"."kanon_run_domain1" GROUP BY "l0" HAVING COUNT(*) > 1) AS "repeated") AS "repeated_values", (SELECT COUNT(DISTINCT "l5") FROM "kanon_scratch"."kanon_run_domain1") AS "top_labels", (SELECT MIN("l5") FROM "kanon_scratch"."kanon_run_domain1") AS "top_label";

-- hierarchy/lookup_rows
CREATE TABLE "kanon_scratch"."kanon_run_lookup1" AS SELECT "found"."value", "labelled"."l0", COALESCE("labelled"."c0", 0) AS "c0", COALESCE("labelled"."s0", 1) AS "s0", "labelled"."l1", COALESCE("labelled"."c1", 0) AS "c1", COALESCE("labelled"."s1", 1) AS "s1", "labelled"."l2", COALESCE("labelled"."c2", 0) AS "c2", COALESCE("labelled"."s2", 1) AS "s2", "labelled"."l3", COALESCE("labelled"."c3", 0) AS "c3", COALESCE("labelled"."s3", 1) AS "s3", "labelled"."l4", COALESCE("labelled"."c4", 0) AS "c4", COALESCE("labelled"."s4", 1) AS "s4", '*' AS "l5" FROM (SELECT DISTINCT "q1" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "found" LEFT JOIN (SELECT "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", "l1", CAST(DENSE_RANK() OVER (ORDER BY "l1") AS BIGINT) AS "c1", CAST(COUNT(*) OVER (PARTITION BY "l1") AS INTEGER) AS "s1", "l2", CAST(DENSE_RANK() OVER (ORDER BY "l2") AS BIGINT) AS "c2", CAST(COUNT(*) OVER (PARTITION BY "l2") AS INTEGER) AS "s2", "l3", CAST(DENSE_RANK() OVER (ORDER BY "l3") AS BIGINT) AS "c3", CAST(COUNT(*) OVER (PARTITION BY "l3") AS INTEGER) AS "s3", "l4", CAST(DENSE_RANK() OVER (ORDER BY "l4") AS BIGINT) AS "c4", CAST(COUNT(*) OVER (PARTITION BY "l4") AS INTEGER) AS "s4" FROM "kanon_scratch"."kanon_run_domain1") AS "labelled" ON (CAST("found"."value" AS VARCHAR)) = "labelled"."l0";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_lookup2"]', '(the time)');

-- hierarchy/lookup_rules
CREATE TABLE "kanon_scratch"."kanon_run_lookup2" AS SELECT "value", "l0", CAST(DENSE_RANK() OVER (ORDER BY "l0") AS BIGINT) AS "c0", CAST(COUNT(*) OVER (PARTITION BY "l0") AS INTEGER) AS "s0", '*' AS "l1" FROM (SELECT "value", CASE WHEN "value" IS NULL THEN NULL ELSE (CONCAT(CAST(CASE WHEN REPLACE(CAST(CAST(AT_TIMEZONE("value", 'UTC') AS TIMESTAMP) AS VARCHAR), '.', '') = CAST(CAST(AT_TIMEZONE("value", 'UTC') AS TIMESTAMP) AS VARCHAR) THEN CAST(CAST(AT_TIMEZONE("value", 'UTC') AS TIMESTAMP) AS VARCHAR) ELSE TRIM(TRAILING '.' FROM TRIM(TRAILING '0' FROM CAST(CAST(AT_TIMEZONE("value", 'UTC') AS TIMESTAMP) AS VARCHAR))) END AS VARCHAR), CAST('+00' AS VARCHAR))) END AS "l0" FROM (SELECT DISTINCT "q2" AS "value" FROM "kanon_scratch"."kanon_run_raw") AS "distinct_values") AS "labelled";

-- hierarchy/nesting
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l0" FROM "kanon_scratch"."kanon_run_lookup0" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 0 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l0" FROM "kanon_scratch"."kanon_run_domain1" WHERE NOT "l0" IS NULL GROUP BY "l0" HAVING COUNT(DISTINCT "l1") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 1 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l1" FROM "kanon_scratch"."kanon_run_domain1" WHERE NOT "l1" IS NULL GROUP BY "l1" HAVING COUNT(DISTINCT "l2") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 2 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l2" FROM "kanon_scratch"."kanon_run_domain1" WHERE NOT "l2" IS NULL GROUP BY "l2" HAVING COUNT(DISTINCT "l3") > 1) AS "split"
UNION ALL
SELECT 1 AS "attribute", 3 AS "level", COUNT(*) AS "split_labels" FROM (SELECT "l3" FROM "kanon_scratch"."kanon_run_domain1" WHERE NOT "l3" IS NULL GROUP BY "l3" HAVING COUNT(DISTINCT "l4") > 1) AS "split";

-- hierarchy/coverage
SELECT 0 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup0") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup0" AS "labels" JOIN (SELECT "q0" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value"
UNION ALL
SELECT 1 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup1") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL OR "labels"."l2" IS NULL OR "labels"."l3" IS NULL OR "labels"."l4" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL OR "labels"."l1" IS NULL OR "labels"."l2" IS NULL OR "labels"."l3" IS NULL OR "labels"."l4" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup1" AS "labels" JOIN (SELECT "q1" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q1") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value"
UNION ALL
SELECT 2 AS "attribute", (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_lookup2") AS "domain_values", COUNT(*) AS "found_values", SUM(CASE WHEN "labels"."value" IS NULL THEN 1 ELSE 0 END) AS "null_values", SUM(CASE WHEN "labels"."value" IS NULL THEN "found"."row_count" ELSE 0 END) AS "null_rows", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL) THEN 1 ELSE 0 END) AS "uncovered_values", SUM(CASE WHEN NOT "labels"."value" IS NULL AND ("labels"."l0" IS NULL) THEN "found"."row_count" ELSE 0 END) AS "uncovered_rows" FROM "kanon_scratch"."kanon_run_lookup2" AS "labels" JOIN (SELECT "q2" AS "value", SUM("row_count") AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q2") AS "found" ON "labels"."value" IS NOT DISTINCT FROM "found"."value";

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_values0" AS SELECT "lookup0"."c0" AS "c0_0", "lookup0"."c1" AS "c0_1", "lookup1"."c0" AS "c1_0", "lookup1"."c1" AS "c1_1", "lookup1"."c2" AS "c1_2", "lookup1"."c3" AS "c1_3", "lookup1"."c4" AS "c1_4", "lookup2"."c0" AS "c2_0", "sensitive"."code" AS "value_code", "sensitive"."reference_share" AS "reference_share", "vectors"."person_count" AS "person_count", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", "q1", "q2", "v0", COUNT(DISTINCT "unit") AS "person_count", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0", "q1", "q2", "v0") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_lookup1" AS "lookup1" ON "vectors"."q1" IS NOT DISTINCT FROM "lookup1"."value" JOIN "kanon_scratch"."kanon_run_lookup2" AS "lookup2" ON "vectors"."q2" IS NOT DISTINCT FROM "lookup2"."value" JOIN "kanon_scratch"."kanon_run_sensitive0" AS "sensitive" ON "vectors"."v0" IS NOT DISTINCT FROM "sensitive"."value";

-- frequency/encode
CREATE TABLE "kanon_scratch"."kanon_run_frequency" AS SELECT "lookup0"."c0" AS "c0_0", "lookup0"."c1" AS "c0_1", "lookup1"."c0" AS "c1_0", "lookup1"."c1" AS "c1_1", "lookup1"."c2" AS "c1_2", "lookup1"."c3" AS "c1_3", "lookup1"."c4" AS "c1_4", "lookup2"."c0" AS "c2_0", "vectors"."person_count" AS "person_count", "vectors"."row_count" AS "row_count" FROM (SELECT "q0", "q1", "q2", COUNT(DISTINCT "unit") AS "person_count", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_raw" GROUP BY "q0", "q1", "q2") AS "vectors" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "vectors"."q0" IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_lookup1" AS "lookup1" ON "vectors"."q1" IS NOT DISTINCT FROM "lookup1"."value" JOIN "kanon_scratch"."kanon_run_lookup2" AS "lookup2" ON "vectors"."q2" IS NOT DISTINCT FROM "lookup2"."value";

-- frequency/marginals
SELECT 0 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 0 AS "attribute", 1 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c0_1" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c0_1") AS "labels" JOIN (SELECT DISTINCT "c1" * 1 AS "code", "s1" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup0") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 1 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_1" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_1") AS "labels" JOIN (SELECT DISTINCT "c1" * 1 AS "code", "s1" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 2 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_2" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_2") AS "labels" JOIN (SELECT DISTINCT "c2" * 1 AS "code", "s2" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 3 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_3" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_3") AS "labels" JOIN (SELECT DISTINCT "c3" * 1 AS "code", "s3" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 1 AS "attribute", 4 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c1_4" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c1_4") AS "labels" JOIN (SELECT DISTINCT "c4" * 1 AS "code", "s4" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup1") AS "sizes" ON "labels"."code" = "sizes"."code"
UNION ALL
SELECT 2 AS "attribute", 0 AS "level", COUNT(*) AS "labels", SUM("label_rows" * "label_size") AS "covered", MAX("label_size") AS "largest", SUM(CAST("label_rows" AS DOUBLE) * LN("label_rows")) AS "row_log" FROM (SELECT "c2_0" AS "code", SUM("row_count") AS "label_rows" FROM "kanon_scratch"."kanon_run_frequency" GROUP BY "c2_0") AS "labels" JOIN (SELECT DISTINCT "c0" * 1 AS "code", "s0" AS "label_size" FROM "kanon_scratch"."kanon_run_lookup2") AS "sizes" ON "labels"."code" = "sizes"."code";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_rollup0"]', '(the time)');

-- evaluate/rollup
CREATE TABLE "kanon_scratch"."kanon_run_rollup0" AS SELECT MIN("below"."c0_1") AS "c0_1", MIN("below"."c1_1") AS "c1_1", MIN("below"."c1_2") AS "c1_2", MIN("below"."c1_3") AS "c1_3", MIN("below"."c1_4") AS "c1_4", MIN("below"."c2_0") AS "c2_0", SUM("person_count") AS "person_count", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_frequency" AS "below" GROUP BY "below"."c0_1", "below"."c1_1", "below"."c2_0";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_rollup1"]', '(the time)');

-- evaluate/rollup
CREATE TABLE "kanon_scratch"."kanon_run_rollup1" AS SELECT MIN("below"."c0_1") AS "c0_1", MIN("below"."c1_1") AS "c1_1", MIN("below"."c1_2") AS "c1_2", MIN("below"."c1_3") AS "c1_3", MIN("below"."c1_4") AS "c1_4", MIN("below"."c2_0") AS "c2_0", "value_code", MIN("reference_share") AS "reference_share", SUM("person_count") AS "person_count", CAST(SUM("row_count") AS BIGINT) AS "row_count" FROM "kanon_scratch"."kanon_run_values0" AS "below" GROUP BY "below"."c0_1", "below"."c1_1", "below"."c2_0", "value_code";

-- matrix/size
SELECT COUNT(*) AS "vectors", SUM(CASE WHEN "person_count" < 3 THEN 1 ELSE 0 END) AS "outliers" FROM "kanon_scratch"."kanon_run_frequency";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_outliers"]', '(the time)');

-- matrix/outliers
CREATE TABLE "kanon_scratch"."kanon_run_outliers" AS SELECT ROW_NUMBER() OVER (ORDER BY "row_count") AS "outlier", "c0_0", "c0_1", "c1_0", "c1_1", "c1_2", "c1_3", "c1_4", "c2_0", "row_count" FROM "kanon_scratch"."kanon_run_frequency" WHERE "person_count" < 3;

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_matrix"]', '(the time)');

-- matrix/distances
CREATE TABLE "kanon_scratch"."kanon_run_matrix" AS SELECT "outlier", "d0", "d1", "d2", MIN("outlier_rows") AS "outlier_rows", CAST(SUM("vector_size") AS BIGINT) AS "distance_size" FROM (SELECT "outliers"."outlier" AS "outlier", "outliers"."row_count" AS "outlier_rows", CASE WHEN "outliers"."c0_0" = "vectors"."c0_0" THEN 0 WHEN "outliers"."c0_1" = "vectors"."c0_1" THEN 1 ELSE 2 END AS "d0", CASE WHEN "outliers"."c1_0" = "vectors"."c1_0" THEN 0 WHEN "outliers"."c1_1" = "vectors"."c1_1" THEN 1 WHEN "outliers"."c1_2" = "vectors"."c1_2" THEN 2 WHEN "outliers"."c1_3" = "vectors"."c1_3" THEN 3 WHEN "outliers"."c1_4" = "vectors"."c1_4" THEN 4 ELSE 5 END AS "d1", CASE WHEN "outliers"."c2_0" = "vectors"."c2_0" THEN 0 ELSE 1 END AS "d2", "vectors"."person_count" AS "vector_size" FROM "kanon_scratch"."kanon_run_outliers" AS "outliers" CROSS JOIN "kanon_scratch"."kanon_run_frequency" AS "vectors") AS "pairs" GROUP BY "outlier", "d0", "d1", "d2";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_outliers";

-- scratch/size
SELECT (SELECT COUNT(*) FROM "kanon_scratch"."kanon_run_matrix") AS "row_count";

-- matrix/node
SELECT 0 AS "node", SUM(CASE WHEN "class_size" < 3 THEN "outlier_rows" ELSE 0 END) AS "suppressed" FROM (SELECT MIN("outlier_rows") AS "outlier_rows", SUM("distance_size") AS "class_size" FROM "kanon_scratch"."kanon_run_matrix" WHERE "d0" <= 0 AND "d1" <= 1 AND "d2" <= 0 GROUP BY "outlier") AS "classes"
UNION ALL
SELECT 1 AS "node", SUM(CASE WHEN "class_size" < 3 THEN "outlier_rows" ELSE 0 END) AS "suppressed" FROM (SELECT MIN("outlier_rows") AS "outlier_rows", SUM("distance_size") AS "class_size" FROM "kanon_scratch"."kanon_run_matrix" WHERE "d0" <= 1 AND "d1" <= 0 AND "d2" <= 1 GROUP BY "outlier") AS "classes";

-- manifest/find
SELECT COUNT(*) AS "published" FROM "clinic"."kanon_sql_manifest" WHERE "release_name" = 'visits_release';

-- manifest/insert
INSERT INTO "clinic"."kanon_sql_manifest" VALUES ('visits_release', 'run', '(the time)', '197a06e15464c4074715bbcfb2235ca38935c23b31c9b655983d4bd5f5e0fc13', '{"long": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "published_at": "(the time)"}');

-- scratch/record
INSERT INTO "clinic"."kanon_sql_scratch" VALUES ('run', '["clinic", "kanon_run_old"]', '(the time)');

-- release/replace
ALTER TABLE "clinic"."visits_release" RENAME TO "clinic"."kanon_run_old";

-- release/replace
ALTER TABLE "clinic"."kanon_run_release" RENAME TO "clinic"."visits_release";

-- scratch/drop
DROP TABLE IF EXISTS "clinic"."kanon_run_old";

-- scratch/forget
DELETE FROM "clinic"."kanon_sql_scratch" WHERE "object_name" = '["clinic", "kanon_run_old"]';

-- manifest/withdraw
DELETE FROM "clinic"."kanon_sql_manifest" WHERE "run_id" = 'run';

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0" FROM (SELECT "k0", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "q0" AS "k0", SUM("row_count") AS "class_rows", COUNT(DISTINCT "unit") AS "class_size" FROM (SELECT CAST("checked"."sex" AS VARCHAR) AS "q0", "checked"."person" AS "unit", 1 AS "row_count" FROM "clinic"."visits" AS "checked" WHERE "checked"."kanon_masked" = 0) AS "frequency" GROUP BY "q0") AS "classes") AS "flagged";

-- profile/persons
SELECT COUNT(*) AS "persons", SUM(CASE WHEN "distinct_values0" > 1 THEN 1 ELSE 0 END) AS "varying0" FROM (SELECT CAST("kanon_source"."sex" AS VARCHAR) AS "kanon_unit", COUNT(DISTINCT CAST("kanon_source"."dx" AS VARCHAR)) AS "distinct_values0" FROM "clinic"."visits" AS "kanon_source" WHERE NOT CAST("kanon_source"."sex" AS VARCHAR) IS NULL GROUP BY CAST("kanon_source"."sex" AS VARCHAR)) AS "persons";

-- ledger/turn
DELETE FROM "clinic"."ledger" WHERE "run_id" = 'turn';

-- ledger/entries
SELECT "manifest" FROM "clinic"."ledger" WHERE "run_id" <> 'turn' AND "published_at" <> 'withdrawn' ORDER BY "published_at", "run_id";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_joint"]', '(the time)');

-- ledger/joint
CREATE TABLE "kanon_scratch"."kanon_run_joint" AS SELECT CASE WHEN NOT "kept0"."found" IS NULL AND NOT "kanon_source"."weight" IS NULL AND NOT CAST("kanon_source"."sex" AS VARCHAR) IS NULL AND NOT "kanon_source"."seen" IS NULL THEN 1 ELSE 0 END AS "kanon_f0", CASE WHEN NOT "kept0"."found" IS NULL AND NOT "kanon_source"."weight" IS NULL AND NOT CAST("kanon_source"."sex" AS VARCHAR) IS NULL AND NOT "kanon_source"."seen" IS NULL THEN "lookup0"."l0" END AS "kanon_f0_q0", CASE WHEN NOT "kept0"."found" IS NULL AND NOT "kanon_source"."weight" IS NULL AND NOT CAST("kanon_source"."sex" AS VARCHAR) IS NULL AND NOT "kanon_source"."seen" IS NULL THEN "lookup1"."l0" END AS "kanon_f0_q1", CASE WHEN NOT "kept0"."found" IS NULL AND NOT "kanon_source"."weight" IS NULL AND NOT CAST("kanon_source"."sex" AS VARCHAR) IS NULL AND NOT "kanon_source"."seen" IS NULL THEN "lookup2"."l0" END AS "kanon_f0_q2", 1 AS "kanon_f1", CASE WHEN NOT "kept1"."found" IS NULL THEN "lookup0"."l2" ELSE '*' END AS "kanon_f1_q0", CASE WHEN NOT "kept1"."found" IS NULL THEN "lookup1"."l5" ELSE '*' END AS "kanon_f1_q1", CASE WHEN NOT "kept1"."found" IS NULL THEN "lookup2"."l1" ELSE '*' END AS "kanon_f1_q2", "kanon_source"."person" AS "person", "kanon_source"."age" AS "age", "kanon_source"."dx" AS "dx", "kanon_source"."person" AS "kanon_unit", CASE WHEN (NOT "kept0"."found" IS NULL AND NOT "kanon_source"."weight" IS NULL AND NOT CAST("kanon_source"."sex" AS VARCHAR) IS NULL AND NOT "kanon_source"."seen" IS NULL) OR (1 = 1) THEN 1 ELSE 0 END AS "kanon_any" FROM "clinic"."visits" AS "kanon_source" JOIN "kanon_scratch"."kanon_run_lookup0" AS "lookup0" ON "kanon_source"."weight" IS NOT DISTINCT FROM "lookup0"."value" JOIN "kanon_scratch"."kanon_run_lookup1" AS "lookup1" ON CAST("kanon_source"."sex" AS VARCHAR) IS NOT DISTINCT FROM "lookup1"."value" JOIN "kanon_scratch"."kanon_run_lookup2" AS "lookup2" ON "kanon_source"."seen" IS NOT DISTINCT FROM "lookup2"."value" LEFT JOIN (SELECT DISTINCT COALESCE(CONCAT(CAST('1' AS VARCHAR), CAST("released"."weight" AS VARCHAR)), '0') AS "l0", COALESCE(CONCAT(CAST('1' AS VARCHAR), CAST("released"."sex" AS VARCHAR)), '0') AS "l1", COALESCE(CONCAT(CAST('1' AS VARCHAR), CAST("released"."seen" AS VARCHAR)), '0') AS "l2", 1 AS "found" FROM "clinic"."dropped" AS "released") AS "kept0" ON COALESCE(CONCAT(CAST('1' AS VARCHAR), CAST("lookup0"."l0" AS VARCHAR)), '0') = "kept0"."l0" AND COALESCE(CONCAT(CAST('1' AS VARCHAR), CAST("lookup1"."l0" AS VARCHAR)), '0') = "kept0"."l1" AND COALESCE(CONCAT(CAST('1' AS VARCHAR), CAST("lookup2"."l0" AS VARCHAR)), '0') = "kept0"."l2" LEFT JOIN (SELECT DISTINCT CAST("released"."weight" AS VARCHAR) AS "l0", CAST("released"."sex" AS VARCHAR) AS "l1", CAST("released"."seen" AS VARCHAR) AS "l2", 1 AS "found" FROM "clinic"."masked" AS "released") AS "kept1" ON "lookup0"."l2" = "kept1"."l0" AND "lookup1"."l5" = "kept1"."l1" AND "lookup2"."l1" = "kept1"."l2";

-- release/count
SELECT COUNT(*) AS "row_count" FROM "kanon_scratch"."kanon_run_joint" AS "counted";

-- ledger/differences
SELECT COUNT(*) AS "differences" FROM (SELECT SUM("weight") AS "surplus" FROM (SELECT CAST("made"."kanon_f0_q0" AS VARCHAR) AS "x0", CAST("made"."kanon_f0_q1" AS VARCHAR) AS "x1", CAST("made"."kanon_f0_q2" AS VARCHAR) AS "x2", "made"."person" AS "x3", "made"."age" AS "x4", CAST("made"."dx" AS VARCHAR) AS "x5", 1 AS "weight" FROM "kanon_scratch"."kanon_run_joint" AS "made" WHERE "kanon_f0" = 1 UNION ALL SELECT "released"."weight" AS "x0", CAST("released"."sex" AS VARCHAR) AS "x1", "released"."seen" AS "x2", "released"."person" AS "x3", "released"."age" AS "x4", CAST("released"."dx" AS VARCHAR) AS "x5", -1 AS "weight" FROM "clinic"."dropped" AS "released") AS "counted" GROUP BY "x0", "x1", "x2", "x3", "x4", "x5") AS "surpluses" WHERE "surplus" <> 0;

-- ledger/differences
SELECT COUNT(*) AS "differences" FROM (SELECT SUM("weight") AS "surplus" FROM (SELECT CAST("made"."kanon_f1_q0" AS VARCHAR) AS "x0", CAST("made"."kanon_f1_q1" AS VARCHAR) AS "x1", CAST("made"."kanon_f1_q2" AS VARCHAR) AS "x2", "made"."person" AS "x3", "made"."age" AS "x4", CAST("made"."dx" AS VARCHAR) AS "x5", 1 AS "weight" FROM "kanon_scratch"."kanon_run_joint" AS "made" WHERE "kanon_f1" = 1 UNION ALL SELECT "released"."weight" AS "x0", CAST("released"."sex" AS VARCHAR) AS "x1", "released"."seen" AS "x2", "released"."person" AS "x3", "released"."age" AS "x4", CAST("released"."dx" AS VARCHAR) AS "x5", -1 AS "weight" FROM "clinic"."masked" AS "released") AS "counted" GROUP BY "x0", "x1", "x2", "x3", "x4", "x5") AS "surpluses" WHERE "surplus" <> 0;

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0" FROM (SELECT "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "q0" AS "k0", "q1" AS "k1", "q2" AS "k2", "q3" AS "k3", "q4" AS "k4", "q5" AS "k5", "q6" AS "k6", "q7" AS "k7", SUM("row_count") AS "class_rows", COUNT(DISTINCT "unit") AS "class_size" FROM (SELECT CAST("checked"."kanon_f0" AS VARCHAR) AS "q0", CAST("checked"."kanon_f0_q0" AS VARCHAR) AS "q1", CAST("checked"."kanon_f0_q1" AS VARCHAR) AS "q2", CAST("checked"."kanon_f0_q2" AS VARCHAR) AS "q3", CAST("checked"."kanon_f1" AS VARCHAR) AS "q4", CAST("checked"."kanon_f1_q0" AS VARCHAR) AS "q5", CAST("checked"."kanon_f1_q1" AS VARCHAR) AS "q6", CAST("checked"."kanon_f1_q2" AS VARCHAR) AS "q7", CAST("checked"."kanon_unit" AS VARCHAR) AS "unit", 1 AS "row_count" FROM "kanon_scratch"."kanon_run_joint" AS "checked" WHERE "checked"."kanon_any" = 1) AS "frequency" GROUP BY "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7") AS "classes") AS "flagged";

-- check/form_counts
SELECT "checked"."sex" AS "form", COUNT(*) AS "row_count" FROM "clinic"."visits" AS "checked" WHERE NOT "checked"."sex" IS NULL GROUP BY "checked"."sex" ORDER BY "form";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_joint";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_matrix";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_rollup1";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_rollup0";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_lookup2";

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE "class_rows" END) AS "violating_rows0" FROM (SELECT "k0", "k1", "class_rows", "class_size", "m0", CASE WHEN (NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "base"."k0", "base"."k1", "base"."class_rows", "base"."class_size", "values0"."m0" FROM (SELECT "q0" AS "k0", "q1" AS "k1", SUM("row_count") AS "class_rows", COUNT(DISTINCT "unit") AS "class_size" FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS VARCHAR) AS "q1", "checked"."person" AS "unit", 1 AS "row_count" FROM "clinic"."other" AS "checked") AS "frequency" GROUP BY "q0", "q1") AS "base" JOIN (SELECT "k0", "k1", SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m0" FROM (SELECT "k0", "k1", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0", "k1") AS "class_total" FROM (SELECT "q0" AS "k0", "q1" AS "k1", "value_code", SUM("row_count") AS "value_rows", COUNT(DISTINCT "unit") AS "value_count", MIN("reference_share") AS "reference_share" FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS VARCHAR) AS "q1", CAST("checked"."dx" AS VARCHAR) AS "value_code", COALESCE("reference"."reference_share", 0) AS "reference_share", "checked"."person" AS "unit", 1 AS "row_count" FROM "clinic"."other" AS "checked" LEFT JOIN (SELECT "value" AS "reference_value", CAST("held" AS DOUBLE) / CAST(SUM("held") OVER () AS DOUBLE) AS "reference_share" FROM (SELECT CAST("original"."dx" AS VARCHAR) AS "value", COUNT(DISTINCT "original"."person") AS "held" FROM "clinic"."visits" AS "original" GROUP BY CAST("original"."dx" AS VARCHAR)) AS "counted") AS "reference" ON CAST("checked"."dx" AS VARCHAR) IS NOT DISTINCT FROM "reference"."reference_value") AS "frequency" GROUP BY "q0", "q1", "value_code") AS "counted") AS "ranked" GROUP BY "k0", "k1") AS "values0" ON "base"."k0" IS NOT DISTINCT FROM "values0"."k0" AND "base"."k1" IS NOT DISTINCT FROM "values0"."k1") AS "classes") AS "flagged";

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MAX("m0") AS "worst0", SUM(CASE WHEN "m0" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01 THEN 0 ELSE "class_rows" END) AS "violating_rows0" FROM (SELECT "k0", "k1", "class_rows", "class_size", "m0", CASE WHEN (NOT "m0" IS NULL AND "m0" <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "k0", "k1", SUM("value_rows") AS "class_rows", SUM("value_count") AS "class_size", MAX(CASE WHEN NOT "value_code" IS NULL AND "value_count" > 0 THEN "value_count" END) AS "most_held", CASE WHEN SUM("value_count") > 0 THEN SUM(CASE WHEN "class_total" > 0 AND CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) > "reference_share" THEN CAST("value_count" AS DOUBLE) / CAST("class_total" AS DOUBLE) - "reference_share" ELSE 0 END) ELSE NULL END AS "m0" FROM (SELECT "k0", "k1", "value_code", "value_rows", "value_count", "reference_share", SUM("value_count") OVER (PARTITION BY "k0", "k1") AS "class_total" FROM (SELECT "q0" AS "k0", "q1" AS "k1", "value_code", SUM("row_count") AS "value_rows", SUM("row_count") AS "value_count", MIN("reference_share") AS "reference_share" FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS VARCHAR) AS "q1", CAST("checked"."dx" AS VARCHAR) AS "value_code", COALESCE("reference"."reference_share", 0) AS "reference_share", 1 AS "row_count" FROM "clinic"."visits_release" AS "checked" LEFT JOIN (SELECT "value" AS "reference_value", CAST("held" AS DOUBLE) / CAST(SUM("held") OVER () AS DOUBLE) AS "reference_share" FROM (SELECT CAST("original"."dx" AS VARCHAR) AS "value", COUNT(*) AS "held" FROM "clinic"."visits" AS "original" GROUP BY CAST("original"."dx" AS VARCHAR)) AS "counted") AS "reference" ON CAST("checked"."dx" AS VARCHAR) IS NOT DISTINCT FROM "reference"."reference_value") AS "frequency" GROUP BY "q0", "q1", "value_code") AS "counted") AS "ranked" GROUP BY "k0", "k1") AS "classes") AS "flagged";

-- evaluate/achieved
SELECT COUNT(*) AS "classes", SUM("satisfied") AS "kept_classes", SUM("class_rows") AS "class_rows", SUM(CASE WHEN "satisfied" = 0 THEN "class_rows" ELSE 0 END) AS "violating_rows", MIN("class_rows") AS "smallest_class", MAX("class_rows") AS "largest_class", MIN("class_size") AS "worst0", SUM(CASE WHEN "class_size" IS NULL THEN 1 ELSE 0 END) AS "unbounded0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE 1 END) AS "violating_classes0", SUM(CASE WHEN "class_size" >= 3 THEN 0 ELSE "class_rows" END) AS "violating_rows0" FROM (SELECT "k0", "k1", "class_rows", "class_size", CASE WHEN ("class_size" >= 3) THEN 1 ELSE 0 END AS "satisfied" FROM (SELECT "q0" AS "k0", "q1" AS "k1", SUM("row_count") AS "class_rows", SUM("row_count") AS "class_size" FROM (SELECT "checked"."age" AS "q0", CAST("checked"."sex" AS VARCHAR) AS "q1", 1 AS "row_count" FROM "clinic"."other" AS "checked") AS "frequency" GROUP BY "q0", "q1") AS "classes") AS "flagged";

-- check/invariance
WITH "earlier_rows" AS (SELECT "person", "value", DENSE_RANK() OVER (ORDER BY "k0", "k1") AS "class_id" FROM (SELECT "checked"."age" AS "k0", CAST("checked"."sex" AS VARCHAR) AS "k1", "checked"."person" AS "person", CAST("checked"."dx" AS VARCHAR) AS "value" FROM "clinic"."before" AS "checked") AS "earlier_table"), "present_rows" AS (SELECT "person", "value", DENSE_RANK() OVER (ORDER BY "k0", "k1") AS "class_id" FROM (SELECT "checked"."age" AS "k0", CAST("checked"."sex" AS VARCHAR) AS "k1", "checked"."person" AS "person", CAST("checked"."dx" AS VARCHAR) AS "value" FROM "clinic"."other" AS "checked") AS "present_table"), "earlier_classes" AS (SELECT "class_id", COUNT(*) AS "class_rows", COUNT(DISTINCT "value") AS "class_values" FROM "earlier_rows" GROUP BY "class_id"), "present_classes" AS (SELECT "class_id", COUNT(*) AS "class_rows", COUNT(DISTINCT "value") AS "class_values" FROM "present_rows" GROUP BY "class_id"), "moves" AS (SELECT "older"."class_id" AS "earlier_class", "newer"."class_id" AS "present_class", COUNT(*) AS "persons" FROM "earlier_rows" AS "older" JOIN "present_rows" AS "newer" ON "older"."person" = "newer"."person" GROUP BY "older"."class_id", "newer"."class_id"), "common" AS (SELECT "moves"."earlier_class", "moves"."present_class", COUNT(*) AS "common_values" FROM "moves" JOIN (SELECT DISTINCT "class_id", "value" FROM "earlier_rows") AS "older" ON "older"."class_id" = "moves"."earlier_class" JOIN (SELECT DISTINCT "class_id", "value" FROM "present_rows") AS "newer" ON "newer"."class_id" = "moves"."present_class" AND "newer"."value" = "older"."value" GROUP BY "moves"."earlier_class", "moves"."present_class"), "repeated" AS (SELECT "person" FROM "earlier_rows" WHERE NOT "person" IS NULL GROUP BY "person" HAVING COUNT(*) > 1 UNION ALL SELECT "person" FROM "present_rows" WHERE NOT "person" IS NULL GROUP BY "person" HAVING COUNT(*) > 1), "violating" AS (SELECT "class_rows" FROM "earlier_classes" WHERE "class_rows" <> "class_values" OR "class_rows" < 2 UNION ALL SELECT "class_rows" FROM "present_classes" WHERE "class_rows" <> "class_values" OR "class_rows" < 2) SELECT (SELECT COUNT(*) FROM "repeated") AS "repeated_persons", (SELECT COUNT(*) FROM "violating") AS "violating_classes", (SELECT SUM("class_rows") FROM "violating") AS "violating_rows", (SELECT MIN("class_rows") FROM "earlier_classes") AS "smallest_earlier", (SELECT MIN("class_rows") FROM "present_classes") AS "smallest_present", (SELECT COUNT(*) FROM "earlier_classes" WHERE "class_rows" <> "class_values") + (SELECT COUNT(*) FROM "present_classes" WHERE "class_rows" <> "class_values") AS "repeating_classes", (SELECT SUM("moves"."persons") FROM "moves" JOIN "earlier_classes" ON "earlier_classes"."class_id" = "moves"."earlier_class" JOIN "present_classes" ON "present_classes"."class_id" = "moves"."present_class" LEFT JOIN "common" ON "common"."earlier_class" = "moves"."earlier_class" AND "common"."present_class" = "moves"."present_class" WHERE COALESCE("common"."common_values", 0) <> "earlier_classes"."class_values" OR COALESCE("common"."common_values", 0) <> "present_classes"."class_values") AS "changed_persons";

-- profile/columns
SELECT COUNT(*) AS "row_count", COUNT("kanon_source"."person") AS "filled0", COUNT(DISTINCT "kanon_source"."person") AS "distinct_values0", MIN(LENGTH(CAST("kanon_source"."person" AS VARCHAR))) AS "shortest0", MAX(LENGTH(CAST("kanon_source"."person" AS VARCHAR))) AS "longest0", SUM(CASE WHEN LENGTH(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("kanon_source"."person" AS VARCHAR), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')) = 0 THEN 1 ELSE 0 END) AS "digits0", CASE WHEN MAX(CAST("kanon_source"."person" AS DOUBLE)) > MIN(CAST("kanon_source"."person" AS DOUBLE)) THEN FLOOR(CAST(3 * LN(MAX(CAST("kanon_source"."person" AS DOUBLE)) - MIN(CAST("kanon_source"."person" AS DOUBLE))) AS DOUBLE) / LN(10)) END AS "thirds0", COUNT("kanon_source"."age") AS "filled1", COUNT(DISTINCT "kanon_source"."age") AS "distinct_values1", CASE WHEN MAX(CAST("kanon_source"."age" AS DOUBLE)) > MIN(CAST("kanon_source"."age" AS DOUBLE)) THEN FLOOR(CAST(3 * LN(MAX(CAST("kanon_source"."age" AS DOUBLE)) - MIN(CAST("kanon_source"."age" AS DOUBLE))) AS DOUBLE) / LN(10)) END AS "thirds1", COUNT(CAST("kanon_source"."sex" AS VARCHAR)) AS "filled2", COUNT(DISTINCT CAST("kanon_source"."sex" AS VARCHAR)) AS "distinct_values2", MIN(LENGTH(CAST("kanon_source"."sex" AS VARCHAR))) AS "shortest2", MAX(LENGTH(CAST("kanon_source"."sex" AS VARCHAR))) AS "longest2", SUM(CASE WHEN LENGTH(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("kanon_source"."sex" AS VARCHAR), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')) = 0 THEN 1 ELSE 0 END) AS "digits2", COUNT("kanon_source"."weight") AS "filled3", COUNT(DISTINCT "kanon_source"."weight") AS "distinct_values3", CASE WHEN MAX(CAST("kanon_source"."weight" AS DOUBLE)) > MIN(CAST("kanon_source"."weight" AS DOUBLE)) THEN FLOOR(CAST(3 * LN(MAX(CAST("kanon_source"."weight" AS DOUBLE)) - MIN(CAST("kanon_source"."weight" AS DOUBLE))) AS DOUBLE) / LN(10)) END AS "thirds3", COUNT(CAST("kanon_source"."dx" AS VARCHAR)) AS "filled4", COUNT(DISTINCT CAST("kanon_source"."dx" AS VARCHAR)) AS "distinct_values4", MIN(LENGTH(CAST("kanon_source"."dx" AS VARCHAR))) AS "shortest4", MAX(LENGTH(CAST("kanon_source"."dx" AS VARCHAR))) AS "longest4", SUM(CASE WHEN LENGTH(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST("kanon_source"."dx" AS VARCHAR), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')) = 0 THEN 1 ELSE 0 END) AS "digits4", COUNT("kanon_source"."seen") AS "filled5", COUNT(DISTINCT "kanon_source"."seen") AS "distinct_values5" FROM "clinic"."visits" AS "kanon_source";

-- scratch/probe_text
SELECT COUNT(*) AS "different" FROM (SELECT "probe" FROM (SELECT CAST("probe" AS VARCHAR) AS "probe" FROM (SELECT 'a' AS "probe" UNION ALL SELECT 'A' AS "probe" UNION ALL SELECT 'a ' AS "probe" UNION ALL SELECT 'á' AS "probe") AS "texts") AS "exact_texts" GROUP BY "probe") AS "probes";

-- scratch/record
INSERT INTO "kanon_scratch"."kanon_sql_scratch" VALUES ('run', '["kanon_scratch", "kanon_run_probe"]', '(the time)');

-- scratch/probe_create
CREATE TABLE "kanon_scratch"."kanon_run_probe" AS SELECT 1 AS "probe";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_scratch"."kanon_run_probe";

-- scratch/probe_create
CREATE TABLE "kanon_run_doctor" AS SELECT 1 AS "probe";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_run_doctor";

-- scratch/recorded
SELECT "run_id", "object_name", "created_at" FROM "kanon_sql_scratch" ORDER BY "created_at", "object_name";

-- scratch/drop
DROP TABLE IF EXISTS "kanon_00_release";

-- scratch/forget
DELETE FROM "kanon_sql_scratch" WHERE "object_name" = '["kanon_00_release"]';
