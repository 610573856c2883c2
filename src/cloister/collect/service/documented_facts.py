"""What the API takes and gives, for its OpenAPI document: names, types and an example of each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from cloister.collect.collection import ID

__all__ = [
    "BatchResult",
    "Batch",
    "ClusterFacts",
    "CodesFacts",
    "CollectionFacts",
    "CollectionId",
    "DeletionFacts",
    "EstimateFacts",
    "HealthFacts",
    "HostedFacts",
    "NewCodes",
    "NewCollection",
    "PostedReport",
    "StoredReport",
    "body_of",
]

HEX = "^[0-9a-f]{32}$"
REPORT: dict[str, Any] = {
    "version": 1,
    "collection": "students-2026",
    "terms": "5d3a0c4f1b2e6a798c0d1e2f3a4b5c6d",
    "report": "9f86d081884c7d659a2feaa0c55ad015",
    "answers": {"smokes": "no", "year": "2"},
}
FILE: dict[str, Any] = {
    "id": "students-2026",
    "collector": "Student union",
    "questions": {"smokes": {"text": "Do you smoke?", "domain": ["no", "yes"], "epsilon": "1"}},
}


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """What OpenAPI says of a request's body that the service reads by itself."""
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": {"$ref": ref(model)}}}}}


def ref(model: type[BaseModel]) -> str:
    """Where the schema of a model stands in the OpenAPI document."""
    return f"#/components/schemas/{model.__name__}"


class Strict(BaseModel):
    """An object without other fields than its own."""

    model_config = ConfigDict(extra="forbid")


class HealthFacts(BaseModel):
    """That the service answers and its store does."""

    status: Literal["ok"]


class QuestionFacts(BaseModel):
    """A question, as a client needs it."""

    name: str
    text: str
    values: list[str] = Field(description='what it may be answered with, in this order; "" is no answer')
    other: bool = Field(description='whether the last value, "(other)", stands for whatever is not listed')
    epsilon: str = Field(description="what an answer costs, as a fraction", examples=["1", "1/2"])
    protocol: Literal["randomized-response", "unary"]


class CollectionFacts(BaseModel):
    """A collection, as everybody may read it."""

    id: str
    title: str
    collector: str
    opens: str | None
    closes: str | None
    state: Literal["open", "not yet", "closed"]
    participation: Literal["open", "invited"]
    terms: str = Field(description="a hash of the questions, values, epsilons and protocols; it stands in each report")
    epsilon: str = Field(description="what a report costs in all, as a fraction")
    questions: list[QuestionFacts]


class ReportFacts(Strict):
    """A report: perturbed answers."""

    version: Literal[1]
    collection: str
    terms: str
    report: str = Field(pattern=HEX, description="128 random bits, drawn once by a participant for this collection")
    answers: dict[str, str]


class PostedReport(Strict):
    """What a client sends: a report, and the code of an invitation where one is needed."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"report": REPORT}})

    code: str = Field(default="", min_length=26, max_length=64, description="of an invitation")
    report: ReportFacts


class Batch(Strict):
    """Several reports at once."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"reports": [{"report": REPORT}]}})

    reports: list[Any] = Field(min_length=1, max_length=1_000, description="each as it is sent alone, and judged by itself")


class StoredReport(BaseModel):
    """That a report is on the disk."""

    report: str
    status: Literal["stored", "stored before"]


class BatchedReport(BaseModel):
    """What became of one report of a batch."""

    report: str | None = Field(description="its id; null where it has none")
    status: int = Field(description="201: it is on the disk; else the status that it would have had alone")
    type: str | None = None
    detail: str | None = None


class BatchResult(BaseModel):
    """What became of a batch."""

    stored: int = Field(description="how many of its reports are on the disk now")
    results: list[BatchedReport] = Field(description="in the order of the reports")


class NewCollection(Strict):
    """A collection to host: its public file, and who may answer."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"example": {"collection": FILE, "participation": "open", "wanted": 5000}}
    )

    collection: dict[str, Any] = Field(description="the public file of a collection, as JSON")
    participation: Literal["open", "invited"] = "open"
    wanted: int | None = Field(default=None, ge=1, le=10**9, description="how many reports are hoped for")


class HostedFacts(BaseModel):
    """A collection, as its collector sees it."""

    id: str
    title: str
    state: Literal["open", "not yet", "closed"]
    participation: Literal["open", "invited"]
    wanted: int | None
    reports: int
    invitations_left: int
    terms: str
    is_settled: bool = Field(
        description="closed, and the store was rewritten so that it tells nothing of the order of arrival"
    )


class DeletionFacts(BaseModel):
    """That a collection is deleted, and that the files of the store still hold it."""

    detail: str = Field(description="one sentence for people")


class NewCodes(Strict):
    """How many invitations are wanted."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"example": {"count": 100}})

    count: int = Field(ge=1, le=10_000)


class CodesFacts(BaseModel):
    """Codes of invitations: they are shown once."""

    codes: list[str]


class EstimateFacts(BaseModel):
    """What the reports say, as far as noise lets it be seen."""

    collection: str
    reports: int
    method: str
    tables: list[dict[str, Any]] = Field(description="questions, and rows with values, count, share and standard_error")
    release: dict[str, Any] = Field(description="the certificate")


class ClusterFacts(BaseModel):
    """k-modes of the estimated distribution."""

    modes: list[dict[str, str]]
    sizes: list[float]
    cost: float
    release: dict[str, Any]


CollectionId = Annotated[str, Field(pattern=f"^{ID.pattern}$", examples=["students-2026"])]
