"""Releases of several tables."""
