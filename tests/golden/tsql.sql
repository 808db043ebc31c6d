-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[visits] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- scratch/create_record
IF OBJECT_ID(N'[kanon_scratch].[kanon_sql_scratch]') IS NULL CREATE TABLE [kanon_scratch].[kanon_sql_scratch] ([run_id] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [object_name] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [created_at] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL);

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_raw"]', N'(the time)');

-- frequency/raw
SELECT [kanon_source].[age] AS [q0], CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], COUNT_BIG(*) AS [row_count]
INTO [kanon_scratch].[kanon_run_raw]
FROM [clinic].[visits] AS [kanon_source] GROUP BY [kanon_source].[age], CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2;

-- frequency/totals
SELECT (SELECT SUM([row_count]) FROM [kanon_scratch].[kanon_run_raw]) AS [row_count], (SELECT SUM([row_count]) FROM [kanon_scratch].[kanon_run_raw] WHERE [q0] IS NULL OR [q1] IS NULL) AS [null_rows], NULL AS [persons], NULL AS [most_vectors];

-- hierarchy/range
SELECT COUNT_BIG(*) AS [out_of_range] FROM (SELECT DISTINCT [q0] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [distinct_values] WHERE NOT [value] IS NULL AND NOT (CAST([value] AS FLOAT) > -1000000000000000 AND CAST([value] AS FLOAT) < 1000000000000000);

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_lookup0"]', N'(the time)');

-- hierarchy/lookup_rules
SELECT [value], [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], [l1], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l1] IS NULL THEN 1 ELSE 0 END, [l1]) AS BIGINT) AS [c1], CAST(COUNT_BIG(*) OVER (PARTITION BY [l1]) AS INTEGER) AS [s1], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l2]
INTO [kanon_scratch].[kanon_run_lookup0]
FROM (SELECT [value] AS [value], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST([value] AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l0], CASE WHEN [value] IS NULL THEN NULL ELSE (CASE WHEN CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) < 0 THEN N'< 0.0' WHEN CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) >= 800 THEN N'>= 80.0' ELSE N'[' + CASE WHEN (CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25) < 0 THEN N'0.0' ELSE CAST(CAST(CAST((CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25) AS NUMERIC(18, 0)) * 0.1 AS NUMERIC(28, 1)) AS NVARCHAR(MAX)) END + N', ' + CASE WHEN ((CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25) + 25) > 800 THEN N'80.0' ELSE CAST(CAST(CAST(((CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - (((CAST(FLOOR((CAST([value] AS NUMERIC(28, 10)) - CASE WHEN CAST([value] AS NUMERIC(28, 10)) > [value] THEN 0.0000000001 ELSE 0 END) * 10) AS BIGINT) - 0) % 25) + 25) % 25) + 25) AS NUMERIC(18, 0)) * 0.1 AS NUMERIC(28, 1)) AS NVARCHAR(MAX)) END + N')' END) END COLLATE Latin1_General_BIN2 AS [l1] FROM (SELECT DISTINCT [q0] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [distinct_values]) AS [labelled];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_domain1"]', N'(the time)');

-- hierarchy/domain
CREATE TABLE [kanon_scratch].[kanon_run_domain1] ([l0] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [l1] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [l2] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL);

-- hierarchy/load
INSERT INTO [kanon_scratch].[kanon_run_domain1] VALUES
  (N'M', N'x', N'*'),
  (N'it''s', N'x', N'*'),
  (N'F\', N'y', N'*');

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_lookup1"]', N'(the time)');

-- hierarchy/lookup_rows
SELECT [found].[value], [labelled].[l0], COALESCE([labelled].[c0], 0) AS [c0], COALESCE([labelled].[s0], 1) AS [s0], [labelled].[l1], COALESCE([labelled].[c1], 0) AS [c1], COALESCE([labelled].[s1], 1) AS [s1], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l2]
INTO [kanon_scratch].[kanon_run_lookup1]
FROM (SELECT DISTINCT [q1] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [found] LEFT JOIN (SELECT [l0] AS [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], [l1] AS [l1], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l1] IS NULL THEN 1 ELSE 0 END, [l1]) AS BIGINT) AS [c1], CAST(COUNT_BIG(*) OVER (PARTITION BY [l1]) AS INTEGER) AS [s1] FROM [kanon_scratch].[kanon_run_domain1]) AS [labelled] ON (CAST([found].[value] AS NVARCHAR(MAX))) COLLATE Latin1_General_BIN2 = [labelled].[l0];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_lookup0] AS [checked] WHERE RIGHT(N'.' + [checked].[l0] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l1] COLLATE Latin1_General_BIN2, 1) = N' ';

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_domain1] AS [checked] WHERE RIGHT(N'.' + [checked].[l0] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l1] COLLATE Latin1_General_BIN2, 1) = N' ';

-- hierarchy/nesting
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l0] AS [l0] FROM [kanon_scratch].[kanon_run_lookup0] WHERE NOT [l0] IS NULL GROUP BY [l0] HAVING COUNT_BIG(DISTINCT [l1]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l0] AS [l0] FROM [kanon_scratch].[kanon_run_domain1] WHERE NOT [l0] IS NULL GROUP BY [l0] HAVING COUNT_BIG(DISTINCT [l1]) > 1) AS [split];

-- hierarchy/coverage
SELECT 0 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup0]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup0] AS [labels] JOIN (SELECT [q0] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value])
UNION ALL
SELECT 1 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup1]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup1] AS [labels] JOIN (SELECT [q1] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q1]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value]);

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_frequency"]', N'(the time)');

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [lookup0].[c1] AS [c0_1], [lookup1].[c0] AS [c1_0], [lookup1].[c1] AS [c1_1], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_frequency]
FROM (SELECT [q0] AS [q0], [q1] AS [q1], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0], [q1]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_lookup1] AS [lookup1] ON EXISTS(SELECT [vectors].[q1] INTERSECT SELECT [lookup1].[value]);

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_raw];

-- frequency/marginals
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 0 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_1] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_1]) AS [labels] JOIN (SELECT DISTINCT [c1] * 1 AS [code], [s1] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_1] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_1]) AS [labels] JOIN (SELECT DISTINCT [c1] * 1 AS [code], [s1] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code];

-- scratch/size
SELECT (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_frequency]) AS [row_count];

-- evaluate/node
SELECT 0 AS [node], COUNT_BIG(*) AS [classes], SUM(CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END) AS [kept_classes], SUM(CASE WHEN ([class_size] >= 3) THEN 0 ELSE [class_rows] END) AS [suppressed], 0 AS [suppressed_monotone], 0 AS [padding_0], 0 AS [padding_1] FROM (SELECT SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0], [c1_0]) AS [classes];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_suppressed"]', N'(the time)');

-- evaluate/suppressed
SELECT [k0], [k1], [class_rows]
INTO [kanon_scratch].[kanon_run_suppressed]
FROM (SELECT [k0] AS [k0], [k1] AS [k1], [class_rows] AS [class_rows], [class_size] AS [class_size], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [c0_0] AS [k0], [c1_0] AS [k1], SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0], [c1_0]) AS [classes]) AS [flagged] WHERE [satisfied] = 0;

-- scratch/create_record
IF OBJECT_ID(N'[clinic].[kanon_sql_scratch]') IS NULL CREATE TABLE [clinic].[kanon_sql_scratch] ([run_id] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [object_name] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [created_at] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL);

-- scratch/record
INSERT INTO [clinic].[kanon_sql_scratch] VALUES (N'run', N'["clinic", "kanon_run_release"]', N'(the time)');

-- release/write
SELECT [lookup0].[l0] AS [age], [lookup1].[l0] AS [sex], [kanon_source].[dx] AS [dx]
INTO [clinic].[kanon_run_release]
FROM [clinic].[visits] AS [kanon_source] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [kanon_source].[age] INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_lookup1] AS [lookup1] ON EXISTS(SELECT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [lookup1].[value]) LEFT JOIN [kanon_scratch].[kanon_run_suppressed] AS [suppressed] ON [lookup0].[c0] * 1 = [suppressed].[k0] AND [lookup1].[c0] * 1 = [suppressed].[k1] WHERE [suppressed].[class_rows] IS NULL ORDER BY NEWID();

-- release/count
SELECT COUNT_BIG(*) AS [row_count] FROM [clinic].[kanon_run_release] AS [counted];

-- release/labels
SELECT 0 AS [attribute], COALESCE(SUM([written].[row_count]), 0) AS [foreign_rows] FROM (SELECT CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [label], COUNT_BIG(*) AS [row_count] FROM [clinic].[kanon_run_release] AS [checked] GROUP BY CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [written] LEFT JOIN (SELECT DISTINCT [l0] AS [label], 1 AS [known] FROM [kanon_scratch].[kanon_run_lookup0]) AS [labels] ON EXISTS(SELECT [written].[label] INTERSECT SELECT [labels].[label]) WHERE [labels].[known] IS NULL
UNION ALL
SELECT 1 AS [attribute], COALESCE(SUM([written].[row_count]), 0) AS [foreign_rows] FROM (SELECT CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [label], COUNT_BIG(*) AS [row_count] FROM [clinic].[kanon_run_release] AS [checked] GROUP BY CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [written] LEFT JOIN (SELECT DISTINCT [l0] AS [label], 1 AS [known] FROM [kanon_scratch].[kanon_run_lookup1]) AS [labels] ON EXISTS(SELECT [written].[label] INTERSECT SELECT [labels].[label]) WHERE [labels].[known] IS NULL;

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[kanon_run_release] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [class_rows] AS [class_rows], [class_size] AS [class_size], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [q0] AS [k0], [q1] AS [k1], SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size] FROM (SELECT CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], 1 AS [row_count] FROM [clinic].[kanon_run_release] AS [checked]) AS [frequency] GROUP BY [q0], [q1]) AS [classes]) AS [flagged];

-- release/transaction
BEGIN TRANSACTION;

-- manifest/create
IF OBJECT_ID(N'[clinic].[kanon_sql_manifest]') IS NULL CREATE TABLE [clinic].[kanon_sql_manifest] ([release_name] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [run_id] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [published_at] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [spec_hash] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL, [manifest] NVARCHAR(MAX) COLLATE Latin1_General_BIN2 NOT NULL);

-- scratch/drop
DROP TABLE IF EXISTS [clinic].[visits_release];

-- release/rename
EXEC sp_rename N'[clinic].[kanon_run_release]', N'visits_release';

-- manifest/insert
INSERT INTO [clinic].[kanon_sql_manifest] VALUES (N'visits_release', N'run', N'(the time)', N'7ea2a6a03d2f93bfe7e85692a50eaa2e02d18b1df627269326740818c235eeb2', N'{"published_at": "(the time)"}');

-- release/transaction
COMMIT;

-- scratch/drop
DROP TABLE IF EXISTS [clinic].[kanon_run_release];

-- scratch/forget
DELETE FROM [clinic].[kanon_sql_scratch] WHERE [object_name] = N'["clinic", "kanon_run_release"]';

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_suppressed];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_frequency];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_lookup1];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_domain1];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_lookup0];

