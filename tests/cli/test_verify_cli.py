"""``cloister verify``: what commands wrote verifies until it is changed."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger
from cloister.privacy.release import Release
from cloister.privacy.signing import host_key
from tests.privacy.forgery import forge, forger


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


def tabulate_levels(folder: Path, out: Path, *words: object) -> None:
    """A small private table."""
    schema = folder / "students.toml"
    run("tabulate", folder / "students.csv", "--by", "level", "--epsilon", 1, "--schema", schema, "--out", out, *words)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".json"])
def test_a_table_verifies_until_it_is_changed(folder: Path, suffix: str) -> None:
    """Whatever its format, a table is verified by its own name, and one changed number is seen."""
    out = folder / f"verified{suffix}"
    tabulate_levels(folder, out)
    assert "steps add up" in run("verify", out)
    if suffix == ".parquet":
        table = pq.read_table(out)
        changed = table.set_column(1, "count", pa.array([0.0, *table["count"].to_pylist()[1:]]))
        pq.write_table(changed.replace_schema_metadata(table.schema.metadata), out)
    else:
        count = str(
            next(iter(csv.read_csv(out).to_pylist() if suffix == ".csv" else json.loads(out.read_text())["rows"]))["count"]
        )
        out.write_text(out.read_text().replace(count, "1.5", 1))
    assert "was changed" in run("verify", out, code=5)


def test_a_synopsis_verifies_by_its_own_name(folder: Path) -> None:
    """The certificate inside a synopsis file is checked against its cells."""
    out = folder / "verified.synopsis.parquet"
    run("synopsis", folder / "points.csv", "--columns", "x,y", "--bounds", "0,1", "--epsilon", 1, "--out", out)
    assert "steps add up" in run("verify", out)


def test_what_a_certificate_is_not_about_does_not_verify(folder: Path) -> None:
    """A certificate beside another file, a file more in a folder, a synopsis with another grid, a key that stands twice."""
    table = folder / "t.csv"
    tabulate_levels(folder, table)
    (folder / "other.csv").write_text("count\n1\n")
    (folder / "other.csv.release.json").write_text((folder / "t.csv.release.json").read_text())
    assert "other.csv is not t.csv, which the certificate covers" in run("verify", folder / "other.csv", code=5)

    parts = folder / "parts.parquet"  # as Spark writes one
    parts.mkdir()
    (parts / "part-0").write_text("rows")
    digest = hashlib.sha256(b"rows").hexdigest()
    certificate = Release.from_json((folder / "t.csv.release.json").read_text())
    named = dataclasses.replace(certificate, kind="rows", files={"parts.parquet/part-0": digest}).to_json()
    (folder / "parts.parquet.release.json").write_text(named)
    assert "steps add up" in run("verify", parts)
    (parts / "part-1").write_text("more rows")
    for given in (parts, folder / "parts.parquet.release.json"):
        assert "parts.parquet/part-1 is in the folder, and the certificate does not list it" in run("verify", given, code=5)

    made = folder / "s.parquet"
    run("synopsis", folder / "points.csv", "--columns", "x,y", "--bounds", "0,100", "--epsilon", 1, "--out", made)
    cells = pq.read_table(made)
    facts = cells.schema.metadata[b"cloister.synopsis"].replace(b'"name": "x"', b'"name": "z"')
    pq.write_table(cells.replace_schema_metadata({**cells.schema.metadata, b"cloister.synopsis": facts}), made)
    assert "was changed" in run("verify", made, code=5)

    rows = folder / "t.json"
    tabulate_levels(folder, rows)
    rows.write_text(rows.read_text().replace('"count":', '"count": 9, "count":', 1))
    assert "is there twice" in run("verify", rows, code=2)


@pytest.mark.parametrize("content", ["[]", "5", '{"release": {}, "rows": 5}', "[" * 100_000, "", "{"])
def test_foreign_files_are_refused_in_a_sentence(folder: Path, content: str) -> None:
    """Whatever a file holds, verify says what it wants."""
    for name in ("x.json", "release.json", "x.parquet", "x.csv"):
        (folder / name).write_text(content)
        assert "Give" in run("verify", folder / name, code=2)


def test_the_folder_where_somebody_stands_is_verified(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.` is a folder that a command wrote, one with its certificate beside it, or none of them; the root has no name."""
    table = folder / "t.csv"
    tabulate_levels(folder, table)
    certificate = Release.from_json((folder / "t.csv.release.json").read_text())
    for where, names in ((folder / "written", ["release.json"]), (folder / "beside", [])):
        where.mkdir()
        for name in names:
            (where / name).write_text(dataclasses.replace(certificate, files={}).to_json())
    (folder / "beside" / "part-0").write_text("rows")
    files = {"beside/part-0": hashlib.sha256(b"rows").hexdigest()}
    (folder / "beside.release.json").write_text(dataclasses.replace(certificate, kind="rows", files=files).to_json())
    for name in ("written", "beside"):
        monkeypatch.chdir(folder / name)
        assert "steps add up" in run("verify", ".")
    for nothing in ("..", "/"):
        assert "has no certificate: no release.json is in it" in " ".join(run("verify", nothing, code=2).split())


