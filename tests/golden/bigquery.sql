-- scratch/create_record
CREATE TABLE IF NOT EXISTS `kanon_scratch`.`kanon_sql_scratch` (`run_id` STRING COLLATE '' NOT NULL, `object_name` STRING COLLATE '' NOT NULL, `created_at` STRING COLLATE '' NOT NULL);

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_raw"]', '(the time)');

-- frequency/raw
CREATE TABLE `kanon_scratch`.`kanon_run_raw` DEFAULT COLLATE '' AS SELECT `kanon_source`.`age` AS `q0`, COLLATE(CAST(`kanon_source`.`sex` AS STRING), '') AS `q1`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `kanon_source` GROUP BY `kanon_source`.`age`, COLLATE(CAST(`kanon_source`.`sex` AS STRING), '');

-- frequency/totals
SELECT (SELECT SUM(`row_count`) FROM `kanon_scratch`.`kanon_run_raw`) AS `row_count`, (SELECT SUM(`row_count`) FROM `kanon_scratch`.`kanon_run_raw` WHERE `q0` IS NULL OR `q1` IS NULL) AS `null_rows`, NULL AS `persons`, NULL AS `most_vectors`;

-- hierarchy/range
SELECT COUNT(*) AS `out_of_range` FROM (SELECT DISTINCT `q0` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `distinct_values` WHERE NOT `value` IS NULL AND NOT (CAST(`value` AS FLOAT64) > -1000000000000000 AND CAST(`value` AS FLOAT64) < 1000000000000000);

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_lookup0"]', '(the time)');

-- hierarchy/lookup_rules
CREATE TABLE `kanon_scratch`.`kanon_run_lookup0` DEFAULT COLLATE '' AS SELECT `value`, `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, `l1`, CAST(DENSE_RANK() OVER (ORDER BY `l1` NULLS LAST) AS INT64) AS `c1`, CAST(COUNT(*) OVER (PARTITION BY `l1`) AS INT64) AS `s1`, '*' AS `l2` FROM (SELECT `value`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(`value` AS STRING)) END, '') AS `l0`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CASE WHEN CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) < 0 THEN '< 0.0' WHEN CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) >= 800 THEN '>= 80.0' ELSE '[' || CASE WHEN (CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) - MOD((MOD(CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) - 0, 25)) + 25, 25)) < 0 THEN '0.0' ELSE FORMAT('%.1f', CAST(CAST((CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) - MOD((MOD(CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) - 0, 25)) + 25, 25)) AS NUMERIC) * CAST('0.1' AS BIGNUMERIC) AS NUMERIC)) END || ', ' || CASE WHEN ((CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) - MOD((MOD(CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) - 0, 25)) + 25, 25)) + 25) > 800 THEN '80.0' ELSE FORMAT('%.1f', CAST(CAST(((CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) - MOD((MOD(CAST(FLOOR((CAST(`value` AS BIGNUMERIC) - CASE WHEN CAST(`value` AS BIGNUMERIC) > `value` THEN CAST('0.0000000001' AS BIGNUMERIC) ELSE 0 END) * 10) AS INT64) - 0, 25)) + 25, 25)) + 25) AS NUMERIC) * CAST('0.1' AS BIGNUMERIC) AS NUMERIC)) END || ')' END) END, '') AS `l1` FROM (SELECT DISTINCT `q0` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `distinct_values`) AS `labelled`;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_domain1"]', '(the time)');

-- hierarchy/domain
CREATE TABLE `kanon_scratch`.`kanon_run_domain1` (`l0` STRING COLLATE '' NOT NULL, `l1` STRING COLLATE '' NOT NULL, `l2` STRING COLLATE '' NOT NULL);

-- hierarchy/load
INSERT INTO `kanon_scratch`.`kanon_run_domain1` VALUES
  ('M', 'x', '*'),
  ('it\'s', 'x', '*'),
  ('F\\', 'y', '*');

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_lookup1"]', '(the time)');

-- hierarchy/lookup_rows
CREATE TABLE `kanon_scratch`.`kanon_run_lookup1` DEFAULT COLLATE '' AS SELECT `found`.`value`, `labelled`.`l0`, COALESCE(`labelled`.`c0`, 0) AS `c0`, COALESCE(`labelled`.`s0`, 1) AS `s0`, `labelled`.`l1`, COALESCE(`labelled`.`c1`, 0) AS `c1`, COALESCE(`labelled`.`s1`, 1) AS `s1`, '*' AS `l2` FROM (SELECT DISTINCT `q1` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `found` LEFT JOIN (SELECT `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, `l1`, CAST(DENSE_RANK() OVER (ORDER BY `l1` NULLS LAST) AS INT64) AS `c1`, CAST(COUNT(*) OVER (PARTITION BY `l1`) AS INT64) AS `s1` FROM `kanon_scratch`.`kanon_run_domain1`) AS `labelled` ON COLLATE((CAST(`found`.`value` AS STRING)), '') = `labelled`.`l0`;

-- hierarchy/nesting
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l0` FROM `kanon_scratch`.`kanon_run_lookup0` WHERE NOT `l0` IS NULL GROUP BY `l0` HAVING COUNT(DISTINCT `l1`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 0 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l0` FROM `kanon_scratch`.`kanon_run_domain1` WHERE NOT `l0` IS NULL GROUP BY `l0` HAVING COUNT(DISTINCT `l1`) > 1) AS `split`;

-- hierarchy/coverage
SELECT 0 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup0`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup0` AS `labels` JOIN (SELECT `q0` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`)
UNION ALL
SELECT 1 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup1`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup1` AS `labels` JOIN (SELECT `q1` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q1`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`);

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_frequency"]', '(the time)');

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_frequency` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `lookup0`.`c1` AS `c0_1`, `lookup1`.`c0` AS `c1_0`, `lookup1`.`c1` AS `c1_1`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, `q1`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`, `q1`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`) JOIN `kanon_scratch`.`kanon_run_lookup1` AS `lookup1` ON TO_JSON_STRING(`vectors`.`q1`) = TO_JSON_STRING(`lookup1`.`value`);

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_raw`;

-- frequency/marginals
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 0 AS `attribute`, 1 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_1` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_1`) AS `labels` JOIN (SELECT DISTINCT `c1` * 1 AS `code`, `s1` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 1 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_1` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_1`) AS `labels` JOIN (SELECT DISTINCT `c1` * 1 AS `code`, `s1` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`;

-- scratch/size
SELECT (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_frequency`) AS `row_count`;

-- evaluate/node
SELECT 0 AS `node`, COUNT(*) AS `classes`, SUM(CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END) AS `kept_classes`, SUM(CASE WHEN (`class_size` >= 3) THEN 0 ELSE `class_rows` END) AS `suppressed`, 0 AS `suppressed_monotone`, 0 AS `padding_0`, 0 AS `padding_1` FROM (SELECT SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`, `c1_0`) AS `classes`;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_suppressed"]', '(the time)');

-- evaluate/suppressed
CREATE TABLE `kanon_scratch`.`kanon_run_suppressed` DEFAULT COLLATE '' AS SELECT `k0`, `k1`, `class_rows` FROM (SELECT `k0`, `k1`, `class_rows`, `class_size`, CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `c0_0` AS `k0`, `c1_0` AS `k1`, SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`, `c1_0`) AS `classes`) AS `flagged` WHERE `satisfied` = 0;

-- scratch/create_record
CREATE TABLE IF NOT EXISTS `clinic`.`kanon_sql_scratch` (`run_id` STRING COLLATE '' NOT NULL, `object_name` STRING COLLATE '' NOT NULL, `created_at` STRING COLLATE '' NOT NULL);

-- scratch/record
INSERT INTO `clinic`.`kanon_sql_scratch` VALUES ('run', '["clinic", "kanon_run_release"]', '(the time)');

-- release/write
CREATE TABLE `clinic`.`kanon_run_release` DEFAULT COLLATE '' AS SELECT `lookup0`.`l0` AS `age`, `lookup1`.`l0` AS `sex`, `kanon_source`.`dx` AS `dx` FROM `clinic`.`visits` AS `kanon_source` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`kanon_source`.`age`) = TO_JSON_STRING(`lookup0`.`value`) JOIN `kanon_scratch`.`kanon_run_lookup1` AS `lookup1` ON TO_JSON_STRING(COLLATE(CAST(`kanon_source`.`sex` AS STRING), '')) = TO_JSON_STRING(`lookup1`.`value`) LEFT JOIN `kanon_scratch`.`kanon_run_suppressed` AS `suppressed` ON `lookup0`.`c0` * 1 = `suppressed`.`k0` AND `lookup1`.`c0` * 1 = `suppressed`.`k1` WHERE `suppressed`.`class_rows` IS NULL ORDER BY RAND() NULLS LAST;

-- release/count
SELECT COUNT(*) AS `row_count` FROM `clinic`.`kanon_run_release` AS `counted`;

-- release/labels
SELECT 0 AS `attribute`, COALESCE(SUM(`written`.`row_count`), 0) AS `foreign_rows` FROM (SELECT COLLATE(CAST(`checked`.`age` AS STRING), '') AS `label`, COUNT(*) AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked` GROUP BY COLLATE(CAST(`checked`.`age` AS STRING), '')) AS `written` LEFT JOIN (SELECT DISTINCT `l0` AS `label`, 1 AS `known` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `labels` ON TO_JSON_STRING(`written`.`label`) = TO_JSON_STRING(`labels`.`label`) WHERE `labels`.`known` IS NULL
UNION ALL
SELECT 1 AS `attribute`, COALESCE(SUM(`written`.`row_count`), 0) AS `foreign_rows` FROM (SELECT COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `label`, COUNT(*) AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked` GROUP BY COLLATE(CAST(`checked`.`sex` AS STRING), '')) AS `written` LEFT JOIN (SELECT DISTINCT `l0` AS `label`, 1 AS `known` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `labels` ON TO_JSON_STRING(`written`.`label`) = TO_JSON_STRING(`labels`.`label`) WHERE `labels`.`known` IS NULL;

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MIN(`class_size`) AS `worst0`, SUM(CASE WHEN `class_size` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE `class_rows` END) AS `violating_rows0` FROM (SELECT `k0`, `k1`, `class_rows`, `class_size`, CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size` FROM (SELECT COLLATE(CAST(`checked`.`age` AS STRING), '') AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, 1 AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked`) AS `frequency` GROUP BY `q0`, `q1`) AS `classes`) AS `flagged`;

-- manifest/create
CREATE TABLE IF NOT EXISTS `clinic`.`kanon_sql_manifest` (`release_name` STRING COLLATE '' NOT NULL, `run_id` STRING COLLATE '' NOT NULL, `published_at` STRING COLLATE '' NOT NULL, `spec_hash` STRING COLLATE '' NOT NULL, `manifest` STRING COLLATE '' NOT NULL);

-- release/rename
ALTER TABLE `clinic`.`kanon_run_release` RENAME TO `visits_release`;

-- manifest/insert
INSERT INTO `clinic`.`kanon_sql_manifest` VALUES ('visits_release', 'run', '(the time)', 'deee77c2ec0833b7e785137abb2076648d6e37379e3b44504157ae0f47c00dcc', '{"published_at": "(the time)"}');

-- scratch/drop
DROP TABLE IF EXISTS `clinic`.`kanon_run_release`;

-- scratch/forget
DELETE FROM `clinic`.`kanon_sql_scratch` WHERE `object_name` = '["clinic", "kanon_run_release"]';

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_suppressed`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_frequency`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_lookup1`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_domain1`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_lookup0`;

-- scratch/forget_run
DELETE FROM `kanon_scratch`.`kanon_sql_scratch` WHERE `run_id` = 'run';

-- frequency/raw
CREATE TABLE `kanon_scratch`.`kanon_run_raw` DEFAULT COLLATE '' AS SELECT COLLATE(CAST(`kanon_source`.`zip` AS STRING), '') AS `q0`, `kanon_source`.`born` AS `q1`, COUNT(*) AS `row_count` FROM (
SELECT * FROM clinic_visits
) AS `kanon_source` GROUP BY COLLATE(CAST(`kanon_source`.`zip` AS STRING), ''), `kanon_source`.`born`;

-- hierarchy/lookup_rules
CREATE TABLE `kanon_scratch`.`kanon_run_lookup0` DEFAULT COLLATE '' AS SELECT `value`, `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, `l1`, CAST(DENSE_RANK() OVER (ORDER BY `l1` NULLS LAST) AS INT64) AS `c1`, CAST(COUNT(*) OVER (PARTITION BY `l1`) AS INT64) AS `s1`, '*' AS `l2` FROM (SELECT `value`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(`value` AS STRING)) END, '') AS `l0`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CASE WHEN LENGTH(CAST(`value` AS STRING)) > 3 THEN SUBSTRING(CAST(`value` AS STRING), 1, 3) || REPEAT('*', LENGTH(CAST(`value` AS STRING)) - 3) ELSE CAST(`value` AS STRING) END) END, '') AS `l1` FROM (SELECT DISTINCT `q0` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `distinct_values`) AS `labelled`;

-- hierarchy/lookup_rules
CREATE TABLE `kanon_scratch`.`kanon_run_lookup1` DEFAULT COLLATE '' AS SELECT `value`, `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, `l1`, CAST(DENSE_RANK() OVER (ORDER BY `l1` NULLS LAST) AS INT64) AS `c1`, CAST(COUNT(*) OVER (PARTITION BY `l1`) AS INT64) AS `s1`, `l2`, CAST(DENSE_RANK() OVER (ORDER BY `l2` NULLS LAST) AS INT64) AS `c2`, CAST(COUNT(*) OVER (PARTITION BY `l2`) AS INT64) AS `s2`, `l3`, CAST(DENSE_RANK() OVER (ORDER BY `l3` NULLS LAST) AS INT64) AS `c3`, CAST(COUNT(*) OVER (PARTITION BY `l3`) AS INT64) AS `s3`, `l4`, CAST(DENSE_RANK() OVER (ORDER BY `l4` NULLS LAST) AS INT64) AS `c4`, CAST(COUNT(*) OVER (PARTITION BY `l4`) AS INT64) AS `s4`, '*' AS `l5` FROM (SELECT `value`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(`value` AS STRING)) END, '') AS `l0`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(CAST(`value` AS DATE) AS STRING)) END, '') AS `l1`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(EXTRACT(YEAR FROM `value`) AS STRING) || CASE WHEN EXTRACT(MONTH FROM `value`) < 10 THEN '-0' ELSE '-' END || CAST(EXTRACT(MONTH FROM `value`) AS STRING)) END, '') AS `l2`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(EXTRACT(YEAR FROM `value`) AS STRING) || CASE WHEN EXTRACT(MONTH FROM `value`) <= 3 THEN '-Q1' WHEN EXTRACT(MONTH FROM `value`) <= 6 THEN '-Q2' WHEN EXTRACT(MONTH FROM `value`) <= 9 THEN '-Q3' ELSE '-Q4' END) END, '') AS `l3`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(EXTRACT(YEAR FROM `value`) - MOD((MOD(EXTRACT(YEAR FROM `value`), 10)) + 10, 10) AS STRING) || '-' || CAST(EXTRACT(YEAR FROM `value`) - MOD((MOD(EXTRACT(YEAR FROM `value`), 10)) + 10, 10) + 9 AS STRING)) END, '') AS `l4` FROM (SELECT DISTINCT `q1` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `distinct_values`) AS `labelled`;

