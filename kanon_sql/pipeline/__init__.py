"""Pipelines: one file per job that a user can ask for."""
