"""A warning of steps that were fitted to the rows before a private estimator in a scikit-learn Pipeline.

A scaler or a PCA that is fitted to the rows carries exact facts of them (means, extremes, directions) past the vault: the
centres come back in its units, and no budget covers it. Inside `fit` an estimator sees an array, which does not say where it
comes from, and to look at its values (are the columns standardised?) would be a decision by rows. So the call itself is asked:
the frames of the functions that are running hold the Pipeline whose `fit` this is, and its earlier steps are public facts of the
program. That depends on no row, costs some microseconds, changes nothing but whether a warning is shown, and works wherever a
Pipeline is fitted, inside a search and in its worker processes too. What was done to the rows before, by hand, it cannot see.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from types import FrameType
from typing import Any

from cloister.errors import FittedStep

__all__ = ["warn_of_fitted_steps"]

PARTS = (
    "steps",
    "transformer_list",
    "transformers",
)  # of a Pipeline, a FeatureUnion, a ColumnTransformer: (name, step, ...)


FITS = ("fit", "_fit", "fit_predict", "fit_transform")  # what of a Pipeline fits its steps


def warn_of_fitted_steps(estimator: object) -> None:
    """Warn if the `fit` that is running is that of a Pipeline in which an earlier step was fitted to the rows.

    Called before the charge: where warnings are errors, nothing is spent.
    """
    if "sklearn.pipeline" not in sys.modules:
        return
    names = list(dict.fromkeys(name for name, step in steps_before(estimator) for name in fitted_names(name, step)))
    if names:
        listed = ", ".join(f'"{name}"' for name in names)
        warnings.warn(
            f"the pipeline fits {listed} to the rows before {type(estimator).__name__}: what it learned of them is not covered "
            "by the budget, and the released centres carry it. Use cloister.PublicScaler, or leave it out: with public bounds "
            'columns are scaled already (scale="bounds"). A step that was fitted to public data: FrozenEstimator(step).',
            FittedStep,
            stacklevel=levels_to_user(),
        )


def steps_before(estimator: object) -> Iterator[tuple[str, Any]]:
    """The steps before this estimator, in every Pipeline whose `fit` is running."""
    from sklearn.pipeline import Pipeline  # loaded already: see above

    for frame in running():
        pipeline = frame.f_locals.get("self") if frame.f_code.co_name in FITS else None
        if isinstance(pipeline, Pipeline):
            yield from earlier(pipeline.steps, estimator)


def earlier(steps: list[tuple[str, Any]], estimator: object) -> list[tuple[str, Any]]:
    """The steps before the first that is or holds the estimator, or is of its class (a copy of it); else all but the last."""
    for place, (_, step) in enumerate(steps):
        if any(part is estimator or type(part) is type(estimator) for part in parts_of(step)):
            return steps[:place]
    return steps[:-1]


def parts_of(step: Any) -> Iterator[Any]:
    """A step, and what it is made of."""
    yield step
    for _, part in named_parts(step):
        yield from parts_of(part)


def named_parts(step: Any) -> Iterable[tuple[str, Any]]:
    """The steps that a step is made of; none of most."""
    of_parts: list[Any] = next((getattr(step, name) for name in PARTS if isinstance(getattr(step, name, None), list)), [])
    return [(part[0], part[1]) for part in of_parts if isinstance(part, tuple) and len(part) > 1]


def fitted_names(name: str, step: Any) -> list[str]:
    """The names of what is fitted in a step, by what scikit-learn's tags say: not what needs no fit, nor what is frozen."""
    from sklearn.frozen import FrozenEstimator
    from sklearn.utils import get_tags

    parts = list(named_parts(step))
    if parts:
        return [fitted for own, part in parts for fitted in fitted_names(own, part)]
    if step is None or isinstance(step, str | FrozenEstimator) or not hasattr(step, "fit"):
        return []
    return [name] if get_tags(step).requires_fit else []


def running() -> Iterator[FrameType]:
    """The frames of the functions that are running, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def levels_to_user() -> int:
    """How far up the first function is that belongs neither to this package nor to scikit-learn or its schedulers."""
    ours = ("cloister.", "sklearn.", "joblib.")
    for level, frame in enumerate(running()):
        if not frame.f_globals.get("__name__", "").startswith(ours):
            return level
    return 1
