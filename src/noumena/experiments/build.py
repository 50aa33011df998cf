"""One row, one recipe and one seed -> what `training.train` and `training.evaluate` take."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .. import _checks
from .._rng import Streams, streams
from ..diagnostics import AbstractDiagnostic
from ..losses.base import AbstractLoss
from ..metrics.base import AbstractMetric
from ..mixings.base import AbstractMixing
from ..mixings.identity import Identity
from ..pairs import Synthetic
from ..pairs.base import AbstractPairSource
from ..spaces import AbstractSpace
from ..theory.base import AbstractComputation
from ..training import Evaluation, train
from ._names import nearest
from .description import Description
from .resolve import Plan, resolve, resolve_stage, resolve_train
from .spec import LOSS, Row, Table


@dataclass(frozen=True, eq=False)
class Stage:
    """What an encoder is trained with: pairs, a loss, and the other arguments of `train`."""

    source: AbstractPairSource
    loss: AbstractLoss
    training: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Experiment:
    """A world, a learner and readers, put together and not yet run.

    `train(e.source, e.encoder, e.loss, **e.training, generator=e.streams.pairs)` trains it, and
    `evaluate(e.test, e.encoder, e.metrics, n=e.evaluation, generator=e.streams.eval)` measures it.

    Attributes:
        description: What it was built from.
        space, mixing: Of the world, which `source` draws pairs from.
        source, encoder, loss: For `train`; there is no loss where nothing is trained, as in the identity baseline.
        training: The other arguments of `train`, or None.
        before: How the encoder is trained first, where a recipe says `pretrain`.
        test: Independent pairs of the world that scores are measured in, without negatives.
        metrics, evaluation: What to measure, and on how many fresh anchors.
        diagnostics: What else to read once it is trained.
        streams: The generators of the seed.
    """

    description: Description
    space: AbstractSpace
    mixing: AbstractMixing
    source: AbstractPairSource
    encoder: nn.Module
    loss: AbstractLoss | None
    training: dict[str, Any] | None
    before: Stage | None
    test: Synthetic
    metrics: tuple[AbstractMetric, ...]
    evaluation: int
    diagnostics: tuple[AbstractDiagnostic, ...]
    streams: Streams

    @property
    def measure(self) -> Evaluation:
        """The metrics, ready for `train(measure=...)`."""
        return Evaluation(self.test, self.metrics, self.evaluation, self.streams.eval)


def build(description: Description, seed: int, device: str | torch.device = "cpu") -> Experiment:
    """The experiment of one seed, on a device.

    The mixing comes from the `world` stream of the seed, or of `world_seed` where the description names one, and
    initial values from `init`; so every recipe and baseline of a row meets the same mixing at the same seed.
    """
    if "compute" in description.sections:
        raise ValueError(f"{description.where}: this row is computed and not trained; use `build_computation`.")
    return _assemble(description, resolve_all(description), seed, device, {})


def build_computation(description: Description, seed: int) -> AbstractComputation:
    """What a recipe with `compute` asks for, on the CPU; its mixing is that of the seed, as in `build`."""
    plans = resolve_all(description)
    world = _World(description, plans, streams(seed), "cpu", {})
    return _built(plans["compute"], AbstractComputation, space=world.space, mixing=world.mixing, **world.laws)


class _World:
    """Laws and mixing of a description; a mixing in `mixings` is taken, and one that is not is put there."""

    def __init__(
        self,
        description: Description,
        plans: Mapping[str, Any],
        own: Streams,
        device: str | torch.device,
        mixings: dict[str, AbstractMixing],
    ) -> None:
        world_seed = description.sections.get("world_seed")
        generator = own.world if world_seed is None else streams(world_seed, device).world
        self.space = _built(plans["space"], AbstractSpace)
        self.laws = {name: plans[name].build(space=self.space) for name in ("marginal", "conditional")}
        key = repr((self.space.dim, description.canonical()["mixing"]))
        if key not in mixings:
            dim = self.space.dim
            mixings[key] = _built(plans["mixing"], AbstractMixing, dim=dim, dim_in=dim, generator=generator)
        self.mixing = mixings[key]

    def source(self, plan: Plan) -> AbstractPairSource:
        return _built(plan, AbstractPairSource, mixing=self.mixing, **self.laws)

    def test(self, plans: Mapping[str, Plan]) -> Synthetic:
        changed = {name: plan.build(space=self.space) for name, plan in plans.items()}
        return Synthetic(**{**self.laws, **changed}, mixing=self.mixing)


def _assemble(
    description: Description,
    plans: Mapping[str, Any],
    seed: int,
    device: str | torch.device,
    mixings: dict[str, AbstractMixing],
) -> Experiment:
    own = streams(seed, device)
    world = _World(description, plans, own, device, mixings)
    space, mixing = world.space, world.mixing
    source = world.source(plans["pairs"])
    metrics = tuple(_built(plan, AbstractMetric) for plan in plans["metrics"])
    diagnostics = tuple(_built(plan, AbstractDiagnostic) for plan in plans["diagnostics"])
    names = [*(metric.name for metric in metrics), *(name for one in diagnostics for name in one.names)]
    if (asked := description.sections.get("milestones")) and asked["metric"] not in names:
        raise ValueError(f"{description.where}: no metric `{asked['metric']}` here; {nearest(asked['metric'], names)}")
    if len(set(names)) < len(names):
        raise ValueError(f"{description.where}: `metrics` and `diagnostics` must not name one twice, got {names}.")

    encoder, loss, training, before = Identity(mixing.dim_out), None, None, None
    if "encoder" in plans:
        dims = {"dim": space.dim, "dim_in": mixing.dim_out, "dim_out": space.dim, "shape": mixing.shape_out}
        encoder = _built(plans["encoder"], nn.Module, **dims, generator=own.init).to(device)
        given = {"dim": getattr(encoder, "dim_out", space.dim), "generator": own.init}
        given["shape"] = mixing.shape_out
        given["gather"] = description.sections.get("processes", 1) > 1
        loss = _built(plans["loss"], AbstractLoss, **given).to(device)
        training = plans["train"]
        if "pretrain" in plans:
            stage = plans["pretrain"]
            first = _built(stage["loss"], AbstractLoss, **given).to(device)
            before = Stage(world.source(stage["pairs"]), first, stage["train"])
    return Experiment(
        description=description,
        space=space,
        mixing=mixing,
        source=source,
        encoder=encoder,
        loss=loss,
        training=training,
        before=before,
        test=world.test(plans["test"]),
        metrics=metrics,
        evaluation=description.sections["evaluation"],
        diagnostics=diagnostics,
        streams=own,
    )


def check(table: Table) -> None:
    """Put every row together, so that whatever can be known to be wrong is known before anything runs."""
    mixings: dict[str, AbstractMixing] = {}
    for row in table.rows:
        for recipe in row.recipes:
            for baseline in (None, *row.baselines_of(recipe)):
                description = row.describe(recipe, baseline)
                if "compute" in description.sections:
                    names = build_computation(description, table.seeds[0]).names
                else:
                    made = _assemble(description, resolve_all(description), table.seeds[0], "cpu", mixings)
                    _check_training(made)
                    names = _names(made)
                _check_reported(row, names)
                if baseline is None:
                    _check_drawn(row, names)


def resolve_all(description: Description) -> dict[str, Any]:
    """The plan of each section; lists of plans for the readers, and the arguments of `train` as they are."""
    where, sections = description.where, description.sections
    plans: dict[str, Any] = {
        key: resolve(sections[key], key, where)
        for key in ("space", "marginal", "conditional", "mixing", "pairs", "encoder", "loss", "compute")
        if key in sections
    }
    for key in ("metrics", "diagnostics"):
        plans[key] = [resolve(reader, key, where) for reader in sections.get(key, ())]
    plans["test"] = {key: resolve(law, key, f"{where}, test") for key, law in sections.get("test", {}).items()}
    if "train" in sections:
        plans["train"] = resolve_train(sections["train"], where)
    if "pretrain" in sections:
        plans["pretrain"] = resolve_stage(sections["pretrain"], f"{where}, pretrain")
    return plans


def _names(made: Experiment) -> tuple[str, ...]:
    """Of the numbers that a run ends with, but for its loss."""
    names = [*(metric.name for metric in made.metrics), *(name for one in made.diagnostics for name in one.names)]
    return (*names, *milestones(made.description, [{}]))


def milestones(description: Description, measured: list[dict[str, float]]) -> dict[str, int | None]:
    """For each level that the row asks for, which of the records in order is the first to reach it; None if none is."""
    asked = description.sections.get("milestones")
    if asked is None:
        return {}
    values = [metrics.get(asked["metric"]) for metrics in measured]
    reached = {
        level: next((i for i, value in enumerate(values) if value is not None and value >= level), None)
        for level in asked["at"]
    }
    return {f"steps_to_{level:g}": index for level, index in reached.items()}


def _check_training(made: Experiment) -> None:
    if made.loss is None or made.training is None:
        return
    stages = [("train", Stage(made.source, made.loss, made.training))]
    stages += [("pretrain", made.before)] if made.before is not None else []
    for name, stage in stages:
        try:
            # Refuses what does not fit together; no step is taken before its records are asked for.
            options = {**stage.training, "generator": made.streams.pairs, "measure": made.measure}
            train(stage.source, made.encoder, stage.loss, **options)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{made.description.where}, `{name}`: {error}") from error


def _check_reported(row: Row, names: tuple[str, ...]) -> None:
    for reported in (row.reported, *row.baselines.values()):
        for number in reported:
            if number.metric not in (*names, LOSS):
                raise ValueError(
                    f"{row.table}, row `{row.id}`: no metric of the row is called `{number.metric}`, which has a "
                    f"reported number; {nearest(number.metric, (*names, LOSS))}"
                )


def _check_drawn(row: Row, names: tuple[str, ...]) -> None:
    for panel in (row.sweep or {}).get("draw", ()):
        for metric in [panel] if isinstance(panel, str) else panel:
            if metric not in (*names, LOSS):
                raise ValueError(
                    f"{row.table}, row `{row.id}`: `sweep.draw` asks for `{metric}`, which the row does not have; "
                    f"{nearest(metric, (*names, LOSS))}"
                )


def _built(plan: Plan, kind: type, **supplied: Any) -> Any:
    made = plan.build(**supplied)
    try:
        return _checks.kind("kind", made, kind)
    except TypeError as error:
        raise ValueError(f"{plan.where}: {error}") from error
