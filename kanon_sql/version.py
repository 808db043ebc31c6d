"""The version, in one place, and how to install what is optional."""

__all__ = ["__version__", "how_to_install"]

__version__ = "0.1.0"


def how_to_install(extra: str) -> str:
    """What to run for an optional part of the package: it is on no index, so that a checkout of it is where to run pip.

    Args:
        extra: its name in ``pyproject.toml``.
    """
    return f'in a checkout of kanon_sql, run: pip install ".[{extra}]"'
