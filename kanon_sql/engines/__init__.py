"""Engines: what runs the SQL. One file each; a driver is imported only when it is used."""
