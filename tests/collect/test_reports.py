"""Reports as they arrive: each is taken or refused by itself, with one sentence, and none ends the count of the others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloister.collect import Client, Report, check_report, estimate, pack
from cloister.collect.counting import count_reports
from cloister.collect.reports import RefusedReport, SeenIds
from cloister.errors import CloisterError, SourceError, UsageError
from tests.collect.survey import survey

MINE = {"smokes": "yes", "year": 2, "likes": "tea"}


def good() -> dict[str, Any]:
    return Client(survey()).report(MINE).as_dict()


WRONG: dict[str, Any] = {
    "no object": 5,
    "nothing": None,
    "a list": [],
    "no version": {key: value for key, value in good().items() if key != "version"},
    "version 2": {**good(), "version": 2},
    "version true": {**good(), "version": True},
    "version text": {**good(), "version": "1"},
    "another collection": {**good(), "collection": "other"},
    "collection no text": {**good(), "collection": []},
    "other terms": {**good(), "terms": survey(2).terms},
    "no id": {**good(), "report": None},
    "short id": {**good(), "report": "abc"},
    "capitals": {**good(), "report": "A" * 32},
    "id with a line end": {**good(), "report": "a" * 32 + "\n"},
    "more fields": {**good(), "name": "Ann"},
    "seeded": {**good(), "seeded": True},
    "answers no object": {**good(), "answers": "yes"},
    "unknown question": {**good(), "answers": {**good()["answers"], "name": "Ann"}},
    "no answer": {**good(), "answers": {"smokes": "yes"}},
    "outside": {**good(), "answers": {**good()["answers"], "smokes": "maybe"}},
    "blanks": {**good(), "answers": {**good()["answers"], "smokes": " yes"}},
    "a number": {**good(), "answers": {**good()["answers"], "year": 2}},
    "null": {**good(), "answers": {**good()["answers"], "likes": None}},
    "a list as an answer": {**good(), "answers": {**good()["answers"], "smokes": ["yes"]}},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_report_is_refused_in_a_sentence(name: str) -> None:
    """One error with one sentence, which quotes nothing of the report."""
    with pytest.raises(RefusedReport) as refused:
        check_report(WRONG[name], survey())
    assert str(refused.value).endswith(".")
    assert not any(word in str(refused.value) for word in ("Ann", "maybe"))


def test_wrong_ones_do_not_end_the_count(tmp_path: Path) -> None:
    """In a file, among lines that are no JSON, too deep, too wide or empty: all good ones are counted, all others told."""
    ones = [good() for _ in range(50)]
    lines = [json.dumps(each) for each in [*ones, *WRONG.values(), ones[0]]]
    lines += [
        "{",
        "[" * 100_000,
        '{"version": 1, "version": 1}',
        "NaN",
        "\x00",
        '"' + "x" * 10_000 + '"',
        "",
        "   ",
        "9" * 5000,
    ]
    path = tmp_path / "reports.jsonl"
    path.write_bytes("\n".join(lines).encode() + b"\n\xff\xfe\n")
    counted = count_reports(survey(), path)
    assert counted.reports == 50
    assert sum(counted.refused.values()) == len(WRONG) + 1 + 8
    assert counted.refused["a report whose id was there before."] == 1
    assert counted.joint is not None
    assert counted.joint.sum() == 50


def test_every_way_to_hand_reports_in(tmp_path: Path) -> None:
    """Objects, dicts, one report, JSON with one or many, lines, a folder of them, packed, and a table: the same counts."""
    reports = [Client(survey()).report(MINE) for _ in range(30)]
    plain = [report.as_dict() for report in reports]
    (tmp_path / "many.json").write_text(json.dumps(plain))
    (tmp_path / "lines.jsonl").write_text("".join(report.to_json() + "\n" for report in reports))
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    for i, report in enumerate(reports):
        (inbox / f"{i}.json").write_text(report.to_json())
    packed = pack(survey(), tmp_path / "lines.jsonl", tmp_path / "packed.parquet")
    assert packed.reports == 30
    assert not packed.refused
    table = pa.Table.from_pylist([dict(report.answers) for report in reports])
    wanted = count_reports(survey(), reports).joint
    assert wanted is not None
    ways = [
        plain,
        iter(reports),
        tmp_path / "many.json",
        tmp_path / "lines.jsonl",
        str(inbox),
        tmp_path / "packed.parquet",
        table,
        [str(tmp_path / "lines.jsonl")],
    ]
    for way in ways:
        assert np.array_equal(count_reports(survey(), way).joint, wanted)
    assert estimate(survey(), [report.to_json() for report in reports]).reports == 30
    assert estimate(survey(), reports[0].to_json()).reports == 1
    assert count_reports(survey(), reports[0]).reports == 1
    assert count_reports(survey(), []).reports == 0


def test_packed_reports_hold_no_ids_and_their_terms(tmp_path: Path) -> None:
    """One column a question; under other terms they are refused, and values that no client sends are counted as refused."""
    reports = [Client(survey()).report(MINE) for _ in range(20)]
    pack(survey(), reports, tmp_path / "a.parquet")
    assert pq.read_schema(tmp_path / "a.parquet").names == ["smokes", "year", "likes"]
    with pytest.raises(UsageError, match="other terms"):
        estimate(survey(2), tmp_path / "a.parquet")
    table = pa.table({"smokes": ["yes", "maybe", None], "year": ["1", "1", "1"], "likes": ["tea", "tea", "tea"]})
    counted = count_reports(survey(), table)
    assert counted.reports == 1
    assert sum(counted.refused.values()) == 2
    with pytest.raises(CloisterError, match="year"):
        count_reports(survey(), pa.table({"smokes": ["yes"], "likes": ["tea"]}))
    with pytest.raises(UsageError, match="packed already"):
        pack(survey(), tmp_path / "a.parquet", tmp_path / "b.parquet")
    with pytest.raises(UsageError, match=r"\.parquet"):
        pack(survey(), reports, tmp_path / "b.csv")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file is told by name; JSON and packed files are not mixed."""
    with pytest.raises(SourceError, match="cannot be read"):
        count_reports(survey(), tmp_path / "none.jsonl")
    (tmp_path / "a.jsonl").write_text("")
    with pytest.raises(SourceError, match="mixed"):
        count_reports(survey(), [tmp_path / "a.jsonl", tmp_path / "b.parquet"])