-- scratch/forget_run
DELETE FROM [kanon_scratch].[kanon_sql_scratch] WHERE [run_id] = N'run';

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM (
SELECT * FROM clinic_visits
) AS [checked] WHERE RIGHT(N'.' + CAST([checked].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- frequency/raw
SELECT CAST([kanon_source].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], [kanon_source].[born] AS [q1], COUNT_BIG(*) AS [row_count]
INTO [kanon_scratch].[kanon_run_raw]
FROM (
SELECT * FROM clinic_visits
) AS [kanon_source] GROUP BY CAST([kanon_source].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, [kanon_source].[born];

-- hierarchy/lookup_rules
SELECT [value], [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], [l1], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l1] IS NULL THEN 1 ELSE 0 END, [l1]) AS BIGINT) AS [c1], CAST(COUNT_BIG(*) OVER (PARTITION BY [l1]) AS INTEGER) AS [s1], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l2]
INTO [kanon_scratch].[kanon_run_lookup0]
FROM (SELECT [value] AS [value], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST([value] AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l0], CASE WHEN [value] IS NULL THEN NULL ELSE (CASE WHEN (LEN(CAST([value] AS NVARCHAR(MAX)) + N'.') - 1) > 3 THEN SUBSTRING(CAST([value] AS NVARCHAR(MAX)), 1, 3) + REPLICATE(CAST(N'*' AS NVARCHAR(MAX)), (LEN(CAST([value] AS NVARCHAR(MAX)) + N'.') - 1) - 3) ELSE CAST([value] AS NVARCHAR(MAX)) END) END COLLATE Latin1_General_BIN2 AS [l1] FROM (SELECT DISTINCT [q0] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [distinct_values]) AS [labelled];

-- hierarchy/lookup_rules
SELECT [value], [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], [l1], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l1] IS NULL THEN 1 ELSE 0 END, [l1]) AS BIGINT) AS [c1], CAST(COUNT_BIG(*) OVER (PARTITION BY [l1]) AS INTEGER) AS [s1], [l2], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l2] IS NULL THEN 1 ELSE 0 END, [l2]) AS BIGINT) AS [c2], CAST(COUNT_BIG(*) OVER (PARTITION BY [l2]) AS INTEGER) AS [s2], [l3], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l3] IS NULL THEN 1 ELSE 0 END, [l3]) AS BIGINT) AS [c3], CAST(COUNT_BIG(*) OVER (PARTITION BY [l3]) AS INTEGER) AS [s3], [l4], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l4] IS NULL THEN 1 ELSE 0 END, [l4]) AS BIGINT) AS [c4], CAST(COUNT_BIG(*) OVER (PARTITION BY [l4]) AS INTEGER) AS [s4], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l5]
INTO [kanon_scratch].[kanon_run_lookup1]
FROM (SELECT [value] AS [value], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST([value] AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l0], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST(CAST([value] AS DATE) AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l1], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST(DATEPART(YEAR, [value]) AS NVARCHAR(MAX)) + CASE WHEN DATEPART(MONTH, [value]) < 10 THEN N'-0' ELSE N'-' END + CAST(DATEPART(MONTH, [value]) AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l2], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST(DATEPART(YEAR, [value]) AS NVARCHAR(MAX)) + CASE WHEN DATEPART(MONTH, [value]) <= 3 THEN N'-Q1' WHEN DATEPART(MONTH, [value]) <= 6 THEN N'-Q2' WHEN DATEPART(MONTH, [value]) <= 9 THEN N'-Q3' ELSE N'-Q4' END) END COLLATE Latin1_General_BIN2 AS [l3], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST(DATEPART(YEAR, [value]) - ((DATEPART(YEAR, [value]) % 10) + 10) % 10 AS NVARCHAR(MAX)) + N'-' + CAST(DATEPART(YEAR, [value]) - ((DATEPART(YEAR, [value]) % 10) + 10) % 10 + 9 AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l4] FROM (SELECT DISTINCT [q1] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [distinct_values]) AS [labelled];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_lookup1] AS [checked] WHERE RIGHT(N'.' + [checked].[l0] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l1] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l2] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l3] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l4] COLLATE Latin1_General_BIN2, 1) = N' ';

-- hierarchy/nesting
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l0] AS [l0] FROM [kanon_scratch].[kanon_run_lookup0] WHERE NOT [l0] IS NULL GROUP BY [l0] HAVING COUNT_BIG(DISTINCT [l1]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l0] AS [l0] FROM [kanon_scratch].[kanon_run_lookup1] WHERE NOT [l0] IS NULL GROUP BY [l0] HAVING COUNT_BIG(DISTINCT [l1]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l1] AS [l1] FROM [kanon_scratch].[kanon_run_lookup1] WHERE NOT [l1] IS NULL GROUP BY [l1] HAVING COUNT_BIG(DISTINCT [l2]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 2 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l2] AS [l2] FROM [kanon_scratch].[kanon_run_lookup1] WHERE NOT [l2] IS NULL GROUP BY [l2] HAVING COUNT_BIG(DISTINCT [l3]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 3 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l3] AS [l3] FROM [kanon_scratch].[kanon_run_lookup1] WHERE NOT [l3] IS NULL GROUP BY [l3] HAVING COUNT_BIG(DISTINCT [l4]) > 1) AS [split];

-- hierarchy/coverage
SELECT 0 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup0]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup0] AS [labels] JOIN (SELECT [q0] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value])
UNION ALL
SELECT 1 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup1]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL OR [labels].[l2] IS NULL OR [labels].[l3] IS NULL OR [labels].[l4] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL OR [labels].[l2] IS NULL OR [labels].[l3] IS NULL OR [labels].[l4] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup1] AS [labels] JOIN (SELECT [q1] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q1]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value]);

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [lookup0].[c1] AS [c0_1], [lookup1].[c0] AS [c1_0], [lookup1].[c1] AS [c1_1], [lookup1].[c2] AS [c1_2], [lookup1].[c3] AS [c1_3], [lookup1].[c4] AS [c1_4], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_frequency]
FROM (SELECT [q0] AS [q0], [q1] AS [q1], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] WHERE NOT [q0] IS NULL AND NOT [q1] IS NULL GROUP BY [q0], [q1]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_lookup1] AS [lookup1] ON EXISTS(SELECT [vectors].[q1] INTERSECT SELECT [lookup1].[value]);

-- frequency/marginals
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 0 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_1] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_1]) AS [labels] JOIN (SELECT DISTINCT [c1] * 1 AS [code], [s1] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_1] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_1]) AS [labels] JOIN (SELECT DISTINCT [c1] * 1 AS [code], [s1] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 2 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_2] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_2]) AS [labels] JOIN (SELECT DISTINCT [c2] * 1 AS [code], [s2] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 3 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_3] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_3]) AS [labels] JOIN (SELECT DISTINCT [c3] * 1 AS [code], [s3] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 4 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_4] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_4]) AS [labels] JOIN (SELECT DISTINCT [c4] * 1 AS [code], [s4] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code];

-- evaluate/node
SELECT 0 AS [node], COUNT_BIG(*) AS [classes], SUM(CASE WHEN [satisfied] = 1 THEN 1 ELSE 0 END) AS [kept_classes], SUM(CASE WHEN [satisfied] = 1 THEN 0 ELSE [class_rows] END) AS [suppressed], 0 AS [suppressed_monotone], SUM(CASE WHEN NOT ([satisfied] = 1) THEN [class_rows] * LOG([sharing_0]) ELSE 0 END) AS [suppressed_log_0], SUM(CASE WHEN NOT ([satisfied] = 1) THEN [class_rows] * LOG([sharing_1]) ELSE 0 END) AS [suppressed_log_1] FROM (SELECT [flagged].*, SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) OVER (PARTITION BY [z0]) AS [sharing_0], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) OVER (PARTITION BY [z1]) AS [sharing_1] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [class_rows] AS [class_rows], [class_size] AS [class_size], [z0] AS [z0], [z1] AS [z1], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [c0_0] AS [k0], [c1_0] AS [k1], SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size], MIN([c0_0]) AS [z0], MIN([c1_0]) AS [z1] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0], [c1_0]) AS [classes]) AS [flagged]) AS [classes];

-- release/write
SELECT [lookup0].[l0] AS [zip], [lookup1].[l0] AS [born], [kanon_source].[dx] AS [dx]
INTO [clinic].[kanon_run_release]
FROM (
SELECT * FROM clinic_visits
) AS [kanon_source] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT CAST([kanon_source].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_lookup1] AS [lookup1] ON EXISTS(SELECT [kanon_source].[born] INTERSECT SELECT [lookup1].[value]) LEFT JOIN [kanon_scratch].[kanon_run_suppressed] AS [suppressed] ON [lookup0].[c0] * 1 = [suppressed].[k0] AND [lookup1].[c0] * 1 = [suppressed].[k1] WHERE [suppressed].[class_rows] IS NULL AND NOT CAST([kanon_source].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 IS NULL AND NOT [kanon_source].[born] IS NULL ORDER BY NEWID();

-- release/labels
SELECT 0 AS [attribute], COALESCE(SUM([written].[row_count]), 0) AS [foreign_rows] FROM (SELECT CAST([checked].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [label], COUNT_BIG(*) AS [row_count] FROM [clinic].[kanon_run_release] AS [checked] GROUP BY CAST([checked].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [written] LEFT JOIN (SELECT DISTINCT [l0] AS [label], 1 AS [known] FROM [kanon_scratch].[kanon_run_lookup0]) AS [labels] ON EXISTS(SELECT [written].[label] INTERSECT SELECT [labels].[label]) WHERE [labels].[known] IS NULL
UNION ALL
SELECT 1 AS [attribute], COALESCE(SUM([written].[row_count]), 0) AS [foreign_rows] FROM (SELECT CAST([checked].[born] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [label], COUNT_BIG(*) AS [row_count] FROM [clinic].[kanon_run_release] AS [checked] GROUP BY CAST([checked].[born] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [written] LEFT JOIN (SELECT DISTINCT [l0] AS [label], 1 AS [known] FROM [kanon_scratch].[kanon_run_lookup1]) AS [labels] ON EXISTS(SELECT [written].[label] INTERSECT SELECT [labels].[label]) WHERE [labels].[known] IS NULL;

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[kanon_run_release] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[born] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [class_rows] AS [class_rows], [class_size] AS [class_size], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [q0] AS [k0], [q1] AS [k1], SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size] FROM (SELECT CAST([checked].[zip] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([checked].[born] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], 1 AS [row_count] FROM [clinic].[kanon_run_release] AS [checked]) AS [frequency] GROUP BY [q0], [q1]) AS [classes]) AS [flagged];

-- manifest/insert
INSERT INTO [clinic].[kanon_sql_manifest] VALUES (N'visits_release', N'run', N'(the time)', N'fe2012543d9325edf43d29bc2101a54e22d84ce4594e556c6606907b287d5bf7', N'{"published_at": "(the time)"}');

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[visits] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- frequency/raw
SELECT CAST([kanon_source].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], COUNT_BIG(*) AS [row_count]
INTO [kanon_scratch].[kanon_run_raw]
FROM [clinic].[visits] AS [kanon_source] GROUP BY CAST([kanon_source].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2;

-- frequency/totals
SELECT (SELECT SUM([row_count]) FROM [kanon_scratch].[kanon_run_raw]) AS [row_count], (SELECT SUM([row_count]) FROM [kanon_scratch].[kanon_run_raw] WHERE [q0] IS NULL) AS [null_rows], NULL AS [persons], NULL AS [most_vectors];

-- hierarchy/lookup_rules
SELECT [value], [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], [l1], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l1] IS NULL THEN 1 ELSE 0 END, [l1]) AS BIGINT) AS [c1], CAST(COUNT_BIG(*) OVER (PARTITION BY [l1]) AS INTEGER) AS [s1], [l2], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l2] IS NULL THEN 1 ELSE 0 END, [l2]) AS BIGINT) AS [c2], CAST(COUNT_BIG(*) OVER (PARTITION BY [l2]) AS INTEGER) AS [s2], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l3]
INTO [kanon_scratch].[kanon_run_lookup0]
FROM (SELECT [value] AS [value], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST([value] AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l0], CASE WHEN [value] IS NULL THEN NULL ELSE (CASE WHEN (CAST(((FLOOR(CAST([value] AS FLOAT) / 10)) - (FLOOR(CAST([value] AS FLOAT) / 10)) % (2)) / (2) AS BIGINT) * 20) = FLOOR((CAST(((FLOOR(CAST([value] AS FLOAT) / 10)) - (FLOOR(CAST([value] AS FLOAT) / 10)) % (2)) / (2) AS BIGINT) * 20)) AND ABS((CAST(((FLOOR(CAST([value] AS FLOAT) / 10)) - (FLOOR(CAST([value] AS FLOAT) / 10)) % (2)) / (2) AS BIGINT) * 20)) < 1e18 THEN CAST(CAST((CAST(((FLOOR(CAST([value] AS FLOAT) / 10)) - (FLOOR(CAST([value] AS FLOAT) / 10)) % (2)) / (2) AS BIGINT) * 20) AS BIGINT) AS NVARCHAR(MAX)) ELSE CONVERT(NVARCHAR(MAX), (CAST(((FLOOR(CAST([value] AS FLOAT) / 10)) - (FLOOR(CAST([value] AS FLOAT) / 10)) % (2)) / (2) AS BIGINT) * 20), 3) END) END COLLATE Latin1_General_BIN2 AS [l1], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST((CASE WHEN [value] < 40 THEN N'young' END) AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l2] FROM (SELECT DISTINCT [q0] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [distinct_values]) AS [labelled];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_lookup0] AS [checked] WHERE RIGHT(N'.' + [checked].[l0] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l1] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l2] COLLATE Latin1_General_BIN2, 1) = N' ';

