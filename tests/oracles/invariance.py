"""m-invariance in plain Python: what a sequence of releases must be, whoever made it.

Nothing here knows how classes are made. A release is its published rows, and who is in which class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

Person = tuple[int | None, str, str]
"""An age, a postal code and a disease."""

TREE = {"94": ["941", "942"], "95": ["951"]}
"""The hierarchy of the postal codes: two levels, and the top."""


def age_labels(age: int | None) -> list[str | None]:
    """By tens, by forties, and the top; NULL is a value of its own."""
    if age is None:
        return [None, None, None, "*"]
    return [str(age), *(f"[{age // width * width}, {age // width * width + width})" for width in (10, 40)), "*"]


def zip_labels(code: str) -> list[str | None]:
    return [code, next(group for group, codes in TREE.items() if code in codes), "*"]


def in_range(label: str | None, age: int | None) -> bool:
    """Whether a range holds an age."""
    if label is None or age is None:
        return (label is None and age is None) or (label is not None and label.endswith(" or NULL"))
    values = label.removesuffix(" or NULL")
    if values == "not NULL":
        return True
    if values.startswith(("<= ", ">= ")):
        return age <= int(values[3:]) if values[0] == "<" else age >= int(values[3:])
    if values.startswith("[") and values.endswith("]"):
        low, high = map(int, values[1:-1].split(", "))
        return low <= age <= high
    return values == str(age)


def covers(labels: tuple[Any, Any], person: Person) -> bool:
    """Whether both labels stand on the paths of a person's values; or that of the age is a range that holds it."""
    return (labels[0] in age_labels(person[0]) or in_range(labels[0], person[0])) and labels[1] in zip_labels(person[1])


@dataclass
class Released:
    """What has been released so far.

    Attributes:
        m: what was asked.
        values: person -> the set of sensitive values of the class that they were ever in.
    """

    m: int
    values: dict[str, frozenset[str]] = field(default_factory=dict)

    def add(
        self,
        people: Mapping[str, Person],
        rows: Sequence[tuple[int, Any, Any, str, int]],
        classes: Mapping[str, int],
    ) -> None:
        """One more release: each assertion is a part of the definition.

        Args:
            people: who is in the table.
            rows: the release: class, age, postal code, disease, counterfeits of the class.
            classes: person -> the number of their class.
        """
        assert classes.keys() == people.keys(), "everybody is released, and nobody else"
        by_class: dict[int, list[tuple[Any, Any, str, int]]] = {}
        for number, *row in rows:
            by_class.setdefault(number, []).append(tuple(row))  # type: ignore[arg-type]
        members: dict[int, list[str]] = {}
        for name, number in classes.items():
            members.setdefault(number, []).append(name)
        assert members.keys() == by_class.keys(), "no class is of counterfeits alone"
        for number, own in by_class.items():
            diseases = [disease for _, _, disease, _ in own]
            assert len(set(diseases)) == len(diseases) >= self.m, "m-unique"
            ((labels, counterfeits),) = {((age, code), count) for age, code, _, count in own}
            assert counterfeits == len(own) - len(members[number])
            assert Counter(people[name][2] for name in members[number]) <= Counter(diseases)
            covered = sum(covers(labels, person) for person in people.values())
            assert all(covers(labels, people[name]) for name in members[number])
            assert covered >= min(len(own), len(people)), "labels cover as many persons as the class has rows"
            for name in members[number]:
                assert self.values.setdefault(name, frozenset(diseases)) == frozenset(diseases), "m-invariant"

    def fewest_counterfeits(self, people: Mapping[str, Person]) -> int | None:
        """How few will do, by trying all numbers of new persons in buckets; None where there is no release."""
        buckets: dict[frozenset[str], Counter[str]] = {}
        new: Counter[str] = Counter()
        for name, (_, _, disease) in people.items():
            if name in self.values:
                buckets.setdefault(self.values[name], Counter())[disease] += 1
            else:
                new[disease] += 1
        missing: Counter[str] = Counter()
        for values, present in buckets.items():
            if set(present) - values:
                return None
            missing.update({value: max(present.values()) - present[value] for value in values})
        best = None
        for taken in product(*(range(min(count, missing[value]) + 1) for value, count in new.items())):
            left = [count - some for count, some in zip(new.values(), taken, strict=True)]
            if all(self.m * count <= sum(left) for count in left):
                lacking = sum(missing.values()) - sum(taken)
                best = lacking if best is None else min(best, lacking)
        return best