-- hierarchy/nesting
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l0` FROM `kanon_scratch`.`kanon_run_lookup0` WHERE NOT `l0` IS NULL GROUP BY `l0` HAVING COUNT(DISTINCT `l1`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 0 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l0` FROM `kanon_scratch`.`kanon_run_lookup1` WHERE NOT `l0` IS NULL GROUP BY `l0` HAVING COUNT(DISTINCT `l1`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 1 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l1` FROM `kanon_scratch`.`kanon_run_lookup1` WHERE NOT `l1` IS NULL GROUP BY `l1` HAVING COUNT(DISTINCT `l2`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 2 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l2` FROM `kanon_scratch`.`kanon_run_lookup1` WHERE NOT `l2` IS NULL GROUP BY `l2` HAVING COUNT(DISTINCT `l3`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 3 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l3` FROM `kanon_scratch`.`kanon_run_lookup1` WHERE NOT `l3` IS NULL GROUP BY `l3` HAVING COUNT(DISTINCT `l4`) > 1) AS `split`;

-- hierarchy/coverage
SELECT 0 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup0`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup0` AS `labels` JOIN (SELECT `q0` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`)
UNION ALL
SELECT 1 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup1`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL OR `labels`.`l2` IS NULL OR `labels`.`l3` IS NULL OR `labels`.`l4` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL OR `labels`.`l2` IS NULL OR `labels`.`l3` IS NULL OR `labels`.`l4` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup1` AS `labels` JOIN (SELECT `q1` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q1`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`);

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_frequency` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `lookup0`.`c1` AS `c0_1`, `lookup1`.`c0` AS `c1_0`, `lookup1`.`c1` AS `c1_1`, `lookup1`.`c2` AS `c1_2`, `lookup1`.`c3` AS `c1_3`, `lookup1`.`c4` AS `c1_4`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, `q1`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` WHERE NOT `q0` IS NULL AND NOT `q1` IS NULL GROUP BY `q0`, `q1`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`) JOIN `kanon_scratch`.`kanon_run_lookup1` AS `lookup1` ON TO_JSON_STRING(`vectors`.`q1`) = TO_JSON_STRING(`lookup1`.`value`);

-- frequency/marginals
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 0 AS `attribute`, 1 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_1` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_1`) AS `labels` JOIN (SELECT DISTINCT `c1` * 1 AS `code`, `s1` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 1 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_1` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_1`) AS `labels` JOIN (SELECT DISTINCT `c1` * 1 AS `code`, `s1` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 2 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_2` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_2`) AS `labels` JOIN (SELECT DISTINCT `c2` * 1 AS `code`, `s2` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 3 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_3` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_3`) AS `labels` JOIN (SELECT DISTINCT `c3` * 1 AS `code`, `s3` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 4 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_4` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_4`) AS `labels` JOIN (SELECT DISTINCT `c4` * 1 AS `code`, `s4` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`;

-- evaluate/node
SELECT 0 AS `node`, COUNT(*) AS `classes`, SUM(CASE WHEN `satisfied` = 1 THEN 1 ELSE 0 END) AS `kept_classes`, SUM(CASE WHEN `satisfied` = 1 THEN 0 ELSE `class_rows` END) AS `suppressed`, 0 AS `suppressed_monotone`, SUM(CASE WHEN NOT (`satisfied` = 1) THEN `class_rows` * LN(`sharing_0`) ELSE 0 END) AS `suppressed_log_0`, SUM(CASE WHEN NOT (`satisfied` = 1) THEN `class_rows` * LN(`sharing_1`) ELSE 0 END) AS `suppressed_log_1` FROM (SELECT `flagged`.*, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) OVER (PARTITION BY `z0`) AS `sharing_0`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) OVER (PARTITION BY `z1`) AS `sharing_1` FROM (SELECT `k0`, `k1`, `class_rows`, `class_size`, `z0`, `z1`, CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `c0_0` AS `k0`, `c1_0` AS `k1`, SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size`, MIN(`c0_0`) AS `z0`, MIN(`c1_0`) AS `z1` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`, `c1_0`) AS `classes`) AS `flagged`) AS `classes`;

-- release/write
CREATE TABLE `clinic`.`kanon_run_release` DEFAULT COLLATE '' AS SELECT `lookup0`.`l0` AS `zip`, `lookup1`.`l0` AS `born`, `kanon_source`.`dx` AS `dx` FROM (
SELECT * FROM clinic_visits
) AS `kanon_source` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(COLLATE(CAST(`kanon_source`.`zip` AS STRING), '')) = TO_JSON_STRING(`lookup0`.`value`) JOIN `kanon_scratch`.`kanon_run_lookup1` AS `lookup1` ON TO_JSON_STRING(`kanon_source`.`born`) = TO_JSON_STRING(`lookup1`.`value`) LEFT JOIN `kanon_scratch`.`kanon_run_suppressed` AS `suppressed` ON `lookup0`.`c0` * 1 = `suppressed`.`k0` AND `lookup1`.`c0` * 1 = `suppressed`.`k1` WHERE `suppressed`.`class_rows` IS NULL AND NOT COLLATE(CAST(`kanon_source`.`zip` AS STRING), '') IS NULL AND NOT `kanon_source`.`born` IS NULL ORDER BY RAND() NULLS LAST;

-- release/labels
SELECT 0 AS `attribute`, COALESCE(SUM(`written`.`row_count`), 0) AS `foreign_rows` FROM (SELECT COLLATE(CAST(`checked`.`zip` AS STRING), '') AS `label`, COUNT(*) AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked` GROUP BY COLLATE(CAST(`checked`.`zip` AS STRING), '')) AS `written` LEFT JOIN (SELECT DISTINCT `l0` AS `label`, 1 AS `known` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `labels` ON TO_JSON_STRING(`written`.`label`) = TO_JSON_STRING(`labels`.`label`) WHERE `labels`.`known` IS NULL
UNION ALL
SELECT 1 AS `attribute`, COALESCE(SUM(`written`.`row_count`), 0) AS `foreign_rows` FROM (SELECT COLLATE(CAST(`checked`.`born` AS STRING), '') AS `label`, COUNT(*) AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked` GROUP BY COLLATE(CAST(`checked`.`born` AS STRING), '')) AS `written` LEFT JOIN (SELECT DISTINCT `l0` AS `label`, 1 AS `known` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `labels` ON TO_JSON_STRING(`written`.`label`) = TO_JSON_STRING(`labels`.`label`) WHERE `labels`.`known` IS NULL;

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MIN(`class_size`) AS `worst0`, SUM(CASE WHEN `class_size` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE `class_rows` END) AS `violating_rows0` FROM (SELECT `k0`, `k1`, `class_rows`, `class_size`, CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size` FROM (SELECT COLLATE(CAST(`checked`.`zip` AS STRING), '') AS `q0`, COLLATE(CAST(`checked`.`born` AS STRING), '') AS `q1`, 1 AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked`) AS `frequency` GROUP BY `q0`, `q1`) AS `classes`) AS `flagged`;

