"""One row, one recipe and one seed -> what `training.train` and `training.evaluate` take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import nn

from .. import _checks
from .._rng import Streams, streams
from ..losses.base import AbstractLoss
from ..metrics.base import AbstractMetric
from ..mixings.base import AbstractMixing
from ..mixings.identity import Identity
from ..pairs.base import AbstractPairSource
from ..spaces import AbstractSpace
from ..training import Evaluation, train
from ._names import nearest
from .description import Description
from .resolve import Plan, resolve, resolve_train
from .spec import LOSS, Row, Table


@dataclass(frozen=True, eq=False)
class Experiment:
    """A world, a learner and readers, put together and not yet run.

    `train(e.source, e.encoder, e.loss, **e.training, generator=e.streams.pairs)` trains it, and
    `evaluate(e.source, e.encoder, e.metrics, n=e.evaluation, generator=e.streams.eval)` measures it.

    Attributes:
        description: What it was built from.
        space, mixing: Of the world, which `source` draws pairs from.
        source, encoder, loss: For `train`; there is no loss where nothing is trained, as in the identity baseline.
        training: The other arguments of `train`, or None.
        metrics, evaluation: What to measure, and on how many fresh anchors.
        streams: The generators of the seed.
    """

    description: Description
    space: AbstractSpace
    mixing: AbstractMixing
    source: AbstractPairSource
    encoder: nn.Module
    loss: AbstractLoss | None
    training: dict[str, Any] | None
    metrics: tuple[AbstractMetric, ...]
    evaluation: int
    streams: Streams


def build(description: Description, seed: int, device: str = "cpu") -> Experiment:
    """The experiment of one seed.

    The mixing comes from the `world` stream of the seed, or of `world_seed` where the description names one, and
    initial values from `init`; so every recipe and baseline of a row meets the same mixing at the same seed.
    """
    return _assemble(description, resolve_all(description), seed, device, {})


def _assemble(
    description: Description, plans: Mapping[str, Any], seed: int, device: str, mixings: dict[str, AbstractMixing]
) -> Experiment:
    """The experiment; a mixing in `mixings` is taken, and one that is not is put there."""
    own = streams(seed, device)
    world_seed = description.sections.get("world_seed")
    world = own.world if world_seed is None else streams(world_seed, device).world

    space = _built(plans["space"], AbstractSpace)
    marginal = plans["marginal"].build(space=space)
    conditional = plans["conditional"].build(space=space)
    key = repr((space.dim, description.canonical()["mixing"]))
    if key not in mixings:
        mixings[key] = _built(plans["mixing"], AbstractMixing, dim=space.dim, dim_in=space.dim, generator=world)
    mixing = mixings[key]
    source = _built(plans["pairs"], AbstractPairSource, marginal=marginal, conditional=conditional, mixing=mixing)
    metrics = tuple(_built(plan, AbstractMetric) for plan in plans["metrics"])
    names = [metric.name for metric in metrics]
    if len(set(names)) < len(names):
        raise ValueError(f"{description.where}: `metrics` must not name one twice, got {names}.")

    encoder, loss, training = Identity(mixing.dim_out), None, None
    if "encoder" in plans:
        dims = {"dim": space.dim, "dim_in": mixing.dim_out, "dim_out": space.dim}
        encoder = _built(plans["encoder"], nn.Module, **dims, generator=own.init)
        dim = getattr(encoder, "dim_out", space.dim)
        loss = _built(plans["loss"], AbstractLoss, dim=dim, generator=own.init)
        training = plans["train"]
    return Experiment(
        description=description,
        space=space,
        mixing=mixing,
        source=source,
        encoder=encoder,
        loss=loss,
        training=training,
        metrics=metrics,
        evaluation=description.sections["evaluation"],
        streams=own,
    )


def check(table: Table) -> None:
    """Put every row together, so that whatever can be known to be wrong is known before anything runs."""
    mixings: dict[str, AbstractMixing] = {}
    for row in table.rows:
        for recipe in row.recipes:
            for baseline in (None, *row.baselines_of(recipe)):
                description = row.describe(recipe, baseline)
                made = _assemble(description, resolve_all(description), table.seeds[0], "cpu", mixings)
                _check_training(made)
                _check_reported(row, [metric.name for metric in made.metrics])


def resolve_all(description: Description) -> dict[str, Any]:
    """The plan of each section; a list of plans for the metrics, and the arguments of `train` as they are."""
    where, sections = description.where, description.sections
    plans: dict[str, Any] = {
        key: resolve(sections[key], key, where)
        for key in ("space", "marginal", "conditional", "mixing", "pairs", "encoder", "loss")
        if key in sections
    }
    plans["metrics"] = [resolve(metric, "metrics", where) for metric in sections["metrics"]]
    if "train" in sections:
        plans["train"] = resolve_train(sections["train"], where)
    return plans


def _check_training(made: Experiment) -> None:
    if made.loss is None or made.training is None:
        return
    measure = Evaluation(made.source, made.metrics, made.evaluation, made.streams.eval)
    try:
        # Refuses what does not fit together; no step is taken before its records are asked for.
        train(made.source, made.encoder, made.loss, **made.training, generator=made.streams.pairs, measure=measure)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{made.description.where}, `train`: {error}") from error


def _check_reported(row: Row, names: list[str]) -> None:
    for reported in (row.reported, *row.baselines.values()):
        for number in reported:
            if number.metric not in (*names, LOSS):
                raise ValueError(
                    f"{row.table}, row `{row.id}`: no metric of the row is called `{number.metric}`, which has a "
                    f"reported number; {nearest(number.metric, (*names, LOSS))}"
                )


def _built(plan: Plan, kind: type, **supplied: Any) -> Any:
    made = plan.build(**supplied)
    try:
        return _checks.kind("kind", made, kind)
    except TypeError as error:
        raise ValueError(f"{plan.where}: {error}") from error