def test_hostile_lines_take_no_time(tmp_path: Path) -> None:
    """A line of 200,000 letters with names that are there twice, and thousands of junk lines for a large collection."""
    import time

    from cloister.collect import Collection

    twice = "{" + ",".join(f'"k{i}":1' for i in range(20_000)) + ',"k0":1}'
    (tmp_path / "a.jsonl").write_text(twice + "\n")
    (tmp_path / "a.json").write_text(twice)
    large = Collection("large", {f"q{j}": [f"{j}-{i}" for i in range(1000)] for j in range(20)}, 1)
    (tmp_path / "b.jsonl").write_text(json.dumps({**good(), "collection": "large"}) + "\n")
    with (tmp_path / "b.jsonl").open("a") as lines:
        lines.write((json.dumps({**good(), "collection": "large"}) + "\n") * 5000)
    begin = time.monotonic()
    assert count_reports(survey(), [tmp_path / "a.jsonl", tmp_path / "a.json"]).refused
    assert sum(count_reports(large, tmp_path / "b.jsonl").refused.values()) == 5001
    assert time.monotonic() - begin < 5


def test_an_inbox_with_other_things(tmp_path: Path) -> None:
    """Folders, broken links and hidden files beside reports are left alone; a pipe is no file."""
    import os

    (tmp_path / "r.json").write_text(json.dumps(good()))
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "link.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / ".hidden").write_text("x")
    assert count_reports(survey(), tmp_path).reports == 1
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert count_reports(survey(), tmp_path).reports == 1
    with pytest.raises(SourceError):
        count_reports(survey(), tmp_path / "pipe.jsonl")


