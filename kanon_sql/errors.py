"""Every error a user can meet, as one tree.

    KanonError
    ├── SpecError              the spec is wrong (file, line, column, what to do)
    ├── HierarchyError         a hierarchy does not cover or does not nest
    ├── UnsupportedError       this engine or dialect cannot do what was asked, and why
    ├── SearchTooLarge         the lattice is too large for the chosen algorithm
    ├── TooExpensive           the run would read more bytes than allowed; nothing was read
    ├── RequirementNotMet      raised by ``raise_for_failure()``: the verdict is "fail"
    ├── VerificationError      the written table is not what was promised; it was dropped
    ├── DatabaseError          the database refused or failed
    │   └── QueryTimeout       a statement ran longer than allowed and was cancelled
    ├── InternalError          what was judged is not all there was to judge; there is no verdict (a defect)
    └── TemplateError          a template is unsafe or not portable (a defect of kanon_sql, or of a template of yours)

No message holds a raw personal value: values are counted and described by kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

__all__ = [
    "DatabaseError",
    "ExitCode",
    "HierarchyError",
    "InternalError",
    "KanonError",
    "Obstacle",
    "Problem",
    "QueryTimeout",
    "RequirementNotMet",
    "SearchTooLarge",
    "SpecError",
    "TemplateError",
    "TooExpensive",
    "UnsupportedError",
    "VerificationError",
    "counted",
    "have",
    "obstacles_in",
    "refuse",
]


class ExitCode(IntEnum):
    """What the process tells its caller."""

    PASS = 0
    """The requirement is met (or the verb has no requirement to meet)."""
    FAIL = 1
    """The requirement is not met; nothing was published."""
    USAGE = 2
    """The command line or the spec is wrong."""
    DATABASE = 3
    """The database refused, failed, or took too long."""


def counted(count: int, word: str) -> str:
    """``1 row``, ``2,300 classes``."""
    return f"{count:,} {word}{'' if count == 1 else 'es' if word.endswith('s') else 's'}"


def have(count: int, word: str = "row") -> str:
    """``1 row has``, ``2,300 rows have``."""
    return f"{counted(count, word)} {'has' if count == 1 else 'have'}"


class KanonError(Exception):
    """The base of all errors of kanon_sql. ``str(error)`` is a message for the user.

    Attributes:
        exit_code: what the command line exits with.
        notes: what else the run has to say, such as that it removed what a killed run had left.

    Examples:
        >>> try:
        ...     kanon_sql.check(db, spec, "nowhere")
        ... except kanon_sql.KanonError as error:
        ...     print(type(error).__name__, int(error.exit_code))
        DatabaseError 3
    """

    exit_code = ExitCode.USAGE

    def __init__(self, message: str) -> None:
        if not message.strip():
            raise ValueError("an error needs a message")
        super().__init__(message)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else the run has to say; Python shows it below the message."""
        return tuple(getattr(self, "__notes__", ()))


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with a spec or a hierarchy file, and where."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}" if place else self.message


class SpecError(KanonError):
    """The spec is wrong.

    Attributes:
        problems: everything that was found, not only the first problem.

    Examples:
        >>> try:
        ...     kanon_sql.Spec.from_dict({"version": 1, "source": "visits", "privacy": [{"k_anonimity": 5}]})
        ... except kanon_sql.SpecError as error:
        ...     for problem in error.problems:
        ...         print(problem)
        missing 'quasi_identifiers': the columns to generalize, each with its hierarchy
        privacy[0].k_anonimity: unknown requirement; did you mean 'k_anonymity'?
    """

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        if isinstance(problems, str):
            problems = [Problem(problems)]
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class HierarchyError(KanonError):
    """A hierarchy does not cover the data, or its levels do not nest."""

    def __init__(self, problems: Sequence[Problem] | str) -> None:
        if isinstance(problems, str):
            problems = [Problem(problems)]
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnsupportedError(KanonError):
    """What was asked cannot be done here; the message says why."""


class SearchTooLarge(KanonError):
    """The generalization lattice is too large for the chosen search algorithm."""


class TooExpensive(KanonError):
    """The run would read more bytes than allowed; nothing was read."""


class RequirementNotMet(KanonError):
    """The privacy requirement is not met; ``raise_for_failure()`` of a result raises it.

    Attributes:
        result: the whole result.

    Examples:
        >>> strict = kanon_sql.Spec.from_dict({**spec.to_dict(), "privacy": [{"k_anonymity": {"k": 1000}}]})
        >>> try:
        ...     kanon_sql.plan(db, strict).raise_for_failure()
        ... except kanon_sql.RequirementNotMet as failure:
        ...     print(failure)
        the source has 600 rows, fewer than k = 1000: nothing can be released
    """

    exit_code = ExitCode.FAIL

    def __init__(self, message: str, result: object) -> None:
        super().__init__(message)
        self.result = result


class VerificationError(KanonError):
    """The written table failed its independent verification and was dropped."""

    exit_code = ExitCode.FAIL


class DatabaseError(KanonError):
    """The database refused or failed. Credentials and values are not in the message."""

    exit_code = ExitCode.DATABASE


class QueryTimeout(DatabaseError):
    """A statement ran longer than ``--set timeout`` and was cancelled."""


class InternalError(KanonError):
    """A statement contradicts itself: what was judged is not all that there was. A defect; no verdict is given."""

    exit_code = ExitCode.DATABASE


class TemplateError(KanonError):
    """A template is unsafe or outside the portable subset: a defect of kanon_sql, or of a template that was added."""

    exit_code = ExitCode.DATABASE


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a run is refused, by what is known before its first statement.

    Attributes:
        message: what cannot be, why, and what to do instead.
        error: the error that says so.
    """

    message: str
    error: type[SpecError | UnsupportedError] = UnsupportedError


def obstacles_in(check: Callable[[], object]) -> Iterator[Obstacle]:
    """What a check raises, as an obstacle; nothing where it raises nothing."""
    try:
        check()
    except (SpecError, UnsupportedError) as error:
        yield Obstacle(str(error), type(error))


def refuse(obstacles: Iterable[Obstacle]) -> None:
    """Raise one error that lists all obstacles, each once, of the class of the first one; nothing where there are none.

    Raises:
        SpecError: the first obstacle is one of the spec.
        UnsupportedError: the first obstacle is one of what can be done here.
    """
    found = list({item.message: item for item in obstacles}.values())
    if not found:
        return
    if issubclass(found[0].error, SpecError):
        raise SpecError([Problem(item.message) for item in found])
    raise UnsupportedError("\n".join(item.message for item in found))