-- manifest/insert
INSERT INTO `clinic`.`kanon_sql_manifest` VALUES ('visits_release', 'run', '(the time)', 'c73f1c5f58385d96f530258e723aa3265f7d17c8da20285f22677b51b4cbbe2b', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TABLE `kanon_scratch`.`kanon_run_raw` DEFAULT COLLATE '' AS SELECT COLLATE(CAST(`kanon_source`.`age` AS STRING), '') AS `q0`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `kanon_source` GROUP BY COLLATE(CAST(`kanon_source`.`age` AS STRING), '');

-- frequency/totals
SELECT (SELECT SUM(`row_count`) FROM `kanon_scratch`.`kanon_run_raw`) AS `row_count`, (SELECT SUM(`row_count`) FROM `kanon_scratch`.`kanon_run_raw` WHERE `q0` IS NULL) AS `null_rows`, NULL AS `persons`, NULL AS `most_vectors`;

-- hierarchy/lookup_rules
CREATE TABLE `kanon_scratch`.`kanon_run_lookup0` DEFAULT COLLATE '' AS SELECT `value`, `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, `l1`, CAST(DENSE_RANK() OVER (ORDER BY `l1` NULLS LAST) AS INT64) AS `c1`, CAST(COUNT(*) OVER (PARTITION BY `l1`) AS INT64) AS `s1`, `l2`, CAST(DENSE_RANK() OVER (ORDER BY `l2` NULLS LAST) AS INT64) AS `c2`, CAST(COUNT(*) OVER (PARTITION BY `l2`) AS INT64) AS `s2`, '*' AS `l3` FROM (SELECT `value`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(`value` AS STRING)) END, '') AS `l0`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CASE WHEN (DIV(FLOOR(`value` / 10), 2) * 20) = FLOOR((DIV(FLOOR(`value` / 10), 2) * 20)) AND ABS((DIV(FLOOR(`value` / 10), 2) * 20)) < 1e18 THEN CAST(CAST((DIV(FLOOR(`value` / 10), 2) * 20) AS INT64) AS STRING) ELSE CAST((DIV(FLOOR(`value` / 10), 2) * 20) AS STRING) END) END, '') AS `l1`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST((CASE WHEN `value` < 40 THEN 'young' END) AS STRING)) END, '') AS `l2` FROM (SELECT DISTINCT `q0` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `distinct_values`) AS `labelled`;

-- hierarchy/nesting
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l0` FROM `kanon_scratch`.`kanon_run_lookup0` WHERE NOT `l0` IS NULL GROUP BY `l0` HAVING COUNT(DISTINCT `l1`) > 1) AS `split`
UNION ALL
SELECT 0 AS `attribute`, 1 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l1` FROM `kanon_scratch`.`kanon_run_lookup0` WHERE NOT `l1` IS NULL GROUP BY `l1` HAVING COUNT(DISTINCT `l2`) > 1) AS `split`;

-- hierarchy/coverage
SELECT 0 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup0`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL OR `labels`.`l2` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL OR `labels`.`l2` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup0` AS `labels` JOIN (SELECT `q0` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`);

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_frequency` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `lookup0`.`c1` AS `c0_1`, `lookup0`.`c2` AS `c0_2`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`);

-- frequency/marginals
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 0 AS `attribute`, 1 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_1` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_1`) AS `labels` JOIN (SELECT DISTINCT `c1` * 1 AS `code`, `s1` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 0 AS `attribute`, 2 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_2` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_2`) AS `labels` JOIN (SELECT DISTINCT `c2` * 1 AS `code`, `s2` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`;

-- evaluate/node
SELECT 0 AS `node`, COUNT(*) AS `classes`, SUM(CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END) AS `kept_classes`, SUM(CASE WHEN (`class_size` >= 3) THEN 0 ELSE `class_rows` END) AS `suppressed`, 0 AS `suppressed_monotone`, SUM(CASE WHEN (`class_size` >= 3) THEN CAST(`class_rows` AS FLOAT64) ELSE 0 END) AS `kept_vectors`, SUM(CAST(`class_rows` AS FLOAT64)) AS `vectors` FROM (SELECT SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `classes`;

-- evaluate/suppressed
CREATE TABLE `kanon_scratch`.`kanon_run_suppressed` DEFAULT COLLATE '' AS SELECT `k0`, `class_rows` FROM (SELECT `k0`, `class_rows`, `class_size`, CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `c0_0` AS `k0`, SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `classes`) AS `flagged` WHERE `satisfied` = 0;

-- release/write
CREATE TABLE `clinic`.`kanon_run_release` DEFAULT COLLATE '' AS SELECT `lookup0`.`l0` AS `age`, `kanon_source`.`dx` AS `dx` FROM `clinic`.`visits` AS `kanon_source` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(COLLATE(CAST(`kanon_source`.`age` AS STRING), '')) = TO_JSON_STRING(`lookup0`.`value`) LEFT JOIN `kanon_scratch`.`kanon_run_suppressed` AS `suppressed` ON `lookup0`.`c0` * 1 = `suppressed`.`k0` WHERE `suppressed`.`class_rows` IS NULL ORDER BY RAND() NULLS LAST;

-- release/labels
SELECT 0 AS `attribute`, COALESCE(SUM(`written`.`row_count`), 0) AS `foreign_rows` FROM (SELECT COLLATE(CAST(`checked`.`age` AS STRING), '') AS `label`, COUNT(*) AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked` GROUP BY COLLATE(CAST(`checked`.`age` AS STRING), '')) AS `written` LEFT JOIN (SELECT DISTINCT `l0` AS `label`, 1 AS `known` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `labels` ON TO_JSON_STRING(`written`.`label`) = TO_JSON_STRING(`labels`.`label`) WHERE `labels`.`known` IS NULL;

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MIN(`class_size`) AS `worst0`, SUM(CASE WHEN `class_size` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE `class_rows` END) AS `violating_rows0` FROM (SELECT `k0`, `class_rows`, `class_size`, CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `q0` AS `k0`, SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size` FROM (SELECT COLLATE(CAST(`checked`.`age` AS STRING), '') AS `q0`, 1 AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked`) AS `frequency` GROUP BY `q0`) AS `classes`) AS `flagged`;

-- manifest/insert
INSERT INTO `clinic`.`kanon_sql_manifest` VALUES ('visits_release', 'run', '(the time)', '1e05186b1f0b5a842b45bb6dd58efe3da453331037f0fd820cae322792152735', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TABLE `kanon_scratch`.`kanon_run_raw` DEFAULT COLLATE '' AS SELECT COLLATE(CAST(`kanon_source`.`sex` AS STRING), '') AS `q0`, COLLATE(CAST(`kanon_source`.`dx` AS STRING), '') AS `v0`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `kanon_source` GROUP BY COLLATE(CAST(`kanon_source`.`sex` AS STRING), ''), COLLATE(CAST(`kanon_source`.`dx` AS STRING), '');

-- hierarchy/lookup_rules
CREATE TABLE `kanon_scratch`.`kanon_run_lookup0` DEFAULT COLLATE '' AS SELECT `value`, `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, '*' AS `l1` FROM (SELECT `value`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CAST(`value` AS STRING)) END, '') AS `l0` FROM (SELECT DISTINCT `q0` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `distinct_values`) AS `labelled`;

-- hierarchy/coverage
SELECT 0 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup0`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup0` AS `labels` JOIN (SELECT `q0` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`);

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_sensitive0"]', '(the time)');

-- frequency/sensitive
CREATE TABLE `kanon_scratch`.`kanon_run_sensitive0` DEFAULT COLLATE '' AS SELECT `value`, CASE WHEN `value` IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY `value` NULLS LAST) AS INT64) END AS `code`, CAST(`reference_count` AS FLOAT64) / CAST(SUM(`reference_count`) OVER () AS FLOAT64) AS `reference_share` FROM (SELECT `v0` AS `value`, SUM(`row_count`) AS `reference_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `v0`) AS `value_counts`;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_values0"]', '(the time)');

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_values0` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `sensitive`.`code` AS `value_code`, `sensitive`.`reference_share` AS `reference_share`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, `v0`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`, `v0`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`) JOIN `kanon_scratch`.`kanon_run_sensitive0` AS `sensitive` ON TO_JSON_STRING(`vectors`.`v0`) = TO_JSON_STRING(`sensitive`.`value`);

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_frequency` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`);

