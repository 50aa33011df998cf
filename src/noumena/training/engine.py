"""The training loop: a generator of records."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from .. import _checks
from ..losses.base import AbstractLoss
from ..pairs.base import AbstractPairSource
from .checkpoint import Checkpoint
from .chunks import Chunks
from .describe import to_table
from .divergence import check_embeddings, check_loss, check_parameters
from .ema import EMA, Averaged
from .embedding import embed
from .optim import AbstractOptimizer
from .record import Record
from .schedules import Annealing, BatchGrowth, Schedule
from .state import State, Sums
from .target import Target
from .together import Together


def train(
    source: AbstractPairSource,
    encoder: nn.Module,
    loss: AbstractLoss,
    *,
    optimizer: AbstractOptimizer | torch.optim.Optimizer,
    steps: int,
    batch_size: int | BatchGrowth,
    generator: torch.Generator,
    schedule: Schedule | None = None,
    annealing: Annealing | Sequence[Annealing] = (),
    ema: EMA | None = None,
    clip: float | None = None,
    precision: str = "full",
    chunk: int | None = None,
    every: int = 100,
    measure: Callable[[nn.Module], Mapping[str, float]] | None = None,
    until: Target | None = None,
    streams: Mapping[str, torch.Generator] | None = None,
    checkpoint: Checkpoint | None = None,
    fabric: Any = None,
) -> Iterator[Record]:
    """Train, and yield a record every `every` steps and at the end. Stop whenever you like: leave the loop.

    Dtype and device are the encoder's; the generator must be on that device. The same seed gives the same numbers on
    the same machine with the same number of threads, whether or not the run was killed and resumed on the way.
    Raises `Diverged`, which names the step and the likely cause, when training cannot go on.

    Args:
        source: Draws the batches.
        encoder: Any module from observations to embeddings. With `ema` it holds the average when the run is over
            (a loop that is left early leaves it the latest values).
        loss: Its learned values (temperature, precision) are trained too.
        optimizer: A description such as `Muon()`, built over encoder and loss; or an optimiser of torch's, which then
            decides itself what it trains.
        steps: How long.
        batch_size: Pairs in a step: a number, or a growth over the run.
        generator: The stream of training pairs.
        schedule: Learning rates; constant by default.
        annealing: Temperatures that move over the run.
        ema: Measure, and end with, an average of the encoder.
        clip: Largest norm of the gradient of everything that is trained; longer ones are shortened to it.
        precision: "full", or "bf16" for matrix products in bfloat16 (autocast); losses stay in float32.
        chunk: The most observations that are encoded at once: the gradient of the whole batch in the memory of a
            chunk, for one more forward pass; see `Chunks` for what batch statistics make of it. None for the batch.
        every: Steps between records.
        measure: Called for each record with the encoder as it then stands; returns named numbers. `Evaluation` is one.
        until: Ends the run at the first record that is good enough; needs `measure`.
        streams: The generators that `measure` draws from, by name. A checkpoint keeps them beside `generator`.
        checkpoint: Where the run is kept, and resumed from if it is there. A finished one yields nothing more. That
            everything but `source` and `measure` is as before is checked; those two are the caller's to keep.
        fabric: In one of several processes, what `Devices.launch` hands over, or a `lightning_fabric.Fabric` of your
            own; all of them make this very call. A batch is then shared out: every process draws its share by a
            generator that the stream of pairs seeds anew in each step, contrasts it with the embeddings of all (build
            the loss with `gather=True`), and takes the step of the whole batch. The first one alone measures, yields
            records and saves; for the others the loop passes without any. Leaving it ends it for all.
    """
    _checks.kind("source", source, AbstractPairSource, "Pass one such as `Given(x, x_pos)`.")
    _checks.kind("encoder", encoder, nn.Module, "Pass one such as `MLP(dim_in, dim_out, generator=generator)`.")
    _checks.kind("loss", loss, AbstractLoss, "Pass one such as `InfoNCE(Dot(tau=0.1))`.")
    _checks.kind("optimizer", optimizer, (AbstractOptimizer, torch.optim.Optimizer), "Pass one such as `Muon()`.")
    parameter = next((one for one in encoder.parameters() if one.requires_grad), None)
    if parameter is None:
        raise ValueError("`encoder` must have parameters to train, got none.")
    _checks.generator(generator, parameter.device)
    plan = Plan(
        steps=steps,
        batch_size=batch_size,
        schedule=schedule,
        annealing=(annealing,) if isinstance(annealing, Annealing) else tuple(annealing),
        ema=ema,
        clip=clip,
        precision=precision,
        chunk=chunk,
        every=every,
        until=until,
    )
    if until is not None and measure is None:
        raise ValueError("`until` needs `measure`, which supplies its metric; pass an `Evaluation`.")
    together = Together(fabric)
    together.check(encoder, loss, [plan.pairs(0), plan.pairs(plan.steps - 1)], plan.multiple)
    together.begin_alike(encoder, loss)
    described = isinstance(optimizer, AbstractOptimizer)
    state = State(
        encoder=encoder,
        loss=loss,
        optimizers=optimizer.build(encoder, loss) if described else (optimizer,),
        averaged=None if ema is None else Averaged(ema, encoder),
        streams={"pairs": generator, **(streams or {})},
        description={
            **to_table(plan),
            "optimizer": to_table(optimizer) if described else type(optimizer).__name__,
            "processes": together.size,
        },
    )
    controls = Controls(plan, state)
    held = checkpoint.read() if together.first and checkpoint is not None and checkpoint.exists() else None
    if (held := together.agree(held)) is not None:
        state.unpack(*held)
    return _steps(source, state, plan, controls, together, measure, checkpoint)


@dataclass(frozen=True)
class Plan:
    """What a run is asked to do, as data. The arguments are those of `train`."""

    steps: int
    batch_size: int | BatchGrowth
    schedule: Schedule | None
    annealing: tuple[Annealing, ...]
    ema: EMA | None
    clip: float | None
    precision: str
    chunk: int | None
    every: int
    until: Target | None

    def __post_init__(self) -> None:
        _checks.count("steps", self.steps)
        if not isinstance(self.batch_size, BatchGrowth):
            _checks.count("batch_size", self.batch_size)
        for name, kind in {"schedule": Schedule, "ema": EMA, "until": Target}.items():
            if getattr(self, name) is not None:
                _checks.kind(name, getattr(self, name), kind)
        for one in self.annealing:
            _checks.kind("annealing", one, Annealing)
        if self.clip is not None:
            _checks.positive("clip", self.clip)
        _checks.choice("precision", self.precision, ("full", "bf16"))
        if self.chunk is not None:
            _checks.count("chunk", self.chunk)
        _checks.count("every", self.every)

    def pairs(self, step: int) -> int:
        size = self.batch_size
        return size.size(step, self.steps) if isinstance(size, BatchGrowth) else size

    @property
    def multiple(self) -> int:
        """Of which every batch, and every process's share of it, is a multiple."""
        return self.batch_size.multiple if isinstance(self.batch_size, BatchGrowth) else 1


