"""The catalog's contract: conversations, where it keeps any (`CanKeepConversations`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kedge.core.values import Citation, KeptConversation, KeptTurn
from kedge.stores.catalog.ports import CanKeepConversations, Catalog, Conversations
from kedge.testing.catalog.opened import OpensCatalog, on_catalog
from kedge.testing.catalog.sample import HERE, THEN, THERE

MINE = KeptConversation("c1", HERE.tenant, "me", "Anchors", THEN, THEN)
LATER = replace(MINE, id="c2", name="Sails", updated_at=THEN + timedelta(hours=1))
OTHERS = (replace(MINE, id="c3", user_hash="you"), replace(MINE, id="c4", tenant=THERE.tenant))
CITED = Citation("[1]", "p1", "", "Anchors", "a.md", "A kedge is light.", 3, 20, 0.9, page=2)
TURN = KeptTurn("t1", 1, "What is a kedge?", "sea", THEN, {"document_id": ["d1"]})
ANSWERED = replace(TURN, content="A kedge is light. [1]", citations=(CITED,), metadata={"confidence": "high"})


def kept(catalog: Catalog) -> Conversations:
    if not isinstance(catalog, CanKeepConversations):
        pytest.skip("this catalog keeps no conversations")
    return catalog.conversations


class ConversationsContract(OpensCatalog):
    """What was said is given back, to who said it."""

    @on_catalog
    async def test_a_conversation_comes_back_to_its_user_alone(self, catalog: Catalog) -> None:
        found = kept(catalog)
        for one in (MINE, LATER, *OTHERS):
            await found.put(one)
        assert await found.page(HERE.tenant, "me") == [LATER, MINE]
        assert await found.page(HERE.tenant, "me", limit=1, offset=1) == [MINE]
        assert await found.get(HERE.tenant, "me", "c1") == MINE
        for tenant, user in ((HERE.tenant, "you"), (THERE.tenant, "me")):
            assert await found.get(tenant, user, "c1") is None
            assert await found.delete(tenant, user, "c1") == []
        renamed = replace(MINE, name="Kedges", updated_at=THEN + timedelta(hours=2))
        await found.put(replace(renamed, created_at=THEN + timedelta(days=1)))
        assert await found.page(HERE.tenant, "me") == [renamed, LATER]

    @on_catalog
    async def test_turns_are_kept_in_order_and_replaced(self, catalog: Catalog) -> None:
        found = kept(catalog)
        await found.put(MINE)
        second = replace(TURN, id="t0", number=2, question="And a bower?")
        used = replace(MINE, updated_at=THEN + timedelta(minutes=5))
        for turn in (second, TURN, ANSWERED):
            assert await found.put_turn(used, turn)
        assert await found.turns(MINE) == [ANSWERED, second]
        assert await found.get(HERE.tenant, "me", "c1") == replace(used, turn_count=2)
        stranger = replace(MINE, user_hash="you")
        assert await found.turns(stranger) == []
        assert not await found.put_turn(stranger, TURN)
        assert not await found.delete_turn(stranger, "t1")
        assert (await found.delete_turn(MINE, "t1"), await found.delete_turn(MINE, "t1")) == (True, False)
        assert await found.turns(MINE) == [second]

    @on_catalog
    async def test_conversations_are_forgotten_by_name_user_and_age(self, catalog: Catalog) -> None:
        found = kept(catalog)
        for one in (MINE, LATER, *OTHERS):
            await found.put(one)
            await found.put_turn(one, replace(TURN, id=f"turn of {one.id}"))
        assert await found.delete(HERE.tenant, "me", "c1") == ["c1"]
        assert not await found.put_turn(MINE, TURN)
        assert await found.turns(MINE) == []
        assert await found.sweep(THEN + timedelta(minutes=30)) == 2
        assert [one.id for one in await found.page(HERE.tenant, "me")] == ["c2"]
        assert await found.delete(HERE.tenant, "me") == ["c2"]
        assert await found.page(HERE.tenant, "me") == []