-- frequency/marginals
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`;

-- scratch/size
SELECT (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_frequency`) + (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_values0`) AS `row_count`;

-- evaluate/node
SELECT 0 AS `node`, COUNT(*) AS `classes`, SUM(CASE WHEN (`class_size` >= 3) AND (`m1` >= 2) AND (`m2` >= 6.93147179559945315e-01) AND (NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00) AND (NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01) THEN 1 ELSE 0 END) AS `kept_classes`, SUM(CASE WHEN (`class_size` >= 3) AND (`m1` >= 2) AND (`m2` >= 6.93147179559945315e-01) AND (NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00) AND (NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01) THEN 0 ELSE `class_rows` END) AS `suppressed`, 0 AS `suppressed_monotone`, SUM(CASE WHEN (`class_size` >= 3) AND (`m1` >= 2) AND (`m2` >= 6.93147179559945315e-01) AND (NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00) AND (NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01) THEN `class_rows` * `class_rows` ELSE 0 END) AS `kept_squares`, SUM(`class_rows` * `class_rows`) AS `squares` FROM (SELECT SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, COUNT(CASE WHEN `value_count` > 0 THEN `value_code` END) AS `m1`, CASE WHEN SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` END)) - SUM(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` * LN(`value_count`) ELSE 0 END) / CAST(SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` END) AS FLOAT64) ELSE 0 END AS `m2`, CASE WHEN SUM(CASE WHEN NOT `value_code` IS NULL AND `value_position` >= 2 THEN `value_count` ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN `value_position` = 1 THEN `value_count` ELSE 0 END) AS FLOAT64) / CAST(SUM(CASE WHEN NOT `value_code` IS NULL AND `value_position` >= 2 THEN `value_count` ELSE 0 END) AS FLOAT64) ELSE NULL END AS `m3`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m4` FROM (SELECT `k0`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`) AS `class_total`, ROW_NUMBER() OVER (PARTITION BY `k0` ORDER BY CASE WHEN `value_code` IS NULL THEN 1 ELSE 0 END NULLS LAST, `value_count` DESC) AS `value_position` FROM (SELECT `c0_0` AS `k0`, `value_code`, SUM(`row_count`) AS `value_rows`, SUM(`row_count`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM `kanon_scratch`.`kanon_run_values0` GROUP BY `c0_0`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`) AS `classes`;

-- evaluate/suppressed
CREATE TABLE `kanon_scratch`.`kanon_run_suppressed` DEFAULT COLLATE '' AS SELECT `k0`, `class_rows` FROM (SELECT `k0`, `class_rows`, `class_size`, `m1`, `m2`, `m3`, `m4`, CASE WHEN (`class_size` >= 3) AND (`m1` >= 2) AND (`m2` >= 6.93147179559945315e-01) AND (NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00) AND (NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `k0`, SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, COUNT(CASE WHEN `value_count` > 0 THEN `value_code` END) AS `m1`, CASE WHEN SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` END)) - SUM(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` * LN(`value_count`) ELSE 0 END) / CAST(SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` END) AS FLOAT64) ELSE 0 END AS `m2`, CASE WHEN SUM(CASE WHEN NOT `value_code` IS NULL AND `value_position` >= 2 THEN `value_count` ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN `value_position` = 1 THEN `value_count` ELSE 0 END) AS FLOAT64) / CAST(SUM(CASE WHEN NOT `value_code` IS NULL AND `value_position` >= 2 THEN `value_count` ELSE 0 END) AS FLOAT64) ELSE NULL END AS `m3`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m4` FROM (SELECT `k0`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`) AS `class_total`, ROW_NUMBER() OVER (PARTITION BY `k0` ORDER BY CASE WHEN `value_code` IS NULL THEN 1 ELSE 0 END NULLS LAST, `value_count` DESC) AS `value_position` FROM (SELECT `c0_0` AS `k0`, `value_code`, SUM(`row_count`) AS `value_rows`, SUM(`row_count`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM `kanon_scratch`.`kanon_run_values0` GROUP BY `c0_0`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`) AS `classes`) AS `flagged` WHERE `satisfied` = 0;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_staged"]', '(the time)');

-- release/write
CREATE TABLE `kanon_scratch`.`kanon_run_staged` DEFAULT COLLATE '' AS SELECT CASE WHEN NOT `suppressed`.`class_rows` IS NULL THEN '*' ELSE `lookup0`.`l0` END AS `sex`, `kanon_source`.`dx` AS `dx`, CASE WHEN NOT `suppressed`.`class_rows` IS NULL THEN 1 ELSE 0 END AS `kanon_masked` FROM `clinic`.`visits` AS `kanon_source` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(COLLATE(CAST(`kanon_source`.`sex` AS STRING), '')) = TO_JSON_STRING(`lookup0`.`value`) LEFT JOIN `kanon_scratch`.`kanon_run_suppressed` AS `suppressed` ON `lookup0`.`c0` * 1 = `suppressed`.`k0`;

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MIN(`class_size`) AS `worst0`, SUM(CASE WHEN `class_size` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE `class_rows` END) AS `violating_rows0`, MIN(`m1`) AS `worst1`, SUM(CASE WHEN `m1` IS NULL THEN 1 ELSE 0 END) AS `unbounded1`, SUM(CASE WHEN `m1` >= 2 THEN 0 ELSE 1 END) AS `violating_classes1`, SUM(CASE WHEN `m1` >= 2 THEN 0 ELSE `class_rows` END) AS `violating_rows1`, MIN(`m2`) AS `worst2`, SUM(CASE WHEN `m2` IS NULL THEN 1 ELSE 0 END) AS `unbounded2`, SUM(CASE WHEN `m2` >= 6.93147179559945315e-01 THEN 0 ELSE 1 END) AS `violating_classes2`, SUM(CASE WHEN `m2` >= 6.93147179559945315e-01 THEN 0 ELSE `class_rows` END) AS `violating_rows2`, MAX(`m3`) AS `worst3`, SUM(CASE WHEN `m3` IS NULL THEN 1 ELSE 0 END) AS `unbounded3`, SUM(CASE WHEN NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00 THEN 0 ELSE 1 END) AS `violating_classes3`, SUM(CASE WHEN NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00 THEN 0 ELSE `class_rows` END) AS `violating_rows3`, MAX(`m4`) AS `worst4`, SUM(CASE WHEN `m4` IS NULL THEN 1 ELSE 0 END) AS `unbounded4`, SUM(CASE WHEN NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS `violating_classes4`, SUM(CASE WHEN NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01 THEN 0 ELSE `class_rows` END) AS `violating_rows4` FROM (SELECT `k0`, `class_rows`, `class_size`, `m1`, `m2`, `m3`, `m4`, CASE WHEN (`class_size` >= 3) AND (`m1` >= 2) AND (`m2` >= 6.93147179559945315e-01) AND (NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00) AND (NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `k0`, SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, COUNT(CASE WHEN `value_count` > 0 THEN `value_code` END) AS `m1`, CASE WHEN SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` END)) - SUM(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` * LN(`value_count`) ELSE 0 END) / CAST(SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` END) AS FLOAT64) ELSE 0 END AS `m2`, CASE WHEN SUM(CASE WHEN NOT `value_code` IS NULL AND `value_position` >= 2 THEN `value_count` ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN `value_position` = 1 THEN `value_count` ELSE 0 END) AS FLOAT64) / CAST(SUM(CASE WHEN NOT `value_code` IS NULL AND `value_position` >= 2 THEN `value_count` ELSE 0 END) AS FLOAT64) ELSE NULL END AS `m3`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m4` FROM (SELECT `k0`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`) AS `class_total`, ROW_NUMBER() OVER (PARTITION BY `k0` ORDER BY CASE WHEN `value_code` IS NULL THEN 1 ELSE 0 END NULLS LAST, `value_count` DESC) AS `value_position` FROM (SELECT `q0` AS `k0`, `value_code`, SUM(`row_count`) AS `value_rows`, SUM(`row_count`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM (SELECT COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q0`, COLLATE(CAST(`checked`.`dx` AS STRING), '') AS `value_code`, COALESCE(`reference`.`reference_share`, 0) AS `reference_share`, 1 AS `row_count` FROM `kanon_scratch`.`kanon_run_staged` AS `checked` LEFT JOIN (SELECT `value` AS `reference_value`, `reference_share` FROM `kanon_scratch`.`kanon_run_sensitive0`) AS `reference` ON TO_JSON_STRING(COLLATE(CAST(`checked`.`dx` AS STRING), '')) = TO_JSON_STRING(`reference`.`reference_value`)) AS `frequency` GROUP BY `q0`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`) AS `classes`) AS `flagged`;

-- release/copy
CREATE TABLE `clinic`.`kanon_run_release` DEFAULT COLLATE '' AS SELECT `sex`, `dx` FROM `kanon_scratch`.`kanon_run_staged` AS `staged` ORDER BY RAND() NULLS LAST;

-- release/count
SELECT COUNT(*) AS `row_count`, SUM(`kanon_masked`) AS `masked_rows` FROM `kanon_scratch`.`kanon_run_staged` AS `counted`;

-- release/labels
SELECT 0 AS `attribute`, COALESCE(SUM(`written`.`row_count`), 0) AS `foreign_rows` FROM (SELECT COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `label`, COUNT(*) AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked` GROUP BY COLLATE(CAST(`checked`.`sex` AS STRING), '')) AS `written` LEFT JOIN (SELECT DISTINCT `l0` AS `label`, 1 AS `known` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `labels` ON TO_JSON_STRING(`written`.`label`) = TO_JSON_STRING(`labels`.`label`) WHERE `labels`.`known` IS NULL AND (`written`.`label` IS NULL OR `written`.`label` <> '*');

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MIN(`class_size`) AS `worst0`, SUM(CASE WHEN `class_size` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE `class_rows` END) AS `violating_rows0`, MIN(`m1`) AS `worst1`, SUM(CASE WHEN `m1` IS NULL THEN 1 ELSE 0 END) AS `unbounded1`, SUM(CASE WHEN `m1` >= 2 THEN 0 ELSE 1 END) AS `violating_classes1`, SUM(CASE WHEN `m1` >= 2 THEN 0 ELSE `class_rows` END) AS `violating_rows1`, MIN(`m2`) AS `worst2`, SUM(CASE WHEN `m2` IS NULL THEN 1 ELSE 0 END) AS `unbounded2`, SUM(CASE WHEN `m2` >= 6.93147179559945315e-01 THEN 0 ELSE 1 END) AS `violating_classes2`, SUM(CASE WHEN `m2` >= 6.93147179559945315e-01 THEN 0 ELSE `class_rows` END) AS `violating_rows2`, MAX(`m3`) AS `worst3`, SUM(CASE WHEN `m3` IS NULL THEN 1 ELSE 0 END) AS `unbounded3`, SUM(CASE WHEN NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00 THEN 0 ELSE 1 END) AS `violating_classes3`, SUM(CASE WHEN NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00 THEN 0 ELSE `class_rows` END) AS `violating_rows3`, MAX(`m4`) AS `worst4`, SUM(CASE WHEN `m4` IS NULL THEN 1 ELSE 0 END) AS `unbounded4`, SUM(CASE WHEN NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS `violating_classes4`, SUM(CASE WHEN NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01 THEN 0 ELSE `class_rows` END) AS `violating_rows4` FROM (SELECT `k0`, `class_rows`, `class_size`, `m1`, `m2`, `m3`, `m4`, CASE WHEN (`class_size` >= 3) AND (`m1` >= 2) AND (`m2` >= 6.93147179559945315e-01) AND (NOT `m3` IS NULL AND `m3` < 3.00000000000000000e+00) AND (NOT `m4` IS NULL AND `m4` <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `k0`, SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, COUNT(CASE WHEN `value_count` > 0 THEN `value_code` END) AS `m1`, CASE WHEN SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` ELSE 0 END) > 0 THEN LN(SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` END)) - SUM(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` * LN(`value_count`) ELSE 0 END) / CAST(SUM(CASE WHEN NOT `value_code` IS NULL THEN `value_count` END) AS FLOAT64) ELSE 0 END AS `m2`, CASE WHEN SUM(CASE WHEN NOT `value_code` IS NULL AND `value_position` >= 2 THEN `value_count` ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN `value_position` = 1 THEN `value_count` ELSE 0 END) AS FLOAT64) / CAST(SUM(CASE WHEN NOT `value_code` IS NULL AND `value_position` >= 2 THEN `value_count` ELSE 0 END) AS FLOAT64) ELSE NULL END AS `m3`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m4` FROM (SELECT `k0`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`) AS `class_total`, ROW_NUMBER() OVER (PARTITION BY `k0` ORDER BY CASE WHEN `value_code` IS NULL THEN 1 ELSE 0 END NULLS LAST, `value_count` DESC) AS `value_position` FROM (SELECT `q0` AS `k0`, `value_code`, SUM(`row_count`) AS `value_rows`, SUM(`row_count`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM (SELECT COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q0`, COLLATE(CAST(`checked`.`dx` AS STRING), '') AS `value_code`, COALESCE(`reference`.`reference_share`, 0) AS `reference_share`, 1 AS `row_count` FROM `clinic`.`kanon_run_release` AS `checked` LEFT JOIN (SELECT `value` AS `reference_value`, `reference_share` FROM `kanon_scratch`.`kanon_run_sensitive0`) AS `reference` ON TO_JSON_STRING(COLLATE(CAST(`checked`.`dx` AS STRING), '')) = TO_JSON_STRING(`reference`.`reference_value`)) AS `frequency` GROUP BY `q0`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`) AS `classes`) AS `flagged`;

-- manifest/insert
INSERT INTO `clinic`.`kanon_sql_manifest` VALUES ('visits_release', 'run', '(the time)', '2c585bad016cd2ba043dda3e4739d761abf44eadbb96e266907c617e7f8f8950', '{"published_at": "(the time)"}');

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_staged`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_values0`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_sensitive0`;

-- frequency/raw
CREATE TABLE `kanon_scratch`.`kanon_run_raw` DEFAULT COLLATE '' AS SELECT COLLATE(CAST(`kanon_source`.`sex` AS STRING), '') AS `q0`, COLLATE(CAST(`kanon_source`.`dx` AS STRING), '') AS `v0`, COLLATE(CAST(`kanon_source`.`person` AS STRING), '') AS `unit`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `kanon_source` GROUP BY COLLATE(CAST(`kanon_source`.`sex` AS STRING), ''), COLLATE(CAST(`kanon_source`.`dx` AS STRING), ''), COLLATE(CAST(`kanon_source`.`person` AS STRING), '');

-- frequency/totals
SELECT (SELECT SUM(`row_count`) FROM `kanon_scratch`.`kanon_run_raw`) AS `row_count`, (SELECT SUM(`row_count`) FROM `kanon_scratch`.`kanon_run_raw` WHERE `q0` IS NULL) AS `null_rows`, (SELECT COUNT(DISTINCT `unit`) FROM `kanon_scratch`.`kanon_run_raw`) AS `persons`, (SELECT MAX(`vectors`) FROM (SELECT `unit`, COUNT(*) AS `vectors` FROM (SELECT DISTINCT `unit`, `q0` FROM `kanon_scratch`.`kanon_run_raw` WHERE NOT `unit` IS NULL) AS `person_vectors` GROUP BY `unit`) AS `vectors_per_person`) AS `most_vectors`;

-- frequency/sensitive
CREATE TABLE `kanon_scratch`.`kanon_run_sensitive0` DEFAULT COLLATE '' AS SELECT `value`, CASE WHEN `value` IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY `value` NULLS LAST) AS INT64) END AS `code`, CAST(`reference_count` AS FLOAT64) / CAST(SUM(`reference_count`) OVER () AS FLOAT64) AS `reference_share` FROM (SELECT `v0` AS `value`, COUNT(DISTINCT `unit`) AS `reference_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `v0`) AS `value_counts`;

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_values0` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `sensitive`.`code` AS `value_code`, `sensitive`.`reference_share` AS `reference_share`, `vectors`.`person_count` AS `person_count`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, `v0`, COUNT(DISTINCT `unit`) AS `person_count`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`, `v0`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`) JOIN `kanon_scratch`.`kanon_run_sensitive0` AS `sensitive` ON TO_JSON_STRING(`vectors`.`v0`) = TO_JSON_STRING(`sensitive`.`value`);

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_frequency` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `vectors`.`person_count` AS `person_count`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, COUNT(DISTINCT `unit`) AS `person_count`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`);

-- evaluate/node
SELECT 0 AS `node`, COUNT(*) AS `classes`, SUM(CASE WHEN (`class_size` >= 3) AND (NOT `m1` IS NULL AND `m1` <= 7.00000000999999927e-01) THEN 1 ELSE 0 END) AS `kept_classes`, SUM(CASE WHEN (`class_size` >= 3) AND (NOT `m1` IS NULL AND `m1` <= 7.00000000999999927e-01) THEN 0 ELSE `class_rows` END) AS `suppressed`, SUM(CASE WHEN (`class_size` >= 3) THEN 0 ELSE `class_rows` END) AS `suppressed_monotone`, 0 AS `padding_0` FROM (SELECT `base`.`k0`, `base`.`class_rows`, `base`.`class_size`, `values0`.`m1` FROM (SELECT `c0_0` AS `k0`, SUM(`row_count`) AS `class_rows`, SUM(`person_count`) AS `class_size` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `base` JOIN (SELECT `k0`, SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m1` FROM (SELECT `k0`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`) AS `class_total` FROM (SELECT `c0_0` AS `k0`, `value_code`, SUM(`row_count`) AS `value_rows`, SUM(`person_count`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM `kanon_scratch`.`kanon_run_values0` GROUP BY `c0_0`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`) AS `values0` ON TO_JSON_STRING(`base`.`k0`) = TO_JSON_STRING(`values0`.`k0`)) AS `classes`;