-- hierarchy/nesting
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l0] AS [l0] FROM [kanon_scratch].[kanon_run_lookup0] WHERE NOT [l0] IS NULL GROUP BY [l0] HAVING COUNT_BIG(DISTINCT [l1]) > 1) AS [split]
UNION ALL
SELECT 0 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l1] AS [l1] FROM [kanon_scratch].[kanon_run_lookup0] WHERE NOT [l1] IS NULL GROUP BY [l1] HAVING COUNT_BIG(DISTINCT [l2]) > 1) AS [split];

-- hierarchy/coverage
SELECT 0 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup0]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL OR [labels].[l2] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL OR [labels].[l2] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup0] AS [labels] JOIN (SELECT [q0] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value]);

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [lookup0].[c1] AS [c0_1], [lookup0].[c2] AS [c0_2], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_frequency]
FROM (SELECT [q0] AS [q0], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]);

-- frequency/marginals
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 0 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_1] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_1]) AS [labels] JOIN (SELECT DISTINCT [c1] * 1 AS [code], [s1] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 0 AS [attribute], 2 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_2] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_2]) AS [labels] JOIN (SELECT DISTINCT [c2] * 1 AS [code], [s2] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code];

-- evaluate/node
SELECT 0 AS [node], COUNT_BIG(*) AS [classes], SUM(CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END) AS [kept_classes], SUM(CASE WHEN ([class_size] >= 3) THEN 0 ELSE [class_rows] END) AS [suppressed], 0 AS [suppressed_monotone], SUM(CASE WHEN ([class_size] >= 3) THEN CAST([class_rows] AS FLOAT) ELSE 0 END) AS [kept_vectors], SUM(CAST([class_rows] AS FLOAT)) AS [vectors] FROM (SELECT SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [classes];

-- evaluate/suppressed
SELECT [k0], [class_rows]
INTO [kanon_scratch].[kanon_run_suppressed]
FROM (SELECT [k0] AS [k0], [class_rows] AS [class_rows], [class_size] AS [class_size], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [c0_0] AS [k0], SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [classes]) AS [flagged] WHERE [satisfied] = 0;

-- release/write
SELECT [lookup0].[l0] AS [age], [kanon_source].[dx] AS [dx]
INTO [clinic].[kanon_run_release]
FROM [clinic].[visits] AS [kanon_source] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT CAST([kanon_source].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [lookup0].[value]) LEFT JOIN [kanon_scratch].[kanon_run_suppressed] AS [suppressed] ON [lookup0].[c0] * 1 = [suppressed].[k0] WHERE [suppressed].[class_rows] IS NULL ORDER BY NEWID();

-- release/labels
SELECT 0 AS [attribute], COALESCE(SUM([written].[row_count]), 0) AS [foreign_rows] FROM (SELECT CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [label], COUNT_BIG(*) AS [row_count] FROM [clinic].[kanon_run_release] AS [checked] GROUP BY CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [written] LEFT JOIN (SELECT DISTINCT [l0] AS [label], 1 AS [known] FROM [kanon_scratch].[kanon_run_lookup0]) AS [labels] ON EXISTS(SELECT [written].[label] INTERSECT SELECT [labels].[label]) WHERE [labels].[known] IS NULL;

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[kanon_run_release] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0] FROM (SELECT [k0] AS [k0], [class_rows] AS [class_rows], [class_size] AS [class_size], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [q0] AS [k0], SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size] FROM (SELECT CAST([checked].[age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], 1 AS [row_count] FROM [clinic].[kanon_run_release] AS [checked]) AS [frequency] GROUP BY [q0]) AS [classes]) AS [flagged];

-- manifest/insert
INSERT INTO [clinic].[kanon_sql_manifest] VALUES (N'visits_release', N'run', N'(the time)', N'3c626e77835face0e267d57296aaf11b393abfcbed8caf9bac0fb37d75a374e2', N'{"published_at": "(the time)"}');

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[visits] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- frequency/raw
SELECT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [v0], COUNT_BIG(*) AS [row_count]
INTO [kanon_scratch].[kanon_run_raw]
FROM [clinic].[visits] AS [kanon_source] GROUP BY CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2;

-- hierarchy/lookup_rules
SELECT [value], [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l1]
INTO [kanon_scratch].[kanon_run_lookup0]
FROM (SELECT [value] AS [value], CASE WHEN [value] IS NULL THEN NULL ELSE (CAST([value] AS NVARCHAR(MAX))) END COLLATE Latin1_General_BIN2 AS [l0] FROM (SELECT DISTINCT [q0] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [distinct_values]) AS [labelled];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_lookup0] AS [checked] WHERE RIGHT(N'.' + [checked].[l0] COLLATE Latin1_General_BIN2, 1) = N' ';

-- hierarchy/coverage
SELECT 0 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup0]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup0] AS [labels] JOIN (SELECT [q0] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value]);

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_sensitive0"]', N'(the time)');

-- frequency/sensitive
SELECT [value], CASE WHEN [value] IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [value] IS NULL THEN 1 ELSE 0 END, [value]) AS INTEGER) END AS [code], CAST([reference_count] AS FLOAT) / CAST(SUM([reference_count]) OVER () AS FLOAT) AS [reference_share]
INTO [kanon_scratch].[kanon_run_sensitive0]
FROM (SELECT [v0] AS [value], SUM([row_count]) AS [reference_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [v0]) AS [value_counts];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_values0"]', N'(the time)');

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [sensitive].[code] AS [value_code], [sensitive].[reference_share] AS [reference_share], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_values0]
FROM (SELECT [q0] AS [q0], [v0] AS [v0], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0], [v0]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_sensitive0] AS [sensitive] ON EXISTS(SELECT [vectors].[v0] INTERSECT SELECT [sensitive].[value]);

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_frequency]
FROM (SELECT [q0] AS [q0], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]);

-- frequency/marginals
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code];

-- scratch/size
SELECT (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_frequency]) + (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_values0]) AS [row_count];

-- evaluate/node
SELECT 0 AS [node], COUNT_BIG(*) AS [classes], SUM(CASE WHEN ([class_size] >= 3) AND ([m1] >= 2) AND ([m2] >= 6.93147179559945315e-01) AND (NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00) AND (NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01) THEN 1 ELSE 0 END) AS [kept_classes], SUM(CASE WHEN ([class_size] >= 3) AND ([m1] >= 2) AND ([m2] >= 6.93147179559945315e-01) AND (NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00) AND (NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01) THEN 0 ELSE [class_rows] END) AS [suppressed], 0 AS [suppressed_monotone], SUM(CASE WHEN ([class_size] >= 3) AND ([m1] >= 2) AND ([m2] >= 6.93147179559945315e-01) AND (NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00) AND (NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01) THEN [class_rows] * [class_rows] ELSE 0 END) AS [kept_squares], SUM([class_rows] * [class_rows]) AS [squares] FROM (SELECT SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], COUNT_BIG(CASE WHEN [value_count] > 0 THEN [value_code] END) AS [m1], CASE WHEN SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] ELSE 0 END) > 0 THEN LOG(SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] END)) - SUM(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] * LOG([value_count]) ELSE 0 END) / CAST(SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] END) AS FLOAT) ELSE 0 END AS [m2], CASE WHEN SUM(CASE WHEN NOT [value_code] IS NULL AND [value_position] >= 2 THEN [value_count] ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN [value_position] = 1 THEN [value_count] ELSE 0 END) AS FLOAT) / CAST(SUM(CASE WHEN NOT [value_code] IS NULL AND [value_position] >= 2 THEN [value_count] ELSE 0 END) AS FLOAT) ELSE NULL END AS [m3], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m4] FROM (SELECT [k0] AS [k0], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0]) AS [class_total], ROW_NUMBER() OVER (PARTITION BY [k0] ORDER BY CASE WHEN CASE WHEN [value_code] IS NULL THEN 1 ELSE 0 END IS NULL THEN 1 ELSE 0 END, CASE WHEN [value_code] IS NULL THEN 1 ELSE 0 END, [value_count] DESC) AS [value_position] FROM (SELECT [c0_0] AS [k0], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], SUM([row_count]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM [kanon_scratch].[kanon_run_values0] GROUP BY [c0_0], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0]) AS [classes];

-- evaluate/suppressed
SELECT [k0], [class_rows]
INTO [kanon_scratch].[kanon_run_suppressed]
FROM (SELECT [k0] AS [k0], [class_rows] AS [class_rows], [class_size] AS [class_size], [m1] AS [m1], [m2] AS [m2], [m3] AS [m3], [m4] AS [m4], CASE WHEN ([class_size] >= 3) AND ([m1] >= 2) AND ([m2] >= 6.93147179559945315e-01) AND (NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00) AND (NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [k0] AS [k0], SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], COUNT_BIG(CASE WHEN [value_count] > 0 THEN [value_code] END) AS [m1], CASE WHEN SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] ELSE 0 END) > 0 THEN LOG(SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] END)) - SUM(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] * LOG([value_count]) ELSE 0 END) / CAST(SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] END) AS FLOAT) ELSE 0 END AS [m2], CASE WHEN SUM(CASE WHEN NOT [value_code] IS NULL AND [value_position] >= 2 THEN [value_count] ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN [value_position] = 1 THEN [value_count] ELSE 0 END) AS FLOAT) / CAST(SUM(CASE WHEN NOT [value_code] IS NULL AND [value_position] >= 2 THEN [value_count] ELSE 0 END) AS FLOAT) ELSE NULL END AS [m3], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m4] FROM (SELECT [k0] AS [k0], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0]) AS [class_total], ROW_NUMBER() OVER (PARTITION BY [k0] ORDER BY CASE WHEN CASE WHEN [value_code] IS NULL THEN 1 ELSE 0 END IS NULL THEN 1 ELSE 0 END, CASE WHEN [value_code] IS NULL THEN 1 ELSE 0 END, [value_count] DESC) AS [value_position] FROM (SELECT [c0_0] AS [k0], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], SUM([row_count]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM [kanon_scratch].[kanon_run_values0] GROUP BY [c0_0], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0]) AS [classes]) AS [flagged] WHERE [satisfied] = 0;

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_staged"]', N'(the time)');

