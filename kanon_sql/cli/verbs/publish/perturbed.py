"""``publish perturbed``: publish rows whose values are changed on purpose."""

from kanon_sql.cli.inputs import load_perturb_spec
from kanon_sql.cli.options import FailOnWarning, Preview, SpecFile
from kanon_sql.cli.program import verb
from kanon_sql.cli.session import Session
from kanon_sql.cli.verbs.publish import publish

__all__ = ["perturbed"]


@verb(
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb",
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb --preview",
    "kanon-sql publish perturbed masking.yml -d clinic.duckdb --format json -q",
    group="publish",
    scratch=True,
)
def perturbed(
    run: Session, spec_file: SpecFile, preview: Preview = False, fail_on_warning: FailOnWarning = False
) -> None:
    """Publish rows with perturbed values, and measure their risk.

    The spec is a perturbation spec: source, key, perturb, keep and linkage (kanon-sql
    pipeline schema perturbed-spec). Noise, rank swapping, data swapping or PRAM changes the values. The
    result shows the effect on means, variances, correlations and frequencies, and how many
    rows distance-based record linkage finds. Such a release is not k-anonymous. Exit code 1:
    linkage finds more rows than the spec allows, or a warning is an error; nothing was
    published.
    """
    from kanon_sql.verbs.perturb import perturb

    publish(run, perturb, load_perturb_spec(spec_file), preview=preview, fail_on_warning=fail_on_warning)
