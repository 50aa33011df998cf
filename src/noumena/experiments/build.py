"""One row, one recipe and one seed -> what `training.train` and `training.evaluate` take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .._rng import Streams, streams
from ..diagnostics import AbstractDiagnostic
from ..losses.base import AbstractLoss
from ..metrics.base import AbstractMetric
from ..mixings.base import AbstractMixing
from ..mixings.identity import Identity
from ..pairs import Images, Synthetic
from ..pairs.base import AbstractPairSource
from ..spaces import AbstractSpace
from ..theory.base import AbstractComputation
from ..training import Evaluation, train
from ._names import nearest
from .description import Description
from .resolve import Stored, resolve, resolve_stage, resolve_train
from .sections import WORLD
from .spec import LOSS, Row, Table
from .stored import loaded, stand_in
from .world import World, built

PART = 250  # images that are encoded at a time where nothing is trained


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
        space, mixing: Of the world, which `source` draws pairs from; None for images, which may have a space.
        source, encoder, loss: For `train`; without a loss where there is nothing to train, as in the identity baseline.
        training: The other arguments of `train`, or None where nothing is trained.
        before: How the encoder is trained first, where a recipe says `pretrain`.
        test: Independent pairs of the world that scores are measured in, without negatives; images as they are.
        metrics, evaluation: What to measure, and on how many fresh anchors.
        evaluation_mode: Of the encoder meanwhile, "eval" or "train".
        shape: Of one observation; images may come as rows all the same.
        factors: Names of the factors of images, where they have any.
        diagnostics: What else to read once it is trained.
        streams: The generators of the seed.
    """

    description: Description
    space: AbstractSpace | None
    mixing: AbstractMixing | None
    source: AbstractPairSource
    encoder: nn.Module
    loss: AbstractLoss | None
    training: dict[str, Any] | None
    before: Stage | None
    test: Synthetic | Images
    metrics: tuple[AbstractMetric, ...]
    evaluation: int
    evaluation_mode: str
    shape: tuple[int, ...]
    factors: tuple[str, ...]
    diagnostics: tuple[AbstractDiagnostic, ...]
    streams: Streams

    @property
    def measure(self) -> Evaluation:
        """The metrics, ready for `train(measure=...)`."""
        return Evaluation(
            self.test,
            self.metrics,
            self.evaluation,
            self.streams.eval,
            self.evaluation_mode,
            self.part,
            self.factors,
        )

    @property
    def part(self) -> int | None:
        """How many observations are encoded at a time where nothing is trained; None for vectors: all."""
        return PART if self.images else None

    @property
    def images(self) -> bool:
        """Whether observations are images."""
        return len(self.shape) > 1


def build(description: Description, seed: int, device: str | torch.device = "cpu") -> Experiment:
    """The experiment of one seed, on a device.

    The mixing comes from the `world` stream of the seed, or of `world_seed` where the description names one, and
    initial values from `init`; so every recipe and baseline of a row meets the same mixing at the same seed.
    """
    if "compute" in description.sections:
        raise ValueError(f"{description.where}: this row is computed and not trained; use `build_computation`.")
    made = _assemble(description, resolve_all(description), seed, device, {}, loaded)
    if isinstance(made.test, Images) and made.metrics and made.evaluation > len(made.test):
        raise ValueError(
            f"{description.where}: `evaluation` must be at most the {len(made.test)} images of "
            f"`{made.test.table.name}`, got {made.evaluation}."
        )
    return made


def assemble(description: Description, seed: int) -> Experiment:
    """The experiment on the CPU with black images where it has any: for what can be said without data."""
    return _assemble(description, resolve_all(description), seed, "cpu", {}, stand_in)


def build_computation(description: Description, seed: int, stored: Stored = loaded) -> AbstractComputation:
    """What a recipe with `compute` asks for, on the CPU; its mixing is that of the seed, as in `build`."""
    plans = resolve_all(description)
    world = World(description, plans, streams(seed), "cpu", {}, stored)
    given = {"space": world.space, "mixing": world.mixing} if world.table is None else {"table": world.table}
    return built(plans["compute"], AbstractComputation, stored, **given, **world.laws)


