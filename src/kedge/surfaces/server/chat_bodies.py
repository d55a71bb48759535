"""What chat clients send and get: the part of OpenAI's chat completions that a question and its answer need."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from kedge.surfaces.server.bodies import JsonObject, Request
from kedge.surfaces.server.structured import wanted_members

MODEL = "kedge"
"""The model that asks the default collection."""


class TextPart(BaseModel):
    """A piece of a message."""

    model_config = ConfigDict(extra="ignore")
    type: Literal["text"]
    text: str


class Message(BaseModel):
    """One message of the conversation."""

    model_config = ConfigDict(extra="ignore")
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[TextPart] | None = None

    def text(self) -> str:
        """What it says."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    """What a stream tells beside the answer."""

    model_config = ConfigDict(extra="ignore")
    include_usage: bool = False


class NamedSchema(BaseModel):
    """A schema of the client's."""

    model_config = ConfigDict(extra="ignore")
    schema_: dict[str, Any] | None = Field(None, alias="schema")


class ResponseFormat(BaseModel):
    """Text, or the members of an answer as JSON."""

    model_config = ConfigDict(extra="ignore")
    type: str = "text"
    json_schema: NamedSchema | None = None

    def members(self) -> list[str] | None:
        """As `wanted_members`."""
        return wanted_members(self.type, self.json_schema.schema_ if self.json_schema else None)


class Model(BaseModel):
    """A collection as chat clients list it."""

    id: str
    object: Literal["model"] = "model"
    created: int = Field(description="Seconds since 1970.")
    owned_by: str = "kedge"


class ModelList(BaseModel):
    """All that can be asked."""

    object: Literal["list"] = "list"
    data: list[Model]


class ChatMessage(BaseModel):
    """What the answer says."""

    role: Literal["assistant"]
    content: str
    refusal: None = None


class ChatChoice(BaseModel):
    """The one answer."""

    index: int
    message: ChatMessage
    finish_reason: Literal["stop"]
    logprobs: None = None


class ChatUsage(BaseModel):
    """Words and signs."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    """An answer as chat clients read it, with what Kedge adds."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    citations: list[dict[str, Any]] | None = Field(None, description="As in the answer of /api/query.")
    confidence: str | None = None
    evidence_probability: float | None = None
    refusal: dict[str, Any] | None = Field(None, description="What was looked for, and what came nearest.")
    resolved_question: str | None = Field(None, description="How a follow-up was understood.")


class ChatRequest(Request):
    """A chat completion as OpenAI's clients ask for it. How a model samples (`temperature` …) has no meaning here."""

    model_config = ConfigDict(extra="ignore")
    model: str = Field(MODEL, description="`kedge`, or `kedge/NAME` for a collection.")
    messages: list[Message] = Field(min_length=1, description="The last user message is the question.")
    stream: bool = Field(False, description="Send the answer in chunks.")
    stream_options: StreamOptions | None = None
    n: int = Field(1, description="Only 1 is possible.")
    tools: list[dict[str, Any]] | None = Field(None, description="None can be used; with `tool_choice` none, accepted.")
    tool_choice: Any = None
    response_format: ResponseFormat | None = Field(
        None,
        description="`text`; `json_object` for the members of an answer; `json_schema` for some of them by name.",
    )
    filter: JsonObject | list[str] = Field(
        default_factory=dict, description="Conditions on passages, as `POST /api/query` takes them; not of OpenAI."
    )