-- evaluate/suppressed
CREATE TABLE `kanon_scratch`.`kanon_run_suppressed` DEFAULT COLLATE '' AS SELECT `k0`, `class_rows` FROM (SELECT `k0`, `class_rows`, `class_size`, `m1`, CASE WHEN (`class_size` >= 3) AND (NOT `m1` IS NULL AND `m1` <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `base`.`k0`, `base`.`class_rows`, `base`.`class_size`, `values0`.`m1` FROM (SELECT `c0_0` AS `k0`, SUM(`row_count`) AS `class_rows`, SUM(`person_count`) AS `class_size` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `base` JOIN (SELECT `k0`, SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m1` FROM (SELECT `k0`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`) AS `class_total` FROM (SELECT `c0_0` AS `k0`, `value_code`, SUM(`row_count`) AS `value_rows`, SUM(`person_count`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM `kanon_scratch`.`kanon_run_values0` GROUP BY `c0_0`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`) AS `values0` ON TO_JSON_STRING(`base`.`k0`) = TO_JSON_STRING(`values0`.`k0`)) AS `classes`) AS `flagged` WHERE `satisfied` = 0;

-- release/write
CREATE TABLE `kanon_scratch`.`kanon_run_staged` DEFAULT COLLATE '' AS SELECT CASE WHEN NOT `suppressed`.`class_rows` IS NULL THEN '*' ELSE `lookup0`.`l0` END AS `sex`, `kanon_source`.`dx` AS `dx`, CASE WHEN NOT `suppressed`.`class_rows` IS NULL THEN 1 ELSE 0 END AS `kanon_masked`, COLLATE(CAST(`kanon_source`.`person` AS STRING), '') AS `kanon_unit` FROM `clinic`.`visits` AS `kanon_source` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(COLLATE(CAST(`kanon_source`.`sex` AS STRING), '')) = TO_JSON_STRING(`lookup0`.`value`) LEFT JOIN `kanon_scratch`.`kanon_run_suppressed` AS `suppressed` ON `lookup0`.`c0` * 1 = `suppressed`.`k0`;

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MIN(`class_size`) AS `worst0`, SUM(CASE WHEN `class_size` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE `class_rows` END) AS `violating_rows0`, MAX(`m1`) AS `worst1`, SUM(CASE WHEN `m1` IS NULL THEN 1 ELSE 0 END) AS `unbounded1`, SUM(CASE WHEN NOT `m1` IS NULL AND `m1` <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS `violating_classes1`, SUM(CASE WHEN NOT `m1` IS NULL AND `m1` <= 7.00000000999999927e-01 THEN 0 ELSE `class_rows` END) AS `violating_rows1` FROM (SELECT `k0`, `class_rows`, `class_size`, `m1`, CASE WHEN (`class_size` >= 3) AND (NOT `m1` IS NULL AND `m1` <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `base`.`k0`, `base`.`class_rows`, `base`.`class_size`, `values0`.`m1` FROM (SELECT `q0` AS `k0`, SUM(`row_count`) AS `class_rows`, COUNT(DISTINCT `unit`) AS `class_size` FROM (SELECT COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q0`, COLLATE(CAST(`checked`.`kanon_unit` AS STRING), '') AS `unit`, 1 AS `row_count` FROM `kanon_scratch`.`kanon_run_staged` AS `checked`) AS `frequency` GROUP BY `q0`) AS `base` JOIN (SELECT `k0`, SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m1` FROM (SELECT `k0`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`) AS `class_total` FROM (SELECT `q0` AS `k0`, `value_code`, SUM(`row_count`) AS `value_rows`, COUNT(DISTINCT `unit`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM (SELECT COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q0`, COLLATE(CAST(`checked`.`dx` AS STRING), '') AS `value_code`, COALESCE(`reference`.`reference_share`, 0) AS `reference_share`, COLLATE(CAST(`checked`.`kanon_unit` AS STRING), '') AS `unit`, 1 AS `row_count` FROM `kanon_scratch`.`kanon_run_staged` AS `checked` LEFT JOIN (SELECT `value` AS `reference_value`, `reference_share` FROM `kanon_scratch`.`kanon_run_sensitive0`) AS `reference` ON TO_JSON_STRING(COLLATE(CAST(`checked`.`dx` AS STRING), '')) = TO_JSON_STRING(`reference`.`reference_value`)) AS `frequency` GROUP BY `q0`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`) AS `values0` ON TO_JSON_STRING(`base`.`k0`) = TO_JSON_STRING(`values0`.`k0`)) AS `classes`) AS `flagged`;

-- release/count
SELECT COUNT(*) AS `row_count`, SUM(`kanon_masked`) AS `masked_rows`, COUNT(DISTINCT CASE WHEN `kanon_masked` = 0 THEN `kanon_unit` END) AS `persons` FROM `kanon_scratch`.`kanon_run_staged` AS `counted`;

-- manifest/insert
INSERT INTO `clinic`.`kanon_sql_manifest` VALUES ('visits_release', 'run', '(the time)', '7ecf35489e5f9a118c0405f19b166e0aba1db104913a5c081357f6ec7d62a9a3', '{"published_at": "(the time)"}');

-- frequency/raw
CREATE TABLE `kanon_scratch`.`kanon_run_raw` DEFAULT COLLATE '' AS SELECT `kanon_source`.`weight` AS `q0`, COLLATE(CAST(`kanon_source`.`sex` AS STRING), '') AS `q1`, `kanon_source`.`seen` AS `q2`, COLLATE(CAST(`kanon_source`.`dx` AS STRING), '') AS `v0`, `kanon_source`.`person` AS `unit`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `kanon_source` GROUP BY `kanon_source`.`weight`, COLLATE(CAST(`kanon_source`.`sex` AS STRING), ''), `kanon_source`.`seen`, COLLATE(CAST(`kanon_source`.`dx` AS STRING), ''), `kanon_source`.`person`;

-- frequency/totals
SELECT (SELECT SUM(`row_count`) FROM `kanon_scratch`.`kanon_run_raw`) AS `row_count`, (SELECT SUM(`row_count`) FROM `kanon_scratch`.`kanon_run_raw` WHERE `q0` IS NULL OR `q1` IS NULL OR `q2` IS NULL) AS `null_rows`, (SELECT COUNT(DISTINCT `unit`) FROM `kanon_scratch`.`kanon_run_raw`) AS `persons`, (SELECT MAX(`vectors`) FROM (SELECT `unit`, COUNT(*) AS `vectors` FROM (SELECT DISTINCT `unit`, `q0`, `q1`, `q2` FROM `kanon_scratch`.`kanon_run_raw` WHERE NOT `unit` IS NULL) AS `person_vectors` GROUP BY `unit`) AS `vectors_per_person`) AS `most_vectors`;

-- hierarchy/lookup_rules
CREATE TABLE `kanon_scratch`.`kanon_run_lookup0` DEFAULT COLLATE '' AS SELECT `value`, `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, `l1`, CAST(DENSE_RANK() OVER (ORDER BY `l1` NULLS LAST) AS INT64) AS `c1`, CAST(COUNT(*) OVER (PARTITION BY `l1`) AS INT64) AS `s1`, '*' AS `l2` FROM (SELECT `value`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CASE WHEN `value` = FLOOR(`value`) AND ABS(`value`) < 1e18 THEN CAST(CAST(`value` AS INT64) AS STRING) ELSE CAST(`value` AS STRING) END) END, '') AS `l0`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CASE WHEN (FLOOR(`value`)) = FLOOR((FLOOR(`value`))) AND ABS((FLOOR(`value`))) < 1e18 THEN CAST(CAST((FLOOR(`value`)) AS INT64) AS STRING) ELSE CAST((FLOOR(`value`)) AS STRING) END) END, '') AS `l1` FROM (SELECT DISTINCT `q0` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `distinct_values`) AS `labelled`;

-- hierarchy/copy
CREATE TABLE `kanon_scratch`.`kanon_run_domain1` DEFAULT COLLATE '' AS SELECT COLLATE(CAST(`person` AS STRING), '') AS `l0`, COLLATE(CAST(`age` AS STRING), '') AS `l1`, COLLATE(CAST(`sex` AS STRING), '') AS `l2`, COLLATE(CAST(`weight` AS STRING), '') AS `l3`, COLLATE(CAST(`dx` AS STRING), '') AS `l4`, COLLATE(CAST(`seen` AS STRING), '') AS `l5` FROM `clinic`.`sexes`;

-- hierarchy/domain_summary
SELECT (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_domain1`) AS `row_count`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_domain1` WHERE `l0` IS NULL OR `l1` IS NULL OR `l2` IS NULL OR `l3` IS NULL OR `l4` IS NULL OR `l5` IS NULL) AS `missing_labels`, (SELECT COUNT(*) FROM (SELECT `l0` FROM `kanon_scratch`.`kanon_run_domain1` GROUP BY `l0` HAVING COUNT(*) > 1) AS `repeated`) AS `repeated_values`, (SELECT COUNT(DISTINCT `l5`) FROM `kanon_scratch`.`kanon_run_domain1`) AS `top_labels`, (SELECT MIN(`l5`) FROM `kanon_scratch`.`kanon_run_domain1`) AS `top_label`;

-- hierarchy/lookup_rows
CREATE TABLE `kanon_scratch`.`kanon_run_lookup1` DEFAULT COLLATE '' AS SELECT `found`.`value`, `labelled`.`l0`, COALESCE(`labelled`.`c0`, 0) AS `c0`, COALESCE(`labelled`.`s0`, 1) AS `s0`, `labelled`.`l1`, COALESCE(`labelled`.`c1`, 0) AS `c1`, COALESCE(`labelled`.`s1`, 1) AS `s1`, `labelled`.`l2`, COALESCE(`labelled`.`c2`, 0) AS `c2`, COALESCE(`labelled`.`s2`, 1) AS `s2`, `labelled`.`l3`, COALESCE(`labelled`.`c3`, 0) AS `c3`, COALESCE(`labelled`.`s3`, 1) AS `s3`, `labelled`.`l4`, COALESCE(`labelled`.`c4`, 0) AS `c4`, COALESCE(`labelled`.`s4`, 1) AS `s4`, '*' AS `l5` FROM (SELECT DISTINCT `q1` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `found` LEFT JOIN (SELECT `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, `l1`, CAST(DENSE_RANK() OVER (ORDER BY `l1` NULLS LAST) AS INT64) AS `c1`, CAST(COUNT(*) OVER (PARTITION BY `l1`) AS INT64) AS `s1`, `l2`, CAST(DENSE_RANK() OVER (ORDER BY `l2` NULLS LAST) AS INT64) AS `c2`, CAST(COUNT(*) OVER (PARTITION BY `l2`) AS INT64) AS `s2`, `l3`, CAST(DENSE_RANK() OVER (ORDER BY `l3` NULLS LAST) AS INT64) AS `c3`, CAST(COUNT(*) OVER (PARTITION BY `l3`) AS INT64) AS `s3`, `l4`, CAST(DENSE_RANK() OVER (ORDER BY `l4` NULLS LAST) AS INT64) AS `c4`, CAST(COUNT(*) OVER (PARTITION BY `l4`) AS INT64) AS `s4` FROM `kanon_scratch`.`kanon_run_domain1`) AS `labelled` ON COLLATE((CAST(`found`.`value` AS STRING)), '') = `labelled`.`l0`;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_lookup2"]', '(the time)');

-- hierarchy/lookup_rules
CREATE TABLE `kanon_scratch`.`kanon_run_lookup2` DEFAULT COLLATE '' AS SELECT `value`, `l0`, CAST(DENSE_RANK() OVER (ORDER BY `l0` NULLS LAST) AS INT64) AS `c0`, CAST(COUNT(*) OVER (PARTITION BY `l0`) AS INT64) AS `s0`, '*' AS `l1` FROM (SELECT `value`, COLLATE(CASE WHEN `value` IS NULL THEN NULL ELSE (CASE WHEN REPLACE(CAST(CAST(TIMESTAMP(DATETIME(`value`, 'UTC')) AS DATETIME) AS STRING), '.', '') = CAST(CAST(TIMESTAMP(DATETIME(`value`, 'UTC')) AS DATETIME) AS STRING) THEN CAST(CAST(TIMESTAMP(DATETIME(`value`, 'UTC')) AS DATETIME) AS STRING) ELSE RTRIM(RTRIM(CAST(CAST(TIMESTAMP(DATETIME(`value`, 'UTC')) AS DATETIME) AS STRING), '0'), '.') END || '+00') END, '') AS `l0` FROM (SELECT DISTINCT `q2` AS `value` FROM `kanon_scratch`.`kanon_run_raw`) AS `distinct_values`) AS `labelled`;

-- hierarchy/nesting
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l0` FROM `kanon_scratch`.`kanon_run_lookup0` WHERE NOT `l0` IS NULL GROUP BY `l0` HAVING COUNT(DISTINCT `l1`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 0 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l0` FROM `kanon_scratch`.`kanon_run_domain1` WHERE NOT `l0` IS NULL GROUP BY `l0` HAVING COUNT(DISTINCT `l1`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 1 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l1` FROM `kanon_scratch`.`kanon_run_domain1` WHERE NOT `l1` IS NULL GROUP BY `l1` HAVING COUNT(DISTINCT `l2`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 2 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l2` FROM `kanon_scratch`.`kanon_run_domain1` WHERE NOT `l2` IS NULL GROUP BY `l2` HAVING COUNT(DISTINCT `l3`) > 1) AS `split`
UNION ALL
SELECT 1 AS `attribute`, 3 AS `level`, COUNT(*) AS `split_labels` FROM (SELECT `l3` FROM `kanon_scratch`.`kanon_run_domain1` WHERE NOT `l3` IS NULL GROUP BY `l3` HAVING COUNT(DISTINCT `l4`) > 1) AS `split`;

-- hierarchy/coverage
SELECT 0 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup0`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup0` AS `labels` JOIN (SELECT `q0` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`)
UNION ALL
SELECT 1 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup1`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL OR `labels`.`l2` IS NULL OR `labels`.`l3` IS NULL OR `labels`.`l4` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL OR `labels`.`l1` IS NULL OR `labels`.`l2` IS NULL OR `labels`.`l3` IS NULL OR `labels`.`l4` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup1` AS `labels` JOIN (SELECT `q1` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q1`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`)
UNION ALL
SELECT 2 AS `attribute`, (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_lookup2`) AS `domain_values`, COUNT(*) AS `found_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN 1 ELSE 0 END) AS `null_values`, SUM(CASE WHEN `labels`.`value` IS NULL THEN `found`.`row_count` ELSE 0 END) AS `null_rows`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL) THEN 1 ELSE 0 END) AS `uncovered_values`, SUM(CASE WHEN NOT `labels`.`value` IS NULL AND (`labels`.`l0` IS NULL) THEN `found`.`row_count` ELSE 0 END) AS `uncovered_rows` FROM `kanon_scratch`.`kanon_run_lookup2` AS `labels` JOIN (SELECT `q2` AS `value`, SUM(`row_count`) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q2`) AS `found` ON TO_JSON_STRING(`labels`.`value`) = TO_JSON_STRING(`found`.`value`);

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_values0` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `lookup0`.`c1` AS `c0_1`, `lookup1`.`c0` AS `c1_0`, `lookup1`.`c1` AS `c1_1`, `lookup1`.`c2` AS `c1_2`, `lookup1`.`c3` AS `c1_3`, `lookup1`.`c4` AS `c1_4`, `lookup2`.`c0` AS `c2_0`, `sensitive`.`code` AS `value_code`, `sensitive`.`reference_share` AS `reference_share`, `vectors`.`person_count` AS `person_count`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, `q1`, `q2`, `v0`, COUNT(DISTINCT `unit`) AS `person_count`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`, `q1`, `q2`, `v0`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`) JOIN `kanon_scratch`.`kanon_run_lookup1` AS `lookup1` ON TO_JSON_STRING(`vectors`.`q1`) = TO_JSON_STRING(`lookup1`.`value`) JOIN `kanon_scratch`.`kanon_run_lookup2` AS `lookup2` ON TO_JSON_STRING(`vectors`.`q2`) = TO_JSON_STRING(`lookup2`.`value`) JOIN `kanon_scratch`.`kanon_run_sensitive0` AS `sensitive` ON TO_JSON_STRING(`vectors`.`v0`) = TO_JSON_STRING(`sensitive`.`value`);

-- frequency/encode
CREATE TABLE `kanon_scratch`.`kanon_run_frequency` DEFAULT COLLATE '' AS SELECT `lookup0`.`c0` AS `c0_0`, `lookup0`.`c1` AS `c0_1`, `lookup1`.`c0` AS `c1_0`, `lookup1`.`c1` AS `c1_1`, `lookup1`.`c2` AS `c1_2`, `lookup1`.`c3` AS `c1_3`, `lookup1`.`c4` AS `c1_4`, `lookup2`.`c0` AS `c2_0`, `vectors`.`person_count` AS `person_count`, `vectors`.`row_count` AS `row_count` FROM (SELECT `q0`, `q1`, `q2`, COUNT(DISTINCT `unit`) AS `person_count`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_raw` GROUP BY `q0`, `q1`, `q2`) AS `vectors` JOIN `kanon_scratch`.`kanon_run_lookup0` AS `lookup0` ON TO_JSON_STRING(`vectors`.`q0`) = TO_JSON_STRING(`lookup0`.`value`) JOIN `kanon_scratch`.`kanon_run_lookup1` AS `lookup1` ON TO_JSON_STRING(`vectors`.`q1`) = TO_JSON_STRING(`lookup1`.`value`) JOIN `kanon_scratch`.`kanon_run_lookup2` AS `lookup2` ON TO_JSON_STRING(`vectors`.`q2`) = TO_JSON_STRING(`lookup2`.`value`);

