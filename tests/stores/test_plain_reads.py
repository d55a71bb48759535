"""Reads without SQLAlchemy's way there give what the statement gives."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import (
    BindParameter,
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Text,
    bindparam,
    create_engine,
    insert,
    or_,
    select,
)

from kedge.stores.catalog.sql.plain import PlainRead

NAMES = Table(
    "names", MetaData(), Column("seq", Integer, primary_key=True), Column("name", Text), Column("whose", Text)
)
_SOME: BindParameter[Any] = bindparam("some", expanding=True)
STATEMENT = select(NAMES.c.name, NAMES.c.seq).where(
    NAMES.c.whose == bindparam("whose"), or_(NAMES.c.seq.in_(_SOME), NAMES.c.name.in_(_SOME)), NAMES.c.seq < 1000
)


@pytest.fixture
def connection() -> Connection:
    engine = create_engine("sqlite://")
    NAMES.metadata.create_all(engine)
    found = engine.connect()
    rows = [{"seq": seq, "name": f"it's :{seq}", "whose": "a" if seq % 3 else "b"} for seq in range(600)]
    found.execute(insert(NAMES), rows)
    return found


@pytest.mark.parametrize("some", [[], [1], [1, 2, 4], list(range(17)), ["it's :5", "it's :9"], list(range(500))])
def test_the_rows_are_those_of_the_statement(connection: Connection, some: list[object]) -> None:
    read = PlainRead(STATEMENT)
    for whose in ("a", "b", "nobody"):
        wanted = connection.execute(STATEMENT, {"some": some, "whose": whose}).all()
        assert sorted(read.rows(connection, some, whose=whose)) == sorted(map(tuple, wanted))