def test_a_file_of_a_folder_is_verified_with_its_folder(folder: Path) -> None:
    """`verify clusters/centers.csv` said that there is no certificate, though it stands right there."""
    out = cluster_points(folder)
    told = " ".join(run("verify", out / "centers.csv", code=2).split())
    assert "is part of a release. Give its folder, where release.json stands." in told


def cluster_points(folder: Path, *words: object) -> Path:
    """Clusters of a table that has an account in the ledger `ledger.sqlite`, with labels for the holder."""
    out, ledger = folder / "clusters", folder / "ledger.sqlite"
    run("ledger", "create", "points", "--epsilon", 3, "--ledger", ledger)
    access = ("--table", "points", "--ledger", ledger)
    bounds = ("--columns", "x,y", "--bounds", "0,100")
    run("cluster", folder / "points.csv", *bounds, "--k", 2, "--epsilon", 1, *access, "--out", out, *words)
    return out


def test_verify_says_what_it_checked(folder: Path) -> None:
    """Consistent, signed by whom, in the ledger: for people and for programs."""
    out, ledger = cluster_points(folder, "--labels"), folder / "ledger.sqlite"
    key = host_key().public
    alone = run("verify", out)
    assert f"Signed by {key}, the key of this host" in alone
    assert "unknown key" not in alone
    assert "Consistent with itself, and nobody else was asked." in alone
    assert "the key that you gave" in run("verify", out, "--key", key)
    assert 'entry 1 of table "points" is this release' in run("verify", out, "--ledger", ledger)
    assert json.loads(run("verify", out, "--ledger", ledger, "--json")) == {
        "verified": True,
        "consistent": True,
        "files": ["centers.csv"],
        "guarantee": "epsilon 1, add-remove neighbours, per row",
        "status": "private, ledgered",
        "checked": "clusters",
        "certificate": str(out / "release.json"),
        "signed": True,
        "signer": key,
        "signer_known_by": "ledger",
        "in_ledger": str(ledger),
        "origin_checked": True,
    }
    told = json.loads(run("verify", out, "--json"))
    assert (told["signer_known_by"], told["origin_checked"]) == ("this host", False)
    assert "signed by another key" in run("verify", out, "--key", forger().public, code=5)
    assert "cloister ledger key" in run("verify", out, "--key", "mine", code=2)


def test_labels_leave_the_release_in_the_ledger(folder: Path) -> None:
    """With --labels the ledger still holds what the certificate says; the labels themselves may stay behind."""
    out = cluster_points(folder, "--labels")
    (entry, labels) = Ledger(folder / "ledger.sqlite").entries("points")
    assert entry.release_hash == json.loads((out / "release.json").read_text())["content"]
    assert (labels.kind, labels.purpose) == ("holder", "labels")
    (out / "labels.parquet").unlink()
    assert "is this release" in run("verify", out, "--ledger", folder / "ledger.sqlite")


def test_a_file_more_in_the_folder_does_not_verify(folder: Path) -> None:
    """By the name of the folder or of its certificate: what is not listed may be anything."""
    out = cluster_points(folder)
    run("verify", out)
    (out / "rows.csv").write_text("x,y\n1,2\n")
    for name in (out, out / "release.json"):
        assert "rows.csv is in the folder, and the certificate does not list it" in run("verify", name, code=5)