-- frequency/marginals
SELECT 0 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 0 AS `attribute`, 1 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c0_1` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c0_1`) AS `labels` JOIN (SELECT DISTINCT `c1` * 1 AS `code`, `s1` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup0`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 1 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_1` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_1`) AS `labels` JOIN (SELECT DISTINCT `c1` * 1 AS `code`, `s1` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 2 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_2` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_2`) AS `labels` JOIN (SELECT DISTINCT `c2` * 1 AS `code`, `s2` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 3 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_3` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_3`) AS `labels` JOIN (SELECT DISTINCT `c3` * 1 AS `code`, `s3` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 1 AS `attribute`, 4 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c1_4` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c1_4`) AS `labels` JOIN (SELECT DISTINCT `c4` * 1 AS `code`, `s4` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup1`) AS `sizes` ON `labels`.`code` = `sizes`.`code`
UNION ALL
SELECT 2 AS `attribute`, 0 AS `level`, COUNT(*) AS `labels`, SUM(`label_rows` * `label_size`) AS `covered`, MAX(`label_size`) AS `largest`, SUM(CAST(`label_rows` AS FLOAT64) * LN(`label_rows`)) AS `row_log` FROM (SELECT `c2_0` AS `code`, SUM(`row_count`) AS `label_rows` FROM `kanon_scratch`.`kanon_run_frequency` GROUP BY `c2_0`) AS `labels` JOIN (SELECT DISTINCT `c0` * 1 AS `code`, `s0` AS `label_size` FROM `kanon_scratch`.`kanon_run_lookup2`) AS `sizes` ON `labels`.`code` = `sizes`.`code`;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_rollup0"]', '(the time)');