-- release/write
SELECT CASE WHEN NOT [suppressed].[class_rows] IS NULL THEN N'*' ELSE [lookup0].[l0] END AS [sex], [kanon_source].[dx] AS [dx], CASE WHEN NOT [suppressed].[class_rows] IS NULL THEN 1 ELSE 0 END AS [kanon_masked]
INTO [kanon_scratch].[kanon_run_staged]
FROM [clinic].[visits] AS [kanon_source] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [lookup0].[value]) LEFT JOIN [kanon_scratch].[kanon_run_suppressed] AS [suppressed] ON [lookup0].[c0] * 1 = [suppressed].[k0];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_staged] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0], MIN([m1]) AS [worst1], SUM(CASE WHEN [m1] IS NULL THEN 1 ELSE 0 END) AS [unbounded1], SUM(CASE WHEN [m1] >= 2 THEN 0 ELSE 1 END) AS [violating_classes1], SUM(CASE WHEN [m1] >= 2 THEN 0 ELSE [class_rows] END) AS [violating_rows1], MIN([m2]) AS [worst2], SUM(CASE WHEN [m2] IS NULL THEN 1 ELSE 0 END) AS [unbounded2], SUM(CASE WHEN [m2] >= 6.93147179559945315e-01 THEN 0 ELSE 1 END) AS [violating_classes2], SUM(CASE WHEN [m2] >= 6.93147179559945315e-01 THEN 0 ELSE [class_rows] END) AS [violating_rows2], MAX([m3]) AS [worst3], SUM(CASE WHEN [m3] IS NULL THEN 1 ELSE 0 END) AS [unbounded3], SUM(CASE WHEN NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00 THEN 0 ELSE 1 END) AS [violating_classes3], SUM(CASE WHEN NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00 THEN 0 ELSE [class_rows] END) AS [violating_rows3], MAX([m4]) AS [worst4], SUM(CASE WHEN [m4] IS NULL THEN 1 ELSE 0 END) AS [unbounded4], SUM(CASE WHEN NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS [violating_classes4], SUM(CASE WHEN NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01 THEN 0 ELSE [class_rows] END) AS [violating_rows4] FROM (SELECT [k0] AS [k0], [class_rows] AS [class_rows], [class_size] AS [class_size], [m1] AS [m1], [m2] AS [m2], [m3] AS [m3], [m4] AS [m4], CASE WHEN ([class_size] >= 3) AND ([m1] >= 2) AND ([m2] >= 6.93147179559945315e-01) AND (NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00) AND (NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [k0] AS [k0], SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], COUNT_BIG(CASE WHEN [value_count] > 0 THEN [value_code] END) AS [m1], CASE WHEN SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] ELSE 0 END) > 0 THEN LOG(SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] END)) - SUM(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] * LOG([value_count]) ELSE 0 END) / CAST(SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] END) AS FLOAT) ELSE 0 END AS [m2], CASE WHEN SUM(CASE WHEN NOT [value_code] IS NULL AND [value_position] >= 2 THEN [value_count] ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN [value_position] = 1 THEN [value_count] ELSE 0 END) AS FLOAT) / CAST(SUM(CASE WHEN NOT [value_code] IS NULL AND [value_position] >= 2 THEN [value_count] ELSE 0 END) AS FLOAT) ELSE NULL END AS [m3], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m4] FROM (SELECT [k0] AS [k0], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0]) AS [class_total], ROW_NUMBER() OVER (PARTITION BY [k0] ORDER BY CASE WHEN CASE WHEN [value_code] IS NULL THEN 1 ELSE 0 END IS NULL THEN 1 ELSE 0 END, CASE WHEN [value_code] IS NULL THEN 1 ELSE 0 END, [value_count] DESC) AS [value_position] FROM (SELECT [q0] AS [k0], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], SUM([row_count]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM (SELECT CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value_code], COALESCE([reference].[reference_share], 0) AS [reference_share], 1 AS [row_count] FROM [kanon_scratch].[kanon_run_staged] AS [checked] LEFT JOIN (SELECT [value] AS [reference_value], [reference_share] AS [reference_share] FROM [kanon_scratch].[kanon_run_sensitive0]) AS [reference] ON EXISTS(SELECT CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [reference].[reference_value])) AS [frequency] GROUP BY [q0], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0]) AS [classes]) AS [flagged];

-- release/copy
SELECT [sex], [dx]
INTO [clinic].[kanon_run_release]
FROM [kanon_scratch].[kanon_run_staged] AS [staged] ORDER BY NEWID();

-- release/count
SELECT COUNT_BIG(*) AS [row_count], SUM([kanon_masked]) AS [masked_rows] FROM [kanon_scratch].[kanon_run_staged] AS [counted];

-- release/labels
SELECT 0 AS [attribute], COALESCE(SUM([written].[row_count]), 0) AS [foreign_rows] FROM (SELECT CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [label], COUNT_BIG(*) AS [row_count] FROM [clinic].[kanon_run_release] AS [checked] GROUP BY CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [written] LEFT JOIN (SELECT DISTINCT [l0] AS [label], 1 AS [known] FROM [kanon_scratch].[kanon_run_lookup0]) AS [labels] ON EXISTS(SELECT [written].[label] INTERSECT SELECT [labels].[label]) WHERE [labels].[known] IS NULL AND ([written].[label] IS NULL OR [written].[label] <> N'*');

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[kanon_run_release] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0], MIN([m1]) AS [worst1], SUM(CASE WHEN [m1] IS NULL THEN 1 ELSE 0 END) AS [unbounded1], SUM(CASE WHEN [m1] >= 2 THEN 0 ELSE 1 END) AS [violating_classes1], SUM(CASE WHEN [m1] >= 2 THEN 0 ELSE [class_rows] END) AS [violating_rows1], MIN([m2]) AS [worst2], SUM(CASE WHEN [m2] IS NULL THEN 1 ELSE 0 END) AS [unbounded2], SUM(CASE WHEN [m2] >= 6.93147179559945315e-01 THEN 0 ELSE 1 END) AS [violating_classes2], SUM(CASE WHEN [m2] >= 6.93147179559945315e-01 THEN 0 ELSE [class_rows] END) AS [violating_rows2], MAX([m3]) AS [worst3], SUM(CASE WHEN [m3] IS NULL THEN 1 ELSE 0 END) AS [unbounded3], SUM(CASE WHEN NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00 THEN 0 ELSE 1 END) AS [violating_classes3], SUM(CASE WHEN NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00 THEN 0 ELSE [class_rows] END) AS [violating_rows3], MAX([m4]) AS [worst4], SUM(CASE WHEN [m4] IS NULL THEN 1 ELSE 0 END) AS [unbounded4], SUM(CASE WHEN NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS [violating_classes4], SUM(CASE WHEN NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01 THEN 0 ELSE [class_rows] END) AS [violating_rows4] FROM (SELECT [k0] AS [k0], [class_rows] AS [class_rows], [class_size] AS [class_size], [m1] AS [m1], [m2] AS [m2], [m3] AS [m3], [m4] AS [m4], CASE WHEN ([class_size] >= 3) AND ([m1] >= 2) AND ([m2] >= 6.93147179559945315e-01) AND (NOT [m3] IS NULL AND [m3] < 3.00000000000000000e+00) AND (NOT [m4] IS NULL AND [m4] <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [k0] AS [k0], SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], COUNT_BIG(CASE WHEN [value_count] > 0 THEN [value_code] END) AS [m1], CASE WHEN SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] ELSE 0 END) > 0 THEN LOG(SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] END)) - SUM(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] * LOG([value_count]) ELSE 0 END) / CAST(SUM(CASE WHEN NOT [value_code] IS NULL THEN [value_count] END) AS FLOAT) ELSE 0 END AS [m2], CASE WHEN SUM(CASE WHEN NOT [value_code] IS NULL AND [value_position] >= 2 THEN [value_count] ELSE 0 END) > 0 THEN CAST(MAX(CASE WHEN [value_position] = 1 THEN [value_count] ELSE 0 END) AS FLOAT) / CAST(SUM(CASE WHEN NOT [value_code] IS NULL AND [value_position] >= 2 THEN [value_count] ELSE 0 END) AS FLOAT) ELSE NULL END AS [m3], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m4] FROM (SELECT [k0] AS [k0], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0]) AS [class_total], ROW_NUMBER() OVER (PARTITION BY [k0] ORDER BY CASE WHEN CASE WHEN [value_code] IS NULL THEN 1 ELSE 0 END IS NULL THEN 1 ELSE 0 END, CASE WHEN [value_code] IS NULL THEN 1 ELSE 0 END, [value_count] DESC) AS [value_position] FROM (SELECT [q0] AS [k0], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], SUM([row_count]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM (SELECT CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value_code], COALESCE([reference].[reference_share], 0) AS [reference_share], 1 AS [row_count] FROM [clinic].[kanon_run_release] AS [checked] LEFT JOIN (SELECT [value] AS [reference_value], [reference_share] AS [reference_share] FROM [kanon_scratch].[kanon_run_sensitive0]) AS [reference] ON EXISTS(SELECT CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [reference].[reference_value])) AS [frequency] GROUP BY [q0], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0]) AS [classes]) AS [flagged];

-- manifest/insert
INSERT INTO [clinic].[kanon_sql_manifest] VALUES (N'visits_release', N'run', N'(the time)', N'baad42cc522e05b33866b7b4807f98c2a9a5bff681dd91dea8b7389260367018', N'{"published_at": "(the time)"}');

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_staged];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_values0];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_sensitive0];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[visits] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[person] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- frequency/raw
SELECT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [v0], CAST([kanon_source].[person] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [unit], COUNT_BIG(*) AS [row_count]
INTO [kanon_scratch].[kanon_run_raw]
FROM [clinic].[visits] AS [kanon_source] GROUP BY CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, CAST([kanon_source].[person] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2;

-- frequency/totals
SELECT (SELECT SUM([row_count]) FROM [kanon_scratch].[kanon_run_raw]) AS [row_count], (SELECT SUM([row_count]) FROM [kanon_scratch].[kanon_run_raw] WHERE [q0] IS NULL) AS [null_rows], (SELECT COUNT_BIG(DISTINCT [unit]) FROM [kanon_scratch].[kanon_run_raw]) AS [persons], (SELECT MAX([vectors]) FROM (SELECT [unit] AS [unit], COUNT_BIG(*) AS [vectors] FROM (SELECT DISTINCT [unit] AS [unit], [q0] AS [q0] FROM [kanon_scratch].[kanon_run_raw] WHERE NOT [unit] IS NULL) AS [person_vectors] GROUP BY [unit]) AS [vectors_per_person]) AS [most_vectors];

-- frequency/sensitive
SELECT [value], CASE WHEN [value] IS NULL THEN NULL ELSE CAST(ROW_NUMBER() OVER (ORDER BY CASE WHEN [value] IS NULL THEN 1 ELSE 0 END, [value]) AS INTEGER) END AS [code], CAST([reference_count] AS FLOAT) / CAST(SUM([reference_count]) OVER () AS FLOAT) AS [reference_share]
INTO [kanon_scratch].[kanon_run_sensitive0]
FROM (SELECT [v0] AS [value], COUNT_BIG(DISTINCT [unit]) AS [reference_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [v0]) AS [value_counts];

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [sensitive].[code] AS [value_code], [sensitive].[reference_share] AS [reference_share], [vectors].[person_count] AS [person_count], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_values0]
FROM (SELECT [q0] AS [q0], [v0] AS [v0], COUNT_BIG(DISTINCT [unit]) AS [person_count], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0], [v0]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_sensitive0] AS [sensitive] ON EXISTS(SELECT [vectors].[v0] INTERSECT SELECT [sensitive].[value]);

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [vectors].[person_count] AS [person_count], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_frequency]
FROM (SELECT [q0] AS [q0], COUNT_BIG(DISTINCT [unit]) AS [person_count], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]);

-- evaluate/node
SELECT 0 AS [node], COUNT_BIG(*) AS [classes], SUM(CASE WHEN ([class_size] >= 3) AND (NOT [m1] IS NULL AND [m1] <= 7.00000000999999927e-01) THEN 1 ELSE 0 END) AS [kept_classes], SUM(CASE WHEN ([class_size] >= 3) AND (NOT [m1] IS NULL AND [m1] <= 7.00000000999999927e-01) THEN 0 ELSE [class_rows] END) AS [suppressed], SUM(CASE WHEN ([class_size] >= 3) THEN 0 ELSE [class_rows] END) AS [suppressed_monotone], 0 AS [padding_0] FROM (SELECT [base].[k0] AS [k0], [base].[class_rows] AS [class_rows], [base].[class_size] AS [class_size], [values0].[m1] AS [m1] FROM (SELECT [c0_0] AS [k0], SUM([row_count]) AS [class_rows], SUM([person_count]) AS [class_size] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [base] JOIN (SELECT [k0] AS [k0], SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m1] FROM (SELECT [k0] AS [k0], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0]) AS [class_total] FROM (SELECT [c0_0] AS [k0], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], SUM([person_count]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM [kanon_scratch].[kanon_run_values0] GROUP BY [c0_0], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0]) AS [values0] ON EXISTS(SELECT [base].[k0] INTERSECT SELECT [values0].[k0])) AS [classes];

-- evaluate/suppressed
SELECT [k0], [class_rows]
INTO [kanon_scratch].[kanon_run_suppressed]
FROM (SELECT [k0] AS [k0], [class_rows] AS [class_rows], [class_size] AS [class_size], [m1] AS [m1], CASE WHEN ([class_size] >= 3) AND (NOT [m1] IS NULL AND [m1] <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [base].[k0] AS [k0], [base].[class_rows] AS [class_rows], [base].[class_size] AS [class_size], [values0].[m1] AS [m1] FROM (SELECT [c0_0] AS [k0], SUM([row_count]) AS [class_rows], SUM([person_count]) AS [class_size] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [base] JOIN (SELECT [k0] AS [k0], SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m1] FROM (SELECT [k0] AS [k0], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0]) AS [class_total] FROM (SELECT [c0_0] AS [k0], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], SUM([person_count]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM [kanon_scratch].[kanon_run_values0] GROUP BY [c0_0], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0]) AS [values0] ON EXISTS(SELECT [base].[k0] INTERSECT SELECT [values0].[k0])) AS [classes]) AS [flagged] WHERE [satisfied] = 0;