def test_nothing_hides_in_the_folder_of_a_release(folder: Path) -> None:
    """Hidden files and folders, links, checksums that are none, and a certificate under another name."""
    out, secret = cluster_points(folder), folder / "secret"
    secret.mkdir()
    (secret / "rows.csv").write_text("x,y\n1,2\n")
    renamed = out / "groups.release.json"
    (out / "release.json").rename(renamed)
    run("verify", renamed)
    plants: dict[str, Callable[[Path], object]] = {
        ".rows.csv": lambda path: path.write_text("x,y\n"),
        ".rows/rows.csv": lambda path: (path.parent.mkdir(), path.write_text("x,y\n")),
        "linked": lambda path: path.symlink_to(secret),
        ".linked": lambda path: path.symlink_to(secret / "rows.csv"),
        "broken": lambda path: path.symlink_to(secret / "none"),
        ".centers.csv.crc": lambda path: path.write_text("x,y\n1,2\n"),
        ".none.crc": lambda path: path.write_bytes(b"crc\0\0\0\x02\0"),
    }
    for name, plant in plants.items():
        plant(out / name)
        assert f"{name} is in the folder, and the certificate does not list it" in run("verify", renamed, code=5)
        (out / name).unlink()
        if "/" in name:
            (out / name).parent.rmdir()


@pytest.mark.parametrize("block", [1, 512])
def test_checksums_of_spark_hold_nothing_of_their_own(folder: Path, block: int) -> None:
    """Four bytes a block that are not the CRC-32 of it would carry rows out; so would a block for each byte."""
    out = cluster_points(folder)
    content, path = (out / "centers.csv").read_bytes(), out / ".centers.csv.crc"
    blocks = [content[start : start + block] for start in range(0, len(content), block)]
    head = b"crc\0" + block.to_bytes(4, "big")
    path.write_bytes(head + b"".join(b"rows" for _ in blocks))
    assert f"{path.name} is in the folder, and the certificate does not list it" in run("verify", out, code=5)
    path.write_bytes(head + b"".join(zlib.crc32(each).to_bytes(4, "big") for each in blocks))
    run("verify", out, code=0 if block == 512 else 5)


def with_first(table: pa.Table, name: str) -> pa.Table:
    """The table with one column more before the others, under this name."""
    more = pa.array(["Greta"] * len(table))
    return pa.Table.from_arrays([more, *table.columns], names=[name, *table.column_names])


PARQUET_EDITS: dict[str, Callable[[pa.Table], pa.Table]] = {
    "a column": lambda table: table.append_column("name", pa.array(["Greta"] * len(table))),
    "a column whose name is there": lambda table: with_first(table, table.column_names[-1]),
    "metadata": lambda table: table.replace_schema_metadata({**table.schema.metadata, b"rows": b"Greta,1"}),
    "metadata of a column": lambda table: table.cast(
        pa.schema([field.with_metadata({b"rows": b"Greta,1"}) for field in table.schema])
    ),
}


@pytest.mark.parametrize("name", ["t.parquet", "s.parquet"])
def test_a_parquet_file_holds_nothing_beside_its_release(folder: Path, name: str) -> None:
    """A table and a synopsis: what a hash of the cells does not cover is refused."""
    out = folder / name
    if name == "t.parquet":
        tabulate_levels(folder, out)
    else:
        run("synopsis", folder / "points.csv", "--columns", "x,y", "--bounds", "0,1", "--epsilon", 1, "--out", out)
    written = pq.read_table(out)
    pq.write_table(written, out)
    run("verify", out)
    for edit in PARQUET_EDITS.values():
        edited = edit(written)
        metadata = {**written.schema.metadata, **(edited.schema.metadata or {})}
        pq.write_table(edited.replace_schema_metadata(metadata), out)
        shown = run("verify", out, code=5)
        assert "was changed" in shown or "is damaged" in shown


