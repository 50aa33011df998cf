"""Contrastive learning in scikit-learn's manner."""

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, gen_batches
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from .. import _checks
from .._rng import streams
from ..encoders import MLP
from ..losses import AbstractLoss
from ..training import AdamW, Muon, Record, Schedule, train
from ..training.subnormals import flushed
from . import objective
from .kept import LOOKED_AT, SCORE, Kept, Measure
from .nats import critic, nats
from .rows import FLOATS, Rows, read
from .standardised import Standardised

CHUNK = 8192  # rows that are standardised or embedded at once
RECORDS = 20
# Muon's rate is that of hidden matrices, on its own scale; everything else moves at Adam's.
EDGE_RATE = 1 / 15
BUILD = ("n_components", "space", "similarity", "p", "temperature", "widths")  # what an encoder and its loss are of


class ContrastiveEncoder(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Latents from pairs of observations: an encoder that tells which two observations belong together.

    `fit(X, X_pos)` takes row i of `X_pos` as the positive of row i of `X`: two measurements of one thing. `fit(X)`
    takes rows as frames in the order of time, and a frame's positive is the one `lag` frames later. Under the
    conditions that docs/estimator.md lists, the latents behind the data come back up to a rotation (sphere) or up to
    the order, sign and scale of the axes (box); how near one is to that, `score` says in part.

    Columns are standardised first. The network is trained in float32, with weight decay, and the encoder that tells
    held-out pairs best is kept; `transform` computes in the dtype of its input. The same `random_state` gives the same
    numbers on one machine with one number of threads; global random states are neither read nor changed. Ctrl-C ends
    `fit` with KeyboardInterrupt as usual, and leaves the best encoder so far: the estimator is fitted then.

    Args:
        n_components: Coordinates of the latents, as many as there are factors. The unit sphere of three coordinates is
            a two-dimensional surface.
        space: Where latents live: "sphere" (directions), "box" (the unit interval for each coordinate) or "free".
        similarity: How alike two latents are, as a model of how positives scatter about their anchors: "dot" (von
            Mises-Fisher), "lp" (-sum |h - h'|^p), "anisotropic" (a learned precision for each coordinate) or
            "covariance" (`CovarianceContrast`, for pairs too noisy for the others; sphere alone). "auto" is "dot" on a
            sphere and "lp" elsewhere.
        p: Exponent of "lp", at least 1; the others do not read it. p = 2 leaves the axes open,
            but for what the walls of a box tell.
        temperature: "learned" along with the encoder, or a fixed positive number.
        widths: Widths of the hidden layers.
        lag: Frames from an anchor to its positive, where `fit` is given no positives.
        steps: Training steps.
        batch_size: Pairs of a step; all of them, if there are fewer.
        learning_rate: Of hidden weight matrices (`Muon`); all else moves at a fifteenth of it (`AdamW`).
        weight_decay: Of all weights. More of it for fewer pairs; the score tells.
        validation_fraction: Share of the pairs held out to choose the encoder by, less than 1. With 0, or where it
            comes to fewer than ten pairs, none are and the last encoder is kept. Frames are held out in stretches.
        warm_start: Go on from the encoder that an earlier `fit` has left, with its means and scales; the schedule of
            rates begins anew.
        random_state: Decides initial values, batches, and which pairs are held out: a whole number, a
            numpy.random.RandomState, or None for a fresh seed, which `seed_` then tells.
        device: Where to train and embed, such as "cuda". What is fitted lies on the CPU between calls.
        verbose: 1 prints a line at each of about twenty records.

    Attributes:
        encoder_: The encoder of standardised rows, on the CPU.
        scaler_: The fitted StandardScaler.
        objective_: The loss, with its learned values.
        temperature_: The temperature that the score uses; None for "anisotropic".
        precision_: The learned precision of each coordinate, of "anisotropic" alone; else None.
        loss_: Mean training loss before the encoder was kept.
        validation_score_: Score of the held-out pairs, at most 4096 of them; None if there are none.
        records_: A `Record` of each twentieth of the steps.
        n_steps_: After how many steps the encoder was kept; 0 if interrupted before the first record.
        n_pairs_: Pairs trained on.
        seed_: What `random_state` came to; as `random_state` it repeats the fit.
        n_features_in_, feature_names_in_: As everywhere in scikit-learn.
    """

    def __init__(
        self,
        n_components: int = 3,
        *,
        space: str = "sphere",
        similarity: str = "auto",
        p: float = 1.0,
        temperature: str | float = "learned",
        widths: Sequence[int] = (64, 64, 64),
        lag: int = 1,
        steps: int = 2000,
        batch_size: int = 512,
        learning_rate: float = 0.15,
        weight_decay: float = 0.3,
        validation_fraction: float = 0.1,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        device: str = "cpu",
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.space = space
        self.similarity = similarity
        self.p = p
        self.temperature = temperature
        self.widths = widths
        self.lag = lag
        self.steps = steps
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.warm_start = warm_start
        self.random_state = random_state
        self.device = device
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, *, X_pos: Any = None, groups: Any = None) -> "ContrastiveEncoder":
        """Train on given pairs, or on each frame and the one `lag` frames later.

        Args:
            X: Observations (rows, columns): anchors, or frames in the order of time.
            y: Positives, of the shape of `X`; here, so that cross-validation splits them along with `X`. A vector is
                no set of positives but the target of a later step in a pipeline, and is not looked at: labels never
                choose pairs.
            X_pos: Positives, for those who name them; `y` is then not looked at.
            groups: A label for each frame, where there are several sequences: no pair reaches from one into another.
        """
        self._check_parameters()
        going_on = self.warm_start and hasattr(self, "encoder_")
        rows = read(self, X, y, X_pos, groups, lag=self.lag, reset=not going_on)
        seed = self._seed()
        rng = streams(seed, self.device)
        chosen, held = rows.split(self.validation_fraction, np.random.default_rng(seed))
        if len(chosen) < 2:
            raise ValueError(
                f"`X` must hold at least 2 pairs to train on, got {len(chosen)} besides {len(held)} held out "
                f"(n_samples={len(rows.x)}); give more rows, or a smaller `validation_fraction`."
            )
        scaler, encoder, loss = self._begun() if going_on else self._new(rows, rng.init)
        encoder, loss = encoder.to(rng.init.device), loss.to(rng.init.device)

        kept = Kept(encoder, loss)
        measure = None
        if len(held):
            x, x_pos = (
                torch.from_numpy(_standardised(scaler, part).astype(np.float32)).to(rng.init.device)
                for part in rows.pairs(held[:LOOKED_AT])
            )
            measure = Measure(x, x_pos, loss, rows.spacing)
        run = train(
            Standardised(rows.source(chosen), scaler.mean_, scaler.scale_),
            encoder,
            loss,
            optimizer=self._optimizer(),
            schedule=Schedule(),
            steps=self.steps,
            batch_size=min(self.batch_size, len(chosen)),
            generator=rng.pairs,
            every=max(1, self.steps // RECORDS),
            measure=measure,
        )
        try:
            with flushed():
                for record in run:
                    kept.add(record)
                    if self.verbose:
                        print(_line(record, self.steps), flush=True)
        except KeyboardInterrupt:
            self._keep(kept, scaler, seed, rows, chosen, held)
            raise
        self._keep(kept, scaler, seed, rows, chosen, held)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """The latents of rows, (rows, n_components); float32 for rows of float32, else float64."""
        check_is_fitted(self, "encoder_")
        x: Any = validate_data(self, X, dtype=FLOATS, reset=False)
        return self._embed(x)

    def score(self, X: Any, y: Any = None, *, X_pos: Any = None, groups: Any = None) -> float:
        """How much the latents tell of who belongs to whom, in nats: higher is better, 0 is chance.

        log(B) less the InfoNCE loss in batches of at most B = 1024 pairs, both views as anchors, at the learned
        temperature or precision. It is bounded by log(B) and, in expectation, by the mutual information of a pair; it
        compares estimators of any space, similarity, temperature and batch size on the same pairs, so model selection
        may use it. Frames of one batch are ten lags apart, so that short recordings have fewer candidates: a frame
        would else meet itself, as the positive of the frame before. Arguments are those of `fit`.
        """
        check_is_fitted(self, "encoder_")
        rows = read(self, X, y, X_pos, groups, lag=self.lag, reset=False)
        if len(rows.anchors) < 2:
            raise ValueError(f"`X` must hold at least 2 pairs, got {len(rows.anchors)} (n_samples = {len(rows.x)}).")
        return nats(*self._embedded(rows, rows.anchors), self._critic, rows.spacing)

    @property
    def _n_features_out(self) -> int:
        return self.encoder_.dim_out

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _check_parameters(self) -> None:
        _checks.count("n_components", self.n_components)
        objective.check(self.space, self.similarity, self.p, self.temperature)
        for width in _checks.sequence("widths", self.widths):
            _checks.count("widths", width)
        for name in ("lag", "steps", "batch_size"):
            _checks.count(name, getattr(self, name), low=2 if name == "batch_size" else 1)
        _checks.positive("learning_rate", self.learning_rate)
        _checks.at_least("weight_decay", self.weight_decay, 0.0)
        if not 0 <= _checks.number("validation_fraction", self.validation_fraction) < 1:
            raise ValueError(
                f"`validation_fraction` must be at least 0 and less than 1, got {self.validation_fraction!r}."
            )

    def _seed(self) -> int:
        match self.random_state:
            case None:
                return int(np.random.SeedSequence().generate_state(1)[0])
            case np.random.RandomState():
                return int(self.random_state.randint(2**31 - 1))
            case _:
                return _checks.count("random_state", self.random_state, low=0)

    def _new(self, rows: Rows, generator: torch.Generator) -> tuple[Any, MLP, AbstractLoss]:
        scaler = StandardScaler()
        for array in (rows.x,) if rows.x_pos is None else (rows.x, rows.x_pos):
            for chunk in gen_batches(len(array), CHUNK):
                scaler.partial_fit(array[chunk])
        if not np.any(scaler.var_):
            raise ValueError("`X` must vary, got one row many times.")
        dim = int(self.n_components)
        head = objective.make_head(self.space, dim)
        encoder = MLP(rows.x.shape[1], dim, tuple(self.widths), head=head, slope=0.2, init="he", generator=generator)
        last = encoder.layers[-1]
        assert isinstance(last, nn.Linear)
        # He's biases are 0, which takes a row of zeros, the mean of the data, to the origin: no point of a sphere.
        nn.init.normal_(last.bias, std=0.1, generator=generator)
        return scaler, encoder, objective.make_loss(self.space, self.similarity, dim, self.p, self.temperature)

    def _begun(self) -> tuple[Any, MLP, AbstractLoss]:
        """What an earlier fit has left, to go on from; refused if it was built otherwise."""
        for name, was in self._built_as.items():
            if (now := getattr(self, name)) != was:
                raise ValueError(
                    f"`warm_start` goes on with the encoder there is, whose `{name}` is {was!r}, not {now!r}; "
                    "set it back, or set `warm_start` to False."
                )
        return copy.deepcopy((self.scaler_, self.encoder_, self.objective_))

    def _optimizer(self) -> Muon:
        # A precision is stored as what softplus makes it of, which has far to go; a temperature as its logarithm.
        rates = {"loss": 4.0} if self.similarity == "anisotropic" else {}
        rest = AdamW(self.learning_rate * EDGE_RATE, betas=(0.9, 0.99), rates=rates, weight_decay=self.weight_decay)
        return Muon(self.learning_rate, rest=rest, weight_decay=self.weight_decay)

    def _keep(
        self, kept: Kept, scaler: StandardScaler, seed: int, rows: Rows, chosen: np.ndarray, held: np.ndarray
    ) -> None:
        """Become what the run has come to."""
        encoder, loss = kept.restored()
        best = kept.best
        self.scaler_, self.encoder_, self.objective_ = scaler, encoder.cpu().eval(), loss.cpu()
        self.seed_, self.n_pairs_, self.records_ = seed, len(chosen), kept.records
        self.n_steps_ = best.step if best else 0
        self.loss_ = best.loss if best else None
        self.validation_score_ = best.metrics.get(SCORE) if best else None
        self._built_as = {name: getattr(self, name) for name in BUILD}
        self._critic = critic(loss, *self._embedded(rows, (held if len(held) else chosen)[:LOOKED_AT]), rows.spacing)
        self.temperature_ = getattr(self._critic, "tau", None)
        precision = getattr(self._critic, "precision", None)
        self.precision_ = None if precision is None else precision.detach().numpy()

    def _embedded(self, rows: Rows, among: np.ndarray) -> tuple[Tensor, Tensor]:
        """Latents of these anchors and of their positives."""
        h, h_pos = (torch.from_numpy(self._embed(part)) for part in rows.pairs(among))
        return h, h_pos

    def _embed(self, X: np.ndarray) -> np.ndarray:
        encoder = copy.deepcopy(self.encoder_).to(self.device, torch.from_numpy(np.empty(0, X.dtype)).dtype)
        latents = np.empty((len(X), encoder.dim_out), X.dtype)
        with torch.no_grad():
            for chunk in gen_batches(len(X), CHUNK):
                x = torch.from_numpy(_standardised(self.scaler_, X[chunk]).astype(X.dtype))
                latents[chunk] = encoder(x.to(self.device)).cpu().numpy()
        return latents


def _standardised(scaler: Any, x: np.ndarray) -> np.ndarray:
    return (x - scaler.mean_) / scaler.scale_


def _line(record: Record, steps: int) -> str:
    held_out = f"   held out {record.metrics[SCORE]:.3f} nats" if record.metrics else ""
    return f"step {record.step:>{len(str(steps))}}/{steps}   loss {record.loss:.3f}{held_out}   {record.seconds:.0f} s"