-- release/write
SELECT CASE WHEN NOT [suppressed].[class_rows] IS NULL THEN N'*' ELSE [lookup0].[l0] END AS [sex], [kanon_source].[dx] AS [dx], CASE WHEN NOT [suppressed].[class_rows] IS NULL THEN 1 ELSE 0 END AS [kanon_masked], CAST([kanon_source].[person] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [kanon_unit]
INTO [kanon_scratch].[kanon_run_staged]
FROM [clinic].[visits] AS [kanon_source] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [lookup0].[value]) LEFT JOIN [kanon_scratch].[kanon_run_suppressed] AS [suppressed] ON [lookup0].[c0] * 1 = [suppressed].[k0];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_staged] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_unit] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0], MAX([m1]) AS [worst1], SUM(CASE WHEN [m1] IS NULL THEN 1 ELSE 0 END) AS [unbounded1], SUM(CASE WHEN NOT [m1] IS NULL AND [m1] <= 7.00000000999999927e-01 THEN 0 ELSE 1 END) AS [violating_classes1], SUM(CASE WHEN NOT [m1] IS NULL AND [m1] <= 7.00000000999999927e-01 THEN 0 ELSE [class_rows] END) AS [violating_rows1] FROM (SELECT [k0] AS [k0], [class_rows] AS [class_rows], [class_size] AS [class_size], [m1] AS [m1], CASE WHEN ([class_size] >= 3) AND (NOT [m1] IS NULL AND [m1] <= 7.00000000999999927e-01) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [base].[k0] AS [k0], [base].[class_rows] AS [class_rows], [base].[class_size] AS [class_size], [values0].[m1] AS [m1] FROM (SELECT [q0] AS [k0], SUM([row_count]) AS [class_rows], COUNT_BIG(DISTINCT [unit]) AS [class_size] FROM (SELECT CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([checked].[kanon_unit] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [unit], 1 AS [row_count] FROM [kanon_scratch].[kanon_run_staged] AS [checked]) AS [frequency] GROUP BY [q0]) AS [base] JOIN (SELECT [k0] AS [k0], SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m1] FROM (SELECT [k0] AS [k0], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0]) AS [class_total] FROM (SELECT [q0] AS [k0], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], COUNT_BIG(DISTINCT [unit]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM (SELECT CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value_code], COALESCE([reference].[reference_share], 0) AS [reference_share], CAST([checked].[kanon_unit] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [unit], 1 AS [row_count] FROM [kanon_scratch].[kanon_run_staged] AS [checked] LEFT JOIN (SELECT [value] AS [reference_value], [reference_share] AS [reference_share] FROM [kanon_scratch].[kanon_run_sensitive0]) AS [reference] ON EXISTS(SELECT CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [reference].[reference_value])) AS [frequency] GROUP BY [q0], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0]) AS [values0] ON EXISTS(SELECT [base].[k0] INTERSECT SELECT [values0].[k0])) AS [classes]) AS [flagged];

-- release/count
SELECT COUNT_BIG(*) AS [row_count], SUM([kanon_masked]) AS [masked_rows], COUNT_BIG(DISTINCT CASE WHEN [kanon_masked] = 0 THEN [kanon_unit] END) AS [persons] FROM [kanon_scratch].[kanon_run_staged] AS [counted];

-- manifest/insert
INSERT INTO [clinic].[kanon_sql_manifest] VALUES (N'visits_release', N'run', N'(the time)', N'11ced13f543a3ed70cc9ebc0e452677bf1c1f2cc02d09ec9ae7baf2080ad6f91', N'{"published_at": "(the time)"}');

-- frequency/raw
SELECT [kanon_source].[weight] AS [q0], CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], [kanon_source].[seen] AS [q2], CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [v0], [kanon_source].[person] AS [unit], COUNT_BIG(*) AS [row_count]
INTO [kanon_scratch].[kanon_run_raw]
FROM [clinic].[visits] AS [kanon_source] GROUP BY [kanon_source].[weight], CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, [kanon_source].[seen], CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, [kanon_source].[person];

-- frequency/totals
SELECT (SELECT SUM([row_count]) FROM [kanon_scratch].[kanon_run_raw]) AS [row_count], (SELECT SUM([row_count]) FROM [kanon_scratch].[kanon_run_raw] WHERE [q0] IS NULL OR [q1] IS NULL OR [q2] IS NULL) AS [null_rows], (SELECT COUNT_BIG(DISTINCT [unit]) FROM [kanon_scratch].[kanon_run_raw]) AS [persons], (SELECT MAX([vectors]) FROM (SELECT [unit] AS [unit], COUNT_BIG(*) AS [vectors] FROM (SELECT DISTINCT [unit] AS [unit], [q0] AS [q0], [q1] AS [q1], [q2] AS [q2] FROM [kanon_scratch].[kanon_run_raw] WHERE NOT [unit] IS NULL) AS [person_vectors] GROUP BY [unit]) AS [vectors_per_person]) AS [most_vectors];

-- hierarchy/lookup_rules
SELECT [value], [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], [l1], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l1] IS NULL THEN 1 ELSE 0 END, [l1]) AS BIGINT) AS [c1], CAST(COUNT_BIG(*) OVER (PARTITION BY [l1]) AS INTEGER) AS [s1], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l2]
INTO [kanon_scratch].[kanon_run_lookup0]
FROM (SELECT [value] AS [value], CASE WHEN [value] IS NULL THEN NULL ELSE (CASE WHEN [value] = FLOOR([value]) AND ABS([value]) < 1e18 THEN CAST(CAST([value] AS BIGINT) AS NVARCHAR(MAX)) ELSE CONVERT(NVARCHAR(MAX), [value], 3) END) END COLLATE Latin1_General_BIN2 AS [l0], CASE WHEN [value] IS NULL THEN NULL ELSE (CASE WHEN (FLOOR([value])) = FLOOR((FLOOR([value]))) AND ABS((FLOOR([value]))) < 1e18 THEN CAST(CAST((FLOOR([value])) AS BIGINT) AS NVARCHAR(MAX)) ELSE CONVERT(NVARCHAR(MAX), (FLOOR([value])), 3) END) END COLLATE Latin1_General_BIN2 AS [l1] FROM (SELECT DISTINCT [q0] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [distinct_values]) AS [labelled];

-- hierarchy/copy
SELECT CAST([person] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l0], CAST([age] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l1], CAST([sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l2], CAST([weight] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l3], CAST([dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l4], CAST([seen] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l5]
INTO [kanon_scratch].[kanon_run_domain1]
FROM [clinic].[sexes];

-- hierarchy/domain_summary
SELECT (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_domain1]) AS [row_count], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_domain1] WHERE [l0] IS NULL OR [l1] IS NULL OR [l2] IS NULL OR [l3] IS NULL OR [l4] IS NULL OR [l5] IS NULL) AS [missing_labels], (SELECT COUNT_BIG(*) FROM (SELECT [l0] AS [l0] FROM [kanon_scratch].[kanon_run_domain1] GROUP BY [l0] HAVING COUNT_BIG(*) > 1) AS [repeated]) AS [repeated_values], (SELECT COUNT_BIG(DISTINCT [l5]) FROM [kanon_scratch].[kanon_run_domain1]) AS [top_labels], (SELECT MIN([l5]) FROM [kanon_scratch].[kanon_run_domain1]) AS [top_label];

-- hierarchy/lookup_rows
SELECT [found].[value], [labelled].[l0], COALESCE([labelled].[c0], 0) AS [c0], COALESCE([labelled].[s0], 1) AS [s0], [labelled].[l1], COALESCE([labelled].[c1], 0) AS [c1], COALESCE([labelled].[s1], 1) AS [s1], [labelled].[l2], COALESCE([labelled].[c2], 0) AS [c2], COALESCE([labelled].[s2], 1) AS [s2], [labelled].[l3], COALESCE([labelled].[c3], 0) AS [c3], COALESCE([labelled].[s3], 1) AS [s3], [labelled].[l4], COALESCE([labelled].[c4], 0) AS [c4], COALESCE([labelled].[s4], 1) AS [s4], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l5]
INTO [kanon_scratch].[kanon_run_lookup1]
FROM (SELECT DISTINCT [q1] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [found] LEFT JOIN (SELECT [l0] AS [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], [l1] AS [l1], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l1] IS NULL THEN 1 ELSE 0 END, [l1]) AS BIGINT) AS [c1], CAST(COUNT_BIG(*) OVER (PARTITION BY [l1]) AS INTEGER) AS [s1], [l2] AS [l2], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l2] IS NULL THEN 1 ELSE 0 END, [l2]) AS BIGINT) AS [c2], CAST(COUNT_BIG(*) OVER (PARTITION BY [l2]) AS INTEGER) AS [s2], [l3] AS [l3], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l3] IS NULL THEN 1 ELSE 0 END, [l3]) AS BIGINT) AS [c3], CAST(COUNT_BIG(*) OVER (PARTITION BY [l3]) AS INTEGER) AS [s3], [l4] AS [l4], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l4] IS NULL THEN 1 ELSE 0 END, [l4]) AS BIGINT) AS [c4], CAST(COUNT_BIG(*) OVER (PARTITION BY [l4]) AS INTEGER) AS [s4] FROM [kanon_scratch].[kanon_run_domain1]) AS [labelled] ON (CAST([found].[value] AS NVARCHAR(MAX))) COLLATE Latin1_General_BIN2 = [labelled].[l0];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_lookup2"]', N'(the time)');

-- hierarchy/lookup_rules
SELECT [value], [l0], CAST(DENSE_RANK() OVER (ORDER BY CASE WHEN [l0] IS NULL THEN 1 ELSE 0 END, [l0]) AS BIGINT) AS [c0], CAST(COUNT_BIG(*) OVER (PARTITION BY [l0]) AS INTEGER) AS [s0], CAST(N'*' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l1]
INTO [kanon_scratch].[kanon_run_lookup2]
FROM (SELECT [value] AS [value], CASE WHEN [value] IS NULL THEN NULL ELSE (CASE WHEN REPLACE(CAST(CAST([value] AT TIME ZONE N'UTC' AS DATETIME2) AS NVARCHAR(MAX)), N'.', N'') = CAST(CAST([value] AT TIME ZONE N'UTC' AS DATETIME2) AS NVARCHAR(MAX)) THEN CAST(CAST([value] AT TIME ZONE N'UTC' AS DATETIME2) AS NVARCHAR(MAX)) ELSE TRIM(TRAILING N'.' FROM TRIM(TRAILING N'0' FROM CAST(CAST([value] AT TIME ZONE N'UTC' AS DATETIME2) AS NVARCHAR(MAX)))) END + N'+00') END COLLATE Latin1_General_BIN2 AS [l0] FROM (SELECT DISTINCT [q2] AS [value] FROM [kanon_scratch].[kanon_run_raw]) AS [distinct_values]) AS [labelled];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_domain1] AS [checked] WHERE RIGHT(N'.' + [checked].[l0] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l1] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l2] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l3] COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + [checked].[l4] COLLATE Latin1_General_BIN2, 1) = N' ';

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_lookup2] AS [checked] WHERE RIGHT(N'.' + [checked].[l0] COLLATE Latin1_General_BIN2, 1) = N' ';

-- hierarchy/nesting
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l0] AS [l0] FROM [kanon_scratch].[kanon_run_lookup0] WHERE NOT [l0] IS NULL GROUP BY [l0] HAVING COUNT_BIG(DISTINCT [l1]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l0] AS [l0] FROM [kanon_scratch].[kanon_run_domain1] WHERE NOT [l0] IS NULL GROUP BY [l0] HAVING COUNT_BIG(DISTINCT [l1]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l1] AS [l1] FROM [kanon_scratch].[kanon_run_domain1] WHERE NOT [l1] IS NULL GROUP BY [l1] HAVING COUNT_BIG(DISTINCT [l2]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 2 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l2] AS [l2] FROM [kanon_scratch].[kanon_run_domain1] WHERE NOT [l2] IS NULL GROUP BY [l2] HAVING COUNT_BIG(DISTINCT [l3]) > 1) AS [split]
UNION ALL
SELECT 1 AS [attribute], 3 AS [level], COUNT_BIG(*) AS [split_labels] FROM (SELECT [l3] AS [l3] FROM [kanon_scratch].[kanon_run_domain1] WHERE NOT [l3] IS NULL GROUP BY [l3] HAVING COUNT_BIG(DISTINCT [l4]) > 1) AS [split];

