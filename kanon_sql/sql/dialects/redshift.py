"""Amazon Redshift."""

from __future__ import annotations

from sqlglot import exp

from kanon_sql.sql.dialects.base import Dialect, dialect, replaced
from kanon_sql.sql.dialects.rewrites import called, exact_int_division, quote_names, spell_out_null_safe, text_columns

__all__ = ["Redshift"]


@dialect
class Redshift(Dialect):
    """Redshift. Comparing texts ignores blanks at their end, in every collation."""

    name = "redshift"
    sqlglot = "redshift"
    backslash = "in literals"
    pads = True
    longest_name = (127, "bytes")
    selects_values = False

    def exact(self, text: exp.Expr) -> exp.Expr:
        """Letter case counts, also in a database that ignores it."""
        return exp.Anonymous(this="COLLATE", expressions=[text, exp.Literal.string("case_sensitive")])

    def draw(self, text: exp.Expr) -> exp.Expr:
        """By digits of base 16."""
        return called("STRTOL", called("SUBSTRING", called("SHA2", text, 256), 1, 12), 16)

    def text(self, value: str | None) -> str:
        """A literal that compares exactly; its type is as long as its text."""
        return f"COLLATE(CAST({self.literal(value)} AS VARCHAR(MAX)), 'case_sensitive')"

    def rewrite(self, tree: exp.Expr) -> exp.Expr:
        """IS NOT DISTINCT FROM is missing, and a driver takes ``%`` for a parameter."""
        tree = spell_out_null_safe(exact_int_division(quote_names(tree)))
        tree = replaced(tree, exp.Mod, _mod)
        return text_columns(tree, exp.Var(this="CASE_SENSITIVE"))


def _mod(node: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this="MOD", expressions=[node.this.unnest().copy(), node.expression.unnest().copy()])