-- evaluate/rollup
CREATE TABLE `kanon_scratch`.`kanon_run_rollup0` DEFAULT COLLATE '' AS SELECT MIN(`below`.`c0_1`) AS `c0_1`, MIN(`below`.`c1_1`) AS `c1_1`, MIN(`below`.`c1_2`) AS `c1_2`, MIN(`below`.`c1_3`) AS `c1_3`, MIN(`below`.`c1_4`) AS `c1_4`, MIN(`below`.`c2_0`) AS `c2_0`, SUM(`person_count`) AS `person_count`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_frequency` AS `below` GROUP BY `below`.`c0_1`, `below`.`c1_1`, `below`.`c2_0`;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_rollup1"]', '(the time)');

-- evaluate/rollup
CREATE TABLE `kanon_scratch`.`kanon_run_rollup1` DEFAULT COLLATE '' AS SELECT MIN(`below`.`c0_1`) AS `c0_1`, MIN(`below`.`c1_1`) AS `c1_1`, MIN(`below`.`c1_2`) AS `c1_2`, MIN(`below`.`c1_3`) AS `c1_3`, MIN(`below`.`c1_4`) AS `c1_4`, MIN(`below`.`c2_0`) AS `c2_0`, `value_code`, MIN(`reference_share`) AS `reference_share`, SUM(`person_count`) AS `person_count`, CAST(SUM(`row_count`) AS INT64) AS `row_count` FROM `kanon_scratch`.`kanon_run_values0` AS `below` GROUP BY `below`.`c0_1`, `below`.`c1_1`, `below`.`c2_0`, `value_code`;

-- matrix/size
SELECT COUNT(*) AS `vectors`, SUM(CASE WHEN `person_count` < 3 THEN 1 ELSE 0 END) AS `outliers` FROM `kanon_scratch`.`kanon_run_frequency`;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_outliers"]', '(the time)');

-- matrix/outliers
CREATE TABLE `kanon_scratch`.`kanon_run_outliers` DEFAULT COLLATE '' AS SELECT ROW_NUMBER() OVER (ORDER BY `row_count` NULLS LAST) AS `outlier`, `c0_0`, `c0_1`, `c1_0`, `c1_1`, `c1_2`, `c1_3`, `c1_4`, `c2_0`, `row_count` FROM `kanon_scratch`.`kanon_run_frequency` WHERE `person_count` < 3;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_matrix"]', '(the time)');

-- matrix/distances
CREATE TABLE `kanon_scratch`.`kanon_run_matrix` DEFAULT COLLATE '' AS SELECT `outlier`, `d0`, `d1`, `d2`, MIN(`outlier_rows`) AS `outlier_rows`, CAST(SUM(`vector_size`) AS INT64) AS `distance_size` FROM (SELECT `outliers`.`outlier` AS `outlier`, `outliers`.`row_count` AS `outlier_rows`, CASE WHEN `outliers`.`c0_0` = `vectors`.`c0_0` THEN 0 WHEN `outliers`.`c0_1` = `vectors`.`c0_1` THEN 1 ELSE 2 END AS `d0`, CASE WHEN `outliers`.`c1_0` = `vectors`.`c1_0` THEN 0 WHEN `outliers`.`c1_1` = `vectors`.`c1_1` THEN 1 WHEN `outliers`.`c1_2` = `vectors`.`c1_2` THEN 2 WHEN `outliers`.`c1_3` = `vectors`.`c1_3` THEN 3 WHEN `outliers`.`c1_4` = `vectors`.`c1_4` THEN 4 ELSE 5 END AS `d1`, CASE WHEN `outliers`.`c2_0` = `vectors`.`c2_0` THEN 0 ELSE 1 END AS `d2`, `vectors`.`person_count` AS `vector_size` FROM `kanon_scratch`.`kanon_run_outliers` AS `outliers` CROSS JOIN `kanon_scratch`.`kanon_run_frequency` AS `vectors`) AS `pairs` GROUP BY `outlier`, `d0`, `d1`, `d2`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_outliers`;

-- scratch/size
SELECT (SELECT COUNT(*) FROM `kanon_scratch`.`kanon_run_matrix`) AS `row_count`;

-- matrix/node
SELECT 0 AS `node`, SUM(CASE WHEN `class_size` < 3 THEN `outlier_rows` ELSE 0 END) AS `suppressed` FROM (SELECT MIN(`outlier_rows`) AS `outlier_rows`, SUM(`distance_size`) AS `class_size` FROM `kanon_scratch`.`kanon_run_matrix` WHERE `d0` <= 0 AND `d1` <= 1 AND `d2` <= 0 GROUP BY `outlier`) AS `classes`
UNION ALL
SELECT 1 AS `node`, SUM(CASE WHEN `class_size` < 3 THEN `outlier_rows` ELSE 0 END) AS `suppressed` FROM (SELECT MIN(`outlier_rows`) AS `outlier_rows`, SUM(`distance_size`) AS `class_size` FROM `kanon_scratch`.`kanon_run_matrix` WHERE `d0` <= 1 AND `d1` <= 0 AND `d2` <= 1 GROUP BY `outlier`) AS `classes`;

-- manifest/find
SELECT COUNT(*) AS `published` FROM `clinic`.`kanon_sql_manifest` WHERE `release_name` = 'visits_release';

-- manifest/insert
INSERT INTO `clinic`.`kanon_sql_manifest` VALUES ('visits_release', 'run', '(the time)', '69485095c149e945262257c591cd359fc28d4e25f497818140a5e13fb6eb6512', '{"long": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "published_at": "(the time)"}');

-- scratch/record
INSERT INTO `clinic`.`kanon_sql_scratch` VALUES ('run', '["clinic", "kanon_run_old"]', '(the time)');

-- release/replace
CREATE OR REPLACE TABLE `clinic`.`visits_release` COPY `clinic`.`kanon_run_release`;

-- scratch/drop
DROP TABLE IF EXISTS `clinic`.`kanon_run_old`;

-- scratch/forget
DELETE FROM `clinic`.`kanon_sql_scratch` WHERE `object_name` = '["clinic", "kanon_run_old"]';

-- manifest/withdraw
DELETE FROM `clinic`.`kanon_sql_manifest` WHERE `run_id` = 'run';

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MIN(`class_size`) AS `worst0`, SUM(CASE WHEN `class_size` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN `class_size` >= 3 THEN 0 ELSE `class_rows` END) AS `violating_rows0` FROM (SELECT `k0`, `class_rows`, `class_size`, CASE WHEN (`class_size` >= 3) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `q0` AS `k0`, SUM(`row_count`) AS `class_rows`, COUNT(DISTINCT `unit`) AS `class_size` FROM (SELECT COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q0`, `checked`.`person` AS `unit`, 1 AS `row_count` FROM `clinic`.`visits` AS `checked` WHERE `checked`.`kanon_masked` = 0) AS `frequency` GROUP BY `q0`) AS `classes`) AS `flagged`;

-- profile/persons
SELECT COUNT(*) AS `persons`, SUM(CASE WHEN `distinct_values0` > 1 THEN 1 ELSE 0 END) AS `varying0` FROM (SELECT COLLATE(CAST(`kanon_source`.`sex` AS STRING), '') AS `kanon_unit`, COUNT(DISTINCT COLLATE(CAST(`kanon_source`.`dx` AS STRING), '')) AS `distinct_values0` FROM `clinic`.`visits` AS `kanon_source` WHERE NOT COLLATE(CAST(`kanon_source`.`sex` AS STRING), '') IS NULL GROUP BY COLLATE(CAST(`kanon_source`.`sex` AS STRING), '')) AS `persons`;

-- check/form_counts
SELECT `checked`.`sex` AS `form`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `checked` WHERE NOT `checked`.`sex` IS NULL GROUP BY `form` ORDER BY `form` NULLS LAST;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_matrix`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_rollup1`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_rollup0`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_lookup2`;

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MAX(`m0`) AS `worst0`, SUM(CASE WHEN `m0` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN NOT `m0` IS NULL AND `m0` <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN NOT `m0` IS NULL AND `m0` <= 5.00000000999999972e-01 THEN 0 ELSE `class_rows` END) AS `violating_rows0` FROM (SELECT `k0`, `k1`, `class_rows`, `class_size`, `m0`, CASE WHEN (NOT `m0` IS NULL AND `m0` <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `base`.`k0`, `base`.`k1`, `base`.`class_rows`, `base`.`class_size`, `values0`.`m0` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, SUM(`row_count`) AS `class_rows`, COUNT(DISTINCT `unit`) AS `class_size` FROM (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, `checked`.`person` AS `unit`, 1 AS `row_count` FROM `clinic`.`other` AS `checked`) AS `frequency` GROUP BY `q0`, `q1`) AS `base` JOIN (SELECT `k0`, `k1`, SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m0` FROM (SELECT `k0`, `k1`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`, `k1`) AS `class_total` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, `value_code`, SUM(`row_count`) AS `value_rows`, COUNT(DISTINCT `unit`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, COLLATE(CAST(`checked`.`dx` AS STRING), '') AS `value_code`, COALESCE(`reference`.`reference_share`, 0) AS `reference_share`, `checked`.`person` AS `unit`, 1 AS `row_count` FROM `clinic`.`other` AS `checked` LEFT JOIN (SELECT `value` AS `reference_value`, CAST(`held` AS FLOAT64) / CAST(SUM(`held`) OVER () AS FLOAT64) AS `reference_share` FROM (SELECT COLLATE(CAST(`original`.`dx` AS STRING), '') AS `value`, COUNT(DISTINCT `original`.`person`) AS `held` FROM `clinic`.`visits` AS `original` GROUP BY COLLATE(CAST(`original`.`dx` AS STRING), '')) AS `counted`) AS `reference` ON TO_JSON_STRING(COLLATE(CAST(`checked`.`dx` AS STRING), '')) = TO_JSON_STRING(`reference`.`reference_value`)) AS `frequency` GROUP BY `q0`, `q1`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`, `k1`) AS `values0` ON TO_JSON_STRING(`base`.`k0`) = TO_JSON_STRING(`values0`.`k0`) AND TO_JSON_STRING(`base`.`k1`) = TO_JSON_STRING(`values0`.`k1`)) AS `classes`) AS `flagged`;

-- evaluate/achieved
SELECT COUNT(*) AS `classes`, SUM(`satisfied`) AS `kept_classes`, SUM(`class_rows`) AS `class_rows`, SUM(CASE WHEN `satisfied` = 0 THEN `class_rows` ELSE 0 END) AS `violating_rows`, MIN(`class_rows`) AS `smallest_class`, MAX(`class_rows`) AS `largest_class`, MAX(`m0`) AS `worst0`, SUM(CASE WHEN `m0` IS NULL THEN 1 ELSE 0 END) AS `unbounded0`, SUM(CASE WHEN NOT `m0` IS NULL AND `m0` <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS `violating_classes0`, SUM(CASE WHEN NOT `m0` IS NULL AND `m0` <= 5.00000000999999972e-01 THEN 0 ELSE `class_rows` END) AS `violating_rows0` FROM (SELECT `k0`, `k1`, `class_rows`, `class_size`, `m0`, CASE WHEN (NOT `m0` IS NULL AND `m0` <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS `satisfied` FROM (SELECT `k0`, `k1`, SUM(`value_rows`) AS `class_rows`, SUM(`value_count`) AS `class_size`, MAX(CASE WHEN NOT `value_code` IS NULL AND `value_count` > 0 THEN `value_count` END) AS `most_held`, CASE WHEN SUM(`value_count`) > 0 THEN SUM(CASE WHEN `class_total` > 0 AND CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) > `reference_share` THEN CAST(`value_count` AS FLOAT64) / CAST(`class_total` AS FLOAT64) - `reference_share` ELSE 0 END) ELSE NULL END AS `m0` FROM (SELECT `k0`, `k1`, `value_code`, `value_rows`, `value_count`, `reference_share`, SUM(`value_count`) OVER (PARTITION BY `k0`, `k1`) AS `class_total` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, `value_code`, SUM(`row_count`) AS `value_rows`, SUM(`row_count`) AS `value_count`, MIN(`reference_share`) AS `reference_share` FROM (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, COLLATE(CAST(`checked`.`dx` AS STRING), '') AS `value_code`, COALESCE(`reference`.`reference_share`, 0) AS `reference_share`, 1 AS `row_count` FROM `clinic`.`visits_release` AS `checked` LEFT JOIN (SELECT `value` AS `reference_value`, CAST(`held` AS FLOAT64) / CAST(SUM(`held`) OVER () AS FLOAT64) AS `reference_share` FROM (SELECT COLLATE(CAST(`original`.`dx` AS STRING), '') AS `value`, COUNT(*) AS `held` FROM `clinic`.`visits` AS `original` GROUP BY COLLATE(CAST(`original`.`dx` AS STRING), '')) AS `counted`) AS `reference` ON TO_JSON_STRING(COLLATE(CAST(`checked`.`dx` AS STRING), '')) = TO_JSON_STRING(`reference`.`reference_value`)) AS `frequency` GROUP BY `q0`, `q1`, `value_code`) AS `counted`) AS `ranked` GROUP BY `k0`, `k1`) AS `classes`) AS `flagged`;