-- hierarchy/coverage
SELECT 0 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup0]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup0] AS [labels] JOIN (SELECT [q0] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value])
UNION ALL
SELECT 1 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup1]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL OR [labels].[l2] IS NULL OR [labels].[l3] IS NULL OR [labels].[l4] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL OR [labels].[l1] IS NULL OR [labels].[l2] IS NULL OR [labels].[l3] IS NULL OR [labels].[l4] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup1] AS [labels] JOIN (SELECT [q1] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q1]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value])
UNION ALL
SELECT 2 AS [attribute], (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_lookup2]) AS [domain_values], COUNT_BIG(*) AS [found_values], SUM(CASE WHEN [labels].[value] IS NULL THEN 1 ELSE 0 END) AS [null_values], SUM(CASE WHEN [labels].[value] IS NULL THEN [found].[row_count] ELSE 0 END) AS [null_rows], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL) THEN 1 ELSE 0 END) AS [uncovered_values], SUM(CASE WHEN NOT [labels].[value] IS NULL AND ([labels].[l0] IS NULL) THEN [found].[row_count] ELSE 0 END) AS [uncovered_rows] FROM [kanon_scratch].[kanon_run_lookup2] AS [labels] JOIN (SELECT [q2] AS [value], SUM([row_count]) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q2]) AS [found] ON EXISTS(SELECT [labels].[value] INTERSECT SELECT [found].[value]);

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [lookup0].[c1] AS [c0_1], [lookup1].[c0] AS [c1_0], [lookup1].[c1] AS [c1_1], [lookup1].[c2] AS [c1_2], [lookup1].[c3] AS [c1_3], [lookup1].[c4] AS [c1_4], [lookup2].[c0] AS [c2_0], [sensitive].[code] AS [value_code], [sensitive].[reference_share] AS [reference_share], [vectors].[person_count] AS [person_count], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_values0]
FROM (SELECT [q0] AS [q0], [q1] AS [q1], [q2] AS [q2], [v0] AS [v0], COUNT_BIG(DISTINCT [unit]) AS [person_count], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0], [q1], [q2], [v0]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_lookup1] AS [lookup1] ON EXISTS(SELECT [vectors].[q1] INTERSECT SELECT [lookup1].[value]) JOIN [kanon_scratch].[kanon_run_lookup2] AS [lookup2] ON EXISTS(SELECT [vectors].[q2] INTERSECT SELECT [lookup2].[value]) JOIN [kanon_scratch].[kanon_run_sensitive0] AS [sensitive] ON EXISTS(SELECT [vectors].[v0] INTERSECT SELECT [sensitive].[value]);

-- frequency/encode
SELECT [lookup0].[c0] AS [c0_0], [lookup0].[c1] AS [c0_1], [lookup1].[c0] AS [c1_0], [lookup1].[c1] AS [c1_1], [lookup1].[c2] AS [c1_2], [lookup1].[c3] AS [c1_3], [lookup1].[c4] AS [c1_4], [lookup2].[c0] AS [c2_0], [vectors].[person_count] AS [person_count], [vectors].[row_count] AS [row_count]
INTO [kanon_scratch].[kanon_run_frequency]
FROM (SELECT [q0] AS [q0], [q1] AS [q1], [q2] AS [q2], COUNT_BIG(DISTINCT [unit]) AS [person_count], CAST(SUM([row_count]) AS BIGINT) AS [row_count] FROM [kanon_scratch].[kanon_run_raw] GROUP BY [q0], [q1], [q2]) AS [vectors] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [vectors].[q0] INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_lookup1] AS [lookup1] ON EXISTS(SELECT [vectors].[q1] INTERSECT SELECT [lookup1].[value]) JOIN [kanon_scratch].[kanon_run_lookup2] AS [lookup2] ON EXISTS(SELECT [vectors].[q2] INTERSECT SELECT [lookup2].[value]);

-- frequency/marginals
SELECT 0 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 0 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c0_1] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c0_1]) AS [labels] JOIN (SELECT DISTINCT [c1] * 1 AS [code], [s1] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup0]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 1 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_1] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_1]) AS [labels] JOIN (SELECT DISTINCT [c1] * 1 AS [code], [s1] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 2 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_2] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_2]) AS [labels] JOIN (SELECT DISTINCT [c2] * 1 AS [code], [s2] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 3 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_3] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_3]) AS [labels] JOIN (SELECT DISTINCT [c3] * 1 AS [code], [s3] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 1 AS [attribute], 4 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c1_4] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c1_4]) AS [labels] JOIN (SELECT DISTINCT [c4] * 1 AS [code], [s4] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup1]) AS [sizes] ON [labels].[code] = [sizes].[code]
UNION ALL
SELECT 2 AS [attribute], 0 AS [level], COUNT_BIG(*) AS [labels], SUM([label_rows] * [label_size]) AS [covered], MAX([label_size]) AS [largest], SUM(CAST([label_rows] AS FLOAT) * LOG([label_rows])) AS [row_log] FROM (SELECT [c2_0] AS [code], SUM([row_count]) AS [label_rows] FROM [kanon_scratch].[kanon_run_frequency] GROUP BY [c2_0]) AS [labels] JOIN (SELECT DISTINCT [c0] * 1 AS [code], [s0] AS [label_size] FROM [kanon_scratch].[kanon_run_lookup2]) AS [sizes] ON [labels].[code] = [sizes].[code];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_rollup0"]', N'(the time)');

-- evaluate/rollup
SELECT MIN([below].[c0_1]) AS [c0_1], MIN([below].[c1_1]) AS [c1_1], MIN([below].[c1_2]) AS [c1_2], MIN([below].[c1_3]) AS [c1_3], MIN([below].[c1_4]) AS [c1_4], MIN([below].[c2_0]) AS [c2_0], SUM([person_count]) AS [person_count], CAST(SUM([row_count]) AS BIGINT) AS [row_count]
INTO [kanon_scratch].[kanon_run_rollup0]
FROM [kanon_scratch].[kanon_run_frequency] AS [below] GROUP BY [below].[c0_1], [below].[c1_1], [below].[c2_0];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_rollup1"]', N'(the time)');

-- evaluate/rollup
SELECT MIN([below].[c0_1]) AS [c0_1], MIN([below].[c1_1]) AS [c1_1], MIN([below].[c1_2]) AS [c1_2], MIN([below].[c1_3]) AS [c1_3], MIN([below].[c1_4]) AS [c1_4], MIN([below].[c2_0]) AS [c2_0], [value_code], MIN([reference_share]) AS [reference_share], SUM([person_count]) AS [person_count], CAST(SUM([row_count]) AS BIGINT) AS [row_count]
INTO [kanon_scratch].[kanon_run_rollup1]
FROM [kanon_scratch].[kanon_run_values0] AS [below] GROUP BY [below].[c0_1], [below].[c1_1], [below].[c2_0], [value_code];

-- matrix/size
SELECT COUNT_BIG(*) AS [vectors], SUM(CASE WHEN [person_count] < 3 THEN 1 ELSE 0 END) AS [outliers] FROM [kanon_scratch].[kanon_run_frequency];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_outliers"]', N'(the time)');

-- matrix/outliers
SELECT ROW_NUMBER() OVER (ORDER BY CASE WHEN [row_count] IS NULL THEN 1 ELSE 0 END, [row_count]) AS [outlier], [c0_0], [c0_1], [c1_0], [c1_1], [c1_2], [c1_3], [c1_4], [c2_0], [row_count]
INTO [kanon_scratch].[kanon_run_outliers]
FROM [kanon_scratch].[kanon_run_frequency] WHERE [person_count] < 3;

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_matrix"]', N'(the time)');

-- matrix/distances
SELECT [outlier], [d0], [d1], [d2], MIN([outlier_rows]) AS [outlier_rows], CAST(SUM([vector_size]) AS BIGINT) AS [distance_size]
INTO [kanon_scratch].[kanon_run_matrix]
FROM (SELECT [outliers].[outlier] AS [outlier], [outliers].[row_count] AS [outlier_rows], CASE WHEN [outliers].[c0_0] = [vectors].[c0_0] THEN 0 WHEN [outliers].[c0_1] = [vectors].[c0_1] THEN 1 ELSE 2 END AS [d0], CASE WHEN [outliers].[c1_0] = [vectors].[c1_0] THEN 0 WHEN [outliers].[c1_1] = [vectors].[c1_1] THEN 1 WHEN [outliers].[c1_2] = [vectors].[c1_2] THEN 2 WHEN [outliers].[c1_3] = [vectors].[c1_3] THEN 3 WHEN [outliers].[c1_4] = [vectors].[c1_4] THEN 4 ELSE 5 END AS [d1], CASE WHEN [outliers].[c2_0] = [vectors].[c2_0] THEN 0 ELSE 1 END AS [d2], [vectors].[person_count] AS [vector_size] FROM [kanon_scratch].[kanon_run_outliers] AS [outliers] CROSS JOIN [kanon_scratch].[kanon_run_frequency] AS [vectors]) AS [pairs] GROUP BY [outlier], [d0], [d1], [d2];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_outliers];

-- scratch/size
SELECT (SELECT COUNT_BIG(*) FROM [kanon_scratch].[kanon_run_matrix]) AS [row_count];

-- matrix/node
SELECT 0 AS [node], SUM(CASE WHEN [class_size] < 3 THEN [outlier_rows] ELSE 0 END) AS [suppressed] FROM (SELECT MIN([outlier_rows]) AS [outlier_rows], SUM([distance_size]) AS [class_size] FROM [kanon_scratch].[kanon_run_matrix] WHERE [d0] <= 0 AND [d1] <= 1 AND [d2] <= 0 GROUP BY [outlier]) AS [classes]
UNION ALL
SELECT 1 AS [node], SUM(CASE WHEN [class_size] < 3 THEN [outlier_rows] ELSE 0 END) AS [suppressed] FROM (SELECT MIN([outlier_rows]) AS [outlier_rows], SUM([distance_size]) AS [class_size] FROM [kanon_scratch].[kanon_run_matrix] WHERE [d0] <= 1 AND [d1] <= 0 AND [d2] <= 1 GROUP BY [outlier]) AS [classes];

-- manifest/find
SELECT COUNT_BIG(*) AS [published] FROM [clinic].[kanon_sql_manifest] WHERE [release_name] = N'visits_release';

-- manifest/insert
INSERT INTO [clinic].[kanon_sql_manifest] VALUES (N'visits_release', N'run', N'(the time)', N'197a06e15464c4074715bbcfb2235ca38935c23b31c9b655983d4bd5f5e0fc13', N'{"long": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "published_at": "(the time)"}');

-- manifest/withdraw
DELETE FROM [clinic].[kanon_sql_manifest] WHERE [run_id] = N'run';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0] FROM (SELECT [k0] AS [k0], [class_rows] AS [class_rows], [class_size] AS [class_size], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [q0] AS [k0], SUM([row_count]) AS [class_rows], COUNT_BIG(DISTINCT [unit]) AS [class_size] FROM (SELECT CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], [checked].[person] AS [unit], 1 AS [row_count] FROM [clinic].[visits] AS [checked] WHERE [checked].[kanon_masked] = 0) AS [frequency] GROUP BY [q0]) AS [classes]) AS [flagged];

