"""What may be passed on of a database's own message: nothing but words that were known before the data was read.

A function of a user's can raise any error with any text, and a value that is cast to a name is reported as one
("relation Ada does not exist"). So neither an error's code nor its origin tells whether its text holds a value. Its
words do: each must be a word of the server's own, or of the statement that it is about, whose literals do not count.
"""

from __future__ import annotations

import re
from dataclasses import replace

from kanon_sql.sql import Statement

__all__ = ["without_values"]

_WORD = re.compile(r"[\w$]+")

_SERVERS = frozenset(
    """
    a about access affected aggregate aliases all allowed already alter ambiguous an and another any are argument
    arguments array as at attempt be because been bigint bit bool boolean both but by bytea call cannot cast catalog
    change char character characters clause collation collations column columns combination command compatible
    connection constraint content contexts convert could create created current data database databases date
    datetime decimal declared default defined definition delete denied depend depends detected different disk do
    does doesn double drop dropped duplicate enforce engine enough error errors exceed exceeded execute executed
    exist existing exists expected expression field file files find float float32 float64 for foreign found from
    full function functions given grant grants group has have having hint identifier identify illegal image implicit
    in incorrect index insert int int16 int32 int64 int8 integer into invalid is it its json jsonb key kind lacks
    language level limit list load lock locked long longer longtext malformed match matched materialized maximum may
    memory mix mode modified modify module must name names nchar near necessary need needs no nor not null nullable
    numeric object of off on one only open operation operator option or order ordering out owner parameter part
    parts path permission policy precision primary privilege privileges procedure query reached read readonly real
    record recursive refer reference referenced references relation relations release rename require required
    requires restricted rights role row rows run running same schema security select selected sequence server
    session set setting settings several should size smallint some specified sql statement storage string subquery
    such super supported syntax system t table tables take takes temporary text than that the there these this time
    timed timestamp tinyint to too transaction transactions trigger try type types uint16 uint32 uint64 uint8 unable
    unambiguously union unique unknown unresolved unsupported update usage use used user using uuid value values
    varchar varying version view views was when where which while with within without would write writing written
    wrong you your zone
    """.split()
)
"""Words of the messages that name tables, columns, types, rights and limits."""


def without_values(text: str, statement: Statement | None, known: str = "") -> str | None:
    """A database's message with its numbers hidden; None unless every word is the server's own or a name that was sent.

    Args:
        text: the message, in English; one in another language is not passed on.
        statement: what was sent last, whose literals do not count.
        known: other names, such as that of the database.
    """
    names = {word.casefold() for word in _WORD.findall(known)}
    if statement is not None:
        plain = "(" not in statement.users  # the name of a table, and no SQL of a user's
        shown = replace(statement, users="") if plain else statement
        names |= {word.casefold() for word in _WORD.findall(shown.redacted)}
    words = _WORD.findall(text)
    if not _WORD.sub("", text).isascii() or any(
        not word.isdecimal() and word.casefold() not in _SERVERS | names for word in words
    ):
        return None
    return _WORD.sub(lambda word: "?" if word.group().isdecimal() else word.group(), text)