class Controls:
    """Sets what the plan changes from step to step: a function of the step alone, so that nothing of it is saved."""

    def __init__(self, plan: Plan, state: State) -> None:
        self.plan = plan
        self.optimizers = state.optimizers
        self.rates = [group["lr"] for group in self.groups]
        self.settings = [(one, one.targets(state.loss, state.encoder)) for one in plan.annealing]
        self.set(0)  # a trained temperature is refused here, before the run

    @property
    def groups(self) -> list[dict]:
        """Read anew each time: an optimiser that is restored has new ones."""
        return [group for optimizer in self.optimizers for group in optimizer.param_groups]

    def set(self, step: int) -> None:
        """As `step`, counted from 0, asks."""
        if self.plan.schedule is not None:
            factor = self.plan.schedule.factor(step, self.plan.steps)
            for group, rate in zip(self.groups, self.rates, strict=True):
                group["lr"] = rate * factor
        for annealing, targets in self.settings:
            for target in targets:
                target.set(annealing.value(step, self.plan.steps))  # pyright: ignore[reportCallIssue]

    def restore(self) -> None:
        """Hand the optimisers back at their own rates: a caller's may train again."""
        for group, rate in zip(self.groups, self.rates, strict=True):
            group["lr"] = rate

    @property
    def rate(self) -> float:
        """The largest learning rate."""
        return max(group["lr"] for group in self.groups)