-- profile/persons
SELECT COUNT_BIG(*) AS [persons], SUM(CASE WHEN [distinct_values0] > 1 THEN 1 ELSE 0 END) AS [varying0] FROM (SELECT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [kanon_unit], COUNT_BIG(DISTINCT CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [distinct_values0] FROM [clinic].[visits] AS [kanon_source] WHERE NOT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 IS NULL GROUP BY CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [persons];

-- ledger/turn
DELETE FROM [clinic].[ledger] WHERE [run_id] = N'turn';

-- ledger/entries
SELECT [manifest] FROM [clinic].[ledger] WHERE [run_id] <> N'turn' AND [published_at] <> N'withdrawn' ORDER BY CASE WHEN [published_at] IS NULL THEN 1 ELSE 0 END, [published_at], CASE WHEN [run_id] IS NULL THEN 1 ELSE 0 END, [run_id];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_joint"]', N'(the time)');

-- ledger/joint
SELECT CASE WHEN NOT [kept0].[found] IS NULL AND NOT [kanon_source].[weight] IS NULL AND NOT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 IS NULL AND NOT [kanon_source].[seen] IS NULL THEN 1 ELSE 0 END AS [kanon_f0], CASE WHEN NOT [kept0].[found] IS NULL AND NOT [kanon_source].[weight] IS NULL AND NOT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 IS NULL AND NOT [kanon_source].[seen] IS NULL THEN [lookup0].[l0] END COLLATE Latin1_General_BIN2 AS [kanon_f0_q0], CASE WHEN NOT [kept0].[found] IS NULL AND NOT [kanon_source].[weight] IS NULL AND NOT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 IS NULL AND NOT [kanon_source].[seen] IS NULL THEN [lookup1].[l0] END COLLATE Latin1_General_BIN2 AS [kanon_f0_q1], CASE WHEN NOT [kept0].[found] IS NULL AND NOT [kanon_source].[weight] IS NULL AND NOT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 IS NULL AND NOT [kanon_source].[seen] IS NULL THEN [lookup2].[l0] END COLLATE Latin1_General_BIN2 AS [kanon_f0_q2], 1 AS [kanon_f1], CASE WHEN NOT [kept1].[found] IS NULL THEN [lookup0].[l2] ELSE N'*' END COLLATE Latin1_General_BIN2 AS [kanon_f1_q0], CASE WHEN NOT [kept1].[found] IS NULL THEN [lookup1].[l5] ELSE N'*' END COLLATE Latin1_General_BIN2 AS [kanon_f1_q1], CASE WHEN NOT [kept1].[found] IS NULL THEN [lookup2].[l1] ELSE N'*' END COLLATE Latin1_General_BIN2 AS [kanon_f1_q2], [kanon_source].[person] AS [person], [kanon_source].[age] AS [age], [kanon_source].[dx] AS [dx], [kanon_source].[person] AS [kanon_unit], CASE WHEN (NOT [kept0].[found] IS NULL AND NOT [kanon_source].[weight] IS NULL AND NOT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 IS NULL AND NOT [kanon_source].[seen] IS NULL) OR (1 = 1) THEN 1 ELSE 0 END AS [kanon_any]
INTO [kanon_scratch].[kanon_run_joint]
FROM [clinic].[visits] AS [kanon_source] JOIN [kanon_scratch].[kanon_run_lookup0] AS [lookup0] ON EXISTS(SELECT [kanon_source].[weight] INTERSECT SELECT [lookup0].[value]) JOIN [kanon_scratch].[kanon_run_lookup1] AS [lookup1] ON EXISTS(SELECT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [lookup1].[value]) JOIN [kanon_scratch].[kanon_run_lookup2] AS [lookup2] ON EXISTS(SELECT [kanon_source].[seen] INTERSECT SELECT [lookup2].[value]) LEFT JOIN (SELECT DISTINCT COALESCE(N'1' + CAST([released].[weight] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, N'0') COLLATE Latin1_General_BIN2 AS [l0], COALESCE(N'1' + CAST([released].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, N'0') COLLATE Latin1_General_BIN2 AS [l1], COALESCE(N'1' + CAST([released].[seen] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, N'0') COLLATE Latin1_General_BIN2 AS [l2], 1 AS [found] FROM [clinic].[dropped] AS [released]) AS [kept0] ON COALESCE(N'1' + [lookup0].[l0], N'0') COLLATE Latin1_General_BIN2 = [kept0].[l0] AND COALESCE(N'1' + [lookup1].[l0], N'0') COLLATE Latin1_General_BIN2 = [kept0].[l1] AND COALESCE(N'1' + [lookup2].[l0], N'0') COLLATE Latin1_General_BIN2 = [kept0].[l2] LEFT JOIN (SELECT DISTINCT CAST([released].[weight] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l0], CAST([released].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l1], CAST([released].[seen] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [l2], 1 AS [found] FROM [clinic].[masked] AS [released]) AS [kept1] ON [lookup0].[l2] = [kept1].[l0] AND [lookup1].[l5] = [kept1].[l1] AND [lookup2].[l1] = [kept1].[l2];

-- release/count
SELECT COUNT_BIG(*) AS [row_count] FROM [kanon_scratch].[kanon_run_joint] AS [counted];

-- ledger/differences
SELECT COUNT_BIG(*) AS [differences] FROM (SELECT SUM([weight]) AS [surplus] FROM (SELECT CAST([made].[kanon_f0_q0] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x0], CAST([made].[kanon_f0_q1] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x1], CAST([made].[kanon_f0_q2] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x2], [made].[person] AS [x3], [made].[age] AS [x4], CAST([made].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x5], 1 AS [weight] FROM [kanon_scratch].[kanon_run_joint] AS [made] WHERE [kanon_f0] = 1 UNION ALL SELECT [released].[weight] AS [x0], CAST([released].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x1], [released].[seen] AS [x2], [released].[person] AS [x3], [released].[age] AS [x4], CAST([released].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x5], -1 AS [weight] FROM [clinic].[dropped] AS [released]) AS [counted] GROUP BY [x0], [x1], [x2], [x3], [x4], [x5]) AS [surpluses] WHERE [surplus] <> 0;

-- ledger/differences
SELECT COUNT_BIG(*) AS [differences] FROM (SELECT SUM([weight]) AS [surplus] FROM (SELECT CAST([made].[kanon_f1_q0] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x0], CAST([made].[kanon_f1_q1] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x1], CAST([made].[kanon_f1_q2] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x2], [made].[person] AS [x3], [made].[age] AS [x4], CAST([made].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x5], 1 AS [weight] FROM [kanon_scratch].[kanon_run_joint] AS [made] WHERE [kanon_f1] = 1 UNION ALL SELECT [released].[weight] AS [x0], CAST([released].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x1], [released].[seen] AS [x2], [released].[person] AS [x3], [released].[age] AS [x4], CAST([released].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [x5], -1 AS [weight] FROM [clinic].[masked] AS [released]) AS [counted] GROUP BY [x0], [x1], [x2], [x3], [x4], [x5]) AS [surpluses] WHERE [surplus] <> 0;

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [kanon_scratch].[kanon_run_joint] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[kanon_f0] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_f0_q0] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_f0_q1] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_f0_q2] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_f1] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_f1_q0] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_f1_q1] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_f1_q2] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[kanon_unit] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [k2] AS [k2], [k3] AS [k3], [k4] AS [k4], [k5] AS [k5], [k6] AS [k6], [k7] AS [k7], [class_rows] AS [class_rows], [class_size] AS [class_size], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [q0] AS [k0], [q1] AS [k1], [q2] AS [k2], [q3] AS [k3], [q4] AS [k4], [q5] AS [k5], [q6] AS [k6], [q7] AS [k7], SUM([row_count]) AS [class_rows], COUNT_BIG(DISTINCT [unit]) AS [class_size] FROM (SELECT CAST([checked].[kanon_f0] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q0], CAST([checked].[kanon_f0_q0] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], CAST([checked].[kanon_f0_q1] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q2], CAST([checked].[kanon_f0_q2] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q3], CAST([checked].[kanon_f1] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q4], CAST([checked].[kanon_f1_q0] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q5], CAST([checked].[kanon_f1_q1] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q6], CAST([checked].[kanon_f1_q2] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q7], CAST([checked].[kanon_unit] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [unit], 1 AS [row_count] FROM [kanon_scratch].[kanon_run_joint] AS [checked] WHERE [checked].[kanon_any] = 1) AS [frequency] GROUP BY [q0], [q1], [q2], [q3], [q4], [q5], [q6], [q7]) AS [classes]) AS [flagged];

-- check/form_counts
SELECT [checked].[sex] AS [form], COUNT_BIG(*) AS [row_count] FROM [clinic].[visits] AS [checked] WHERE NOT [checked].[sex] IS NULL GROUP BY [checked].[sex] ORDER BY CASE WHEN [checked].[sex] IS NULL THEN 1 ELSE 0 END, [checked].[sex];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_joint];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_matrix];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_rollup1];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_rollup0];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_lookup2];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[other] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MAX([m0]) AS [worst0], SUM(CASE WHEN [m0] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN NOT [m0] IS NULL AND [m0] <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN NOT [m0] IS NULL AND [m0] <= 5.00000000999999972e-01 THEN 0 ELSE [class_rows] END) AS [violating_rows0] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [class_rows] AS [class_rows], [class_size] AS [class_size], [m0] AS [m0], CASE WHEN (NOT [m0] IS NULL AND [m0] <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [base].[k0] AS [k0], [base].[k1] AS [k1], [base].[class_rows] AS [class_rows], [base].[class_size] AS [class_size], [values0].[m0] AS [m0] FROM (SELECT [q0] AS [k0], [q1] AS [k1], SUM([row_count]) AS [class_rows], COUNT_BIG(DISTINCT [unit]) AS [class_size] FROM (SELECT [checked].[age] AS [q0], CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], [checked].[person] AS [unit], 1 AS [row_count] FROM [clinic].[other] AS [checked]) AS [frequency] GROUP BY [q0], [q1]) AS [base] JOIN (SELECT [k0] AS [k0], [k1] AS [k1], SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m0] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0], [k1]) AS [class_total] FROM (SELECT [q0] AS [k0], [q1] AS [k1], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], COUNT_BIG(DISTINCT [unit]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM (SELECT [checked].[age] AS [q0], CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value_code], COALESCE([reference].[reference_share], 0) AS [reference_share], [checked].[person] AS [unit], 1 AS [row_count] FROM [clinic].[other] AS [checked] LEFT JOIN (SELECT [value] AS [reference_value], CAST([held] AS FLOAT) / CAST(SUM([held]) OVER () AS FLOAT) AS [reference_share] FROM (SELECT CAST([original].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value], COUNT_BIG(DISTINCT [original].[person]) AS [held] FROM [clinic].[visits] AS [original] GROUP BY CAST([original].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [counted]) AS [reference] ON EXISTS(SELECT CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [reference].[reference_value])) AS [frequency] GROUP BY [q0], [q1], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0], [k1]) AS [values0] ON EXISTS(SELECT [base].[k0] INTERSECT SELECT [values0].[k0]) AND EXISTS(SELECT [base].[k1] INTERSECT SELECT [values0].[k1])) AS [classes]) AS [flagged];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[visits_release] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MAX([m0]) AS [worst0], SUM(CASE WHEN [m0] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN NOT [m0] IS NULL AND [m0] <= 5.00000000999999972e-01 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN NOT [m0] IS NULL AND [m0] <= 5.00000000999999972e-01 THEN 0 ELSE [class_rows] END) AS [violating_rows0] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [class_rows] AS [class_rows], [class_size] AS [class_size], [m0] AS [m0], CASE WHEN (NOT [m0] IS NULL AND [m0] <= 5.00000000999999972e-01) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [k0] AS [k0], [k1] AS [k1], SUM([value_rows]) AS [class_rows], SUM([value_count]) AS [class_size], MAX(CASE WHEN NOT [value_code] IS NULL AND [value_count] > 0 THEN [value_count] END) AS [most_held], CASE WHEN SUM([value_count]) > 0 THEN SUM(CASE WHEN [class_total] > 0 AND CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) > [reference_share] THEN CAST([value_count] AS FLOAT) / CAST([class_total] AS FLOAT) - [reference_share] ELSE 0 END) ELSE NULL END AS [m0] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [value_code] AS [value_code], [value_rows] AS [value_rows], [value_count] AS [value_count], [reference_share] AS [reference_share], SUM([value_count]) OVER (PARTITION BY [k0], [k1]) AS [class_total] FROM (SELECT [q0] AS [k0], [q1] AS [k1], [value_code] AS [value_code], SUM([row_count]) AS [value_rows], SUM([row_count]) AS [value_count], MIN([reference_share]) AS [reference_share] FROM (SELECT [checked].[age] AS [q0], CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value_code], COALESCE([reference].[reference_share], 0) AS [reference_share], 1 AS [row_count] FROM [clinic].[visits_release] AS [checked] LEFT JOIN (SELECT [value] AS [reference_value], CAST([held] AS FLOAT) / CAST(SUM([held]) OVER () AS FLOAT) AS [reference_share] FROM (SELECT CAST([original].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value], COUNT_BIG(*) AS [held] FROM [clinic].[visits] AS [original] GROUP BY CAST([original].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [counted]) AS [reference] ON EXISTS(SELECT CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 INTERSECT SELECT [reference].[reference_value])) AS [frequency] GROUP BY [q0], [q1], [value_code]) AS [counted]) AS [ranked] GROUP BY [k0], [k1]) AS [classes]) AS [flagged];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[other] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- evaluate/achieved
SELECT COUNT_BIG(*) AS [classes], SUM([satisfied]) AS [kept_classes], SUM([class_rows]) AS [class_rows], SUM(CASE WHEN [satisfied] = 0 THEN [class_rows] ELSE 0 END) AS [violating_rows], MIN([class_rows]) AS [smallest_class], MAX([class_rows]) AS [largest_class], MIN([class_size]) AS [worst0], SUM(CASE WHEN [class_size] IS NULL THEN 1 ELSE 0 END) AS [unbounded0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE 1 END) AS [violating_classes0], SUM(CASE WHEN [class_size] >= 3 THEN 0 ELSE [class_rows] END) AS [violating_rows0] FROM (SELECT [k0] AS [k0], [k1] AS [k1], [class_rows] AS [class_rows], [class_size] AS [class_size], CASE WHEN ([class_size] >= 3) THEN 1 ELSE 0 END AS [satisfied] FROM (SELECT [q0] AS [k0], [q1] AS [k1], SUM([row_count]) AS [class_rows], SUM([row_count]) AS [class_size] FROM (SELECT [checked].[age] AS [q0], CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [q1], 1 AS [row_count] FROM [clinic].[other] AS [checked]) AS [frequency] GROUP BY [q0], [q1]) AS [classes]) AS [flagged];

