"""Tables of the shapes that people bring to ``init``: nobody in them exists."""

from __future__ import annotations

SURVEY = """
    SELECT 10001 + i AS "SEQN", (i * 7919 % 2) + 1 AS "RIAGENDR", 18 + i * 31 % 63 AS "RIDAGEYR",
      i * 17 % 6 + 1 AS "RIDRETH3", i * 13 % 5 + 1 AS "DMDEDUC2", (i * 37 % 501) / 100.0 AS "INDFMPIR",
      15 + (i * 101 % 997) / 31.0 AS "BMXBMI", 1000 + i * 7.3 AS weight_full,
      CASE WHEN i * 29 % 9 = 0 THEN NULL WHEN i * 29 % 9 < 3 THEN 'yes' ELSE 'no' END AS diabetes,
      'What respondent ' || i || ' said' AS comments
    FROM range(3000) t(i)
"""

PANEL = """
    SELECT 13 + 17 * n AS nr, 1980 + y AS year, n * 7 % 3 AS race, 8 + n * 11 % 9 AS educ, y + n % 8 AS exper,
      (n + y * y) % 2 AS married, (n * 3 + y) % 2 AS union_member, 1 + (n * 31 + y * 17) % 997 / 500.0 AS lwage,
      n * 5 % 9 + 1 AS occupation
    FROM range(545) a(n), range(8) b(y)
"""

CLAIMS = """
    SELECT 'C' || (10000000 + i) AS claim_id, 'M' || (i // 4 * 7) AS member_id,
      DATE '1940-01-01' + CAST(i // 4 * 7919 % 25000 AS INTEGER) AS date_of_birth,
      CASE WHEN i // 4 % 2 = 0 THEN 'F' ELSE 'M' END AS gender,
      CAST(10000 + i // 4 * 31 % 300 * 17 AS VARCHAR) AS zip_code,
      DATE '2023-01-01' + CAST(i * 37 % 730 AS INTEGER) AS service_date,
      ['E11.9', 'I10', 'J45', 'F32.1', 'M54.5', 'Z00', 'C50'][1 + i * 5 % 7] AS icd10_code,
      20 + (i * 7919 % 999983) / 100.0 AS charged_amount, 'NPI' || (i * 19 % 400) AS provider_npi,
      'seen by Dr. X, note ' || i AS notes
    FROM range(6000) t(i)
"""

WEB_LOG = """
    SELECT TIMESTAMP '2024-03-01 00:00:00' + INTERVAL (i * 37) SECOND AS ts,
      '10.' || (i // 9 % 200) || '.' || (i // 9 * 3 % 200) || '.' || (i // 9 * 5 % 250) AS client_ip,
      'sess' || (i // 9 * 7919) AS session_id, 'u' || (i // 18 * 31) AS user_id, '/page/' || (i * 7 % 60) AS path,
      200 + i * 3 % 4 * 100 AS status, i * 7919 % 90001 + 200 AS bytes,
      ['Firefox', 'Chrome', 'Safari', 'Edge'][1 + i // 18 * 3 % 4] AS browser,
      ['DE', 'FR', 'US', 'GB', 'NL', 'PL'][1 + i // 18 * 5 % 6] AS country,
      'https://example.org/r/' || (i * 5 % 30) AS referer, ['GET', 'POST'][1 + i * 19 % 2] AS method
    FROM range(9000) t(i)
"""

STAFF = """
    SELECT 100000 + i AS emp_no, 'First' || i || ' Last' || (i * 7) AS full_name,
      'e' || i || '@corp.example' AS email, DATE '1958-01-01' + CAST(i * 7919 % 15000 AS INTEGER) AS birth_date,
      DATE '1995-01-01' + CAST(i * 6007 % 10000 AS INTEGER) AS hire_date,
      ['Sales', 'IT', 'Finance', 'HR', 'Ops', 'Legal', 'R&D'][1 + i * 11 % 7] AS department,
      ['Engineer', 'Analyst', 'Manager', 'Clerk', 'Lead'][1 + i * 13 % 5] AS job_title,
      30000 + i * 17 % 90 * 1000 AS salary, CASE WHEN i * 29 % 4 < 2 THEN 'Female' ELSE 'Male' END AS sex,
      ['Berlin', 'Paris', 'London', 'Rome'][1 + i // 3 % 4] AS office, i * 23 % 5 + 1 AS performance_rating,
      100000 + i % 20 AS manager_emp_no
    FROM range(2000) t(i)
"""

HOUSEHOLDS = """
    SELECT i // 3 + 1 AS hhid, i % 3 + 1 AS pnum, 1 + i // 3 * 7 % 80 AS age, i * 3 // 2 % 2 AS female,
      i // 3 * 5 % 48 + 1 AS statefip, 5000 + i * 7919 % 999983 AS inctot,
      ['single', 'married', 'widowed', 'divorced'][1 + i * 7 // 3 % 4] AS marst, (i * 7919 % 99991) / 1000.0 AS lpi
    FROM range(6000) t(i)
"""

SHAPES = {
    "survey": SURVEY,
    "panel": PANEL,
    "claims": CLAIMS,
    "web_log": WEB_LOG,
    "staff": STAFF,
    "households": HOUSEHOLDS,
}

NEVER = {
    "survey": {"SEQN", "comments", "weight_full"},
    "panel": {"nr"},
    "claims": {"claim_id", "member_id", "provider_npi", "notes"},
    "web_log": {"client_ip", "session_id", "user_id", "referer"},
    "staff": {"emp_no", "full_name", "email", "manager_emp_no"},
    "households": {"hhid"},
}
"""What points at somebody, or is text: in no release of a spec that nobody has changed."""

UNITS = {"panel": "nr", "claims": "member_id", "web_log": "user_id", "households": "hhid"}

TELLING = {
    "survey": {"RIAGENDR", "RIDRETH3", "DMDEDUC2", "diabetes"},
    "panel": {"year", "race", "educ", "occupation"},
    "claims": {"date_of_birth", "gender", "zip_code", "icd10_code"},
    "web_log": {"browser", "country", "status", "method"},
    "staff": {"hire_date", "department", "job_title", "salary", "sex", "office", "performance_rating"},
    "households": {"age", "female", "marst", "pnum"},
}
"""What an analyst of each finds in the release, with more than one value."""
