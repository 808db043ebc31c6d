"""The verbs of products that are not rows of a generalized table."""

from collections.abc import Callable
from typing import Any

from kanon_sql.cli.inputs import need_lasting
from kanon_sql.cli.outputs import exit_with, print_output
from kanon_sql.cli.session import Session

__all__ = ["publish"]


def publish(run: Session, make: Callable[..., Any], spec: Any, *, preview: bool, fail_on_warning: bool) -> None:
    """Make a product, and publish it where its spec names a release.

    Args:
        run: the session.
        make: the verb of the library.
        spec: of the product.
        preview: publish nothing.
        fail_on_warning: take warnings for errors.
    """
    publishes = spec.release is not None and not preview
    if publishes:
        need_lasting(run.database)
    engine = run.connect(read_only=not publishes)
    result = make(
        engine, spec, preview=preview, timeout=run.timeout, report=run.report, fail_on_warning=fail_on_warning
    )
    run.close()
    print_output(run, result)
    exit_with(result.passed)
