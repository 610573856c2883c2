"""Writes docs/papers.md and docs/images/papers/ from a run: ``python docs/figures/papers.py DIR`` after
``cloister reproduce all --out DIR``.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

DOCS = Path(__file__).parents[1]
OPENING = """# The five papers, reproduced

Cloister grew out of five papers. This page says for each what it promised, what its algorithm gives when it is run again as
it is printed, and what the sound form gives in its place. Several of their privacy claims are wrong as printed; where one is,
an attack on it is run, and what it found stands beside the claim.

```
cloister reproduce 003 --quick --out papers     # half a minute a paper: fewer runs and settings
cloister reproduce all --out papers-whole       # all of this page; stopped and started again it goes on
```

A folder for each paper appears: `page.html` (one file, nothing is loaded from elsewhere), `rows.csv` (one number a row:
paper, item, setting, form, value, interval, what is claimed and proved, seed, source), a picture an item, and `release.json`,
whose guarantee is `claimed`: it is never private, no ledger is charged, and `cloister report` refuses it. The data sets are
found as [on their page](datasets.md), or with `--data`.

**How to read the tables.** *Printed* is what the paper says. *As printed, run again* is its algorithm on rows that anybody
may see. *Sound* is what Cloister releases in its place. Several runs are given as their median, in brackets from the 10% to
the 90% quantile. Beside each number stands what is proved of it: an epsilon, or that no finite one covers it. "Epsilon that
an attack finds, at least" is a lower bound at 99.9% confidence (Clopper-Pearson): above what is claimed it refutes the claim,
below it proves nothing.

**Left out**, as they are surroundings and no method: (n,t)-closeness, Ranger, Atlas and Zeppelin of LETEO.

"""
MADE = {
    "whole": "<!-- Everything below is written by docs/figures/papers.py. -->\n\n",
    "quick": "**The figures below are of a quick run** (`--quick`): fewer runs and settings, coarser than a whole one.\n\n",
}


def main(folder: Path) -> None:
    """The page, and its pictures."""
    images = DOCS / "images" / "papers"
    shutil.rmtree(images, ignore_errors=True)
    images.mkdir(parents=True)
    pages, efforts = [], set()
    for paper in sorted(path for path in folder.iterdir() if (path / "page.md").is_file()):
        efforts.add(json.loads((paper / "release.json").read_text())["parameters"]["effort"])
        pages.append((paper / "page.md").read_text())
        for picture in sorted(paper.glob("*.svg")):
            shutil.copyfile(picture, images / f"{paper.name}-{picture.name}")
    assert len(efforts) == 1, "quick and whole runs"
    (DOCS / "papers.md").write_text(OPENING + MADE[efforts.pop()] + "\n".join(pages))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
