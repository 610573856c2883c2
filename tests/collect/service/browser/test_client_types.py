"""The client's TypeScript declarations: they describe what the module exports, and catch wrong types."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from tests.collect.service.browser.client_copies import CLIENT, run_in_node
from tests.collect.service.browser.npm_packages import run_tsc

TYPES = CLIENT.with_suffix(".d.ts")
USES = """
import type { Collection, KeptReport } from "./cloister-client.js";
import { ClientError, Respondent, fetchCollection, perturb, truthShare } from "./cloister-client.js";

const respondent: Respondent = await Respondent.open({ service: "https://survey.example", id: "lunch", code: null });
respondent.addEventListener("change", (event) => console.log((event as CustomEvent<KeptReport>).detail.state));
const kept: KeptReport = await respondent.answer({ eats: "fish", year: 2, smokes: false, drinks: null });
const again: KeptReport | null = await respondent.send();
const collection: Collection = await fetchCollection("", "lunch");
const sent: string = perturb(collection.questions[0]!, 0, (count) => Array.from({ length: count }, () => 1n << 63n));
const share: number | null = truthShare(collection.questions[0]!);
await respondent.answer(new Map([["__proto__", "yes"]]));
const failure: Error = new ClientError();
console.log(kept.problem?.detail, again?.body, sent, share, failure.message);
respondent.close();
"""
WRONG = """
import { Respondent, lieUnits } from "./cloister-client.js";
const respondent = await Respondent.open({ id: "lunch" });
await respondent.answer({ eats: ["fish"] });
const units: number = lieUnits("1", 1);
if ((await respondent.kept())?.state === "received") console.log(units);
"""


def test_types_are_checked(tmp_path: Path) -> None:
    """A program that uses the client well has no fault; one with four wrong types has four, a line each."""
    shutil.copy(TYPES, tmp_path)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "uses.ts").write_text(USES)
    (tmp_path / "wrong.ts").write_text(WRONG)
    faults = [fault for fault in run_tsc(tmp_path, "uses.ts", "wrong.ts") if not fault.startswith(" ")]
    assert [fault.partition(",")[0] for fault in faults] == [f"wrong.ts({line}" for line in (3, 4, 5, 6)], faults


def test_every_export_is_declared(tmp_path: Path) -> None:
    """What the module exports and what the declarations do are the same names."""
    declared = re.findall(r"^export (?:class|function) (\w+)", TYPES.read_text(encoding="utf-8"), re.MULTILINE)
    assert run_in_node("print_exports.mjs", tmp_path, None) == sorted(declared)