@pytest.mark.parametrize("signed", ["not", "forger", "host"])
def test_clusters_say_who_signed_their_synopsis(folder: Path, signed: str) -> None:
    """A forged synopsis gets no better by being clustered on a host that others trust."""
    made, out, key = folder / "s.parquet", folder / "groups", host_key().public
    run("synopsis", folder / "points.csv", "--columns", "x,y", "--bounds", "0,1", "--epsilon", 1, "--out", made)
    if signed != "host":
        cells = pq.read_table(made)
        text = forge(cells.schema.metadata[b"cloister.release"].decode(), {"notes": []}, signed)
        pq.write_table(cells.replace_schema_metadata({**cells.schema.metadata, b"cloister.release": text}), made)
    run("cluster", "--synopsis", made, "--k", 1, "--out", out)
    certificate = Release.from_json((out / "release.json").read_text())
    signer = {"not": None, "forger": forger().public, "host": key}[signed]
    assert certificate.result["synopsis_signer"] == signer
    assert (signer or "not signed") in certificate.notes[-1]
    source = (
        f"derived from a release that is {f'signed by {signer}' if signer else 'not signed'}: its origin was not checked"
    )
    assert (source in run("verify", out)) == (signed != "host")  # which knows its own key
    assert (source in run("verify", out, "--key", key, code=0 if signed == "host" else 5)) == (signed != "host")
    if signed == "forger":
        run("verify", out, "--key", key, "--key", forger().public)


def test_a_certificate_without_files_stands_beside_none(folder: Path) -> None:
    """It says nothing of the file that has its name."""
    table = folder / "t.csv"
    tabulate_levels(folder, table)
    beside = folder / "t.csv.release.json"
    beside.write_text(dataclasses.replace(Release.from_json(beside.read_text()), files={}).to_json())
    for name in (table, beside):
        assert "t.csv is" in run("verify", name, code=5)