def _steps(
    source: AbstractPairSource,
    state: State,
    plan: Plan,
    controls: Controls,
    together: Together,
    measure: Callable[[nn.Module], Mapping[str, float]] | None,
    checkpoint: Checkpoint | None,
) -> Iterator[Record]:
    """The loop itself, apart so that a wrong call fails where it stands and not where its records are read."""
    trained = [parameter for group in controls.groups for parameter in group["params"]]
    saved = state.seconds
    since, busy = time.perf_counter(), time.process_time()
    try:
        while not state.finished:
            controls.set(state.step)
            _step(source, state, plan, controls.rate, trained, together)
            state.finished = state.step == plan.steps
            if due := state.step % plan.every == 0 or state.finished:
                check_parameters(state.encoder, state.loss, state.step, controls.rate)
            state.seconds += time.perf_counter() - since
            state.core_seconds += time.process_time() - busy
            if due:
                asked_on = False
                try:
                    if together.first:
                        metrics = {} if measure is None else {k: float(x) for k, x in measure(state.measured).items()}
                        state.finished |= plan.until is not None and plan.until.reached(metrics)
                        yield state.record(metrics)
                    asked_on = True
                finally:
                    # The others wait here to be told, also where the loop around has been left or measuring failed.
                    state.finished, asked_on = together.agree((state.finished, asked_on))
                if not asked_on:
                    return
                state.sums = Sums()
            if checkpoint is not None and (state.finished or state.seconds - saved >= checkpoint.seconds):
                if together.first:
                    checkpoint.write(*state.pack())
                saved = state.seconds
            since, busy = time.perf_counter(), time.process_time()
        if state.averaged is not None:
            state.averaged.copy_to(state.encoder)
    finally:
        controls.restore()


def _step(
    source: AbstractPairSource,
    state: State,
    plan: Plan,
    rate: float,
    trained: Sequence[nn.Parameter],
    together: Together,
) -> None:
    encoder, loss, step = state.encoder, state.loss, state.step + 1
    first = next(encoder.parameters())
    batch = together.draw(source, plan.pairs(state.step), plan.multiple, state.streams["pairs"], first.dtype)
    seen, chunks = None, None
    precision = partial(torch.autocast, first.device.type, torch.bfloat16, enabled=plan.precision == "bf16")
    try:
        with precision():
            if plan.chunk is None:
                seen = embed(encoder, batch, loss)
            else:
                chunks = Chunks(encoder, batch, plan.chunk)
                seen = chunks.seen(loss)
            output = loss(seen)
    except ValueError as error:
        if seen is not None:
            check_embeddings(batch, seen, step, rate, encoder, loss)
        error.add_note(f"at step {step}")
        raise
    value, *parts = together.means([output.total, *output.parts.values()])
    state.first_loss = value if state.first_loss is None else state.first_loss
    check_loss(value, state.first_loss, step, rate, loss, seen)
    for optimizer in state.optimizers:
        optimizer.zero_grad(set_to_none=True)
    output.total.backward()
    if chunks is not None:
        chunks.backward(precision)
    together.average(trained, [*encoder.buffers(), *loss.buffers()])
    if plan.clip is not None:
        nn.utils.clip_grad_norm_(trained, plan.clip)
    for optimizer in state.optimizers:
        optimizer.step()
    if state.averaged is not None:
        state.averaged.update(encoder, step)
    state.sums.add(value, dict(zip(output.parts, parts, strict=True)))
    state.step = step
