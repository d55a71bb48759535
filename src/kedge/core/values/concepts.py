"""The concept graph: what documents talk about, and how it hangs together."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Predicate(StrEnum):
    """The seven relations between concepts."""

    PREREQUISITE = "PREREQUISITE"
    RELATED_TO = "RELATED_TO"
    COMPARED_TO = "COMPARED_TO"
    PART_OF = "PART_OF"
    USES = "USES"
    IMPLEMENTS = "IMPLEMENTS"
    EXAMPLE_OF = "EXAMPLE_OF"


@dataclass(frozen=True, slots=True)
class Concept:
    """A thing that documents talk about. Its key is unique in its collection."""

    key: str
    """Normalised name (`kedge.text.concepts.concept_key`)."""
    name: str
    """As first written."""
    aliases: tuple[str, ...] = ()
    description: str = ""
    category: str = ""
    difficulty: str = ""
    tags: tuple[str, ...] = ()


class MentionKind(StrEnum):
    """How a passage is tied to a concept; the last two are D-06's CODE_EXAMPLE_FOR and FORMULA_FOR."""

    DISCUSSES = "DISCUSSES"
    CODE_EXAMPLE_FOR = "CODE_EXAMPLE_FOR"
    FORMULA_FOR = "FORMULA_FOR"


class Role(StrEnum):
    """How a passage speaks of a concept, strongest first. Stored on the edge from passage to concept."""

    TITLE = "title"
    """The passage's document is called so."""
    LEAD = "lead"
    """The passage opens with it as its subject, as definitions and encyclopedia articles do."""
    SUBJECT = "subject"
    """A later sentence opens with it."""
    MENTION = "mention"
    """It is named somewhere in a sentence."""
    GENERIC = "generic"
    """A known title occurs in lower case, so it may be a common phrase."""

    @property
    def place(self) -> int:
        """0 for the strongest."""
        return _ROLES.index(self)


_ROLES = list(Role)


@dataclass(frozen=True, slots=True)
class PassageConcept:
    """Edge from a passage to a concept it mentions."""

    passage_id: str
    concept_key: str
    kind: MentionKind = MentionKind.DISCUSSES
    frequency: int = 1
    role: Role = Role.MENTION


@dataclass(frozen=True, slots=True)
class Triple:
    """A typed relation between two concepts, found in one passage."""

    subject: str
    """Key of a concept."""
    predicate: Predicate
    object: str
    """Key of a concept."""
    confidence: float
    """At least 0.5, else it is not kept."""
    passage_id: str
    """The passage that says so."""
    comparison: str = ""
    """COMPARED_TO only: the sentence that compares."""
    use_case: str = ""
    """COMPARED_TO only: when to take which."""


@dataclass(frozen=True, slots=True)
class GraphChunk:
    """A passage as the graph knows it (D-05)."""

    passage_id: str
    document_id: str
    hash: str
    preview: str
    """First 200 characters."""
    index: int
    token_count: int
    has_code: bool
    has_formula: bool
    has_table: bool
    next_passage_id: str | None = None


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """A document as the graph knows it (D-05), with the concepts its title names and those it mentions."""

    document_id: str
    url: str
    title: str
    format: str
    title_keys: tuple[str, ...]
    """Keys of the concepts this document is about: its title and the title's aliases."""
    author: str | None = None
    chunk_count: int = 0
    """Passages of the version that was read last."""
    status: str = "active"
    """As the catalog has it (D-26): `pending` while it is built, `active`, `archived`."""
    mentions: tuple[tuple[str, int, float], ...] = ()
    """(concept key, frequency, relevance 0–1) of the MENTIONS edges."""


@dataclass(frozen=True, slots=True)
class GraphBatch:
    """All that one or more document versions add to the graph. Writing it twice changes nothing."""

    documents: tuple[GraphDocument, ...] = ()
    chunks: tuple[GraphChunk, ...] = ()
    concepts: tuple[Concept, ...] = ()
    mentions: tuple[PassageConcept, ...] = ()
    triples: tuple[Triple, ...] = ()
