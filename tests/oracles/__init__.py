"""What must come out, computed again in plain Python: for reading, not for speed."""