def test_marks_are_read_of_folders_and_tables(tmp_path: Path) -> None:
    """Seeded noise and other terms are seen in a file, a folder, a glob, a table, a batch and a reader."""
    from cloister.collect import simulate
    from cloister.collect.packed_reports import write_reports
    from cloister.testing import seeded_noise

    with seeded_noise(1):
        played = simulate(survey(), {"smokes": ["no"] * 9, "year": ["1"] * 9, "likes": ["tea"] * 9})
    (tmp_path / "pk").mkdir()
    write_reports(survey(), played.reports, tmp_path / "pk" / "p.parquet")
    batch = played.reports.to_batches()[0]
    reader = pa.RecordBatchReader.from_batches(played.reports.schema, [batch])
    for way in (
        tmp_path / "pk" / "p.parquet",
        str(tmp_path / "pk"),
        str(tmp_path / "pk" / "*.parquet"),
        batch,
        played.reports,
    ):
        assert estimate(survey(), way).seeded, way
        with pytest.raises(UsageError, match="other terms"):
            estimate(survey(2), way)
    assert estimate(survey(), reader).seeded
    with pytest.raises(UsageError, match="true answers look the same"):
        estimate(survey(), str(tmp_path / "pk"), engine="spark")
    truth = pa.table({"smokes": ["no"], "year": ["1"], "likes": ["tea"]})
    with pytest.raises(UsageError, match="true answers look the same"):
        estimate(survey(), truth)
    plain = estimate(survey(), truth, unmarked=True)
    assert not plain.terms_checked
    assert any("terms" in note for note in plain.release_.notes)


@pytest.mark.parametrize("name", ["t.pq", "t.PARQUET", "t", "x.parquet/t"])
def test_every_file_that_is_read_is_asked(tmp_path: Path, name: str) -> None:
    """True answers beside packed reports, whatever their file is called, are not taken for reports."""
    pack(survey(), [Client(survey()).report(MINE) for _ in range(9)], tmp_path / "r.parquet")
    truth = pa.table({"smokes": ["no"] * 5, "year": ["1"] * 5, "likes": ["tea"] * 5}).cast(
        pq.read_schema(tmp_path / "r.parquet")
    )
    (tmp_path / name).parent.mkdir(exist_ok=True)
    pq.write_table(truth.replace_schema_metadata(None), tmp_path / name)
    with pytest.raises(UsageError, match="true answers look the same"):
        estimate(survey(), tmp_path)


def test_a_name_that_looks_like_a_glob(tmp_path: Path) -> None:
    """The file that is read is the one whose mark is read."""
    pack(survey(), [Client(survey()).report(MINE)], tmp_path / "q1.parquet")
    pq.write_table(pa.table({"smokes": ["no"], "year": ["1"], "likes": ["tea"]}), tmp_path / "q[1].parquet")
    with pytest.raises(UsageError, match="true answers look the same"):
        estimate(survey(), tmp_path / "q[1].parquet")


def test_what_cannot_be_one_lot_of_reports(tmp_path: Path) -> None:
    """A folder of JSON and other files, a list of tables, texts among paths; an iterator of reports is one."""
    reports = [Client(survey()).report(MINE) for _ in range(3)]
    pack(survey(), reports, tmp_path / "r.parquet")
    table = pq.read_table(tmp_path / "r.parquet")
    assert estimate(survey(), iter(reports)).terms_checked
    for wrong in ([table, table], table.to_batches(), [reports[0].to_json(), str(tmp_path / "r.parquet")]):
        with pytest.raises(UsageError):
            estimate(survey(), wrong)
    (tmp_path / "a.jsonl").write_text(reports[0].to_json() + "\n")
    with pytest.raises(SourceError, match="mixed"):
        estimate(survey(), tmp_path)


def test_ids_are_known_again_over_many_batches() -> None:
    """However many there were between, and within one batch; no new id is taken for an old one."""
    seen = SeenIds()
    for start in range(0, 5000, 500):
        assert seen.add([f"{i:032x}" for i in range(start, start + 500)]).all()
    assert not seen.add([f"{i:032x}" for i in range(0, 5000, 7)]).any()
    assert seen.add(["x", "y", "x", f"{3:032x}"]).tolist() == [True, True, False, False]


def test_a_report_object_is_checked_too() -> None:
    """A `Report` that somebody made by hand is held to the same."""
    with pytest.raises(RefusedReport):
        check_report(Report("students", survey().terms, "x", {}), survey())
    with pytest.raises(RefusedReport):
        check_report(Report("students", survey().terms, "x", None), survey())  # type: ignore[arg-type]
