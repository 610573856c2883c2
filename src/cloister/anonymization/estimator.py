"""k-anonymous tables by top-down specialization: the estimator."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cloister.anonymization.counting.domains import MOST_CODES, MOST_VALUES, look_at, quasi_domain, read_trees, value_codes
from cloister.anonymization.counting.histogram import Histogram
from cloister.anonymization.counting.tally import Counted, Leaves, count_population, count_table
from cloister.anonymization.parameters import Parameters
from cloister.anonymization.reporting.summary import ColumnSummary, Summary
from cloister.anonymization.request import Request, read_request
from cloister.anonymization.searching.guards import Guard, KAnonymity
from cloister.anonymization.searching.search import Found, search
from cloister.anonymization.writing.recount import Classes, count_output, fewest_people, planned, require
from cloister.anonymization.writing.rows import Rewriting, make_rewriting
from cloister.privacy.release import Release, Syntactic
from cloister.sinks import Staged, check_free, stage
from cloister.vault import Holder, Vault

__all__ = ["TopDownSpecialization", "certificate_of", "commit_both", "write_table"]

Progress = Callable[[str], None]


class TopDownSpecialization(Parameters):
    """Publish a table in which everybody looks like at least k - 1 others.

    Parameters
    ----------
    k : int, default 10
        Rows that share each published tuple of quasi-identifiers, at least; persons, where the schema names a unit.
    quasi : list of str, optional
        The quasi-identifiers: what somebody may know of a person already. Default: as the schema says.
    hierarchies : directory, or mapping of columns to files or `Hierarchy`, optional
        How values generalise. A file belongs to the column that its name ends in. Numbers and dates without one are split
        in two as it goes; other columns are published as they are or as ``*``.
    gain : {"loss", "entropy", "distance", "class"}, optional
        What a step should gain. Default: "class" with a target, else "loss".
    suppression : float, default 0
        Share of the rows that may be suppressed.
    scope : {"global", "local"}, default "global"
        global: a value is published the same in every row. local: every row as finely as some k rows allow; no row is
        lost, published values overlap.
    sensitive : str or list of str, optional
        The columns that l-diversity and t-closeness look at. Default: as the schema says, when a guard needs one.
    l_diversity, entropy_l_diversity : number, optional
        At least so many different (or effectively different) sensitive values in every class.
    t_closeness : float, optional
        How far the sensitive values of a class may be from those of the table.
    ordered : bool, default False
        Whether the distance of t-closeness follows the order of the values.
    population, k_map : table and int, optional
        At least `k_map` rows of the population share each published tuple.
    guards : sequence of Guard, optional
        Further guards; column i of a guard is the i-th of `sensitive`.
    target : str, optional
        The column that the table should still predict.
    identifiers : list of str, optional
        Columns to drop. Default: as the schema says; without a schema a column that is named like an identifier is
        refused until this is said, an empty list where there are none.
    pseudonyms : list of str, optional
        Identifiers that are replaced by a keyed hash instead. Needs `key_file` or `key_variable`.
    key_file, key_variable : path or str, optional
        Where the key of the pseudonyms is: a file, or a variable of the environment.
    shuffle : bool, default False
        Whether the rows are written in an order that holds nothing of the input's.
    schema, table, ledger, engine
        As everywhere: public facts, the table's name in the ledger, the ledger, who reads the rows.

    Attributes
    ----------
    release_ : Release, the certificate
    recoding_ : Recoding, what was done to the quasi-identifiers
    summary_ : Summary

    Privacy
    -------
    k-anonymity is a property of the table, not of the process: syntactic, not differentially private. The certificate says
    what it does not protect from. The ledger records the release when the table has a name.

    References
    ----------
    LETEO, section 3. Sweeney, k-anonymity, 2002. Fung, Wang, Yu, Top-down specialization, 2005.

    Examples
    --------
    >>> import dataclasses, pathlib, tempfile
    >>> import cloister as cl
    >>> from cloister.datasets import STUDENTS, students
    >>> out = pathlib.Path(tempfile.mkdtemp()) / "students.csv"
    >>> model = cl.TopDownSpecialization(k=10, schema=dataclasses.replace(STUDENTS, table=None))
    >>> print(model.publish(students(2000), out).guarantee)
    syntactic: k = 10, not differentially private
    >>> model.summary_.smallest >= 10
    True
    """

    def __init__(
        self,
        k: int = 10,
        quasi: Sequence[str] | None = None,
        hierarchies: Any = None,
        gain: str | None = None,
        suppression: float = 0.0,
        scope: str = "global",
        sensitive: str | Sequence[str] | None = None,
        l_diversity: int | None = None,
        entropy_l_diversity: float | None = None,
        t_closeness: float | None = None,
        ordered: bool = False,
        population: Any = None,
        k_map: int | None = None,
        guards: Sequence[Guard] = (),
        target: str | None = None,
        identifiers: Sequence[str] | None = None,
        pseudonyms: Sequence[str] = (),
        key_file: str | os.PathLike[str] | None = None,
        key_variable: str | None = None,
        shuffle: bool = False,
        schema: Any = None,
        table: str | None = None,
        ledger: Any = None,
        engine: Any = None,
    ) -> None:
        self.k = k
        self.quasi = quasi
        self.hierarchies = hierarchies
        self.gain = gain
        self.suppression = suppression
        self.scope = scope
        self.sensitive = sensitive
        self.l_diversity = l_diversity
        self.entropy_l_diversity = entropy_l_diversity
        self.t_closeness = t_closeness
        self.ordered = ordered
        self.population = population
        self.k_map = k_map
        self.guards = guards
        self.target = target
        self.identifiers = identifiers
        self.pseudonyms = pseudonyms
        self.key_file = key_file
        self.key_variable = key_variable
        self.shuffle = shuffle
        self.schema = schema
        self.table = table
        self.ledger = ledger
        self.engine = engine

    def publish(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        format: str | None = None,
        progress: Progress = lambda _: None,
    ) -> Release:
        """Write the rows of X, k-anonymous, to a new file (on Spark: a new folder), with its certificate beside it.

        The certificate is ``<out>.release.json``. What is written is counted again before it appears under its name.
        """
        request = read_request(self, out, format)
        check_free(out)
        check_free(certificate_of(out))
        table = Vault.holding(X, purpose=request.purpose, engine=self.engine, table=request.table, ledger=self.ledger)
        unwanted = request.dropped  # in other tables too
        request = request.on(table.names)
        trees = read_trees(self.hierarchies, request.quasi, table.names, request.schema)
        people = None if self.population is None else Vault.holding(self.population, purpose="k-map", engine=self.engine)
        if people is not None:
            request.check_population(people.names)
        table.record()
        progress("counting")
        counted, sensitive = count(table, people, request, trees)
        progress("specializing")
        found = search(request, counted)
        progress("writing")
        rewriting = make_rewriting(
            found.recoding, table.types(table.names), request.dropped, request.pseudonyms, request.key, request.format,
            request.sensitive,
        )  # fmt: skip
        known = {name: tree.leaves for name, tree in trees.items()}
        self.release_, self.summary_ = write_table(
            table, rewriting, request, found, counted.rows, sensitive, known, out, progress
        )
        self.recoding_ = dataclasses.replace(
            found.recoding, dropped=unwanted, pseudonyms=request.pseudonyms, person=request.person
        )
        return self.release_


def count(table: Holder, people: Holder | None, request: Request, trees: dict[str, Any]) -> tuple[Counted, list[Leaves]]:
    """The histogram of the table, and how its sensitive values are coded."""
    loose = {name: MOST_CODES for name in request.quasi if name not in trees}
    seen = look_at([table, people] if people else [table], loose) if loose else {}
    compared = dict.fromkeys([*request.sensitive, *([request.target] if request.target else [])], MOST_VALUES)
    values = look_at([table], compared)
    domains = [trees[name] if name in trees else quasi_domain(seen[name], request.schema) for name in request.quasi]
    sensitive = [value_codes(values[name], request.schema, is_ordered=request.ordered) for name in request.sensitive]
    target = value_codes(values[request.target], request.schema) if request.target else None
    counted = count_table(table, request.quasi, domains, sensitive, target, request.person)
    if people is not None:
        counted = dataclasses.replace(counted, rows=count_population(counted, people, request.quasi))
    return counted, sensitive


def write_table(
    table: Holder,
    rewriting: Rewriting,
    request: Request,
    found: Found,
    rows: Histogram,
    sensitive: Sequence[Leaves],
    known: Mapping[str, int],
    out: str | os.PathLike[str],
    progress: Progress,
) -> tuple[Release, Summary]:
    """Stage the rows, count them again, and let them appear with their certificate.

    `known` says how many values a column may hold, where that is public.
    """
    plan, codes = planned(found.recoding, rows, found.labels)
    guards: list[Guard] = [KAnonymity(request.k), *request.guards]
    with stage(out, directory=False) as staged, stage(certificate_of(out), directory=False) as certificate:
        table.rewrite(rewriting, str(staged.path), request.format, int(rows.counts.sum()) if request.shuffle else None)
        progress("counting the output again")
        counted = count_output(table.reopen(str(staged.path)), rewriting.recoding, sensitive)
        require(counted, plan, codes, rows, guards)
        people = fewest_people(found.recoding, rows, found.labels, codes)
        summary = dataclasses.replace(summarize(table, rewriting, request, found, counted, known), people=people)
        release = Release(
            kind="k-anonymous table",
            guarantee=Syntactic(request.k, request.unit_words, request.guards_in_words),
            events=(),
            parameters=request.parameters,
            result=summary.as_dict(),
            seeded=table.is_seeded,
            ledger={"table": table.table, "entry": table.entry} if table.entry is not None else None,
            notes=request.notes(summary),
            files=hashes(staged.path, Path(out).name),
        )
        commit_both(staged, certificate, release)
    table.complete(release.digest())
    return release, summary


def commit_both(staged: Staged, certificate: Staged, release: Release) -> None:
    """Let a table appear with its certificate, or neither."""
    certificate.path.write_text(release.to_json(), encoding="utf-8")
    staged.commit()
    try:
        certificate.commit()
    except BaseException:  # a table without its certificate is no release
        (shutil.rmtree if staged.target.is_dir() else os.unlink)(staged.target)
        raise


def summarize(
    table: Holder, rewriting: Rewriting, request: Request, found: Found, counted: Classes, known: Mapping[str, int]
) -> Summary:
    """What became of the table."""
    sizes = counted.sizes
    columns = tuple(
        ColumnSummary(name, known.get(name), tuple(labels)) for name, labels in zip(request.quasi, counted.used, strict=True)
    )
    written = rewriting.schema.names
    return Summary(
        rows=int(sizes.sum()),
        classes=len(sizes),
        smallest=int(sizes.min()) if len(sizes) else 0,
        average=float(sizes.mean()) if len(sizes) else 0.0,
        suppressed=found.suppressed,
        is_starred=found.is_starred,
        loss=found.loss,
        columns=columns,
        dropped=tuple(name for name in table.names if name not in written),
        pseudonyms=tuple(rewriting.pseudonyms),
        untouched=tuple(name for name in written if name not in request.quasi and name not in rewriting.pseudonyms),
        reason=found.reason,
    )


def certificate_of(out: str | os.PathLike[str]) -> Path:
    """Where the certificate of an output is written."""
    path = Path(out)
    return path.with_name(f"{path.name}.release.json")


def hashes(path: Path, name: str) -> dict[str, str]:
    """The hash of each written file."""
    files = (
        {name: path}
        if path.is_file()
        else {
            f"{name}/{file.relative_to(path)}": file
            for file in sorted(path.rglob("*"))
            if file.is_file() and not file.name.startswith(".")
        }
    )
    found = {}
    for shown, place in files.items():
        with place.open("rb") as opened:
            found[shown] = hashlib.file_digest(opened, "sha256").hexdigest()
    return found
