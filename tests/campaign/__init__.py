"""Faults at every point of a run, on every engine, and what must hold after each of them.

places      a database in which faults are injected: fresh connections, and a view beside kanon_sql
cases       what is running when a fault comes, and by brute force what it may publish
wire        stands between a run and its engine, and acts before or after a chosen statement
judging     after a fault: the earlier release or the new one, whole; the next run; clean
faults      kinds of faults inside this process
kills       kinds that end a process, a session, or a server
watched     kills at random moments beside a reader: ``python -m tests.campaign.watched postgres --kills 500``
limits      full disks and too little memory
schedules   two to four runs at once, each held at a chosen statement
command     the long form: ``python -m tests.campaign duckdb --faults 2000 --seed 1``
"""