-- check/blank_ends
SELECT COUNT_BIG(*) AS [blank_ends] FROM [clinic].[before] AS [checked] WHERE RIGHT(N'.' + CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ' OR RIGHT(N'.' + CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2, 1) = N' ';

-- check/invariance
WITH [earlier_rows] AS (SELECT [person] AS [person], [value] AS [value], DENSE_RANK() OVER (ORDER BY CASE WHEN [k0] IS NULL THEN 1 ELSE 0 END, [k0], CASE WHEN [k1] IS NULL THEN 1 ELSE 0 END, [k1]) AS [class_id] FROM (SELECT [checked].[age] AS [k0], CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [k1], [checked].[person] AS [person], CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value] FROM [clinic].[before] AS [checked]) AS [earlier_table]), [present_rows] AS (SELECT [person] AS [person], [value] AS [value], DENSE_RANK() OVER (ORDER BY CASE WHEN [k0] IS NULL THEN 1 ELSE 0 END, [k0], CASE WHEN [k1] IS NULL THEN 1 ELSE 0 END, [k1]) AS [class_id] FROM (SELECT [checked].[age] AS [k0], CAST([checked].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [k1], [checked].[person] AS [person], CAST([checked].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [value] FROM [clinic].[other] AS [checked]) AS [present_table]), [earlier_classes] AS (SELECT [class_id] AS [class_id], COUNT_BIG(*) AS [class_rows], COUNT_BIG(DISTINCT [value]) AS [class_values] FROM [earlier_rows] GROUP BY [class_id]), [present_classes] AS (SELECT [class_id] AS [class_id], COUNT_BIG(*) AS [class_rows], COUNT_BIG(DISTINCT [value]) AS [class_values] FROM [present_rows] GROUP BY [class_id]), [moves] AS (SELECT [older].[class_id] AS [earlier_class], [newer].[class_id] AS [present_class], COUNT_BIG(*) AS [persons] FROM [earlier_rows] AS [older] JOIN [present_rows] AS [newer] ON [older].[person] = [newer].[person] GROUP BY [older].[class_id], [newer].[class_id]), [common] AS (SELECT [moves].[earlier_class] AS [earlier_class], [moves].[present_class] AS [present_class], COUNT_BIG(*) AS [common_values] FROM [moves] JOIN (SELECT DISTINCT [class_id] AS [class_id], [value] AS [value] FROM [earlier_rows]) AS [older] ON [older].[class_id] = [moves].[earlier_class] JOIN (SELECT DISTINCT [class_id] AS [class_id], [value] AS [value] FROM [present_rows]) AS [newer] ON [newer].[class_id] = [moves].[present_class] AND [newer].[value] = [older].[value] GROUP BY [moves].[earlier_class], [moves].[present_class]), [repeated] AS (SELECT [person] FROM [earlier_rows] WHERE NOT [person] IS NULL GROUP BY [person] HAVING COUNT_BIG(*) > 1 UNION ALL SELECT [person] FROM [present_rows] WHERE NOT [person] IS NULL GROUP BY [person] HAVING COUNT_BIG(*) > 1), [violating] AS (SELECT [class_rows] FROM [earlier_classes] WHERE [class_rows] <> [class_values] OR [class_rows] < 2 UNION ALL SELECT [class_rows] FROM [present_classes] WHERE [class_rows] <> [class_values] OR [class_rows] < 2) SELECT (SELECT COUNT_BIG(*) FROM [repeated]) AS [repeated_persons], (SELECT COUNT_BIG(*) FROM [violating]) AS [violating_classes], (SELECT SUM([class_rows]) FROM [violating]) AS [violating_rows], (SELECT MIN([class_rows]) FROM [earlier_classes]) AS [smallest_earlier], (SELECT MIN([class_rows]) FROM [present_classes]) AS [smallest_present], (SELECT COUNT_BIG(*) FROM [earlier_classes] WHERE [class_rows] <> [class_values]) + (SELECT COUNT_BIG(*) FROM [present_classes] WHERE [class_rows] <> [class_values]) AS [repeating_classes], (SELECT SUM([moves].[persons]) FROM [moves] JOIN [earlier_classes] ON [earlier_classes].[class_id] = [moves].[earlier_class] JOIN [present_classes] ON [present_classes].[class_id] = [moves].[present_class] LEFT JOIN [common] ON [common].[earlier_class] = [moves].[earlier_class] AND [common].[present_class] = [moves].[present_class] WHERE COALESCE([common].[common_values], 0) <> [earlier_classes].[class_values] OR COALESCE([common].[common_values], 0) <> [present_classes].[class_values]) AS [changed_persons];

-- profile/columns
SELECT COUNT_BIG(*) AS [row_count], COUNT_BIG([kanon_source].[person]) AS [filled0], COUNT_BIG(DISTINCT [kanon_source].[person]) AS [distinct_values0], MIN((LEN(CAST([kanon_source].[person] AS NVARCHAR(MAX)) + N'.') - 1)) AS [shortest0], MAX((LEN(CAST([kanon_source].[person] AS NVARCHAR(MAX)) + N'.') - 1)) AS [longest0], SUM(CASE WHEN (LEN(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST([kanon_source].[person] AS NVARCHAR(MAX)), N'0', N''), N'1', N''), N'2', N''), N'3', N''), N'4', N''), N'5', N''), N'6', N''), N'7', N''), N'8', N''), N'9', N'') + N'.') - 1) = 0 THEN 1 ELSE 0 END) AS [digits0], CASE WHEN MAX(CAST([kanon_source].[person] AS FLOAT)) > MIN(CAST([kanon_source].[person] AS FLOAT)) THEN FLOOR(CAST(3 * LOG(MAX(CAST([kanon_source].[person] AS FLOAT)) - MIN(CAST([kanon_source].[person] AS FLOAT))) AS FLOAT) / LOG(10)) END AS [thirds0], COUNT_BIG([kanon_source].[age]) AS [filled1], COUNT_BIG(DISTINCT [kanon_source].[age]) AS [distinct_values1], CASE WHEN MAX(CAST([kanon_source].[age] AS FLOAT)) > MIN(CAST([kanon_source].[age] AS FLOAT)) THEN FLOOR(CAST(3 * LOG(MAX(CAST([kanon_source].[age] AS FLOAT)) - MIN(CAST([kanon_source].[age] AS FLOAT))) AS FLOAT) / LOG(10)) END AS [thirds1], COUNT_BIG(CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [filled2], COUNT_BIG(DISTINCT CAST([kanon_source].[sex] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [distinct_values2], MIN((LEN(CAST([kanon_source].[sex] AS NVARCHAR(MAX)) + N'.') - 1)) AS [shortest2], MAX((LEN(CAST([kanon_source].[sex] AS NVARCHAR(MAX)) + N'.') - 1)) AS [longest2], SUM(CASE WHEN (LEN(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST([kanon_source].[sex] AS NVARCHAR(MAX)), N'0', N''), N'1', N''), N'2', N''), N'3', N''), N'4', N''), N'5', N''), N'6', N''), N'7', N''), N'8', N''), N'9', N'') + N'.') - 1) = 0 THEN 1 ELSE 0 END) AS [digits2], COUNT_BIG([kanon_source].[weight]) AS [filled3], COUNT_BIG(DISTINCT [kanon_source].[weight]) AS [distinct_values3], CASE WHEN MAX(CAST([kanon_source].[weight] AS FLOAT)) > MIN(CAST([kanon_source].[weight] AS FLOAT)) THEN FLOOR(CAST(3 * LOG(MAX(CAST([kanon_source].[weight] AS FLOAT)) - MIN(CAST([kanon_source].[weight] AS FLOAT))) AS FLOAT) / LOG(10)) END AS [thirds3], COUNT_BIG(CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [filled4], COUNT_BIG(DISTINCT CAST([kanon_source].[dx] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2) AS [distinct_values4], MIN((LEN(CAST([kanon_source].[dx] AS NVARCHAR(MAX)) + N'.') - 1)) AS [shortest4], MAX((LEN(CAST([kanon_source].[dx] AS NVARCHAR(MAX)) + N'.') - 1)) AS [longest4], SUM(CASE WHEN (LEN(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(CAST([kanon_source].[dx] AS NVARCHAR(MAX)), N'0', N''), N'1', N''), N'2', N''), N'3', N''), N'4', N''), N'5', N''), N'6', N''), N'7', N''), N'8', N''), N'9', N'') + N'.') - 1) = 0 THEN 1 ELSE 0 END) AS [digits4], COUNT_BIG([kanon_source].[seen]) AS [filled5], COUNT_BIG(DISTINCT [kanon_source].[seen]) AS [distinct_values5] FROM [clinic].[visits] AS [kanon_source];

-- scratch/probe_text
SELECT COUNT_BIG(*) AS [different] FROM (SELECT [probe] AS [probe] FROM (SELECT CAST([probe] AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [probe] FROM (SELECT CAST(N'a' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [probe] UNION ALL SELECT CAST(N'A' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [probe] UNION ALL SELECT CAST(N'a ' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [probe] UNION ALL SELECT CAST(N'á' AS NVARCHAR(MAX)) COLLATE Latin1_General_BIN2 AS [probe]) AS [texts]) AS [exact_texts] GROUP BY [probe]) AS [probes];

-- scratch/record
INSERT INTO [kanon_scratch].[kanon_sql_scratch] VALUES (N'run', N'["kanon_scratch", "kanon_run_probe"]', N'(the time)');

-- scratch/probe_create
SELECT 1 AS [probe]
INTO [kanon_scratch].[kanon_run_probe];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_scratch].[kanon_run_probe];

-- scratch/probe_create
SELECT 1 AS [probe]
INTO [kanon_run_doctor];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_run_doctor];

-- scratch/recorded
SELECT [run_id], [object_name], [created_at] FROM [kanon_sql_scratch] ORDER BY CASE WHEN [created_at] IS NULL THEN 1 ELSE 0 END, [created_at], CASE WHEN [object_name] IS NULL THEN 1 ELSE 0 END, [object_name];

-- scratch/drop
DROP TABLE IF EXISTS [kanon_00_release];

-- scratch/forget
DELETE FROM [kanon_sql_scratch] WHERE [object_name] = N'["kanon_00_release"]';