def test_another_host_does_not_know_the_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One with a key of its own, one whose key cannot be used, and one without any, for which none is made."""
    out, other = cluster_points(folder), folder / "other.key"
    key = host_key().public
    monkeypatch.setenv("CLOISTER_KEY", str(other))
    for mode in (None, 0o600, 0o644):
        if mode is not None:
            host_key()
            other.chmod(mode)
        alone = run("verify", out)
        assert f"Signed by an unknown key, {key}." in alone
        assert "Consistent with itself, origin not checked." in alone
        assert json.loads(run("verify", out, "--json"))["signer_known_by"] is None
        assert other.exists() == (mode is not None)


def test_a_bad_signature_fails(folder: Path) -> None:
    """The stamp of seeded noise changed, every hash made to fit, and the signature left as it was."""
    certificate = cluster_points(folder) / "release.json"
    text = certificate.read_text()
    certificate.write_text(forge(text, {"seeded": True, "status": "NOT PRIVATE (seeded noise), ledgered"}, "as it was"))
    assert "its signature differs" in run("verify", certificate, code=5)
    certificate.write_text(forge(text, {"notes": []}))
    assert "Signed by an unknown key" in run("verify", certificate)
    assert "belongs to another release" in run("verify", certificate, "--ledger", folder / "ledger.sqlite", code=5)
    certificate.write_text(forge(text, {}))
    assert "a key that the ledger does not know" in run("verify", certificate, "--ledger", folder / "ledger.sqlite", code=5)


def test_a_k_anonymous_table_is_signed_and_its_entry_is_known(folder: Path) -> None:
    """Syntactic releases are signed too; the next private release says that no epsilon covers them both."""
    ledger, out = folder / "ledger.sqlite", folder / "safe.csv"
    run("ledger", "create", "students", "--epsilon", 3, "--ledger", ledger)
    access = ("--table", "students", "--ledger", ledger)
    schema = ("--schema", folder / "students.toml")
    run("anonymize", folder / "students.csv", "--k", 5, "--quasi", "age,level", *schema, *access, "--out", out)
    assert "entry 1 of table" in run("verify", out, "--ledger", ledger)
    words = ("--by", "level", "--epsilon", 1, *schema, *access)
    shown = run("tabulate", folder / "students.csv", *words, "--out", folder / "t.csv")
    assert "left before, without noise" in " ".join(shown.split())
    assert "No finite epsilon covers everything" in " ".join(shown.split())


def anonymize_students(folder: Path) -> Path:
    """A k-anonymous table with a guard; its certificate."""
    out = folder / "safe.csv"
    words = ("--quasi", "age,grade", "--sensitive", "level", "--l-diversity", 2, "--schema", folder / "students.toml")
    run("anonymize", folder / "students.csv", "--k", 5, *words, "--out", out)
    return folder / "safe.csv.release.json"


FALSE_FIGURES: dict[str, Callable[[dict[str, Any]], object]] = {
    "k": lambda data: data["guarantee"].update(k=50, words=data["guarantee"]["words"].replace("k = 5", "k = 50")),
    "the k that was asked for": lambda data: data["parameters"].update(k=50),
    "the smallest class": lambda data: data["result"].update(smallest=4),
    "no smallest class": lambda data: data["result"].pop("smallest"),
    "a class of text": lambda data: data["result"].update(smallest="many"),
    "rows": lambda data: data["result"].update(rows=1),
    "classes": lambda data: data["result"].update(classes=data["result"]["classes"] + 1),
    "average": lambda data: data["result"].update(average=9.5),
    "suppressed rows below 0": lambda data: data["result"].update(suppressed=-5),
    "more rows as * than there are": lambda data: data["result"].update(suppressed=10**6, is_starred=True),
    "a loss below 0": lambda data: data["result"].update(loss=-1),
    "a loss above 1": lambda data: data["result"].update(loss=1.5),
    "people": lambda data: data["result"].update(people=7),
    "another guard": lambda data: data["parameters"].update(guards=["distinct l-diversity, l = 3"]),
    "columns": lambda data: data["parameters"].update(quasi=["age"]),
}


@pytest.mark.parametrize("name", FALSE_FIGURES)
def test_a_figure_that_does_not_follow_from_the_others_is_found(folder: Path, name: str) -> None:
    """Every hash fits and nobody signed: a certificate that contradicts itself is not called consistent."""
    certificate = anonymize_students(folder)
    run("verify", certificate)
    data = json.loads(certificate.read_text())
    FALSE_FIGURES[name](data)
    certificate.write_text(forge(json.dumps(data), {}, "not"))
    assert "contradicts itself" in run("verify", certificate, code=5)


def test_a_note_and_a_number_of_centres_that_do_not_fit_are_found(folder: Path) -> None:
    """Of a private release: whom it protects, how many centres there are, and steps beyond the guarantee."""
    certificate = cluster_points(folder) / "release.json"
    text = certificate.read_text()
    data = json.loads(text)
    person = 'The guarantee is per person, as the column "who" names people: At most 2 rows are used.'
    for change in (
        {"notes": [person]},
        {"parameters": {**data["parameters"], "n_clusters": 3}},
        {"result": {**data["result"], "sizes": [1.0]}},
        {"steps": [*data["steps"], data["steps"][-1]]},
    ):
        certificate.write_text(forge(text, change, "not"))
        assert "contradicts itself" in run("verify", certificate, code=5)


@pytest.mark.parametrize("name", ["everybody is safe", ".hidden", "a/b"])
def test_an_empty_folder_in_an_output_is_found(folder: Path, name: str) -> None:
    """Its name is text that nobody signed."""
    out = cluster_points(folder)
    (out / name).mkdir(parents=True)
    assert f"{name} is in the folder, and the certificate does not list it" in run("verify", out, code=5)


def test_a_certificate_without_files_says_what_it_does_not_cover(folder: Path) -> None:
    """Renamed, it stands beside nothing: other files of the folder are not looked at, and that is said."""
    table = folder / "t.csv"
    tabulate_levels(folder, table)
    alone = folder / "alone.release.json"
    certificate = Release.from_json((folder / "t.csv.release.json").read_text())
    alone.write_text(dataclasses.replace(certificate, files={}).to_json())
    assert "lists no files: it covers nothing that lies beside it" in run("verify", alone)
    assert json.loads(run("verify", alone, "--json"))["files"] == []


def test_one_rule_for_exit_codes(folder: Path) -> None:
    """0: all that was asked for holds. 5: checked, and it does not hold. 2 and 4: it could not be checked; each says which."""
    out, ledger = cluster_points(folder), folder / "ledger.sqlite"
    certificate, text = out / "release.json", (out / "release.json").read_text()
    run("verify", out, "--ledger", ledger, code=0)
    assert "does not exist" in run("verify", folder / "none", code=2)
    assert "does not exist" in run("verify", folder / "none.csv", code=2)
    assert "points.csv.release.json stands beside it" in run("verify", folder / "points.csv", code=2)
    told = run("verify", out, "--ledger", folder / "other.sqlite", code=4)
    assert "there is no ledger" in told
    assert "invented" not in told
    assert not (folder / "other.sqlite").exists()
    (folder / "text.sqlite").write_text("this is no ledger at all, and is long enough to be read as a database" * 20)
    assert "could not be asked" in run("verify", out, "--ledger", folder / "text.sqlite", code=4)
    assert "there is no ledger" in run("ledger", "verify", "--ledger", folder / "other.sqlite", code=4)
    certificate.write_text(text.replace('"seeded": false', '"seeded": true'))
    assert "was changed" in run("verify", out, code=5)
    certificate.write_text(text)
    (out / "centers.csv").write_text("x,y\n1,2\n")
    assert "was changed" in run("verify", out, code=5)
    (out / "centers.csv").unlink()
    assert "is missing" in run("verify", out, code=5)


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_what_ledger_key_prints_is_a_key_file(folder: Path, words: tuple[str, ...]) -> None:
    """``cloister ledger key > k.txt`` is taken as it stands, though it names the keys of other hosts too."""
    out, ledger = cluster_points(folder), folder / "ledger.sqlite"
    other = folder / "other.key"
    with pytest.MonkeyPatch.context() as patch:  # another host writes into the same ledger
        patch.setenv("CLOISTER_KEY", str(other))
        run("ledger", "create", "more", "--epsilon", 3, "--ledger", ledger)
        (folder / "theirs.txt").write_text(run("ledger", "key", "--ledger", ledger, *words))
    (folder / "k.txt").write_text(run("ledger", "key", "--ledger", ledger, *words))
    assert "the key that you gave" in run("verify", out, "--key", folder / "k.txt")
    assert "signed by another key" in run("verify", out, "--key", folder / "theirs.txt", code=5)
    (folder / "both.txt").write_text(f"{host_key().public}\n{forger().public}\n")
    assert "a public key is" in run("verify", out, "--key", folder / "both.txt", code=2)


def damage(key: Path) -> None:
    """Something else is in the file of the key."""
    key.write_text("something else")
    key.chmod(0o600)


def open_to_all(key: Path) -> None:
    """Others may read the key."""
    key.chmod(0o644)


@pytest.mark.parametrize("spoil", [damage, open_to_all])
def test_a_key_that_cannot_be_used_is_told_and_never_costs_a_charge(
    folder: Path, monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Path], None]
) -> None:
    """Without a ledger the result is there, unsigned, with one warning that says what to do; with one nothing is charged."""
    made, ledger, key = folder / "s.parquet", folder / "ledger.sqlite", folder / "host.key"
    monkeypatch.setenv("CLOISTER_KEY", str(key))
    bounds = ("--columns", "x,y", "--bounds", "0,100", "--epsilon", 1)
    run("synopsis", folder / "points.csv", *bounds, "--out", made)
    run("ledger", "create", "points", "--epsilon", 3, "--ledger", ledger)
    spoil(key)
    told = {
        folder / "c": run("cluster", "--synopsis", made, "--k", 2, "--out", folder / "c"),
        folder / "u": run("cluster", folder / "points.csv", *bounds, "--k", 2, "--out", folder / "u"),
        folder / "safe.csv": run(
            "anonymize",
            folder / "points.csv",
            "--k",
            5,
            "--quasi",
            "x,y",
            "--identifiers",
            "none",
            "--out",
            folder / "safe.csv",
        ),
    }
    for out, said in told.items():
        assert said.count("Warning: this certificate is not signed") == 1
        assert "CLOISTER_KEY=FILE" in said or "chmod 600" in said
        assert "Not signed" in run("verify", out)
    charged = ("--table", "points", "--ledger", ledger)
    run("cluster", folder / "points.csv", *bounds, "--k", 2, *charged, "--out", folder / "l", code=2)
    key.unlink()
    assert Ledger(ledger).account("points").epsilon_spent == 0