-- profile/columns
SELECT COUNT(*) AS `row_count`, COUNT(`kanon_source`.`person`) AS `filled0`, COUNT(DISTINCT `kanon_source`.`person`) AS `distinct_values0`, MIN(LENGTH(CAST(`kanon_source`.`person` AS STRING))) AS `shortest0`, MAX(LENGTH(CAST(`kanon_source`.`person` AS STRING))) AS `longest0`, SUM(CASE WHEN LENGTH(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST(`kanon_source`.`person` AS STRING), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')) = 0 THEN 1 ELSE 0 END) AS `digits0`, CASE WHEN MAX(CAST(`kanon_source`.`person` AS FLOAT64)) > MIN(CAST(`kanon_source`.`person` AS FLOAT64)) THEN FLOOR(3 * LN(MAX(CAST(`kanon_source`.`person` AS FLOAT64)) - MIN(CAST(`kanon_source`.`person` AS FLOAT64))) / LN(10)) END AS `thirds0`, COUNT(`kanon_source`.`age`) AS `filled1`, COUNT(DISTINCT `kanon_source`.`age`) AS `distinct_values1`, CASE WHEN MAX(CAST(`kanon_source`.`age` AS FLOAT64)) > MIN(CAST(`kanon_source`.`age` AS FLOAT64)) THEN FLOOR(3 * LN(MAX(CAST(`kanon_source`.`age` AS FLOAT64)) - MIN(CAST(`kanon_source`.`age` AS FLOAT64))) / LN(10)) END AS `thirds1`, COUNT(COLLATE(CAST(`kanon_source`.`sex` AS STRING), '')) AS `filled2`, COUNT(DISTINCT COLLATE(CAST(`kanon_source`.`sex` AS STRING), '')) AS `distinct_values2`, MIN(LENGTH(CAST(`kanon_source`.`sex` AS STRING))) AS `shortest2`, MAX(LENGTH(CAST(`kanon_source`.`sex` AS STRING))) AS `longest2`, SUM(CASE WHEN LENGTH(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST(`kanon_source`.`sex` AS STRING), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')) = 0 THEN 1 ELSE 0 END) AS `digits2`, COUNT(`kanon_source`.`weight`) AS `filled3`, COUNT(DISTINCT `kanon_source`.`weight`) AS `distinct_values3`, CASE WHEN MAX(CAST(`kanon_source`.`weight` AS FLOAT64)) > MIN(CAST(`kanon_source`.`weight` AS FLOAT64)) THEN FLOOR(3 * LN(MAX(CAST(`kanon_source`.`weight` AS FLOAT64)) - MIN(CAST(`kanon_source`.`weight` AS FLOAT64))) / LN(10)) END AS `thirds3`, COUNT(COLLATE(CAST(`kanon_source`.`dx` AS STRING), '')) AS `filled4`, COUNT(DISTINCT COLLATE(CAST(`kanon_source`.`dx` AS STRING), '')) AS `distinct_values4`, MIN(LENGTH(CAST(`kanon_source`.`dx` AS STRING))) AS `shortest4`, MAX(LENGTH(CAST(`kanon_source`.`dx` AS STRING))) AS `longest4`, SUM(CASE WHEN LENGTH(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST(`kanon_source`.`dx` AS STRING), '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', '')) = 0 THEN 1 ELSE 0 END) AS `digits4`, COUNT(`kanon_source`.`seen`) AS `filled5`, COUNT(DISTINCT `kanon_source`.`seen`) AS `distinct_values5` FROM `clinic`.`visits` AS `kanon_source`;

-- risk/histogram
SELECT `class_size`, COUNT(*) AS `size_classes`, SUM(`class_rows`) AS `size_rows` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, SUM(`row_count`) AS `class_rows`, COUNT(DISTINCT `unit`) AS `class_size` FROM (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, `checked`.`person` AS `unit`, 1 AS `row_count` FROM `clinic`.`visits` AS `checked`) AS `frequency` GROUP BY `q0`, `q1`) AS `classes` GROUP BY `class_size` ORDER BY `class_size` NULLS LAST;

-- risk/population
SELECT COUNT(*) AS `classes`, SUM(`class_size`) AS `records`, MIN(`population_size`) AS `smallest`, SUM(`population_size`) AS `population_records`, SUM(CASE WHEN `population_size` > 0 THEN CAST(`class_size` AS FLOAT64) / CAST(`population_size` AS FLOAT64) ELSE 0 END) AS `expected`, SUM(CASE WHEN `population_size` <= 19 THEN `class_size` ELSE 0 END) AS `at_risk`, SUM(CASE WHEN `population_size` = 1 THEN `class_size` ELSE 0 END) AS `uniques`, SUM(CASE WHEN `population_size` < `class_size` THEN 1 ELSE 0 END) AS `missing_classes`, SUM(CASE WHEN `population_size` < `class_size` THEN `class_size` ELSE 0 END) AS `missing_records` FROM (SELECT SUM(`table_records`) AS `class_size`, SUM(`population_records`) AS `population_size` FROM (SELECT `k0`, `k1`, `class_size` AS `table_records`, 0 AS `population_records` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, SUM(`row_count`) AS `class_rows`, COUNT(DISTINCT `unit`) AS `class_size` FROM (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, `checked`.`person` AS `unit`, 1 AS `row_count` FROM `clinic`.`visits` AS `checked`) AS `frequency` GROUP BY `q0`, `q1`) AS `of_table` UNION ALL SELECT `k0`, `k1`, 0 AS `table_records`, `class_size` AS `population_records` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, SUM(`row_count`) AS `class_rows`, COUNT(DISTINCT `unit`) AS `class_size` FROM (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, `checked`.`person` AS `unit`, 1 AS `row_count` FROM `clinic`.`census` AS `checked`) AS `frequency` GROUP BY `q0`, `q1`) AS `of_population`) AS `united` GROUP BY `k0`, `k1`) AS `matched` WHERE `class_size` > 0;

-- risk/combinations
WITH `vectors` AS (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, `checked`.`person` AS `unit`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `checked` GROUP BY `checked`.`age`, COLLATE(CAST(`checked`.`sex` AS STRING), ''), `checked`.`person`) SELECT 0 AS `combination`, COUNT(*) AS `classes`, SUM(`class_size`) AS `records`, SUM(CASE WHEN `class_size` = 1 THEN 1 ELSE 0 END) AS `uniques`, SUM(CAST(`class_size` AS FLOAT64) * CAST(`class_size` - 1 AS FLOAT64)) AS `alike_pairs` FROM (SELECT COUNT(DISTINCT `unit`) AS `class_size` FROM `vectors` GROUP BY `q0`) AS `classes` WHERE `class_size` > 0 UNION ALL SELECT 1 AS `combination`, COUNT(*) AS `classes`, SUM(`class_size`) AS `records`, SUM(CASE WHEN `class_size` = 1 THEN 1 ELSE 0 END) AS `uniques`, SUM(CAST(`class_size` AS FLOAT64) * CAST(`class_size` - 1 AS FLOAT64)) AS `alike_pairs` FROM (SELECT COUNT(DISTINCT `unit`) AS `class_size` FROM `vectors` GROUP BY `q1`) AS `classes` WHERE `class_size` > 0;

-- risk/combinations
WITH `vectors` AS (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, `checked`.`person` AS `unit`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `checked` GROUP BY `checked`.`age`, COLLATE(CAST(`checked`.`sex` AS STRING), ''), `checked`.`person`) SELECT 0 AS `combination`, COUNT(*) AS `classes`, SUM(`class_size`) AS `records`, SUM(CASE WHEN `class_size` = 1 THEN 1 ELSE 0 END) AS `uniques`, SUM(CAST(`class_size` AS FLOAT64) * CAST(`class_size` - 1 AS FLOAT64)) AS `alike_pairs` FROM (SELECT COUNT(DISTINCT `unit`) AS `class_size` FROM `vectors` GROUP BY `q0`, `q1`) AS `classes` WHERE `class_size` > 0;

-- risk/histogram
SELECT `class_size`, COUNT(*) AS `size_classes`, SUM(`class_rows`) AS `size_rows` FROM (SELECT `q0` AS `k0`, `q1` AS `k1`, SUM(`row_count`) AS `class_rows`, SUM(`row_count`) AS `class_size` FROM (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, 1 AS `row_count` FROM `clinic`.`visits` AS `checked`) AS `frequency` GROUP BY `q0`, `q1`) AS `classes` GROUP BY `class_size` ORDER BY `class_size` NULLS LAST;

-- risk/combinations
WITH `vectors` AS (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `checked` GROUP BY `checked`.`age`, COLLATE(CAST(`checked`.`sex` AS STRING), '')) SELECT 0 AS `combination`, COUNT(*) AS `classes`, SUM(`class_size`) AS `records`, SUM(CASE WHEN `class_size` = 1 THEN 1 ELSE 0 END) AS `uniques`, SUM(CAST(`class_size` AS FLOAT64) * CAST(`class_size` - 1 AS FLOAT64)) AS `alike_pairs` FROM (SELECT SUM(`row_count`) AS `class_size` FROM `vectors` GROUP BY `q0`) AS `classes` WHERE `class_size` > 0 UNION ALL SELECT 1 AS `combination`, COUNT(*) AS `classes`, SUM(`class_size`) AS `records`, SUM(CASE WHEN `class_size` = 1 THEN 1 ELSE 0 END) AS `uniques`, SUM(CAST(`class_size` AS FLOAT64) * CAST(`class_size` - 1 AS FLOAT64)) AS `alike_pairs` FROM (SELECT SUM(`row_count`) AS `class_size` FROM `vectors` GROUP BY `q1`) AS `classes` WHERE `class_size` > 0;

-- risk/combinations
WITH `vectors` AS (SELECT `checked`.`age` AS `q0`, COLLATE(CAST(`checked`.`sex` AS STRING), '') AS `q1`, COUNT(*) AS `row_count` FROM `clinic`.`visits` AS `checked` GROUP BY `checked`.`age`, COLLATE(CAST(`checked`.`sex` AS STRING), '')) SELECT 0 AS `combination`, COUNT(*) AS `classes`, SUM(`class_size`) AS `records`, SUM(CASE WHEN `class_size` = 1 THEN 1 ELSE 0 END) AS `uniques`, SUM(CAST(`class_size` AS FLOAT64) * CAST(`class_size` - 1 AS FLOAT64)) AS `alike_pairs` FROM (SELECT SUM(`row_count`) AS `class_size` FROM `vectors` GROUP BY `q0`, `q1`) AS `classes` WHERE `class_size` > 0;

-- scratch/probe_text
SELECT COUNT(*) AS `different` FROM (SELECT `probe` FROM (SELECT COLLATE(CAST(`probe` AS STRING), '') AS `probe` FROM (SELECT 'a' AS `probe` UNION ALL SELECT 'A' AS `probe` UNION ALL SELECT 'a ' AS `probe` UNION ALL SELECT 'á' AS `probe`) AS `texts`) AS `exact_texts` GROUP BY `probe`) AS `probes`;

-- scratch/record
INSERT INTO `kanon_scratch`.`kanon_sql_scratch` VALUES ('run', '["kanon_scratch", "kanon_run_probe"]', '(the time)');

-- scratch/probe_create
CREATE TABLE `kanon_scratch`.`kanon_run_probe` DEFAULT COLLATE '' AS SELECT 1 AS `probe`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_scratch`.`kanon_run_probe`;

-- scratch/probe_create
CREATE TABLE `kanon_run_doctor` DEFAULT COLLATE '' AS SELECT 1 AS `probe`;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_run_doctor`;

-- scratch/recorded
SELECT `run_id`, `object_name`, `created_at` FROM `kanon_sql_scratch` ORDER BY `created_at` NULLS LAST, `object_name` NULLS LAST;

-- scratch/drop
DROP TABLE IF EXISTS `kanon_00_release`;

-- scratch/forget
DELETE FROM `kanon_sql_scratch` WHERE `object_name` = '["kanon_00_release"]';