def _assemble(
    description: Description,
    plans: Mapping[str, Any],
    seed: int,
    device: str | torch.device,
    mixings: dict[str, AbstractMixing],
    stored: Stored,
) -> Experiment:
    own = streams(seed, device)
    world = World(description, plans, own, device, mixings, stored)
    source = world.source(plans["pairs"])
    metrics = tuple(built(plan, AbstractMetric) for plan in plans["metrics"])
    diagnostics = tuple(built(plan, AbstractDiagnostic, stored) for plan in plans["diagnostics"])
    tested = world.tested
    if metrics and tested is not None and tested.factors is None:
        raise ValueError(
            f"{description.where}: `metrics` compare embeddings with factors, and `{tested.name}` has none; leave them "
            "out and name `diagnostics` such as `classes.LinearProbe`."
        )
    names = [*(metric.name for metric in metrics), *(name for one in diagnostics for name in one.names)]
    if (asked := description.sections.get("milestones")) and asked["metric"] not in names:
        raise ValueError(f"{description.where}: no metric `{asked['metric']}` here; {nearest(asked['metric'], names)}")
    if len(set(names)) < len(names):
        raise ValueError(f"{description.where}: `metrics` and `diagnostics` must not name one twice, got {names}.")

    encoder, loss, training, before = _identity(world), None, None, None
    if "encoder" in plans:
        dims = world.dims
        if isinstance(out := plans["encoder"].arguments.get("dim_out"), int):
            dims["dim"] = out  # of the head
        encoder = built(plans["encoder"], nn.Module, stored, **dims, generator=own.init).to(device)
        given = {**world.dims, "dim": getattr(encoder, "dim_out", world.dim), "generator": own.init}
        given["gather"] = description.sections.get("processes", 1) > 1
        loss = built(plans["loss"], AbstractLoss, stored, **given).to(device)
        training = plans.get("train")
        if "pretrain" in plans:
            stage = plans["pretrain"]
            first = built(stage["loss"], AbstractLoss, stored, **given).to(device)
            before = Stage(world.source(stage["pairs"]), first, stage["train"])
    return Experiment(
        description=description,
        space=world.space,
        mixing=world.mixing,
        source=source,
        encoder=encoder,
        loss=loss,
        training=training,
        before=before,
        test=world.test(plans["test"]),
        metrics=metrics,
        evaluation=description.sections["evaluation"],
        evaluation_mode=description.sections.get("evaluation_mode", "eval"),
        shape=world.shape,
        factors=() if tested is None or tested.factors is None else tuple(tested.factor_names),
        diagnostics=diagnostics,
        streams=own,
    )


def _identity(world: World) -> nn.Module:
    """Observations stand in for embeddings."""
    return nn.Flatten() if len(world.shape) > 1 else Identity(*world.shape)


def check(table: Table) -> None:
    """Put every row together, so that whatever can be known to be wrong is known before anything runs.

    No image is loaded: what is asked for is asked of a table of the same shape.
    """
    mixings: dict[str, AbstractMixing] = {}
    for row in table.rows:
        named: list[str] = []
        for recipe in row.recipes:
            for baseline in (None, *row.baselines_of(recipe)):
                if baseline == "untrained":
                    continue  # put together as the row itself
                description = row.describe(recipe, baseline)
                plans = resolve_all(description)
                try:
                    names = _checked(description, plans, table.seeds[0], mixings)
                except FileNotFoundError:
                    # A reader wants a file that is not here; it says so when the row is run.
                    names = [number.metric for numbers in (row.reported, *row.baselines.values()) for number in numbers]
                named += names
                if baseline is None:
                    _check_drawn(row, names)
        _check_reported(row, named)


def _checked(
    description: Description, plans: Mapping[str, Any], seed: int, mixings: dict[str, AbstractMixing]
) -> Sequence[str]:
    """What a description measures, once it has been put together."""
    if "compute" in description.sections:
        return build_computation(description, seed, stand_in).names
    made = _assemble(description, plans, seed, "cpu", mixings, stand_in)
    _check_training(made)
    return _names(made)


def resolve_all(description: Description) -> dict[str, Any]:
    """The plan of each section; lists of plans for the readers, and the arguments of `train` as they are."""
    where, sections = description.where, description.sections
    plans: dict[str, Any] = {
        key: resolve(sections[key], key, where) for key in (*WORLD, "encoder", "loss", "compute") if key in sections
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
    names += [f"{one.name}/{part}" for one in made.metrics for part in (*made.factors, *getattr(one, "blocks", ()))]
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


def _check_reported(row: Row, names: Sequence[str]) -> None:
    for reported in (row.reported, *row.baselines.values()):
        for number in reported:
            if number.metric not in (*names, LOSS):
                raise ValueError(
                    f"{row.table}, row `{row.id}`: no metric of the row is called `{number.metric}`, which has a "
                    f"reported number; {nearest(number.metric, (*names, LOSS))}"
                )


def _check_drawn(row: Row, names: Sequence[str]) -> None:
    for panel in (row.sweep or {}).get("draw", ()):
        for metric in [panel] if isinstance(panel, str) else panel:
            if metric not in (*names, LOSS):
                raise ValueError(
                    f"{row.table}, row `{row.id}`: `sweep.draw` asks for `{metric}`, which the row does not have; "
                    f"{nearest(metric, (*names, LOSS))}"
                )
