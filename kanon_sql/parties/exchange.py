"""What crosses between parties: every message is written down, so that what each learns can be stated and tested."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from secrets import token_bytes
from typing import Any, TypedDict

from kanon_sql.spec import Count, Text

__all__ = ["MEDIATOR", "MOST_TOKENS", "Exchanged", "Message", "Transcript", "fresh_key"]

MEDIATOR = "mediator"
"""Who pools what the parties send: the process that runs the protocol. It has no database."""

MOST_TOKENS = 200_000
"""The most tokens that a party sends in one message."""


def fresh_key() -> bytes:
    """A key of 256 bits from the operating system, for HMAC-SHA256. It is kept in memory and never written anywhere."""
    return token_bytes(32)


Exchanged = TypedDict(
    "Exchanged", {"from": Text, "to": Text, "what": Text, "messages": Count, "items": Count, "bytes": Count}
)
Exchanged.__doc__ = """What one party sent another, of one kind.

Attributes:
    from: the sender.
    to: the receiver.
    what: what was sent.
    messages: how many messages there were.
    items: tokens with what belongs to each, or rows.
    bytes: their size as text.
"""


@dataclass(frozen=True)
class Message:
    """What one party sent to another.

    Attributes:
        sender, receiver: a party's name, or :data:`MEDIATOR`.
        what: what it consists of, in words.
        items: how many tokens, counts or rows it has.
        bytes: its size as text.
    """

    sender: str
    receiver: str
    what: str
    items: int
    bytes: int


@dataclass
class Transcript:
    """All messages of a run, in order. What is in them is not kept.

    Attributes:
        messages: them.
    """

    messages: list[Message] = field(default_factory=list)

    def add(self, sender: str, receiver: str, what: str, items: Iterable[Sequence[Any]]) -> None:
        """Note a message.

        Args:
            sender: whose it is.
            receiver: who gets it.
            what: what it consists of.
            items: it; only their number and their size are kept.
        """
        listed = list(items)
        size = len("".join(str(cell) for item in listed for cell in item).encode())
        self.messages.append(Message(sender, receiver, what, len(listed), size))

    def totals(self) -> list[Exchanged]:
        """Per sender, receiver and kind of message: how many, and what they have together."""
        found: dict[tuple[str, str, str], list[int]] = {}
        for message in self.messages:
            total = found.setdefault((message.sender, message.receiver, message.what), [0, 0, 0])
            for place, number in enumerate((1, message.items, message.bytes)):
                total[place] += number
        return [
            {"from": sender, "to": receiver, "what": what, "messages": count, "items": items, "bytes": size}
            for (sender, receiver, what), (count, items, size) in found.items()
        ]
