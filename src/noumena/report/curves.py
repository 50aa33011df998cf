"""What moved over a run: the loss towards its floor, scores towards perfection, learned values towards the truth."""

import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from .figure import COLOURS, Panel, logarithmic
from .load import BEFORE, Run
from .table import short_name, smaller_is_better

NEAREST = 1e-6  # distances from perfect are drawn no smaller
NAMES = ("precision", "importance", "tau", "radius", "bound")


def loss_panel(runs: Sequence[Run], learner: str) -> Panel:
    """Loss over steps, a line for each seed, and the floor where it is known."""

    def paint(ax: Any) -> None:
        for i, run in enumerate(runs):
            records = run.records()
            steps = [record.step for record in records]
            label = "each seed" if i == 0 else None
            ax.plot(steps, [record.loss for record in records], color=COLOURS[0], alpha=0.7, label=label)
        floors = [run.outcome["floor"]["value"] for run in runs if run.outcome.get("floor")]
        if floors:
            floor = statistics.fmean(floors)
            ax.axhline(floor, color=COLOURS[5], linestyle="--", label=f"floor {floor:.4f}")
        _steps(ax, [record.step for run in runs for record in run.records()])
        ax.set_title(f"loss ({learner})")
        ax.legend()

    return paint


def score_panel(learners: Mapping[str, Sequence[Run]], published: Mapping[str, float]) -> Panel:
    """How far scores are from perfect over steps: 1 - score, or an error as it is; hollow where published.

    Args:
        learners: Runs by the name of their learner; the first is drawn with full lines.
        published: By metric.
    """
    metrics = scores(learners)

    def paint(ax: Any) -> None:
        steps: list[int] = []
        drawn: list[float] = []
        for learner, style in zip(learners, ("-", "--", ":", "-."), strict=False):
            for i, run in enumerate(learners[learner]):
                before = run.records(BEFORE)
                shift = before[-1].step if before else 0
                for metric, colour in zip(metrics, COLOURS, strict=False):
                    points = [(r.step, r.metrics[metric]) for r in before if metric in r.metrics]
                    points += [(shift + r.step, r.metrics[metric]) for r in run.records()]
                    steps += [step for step, _ in points]
                    distances = [distance(metric, value) for _, value in points]
                    drawn += distances
                    named = learner if len(learners) > 1 else ""
                    label = " ".join(filter(None, (distance_name(metric), named))) if i == 0 else None
                    ax.plot([step for step, _ in points], distances, style, color=colour, alpha=0.7, label=label)
                if before:
                    ax.axvline(shift, color=COLOURS[7], linewidth=0.6, label="second stage" if i == 0 else None)
        for metric, colour in zip(metrics, COLOURS, strict=False):
            if metric in published and steps:
                drawn.append(distance(metric, published[metric]))
                ax.plot([max(steps)], drawn[-1:], "o", color=colour, mfc="none", clip_on=False, label="published")
        ax.set_title("distance from perfect")
        _steps(ax, steps)
        if drawn:
            logarithmic(ax, "y", drawn)
            ax.legend()

    return paint


def scores(learners: Mapping[str, Sequence[Run]]) -> list[str]:
    """What every record of every learner has measured, but for scores of single factors."""
    every = [run for runs in learners.values() for run in runs]
    measured = [set(record.metrics) for run in every for record in run.records()]
    factors = {factor for run in every for factor in run.outcome.get("factors") or ()}
    common = sorted(set.intersection(*measured)) if measured else []
    return _once([metric for metric in common if metric.partition("/")[2] not in factors])


def distance(metric: str, value: float) -> float:
    """From perfect."""
    return max(NEAREST, value if smaller_is_better(metric) else 1 - value)


def distance_name(metric: str) -> str:
    return short_name(metric) if smaller_is_better(metric) else f"1 − {short_name(metric)}"


def _once(metrics: list[str]) -> list[str]:
    """Without those that are the in-sample twin of another."""
    return [one for one in metrics if one.removesuffix("_in_sample") not in metrics or not one.endswith("_in_sample")]


def learned_panels(runs: Sequence[Run]) -> list[Panel]:
    """Trained precisions and importances of the first seed, true precisions dashed; other values where
    training moves them."""
    records = runs[0].records()
    if len(records) < 2:
        return []
    truth = true_precision(runs[0].sections)
    scheduled = ("tau",) if (runs[0].sections.get("train") or {}).get("annealing") else ()
    panels = []
    for name in records[0].learned:
        kind = name.split("/")[-1]
        values = [record.learned.get(name, []) for record in records]
        moves = any(value != values[0] for value in values)
        if moves and kind in NAMES and kind not in scheduled and all(len(value) == len(values[0]) for value in values):
            steps = [record.step for record in records]
            panels.append(_learned_panel(name, steps, values, truth if kind == "precision" else []))
    return panels


def _learned_panel(name: str, steps: list[int], values: list[list[float]], truth: list[float]) -> Panel:
    def paint(ax: Any) -> None:
        for i, path in enumerate(zip(*values, strict=True)):
            label = ("learned" if len(values[0]) > 1 else name) if i == 0 else None
            ax.plot(steps, path, color=COLOURS[0], alpha=0.8, label=label)
        for i, value in enumerate(sorted(set(truth))):
            ax.axhline(value, color=COLOURS[5], linestyle="--", label="true" if i == 0 else None)
        _steps(ax, steps)
        ax.set_title("Λ, " * (name.split("/")[-1] == "precision") + name)
        ax.legend()

    return paint


def true_precision(sections: dict[str, Any]) -> list[float]:
    """Of the positives' law, in the convention of the score; empty where the world has none."""
    law, score = sections.get("conditional", {}), (sections.get("loss") or {}).get("score", {})
    if not isinstance(law.get("precision"), list):
        return []
    factor = (0.5 if law.get("half") else 1.0) / (0.5 if score.get("half") else 1.0)
    return [factor * value for value in law["precision"]]


def curve_panels(runs: Sequence[Run]) -> list[Panel]:
    """The curves of diagnostics and computations; those with the same axes share a panel."""
    axes: dict[tuple[str, str], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        for name, curve in (run.outcome.get("curves") or {}).items():
            axes[curve["x_label"], curve["y_label"]][name].append(curve)
    return [_curve_panel(labels, curves) for labels, curves in axes.items()]


def _curve_panel(labels: tuple[str, str], curves: dict[str, list[dict[str, Any]]]) -> Panel:
    def paint(ax: Any) -> None:
        for i, (name, members) in enumerate(curves.items()):
            for j, curve in enumerate(members):
                colour = COLOURS[i % len(COLOURS)]
                ax.plot(curve["x"], curve["y"], color=colour, alpha=0.7, label=name if j == 0 else None)
        ax.set_xlabel(labels[0])
        ax.set_ylabel(labels[1])
        ax.legend()

    return paint


def _steps(ax: Any, steps: Sequence[int]) -> None:
    ax.set_xlabel("step")
    # Most happens early; a short run is shown as it is.
    if steps and max(steps) >= 20 * min(steps) > 0:
        logarithmic(ax, "x", steps)
