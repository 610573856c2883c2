"""``cloister anonymize``: a table in which everybody looks like at least k - 1 others."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from cloister.cli import flags
from cloister.errors import UsageError

if TYPE_CHECKING:
    from cloister.anonymization.estimator import TopDownSpecialization
    from cloister.privacy.release import Release

EXAMPLE = (
    "Example: cloister anonymize people.csv --k 10 --quasi age,sex,region --hierarchies trees --suppress 0.02 --out safe.csv"
)


def anonymize(
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help="CSV, Parquet or Arrow files, globs or URLs.")],
    k: Annotated[int | None, typer.Option("--k", metavar="K", help="How many rows look alike, at least.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new .csv or .parquet (on Spark: a folder).")] = None,
    quasi: Annotated[
        str | None, typer.Option(metavar="A,B", help="What others may know of a person. Default: by role in the schema.")
    ] = None,
    hierarchies: Annotated[
        str | None, typer.Option(metavar="DIR", help="How values generalise: age.csv is for column age.")
    ] = None,
    gain: Annotated[
        Literal["loss", "entropy", "distance", "class"] | None, typer.Option(help="What a step should gain.")
    ] = None,
    suppress: Annotated[float, typer.Option(metavar="SHARE", help="Share of the rows that may be suppressed.")] = 0.0,
    scope: Annotated[
        Literal["global", "local"],
        typer.Option(help="global: a value reads the same in every row; local: finer, overlapping."),
    ] = "global",
    sensitive: Annotated[str | None, typer.Option(metavar="A,B", help="Columns that the next guards look at.")] = None,
    l_diversity: Annotated[
        int | None, typer.Option("--l-diversity", metavar="L", help="Different sensitive values in every class, at least.")
    ] = None,
    entropy_l: Annotated[
        float | None, typer.Option("--entropy-l-diversity", metavar="L", help="The same by entropy.")
    ] = None,
    t_closeness: Annotated[
        float | None, typer.Option("--t-closeness", metavar="T", help="How far a class may be from the whole table.")
    ] = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="With --t-closeness: values have an order.")] = False,
    population: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With --k-map: the people among whom somebody is looked for, a row each."),
    ] = None,
    k_map: Annotated[
        int | None, typer.Option("--k-map", metavar="K", help="Rows of the population that look alike, at least.")
    ] = None,
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="What the table should still predict.")] = None,
    identifiers: Annotated[
        str | None, typer.Option(metavar="A,B", help="Columns to drop, or none. Default: by role in the schema.")
    ] = None,
    pseudonyms: Annotated[
        str | None, typer.Option(metavar="A,B", help="Identifiers to replace by a keyed hash instead.")
    ] = None,
    key_file: Annotated[str | None, typer.Option("--key-file", metavar="FILE", help="The key of the pseudonyms.")] = None,
    key_variable: Annotated[
        str | None, typer.Option("--key-env", metavar="NAME", help="Or the environment variable that holds it.")
    ] = None,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Write the rows in an order that tells nothing of theirs.")
    ] = False,
    save_recoding: Annotated[
        Path | None, typer.Option("--save-recoding", metavar="FILE", help="Also write the recoding (JSON), for the holder.")
    ] = None,
    apply: Annotated[
        Path | None, typer.Option("--apply", metavar="FILE", help="Apply a saved recoding to these rows instead.")
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(
            "--curve",
            metavar="FILE",
            help="Write no table: show loss and risk for k = 2 to 100, and draw them (.png or .svg).",
        ),
    ] = None,
    schema: flags.SchemaFile = None,
    table: flags.Table = None,
    ledger: flags.LedgerUrl = None,
    engine: flags.Engine = None,
    master: flags.Master = None,
    remote: flags.Remote = None,
    spark_conf: flags.SparkConf = None,
    as_json: flags.Machine = False,
) -> None:
    """Publish a k-anonymous table: generalise the quasi-identifiers, drop the identifiers, keep the rest."""
    if out is None and curve is None:
        raise UsageError("where should the table go? Give --out FILE, which does not exist yet.")
    if curve is not None and (out or k is not None or apply or save_recoding):
        raise UsageError(
            "--curve writes no table: drop --out, --k, --apply and --save-recoding, choose a k, then run it again."
        )
    runs = flags.read_engine(engine, master, remote, spark_conf)
    if apply is not None:
        guards = (sensitive, l_diversity, entropy_l, t_closeness, population, k_map, target, gain)
        others = (quasi, hierarchies, schema, pseudonyms, save_recoding, *guards)
        if any(other is not None for other in others) or shuffle or suppress or ordered or scope != "global":
            raise UsageError(
                "--apply takes the columns from the recoding and counts k alone. Give only --k, --identifiers, the key of "
                "its pseudonyms and where to write."
            )
        from cloister.anonymization.writing.apply import apply_recoding, read_recoding

        assert out is not None
        release = apply_recoding(
            read_recoding(apply), data, out, k=k, identifiers=names(identifiers) or (), key_file=key_file,
            key_variable=key_variable, table=table, ledger=ledger, engine=runs,
        )  # fmt: skip
        show(release, None, out, as_json)
        return
    if k is None and curve is None:
        raise UsageError("how many rows should look alike? Give --k (10 is a common choice), or look at --curve first.")
    from cloister.anonymization.estimator import TopDownSpecialization
    from cloister.sinks import check_free, stage

    model = TopDownSpecialization(
        k=2 if k is None else k, quasi=names(quasi), hierarchies=hierarchies, gain=gain, suppression=suppress, scope=scope,
        sensitive=names(sensitive), l_diversity=l_diversity, entropy_l_diversity=entropy_l, t_closeness=t_closeness,
        ordered=ordered, population=population, k_map=k_map, target=target, identifiers=names(identifiers),
        pseudonyms=names(pseudonyms) or (), key_file=key_file, key_variable=key_variable, shuffle=shuffle, schema=schema,
        table=table, ledger=ledger, engine=runs,
    )  # fmt: skip
    if curve is not None:
        show_curve(model, data, curve, as_json)
        return
    assert out is not None
    if save_recoding is not None:
        check_free(save_recoding)
    with flags.progress(as_json) as step:
        release = model.publish(data, out, progress=step)
    if save_recoding is not None:
        with stage(save_recoding, directory=False) as staged:
            staged.path.write_text(model.recoding_.to_json(), encoding="utf-8")
            staged.commit()
    show(release, str(model.summary_), out, as_json)
    if save_recoding is not None and not as_json:
        typer.echo(f"Recoding: {save_recoding} (for the holder; on other rows it guarantees nothing)")


def show_curve(model: TopDownSpecialization, data: list[str], path: Path, as_json: bool) -> None:
    """Loss and risk by k, as a table and a picture."""
    from cloister.anonymization.reporting.curve import curve, drawable
    from cloister.sinks import check_free, stage

    drawable(path)
    check_free(path)
    with flags.progress(as_json) as step:
        found = curve(model, data, progress=step)
    with stage(path, directory=False) as staged:
        found.draw(staged.path)
        staged.commit()
    if as_json:
        flags.print_json({"picture": str(path), **found.as_dict()})
        return
    typer.echo(str(found))
    typer.echo(f"Drawn: {path}")


def names(text: str | None) -> list[str] | None:
    """Column names from A,B; none is an empty list."""
    if text == "none":
        return []
    return [name.strip() for name in text.split(",") if name.strip()] if text is not None else None


def show(release: Release, summary: str | None, out: Path, as_json: bool) -> None:
    """The result for a person, or for a program."""
    from cloister.anonymization.writing.commit import certificate_of

    if as_json:
        flags.print_json({"out": str(out), "certificate": str(certificate_of(out)), **release.as_dict()})
        return
    if summary is None:
        summary = ", ".join(f"{what} {number:,}" for what, number in release.result.items())
    typer.echo(summary)
    typer.echo(f"Guarantee: {release.guarantee}")
    typer.echo(f"Status: {release.status}")
    for note in release.notes:
        typer.echo(f"Note: {note}")
    typer.echo(f"Written: {out}{' (a folder)' if out.is_dir() else ''}, {certificate_of(out)}")
