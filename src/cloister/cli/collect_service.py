"""``cloister collect serve`` and ``invite``: a survey in the browser, and who may answer it."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from cloister.cli import flags, output
from cloister.errors import UsageError

if TYPE_CHECKING:
    from cloister.collect.storing.inbox import Inbox

__all__ = ["invite", "serve"]

Store = Annotated[
    str,
    typer.Option(
        "--store", metavar="URL", help="Where reports are kept: sqlite:///FILE, a path, or postgresql://HOST/NAME."
    ),
]
DEFAULT_STORE = "sqlite:///reports.db"


@flags.takes_groups
def serve(
    collections: Annotated[
        list[Path] | None, typer.Argument(metavar="COLLECTION", help="Files of collections to host, if they are not yet.")
    ] = None,
    *,
    store: Store = DEFAULT_STORE,
    invited: Annotated[
        bool, typer.Option("--invited", help="Only people with a code may answer these collections.")
    ] = False,
    wanted: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="How many reports you hope for: the page says what to expect then."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; a proxy with TLS belongs before it.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="N", min=0, max=65535, help="0: any that is free.")] = 8000,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, max=64, help="Processes; several need PostgreSQL to gain.")
    ] = 1,
    rate: Annotated[
        int, typer.Option(metavar="N", min=0, help="Requests a minute that an address may make; 0: any number.")
    ] = 600,
    trusted_proxy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS", help="Whose X-Forwarded-For is believed; default: this machine. May be given again."
        ),
    ] = None,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="A line a request, without addresses and contents.")
    ] = False,
    new_token: Annotated[
        bool,
        typer.Option("--new-token", help="Make a token of the collector, in place of the one before; print it and end."),
    ] = False,
    everywhere: flags.Everywhere,
) -> None:
    """Run a survey in the browser: answers are perturbed there, and reports are kept here. Ctrl-C ends it."""
    from cloister.collect.collection import Collection
    from cloister.collect.service.settings import proxy_networks
    from cloister.collect.storing.inbox import Inbox

    proxy_networks(trusted_proxy or [])  # refuses what is none, before a store is made
    loaded = [Collection.load(path) for path in collections or []]
    if new_token and loaded:
        raise UsageError("--new-token makes a token and ends. Leave the collections out.")
    if (invited or wanted is not None) and not loaded:
        raise UsageError("--invited and --wanted are about collections that are named. Name their files.")
    inbox = Inbox(store)
    if new_token:
        inbox.create()
        print_token(inbox, everywhere.as_json)
        return
    run_service, make_settings = load_service()
    inbox.create()
    for collection in loaded:
        inbox.add(collection, is_invited=invited, wanted=wanted)
    more = {"trusted_proxies": tuple(trusted_proxy)} if trusted_proxy else {}
    # the place as it was found, not as it was typed: a worker may start elsewhere
    place = str(inbox.store.path) if inbox.store.path is not None else inbox.store.url
    settings = make_settings(place, host=host, port=port, workers=workers, rate=rate, access_log=access_log, **more)
    with suppress(KeyboardInterrupt):  # everything that was taken is stored: this is how a service ends
        run_service(settings, partial(print_addresses, inbox, everywhere.as_json))
    if not everywhere.as_json:
        output.print_notice("The service has ended; all reports that were acknowledged are stored.")


def print_token(inbox: Inbox, as_json: bool) -> None:
    """Make a token, and print it this once."""
    token = inbox.renew_token()
    if as_json:
        output.print_json({"token": token, "store": inbox.store.shown})
        return
    typer.echo(token)
    output.print_notice("This is the only time it is shown; tokens made before are void.")


def print_addresses(inbox: Inbox, as_json: bool, address: str) -> None:
    """Where the pages of a service are that has just begun to listen."""
    from cloister.collect.sending import LOOPBACK

    hosted = inbox.all()
    if as_json:
        ids = [each.collection.id for each in hosted]
        output.print_json({"address": address, "store": inbox.store.shown, "collections": ids})
    else:
        for each in hosted:
            state = each.state(datetime.now(UTC))
            output.print_line(f"Survey: {address}/c/{each.collection.id}{'' if state == 'open' else f' ({state})'}")
        output.print_line(f"Collector's page: {address}/admin")
        if not inbox.has_token():
            make = f"cloister collect serve --new-token --store {inbox.store.shown}"
            output.print_line(f"It needs a token, which was never made: {make}")
        if urlsplit(address).hostname not in LOOPBACK:
            output.print_line("Other machines need https to answer and to log in: put a proxy with TLS before it.")
        output.print_line("Ctrl-C ends the service.")
    sys.stdout.flush()


def load_service() -> tuple[Any, Any]:
    """What runs the service, or how to install it."""
    try:
        from cloister.collect.service.server import run_service
        from cloister.collect.service.settings import ServiceSettings
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "cloister":
            raise
        raise UsageError(f'the service needs {error.name}. Install it: pip install "cloister[collect]".') from None
    return run_service, ServiceSettings


@flags.takes_groups
def invite(
    collection: Annotated[str, typer.Argument(metavar="ID", help="The id of a collection that is hosted with --invited.")],
    *,
    count: Annotated[int, typer.Option(metavar="N", min=1, max=1_000_000, help="How many codes.")],
    store: Store = DEFAULT_STORE,
    url: Annotated[
        str | None, typer.Option(metavar="URL", help="The address of the service: whole links are written then.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new text file, one a line. Default: printed.")] = None,
    everywhere: flags.Everywhere,
) -> None:
    """Make codes of invitations: each lets one report in, and is kept as a hash that is deleted then."""
    from cloister.collect.sending import check_service
    from cloister.collect.storing.inbox import Inbox
    from cloister.sinks import check_free

    if out is not None:
        check_free(out)
    if url is not None:
        check_service(url)
    codes = Inbox(store).invite(collection, count)
    start = f"{url.rstrip('/')}/c/{collection}#" if url else ""
    lines = [start + code for code in codes]
    if out is not None:
        output.write_text(out, "\n".join(lines) + "\n", for_holder=True)
    if everywhere.as_json:
        output.print_json(
            {"collection": collection, **({"out": str(out), "count": count} if out else {"invitations": lines})}
        )
    elif out is not None:
        output.print_line(f"Written: {out} ({count:,} codes). They are kept nowhere else.")
    else:
        for line in lines:
            typer.echo(line)
