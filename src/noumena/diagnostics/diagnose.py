"""All readings of a user's own pairs."""

from collections.abc import Callable

import torch

from .. import _checks
from . import (
    anisotropy,
    arrays,
    collapse,
    crowding,
    diversity,
    domain,
    fitted,
    modes,
    moments,
    recipe,
    sample,
    support,
    tails,
    uniformity,
)
from . import factors as factor
from .arrays import Rows
from .reading import Diagnosis, Reading

LEVEL = 0.05  # false alarms of all tests together
TESTS = 6  # diversity, anisotropy, uniformity, tails, modes, domain
SPACES = ("auto", "sphere", "box", "free")
FEWEST, FEWEST_PER_COORDINATE = 500, 20
Progress = Callable[[str, float], None]


def diagnose(
    h_anchor: Rows,
    h_positive: Rows,
    *,
    h_test: Rows | None = None,
    factors: Rows | None = None,
    factors_positive: Rows | None = None,
    augmentations: Rows | None = None,
    space: str = "auto",
    batch_size: int = 512,
    seed: int = 0,
    progress: Progress | None = None,
) -> Diagnosis:
    """What the pairs that you hold say about the assumptions of identifiable contrastive learning.

    For embeddings of positive pairs, or for latents where they are known: do positives move in every direction, how
    unevenly, in which space, about one place or several; are anchors spread evenly; is the batch large enough; which
    score and head match. `docs/diagnosis.md` states every test.

    Arrays are read in blocks, so that memory-mapped files of any length will do: first and second moments use all
    rows, everything else 32 768 even and 32 768 odd ones, chosen by the seed. Pairs are taken to be independent.

    Args:
        h_anchor, h_positive: (n, d) NumPy arrays or tensors; row i of one belongs to row i of the other.
        h_test: (m, d), where the encoder is to be used; asks whether a classifier can tell these from anchors.
        factors: (n, k) known factors of the anchors, and
        factors_positive: of the positives.
        augmentations: (n, k) parameters of the augmentation that made each pair.
        space: "auto" to tell from the rows, or "sphere", "box" or "free" if you know. Only embeddings on a sphere or
            in a box have a marginal to violate.
        batch_size: That you train with.
        seed: Decides which rows are used, and the draws that they are compared with.
        progress: Called with what is done now and the share of all that is over.

    Returns:
        Readings with a value, an interval, a verdict, a sentence and advice each; over all of them, tests raise a
        false alarm in at most 5 % of cases.
    """
    _checks.choice("space", space, SPACES)
    _checks.count("batch_size", batch_size, low=2)
    _checks.count("seed", seed, low=0)
    _require(h_anchor, h_positive, h_test, factors, factors_positive, augmentations)
    tell = progress or (lambda what, share: None)
    generator = torch.Generator().manual_seed(seed)
    n, d = h_anchor.shape
    gathered = moments.accumulate(h_anchor, h_positive, lambda share: tell("reading all rows", 0.4 * share))
    _require_varying(gathered, max(map(arrays.epsilon, (h_anchor, h_positive))))
    tell("reading some rows again", 0.4)
    rows = sample.choose(n, generator)
    find, measure = sample.halves(h_anchor, h_positive, rows)
    home = support.find(gathered, torch.cat([find.h, measure.h]), space)
    seen = sample.Sample(
        home,
        gathered.rescaled(home.offset, home.scale),
        *(sample.Half(home.unit(half.h), home.unit(half.h_pos)) for half in (find, measure)),
        rows=rows,
        n=n,
        level=LEVEL / TESTS,
        generator=generator,
    )
    tell("diversity", 0.5)
    directions = diversity.spectrum(seen)
    law = fitted.fit(seen, diversity.fixed(directions, seen.level))
    readings: list[Reading] = [support.read(home, gathered, measure.h, space), diversity.read(seen, directions)]
    steps: list[tuple[str, Callable[[], Reading]]] = [
        ("anisotropy", lambda: anisotropy.read(seen, law)),
        ("uniformity", lambda: uniformity.read(seen)),
        ("rank", lambda: collapse.read(seen)),
        ("overlap", lambda: crowding.read(seen, batch_size)),
        ("tails", lambda: tails.read(seen, law)),
        ("modes", lambda: modes.read(seen, law)),
    ]
    if h_test is not None:
        steps.append(("domain", lambda: domain.read(seen, h_anchor, h_test)))
    if factors is not None:
        steps.append(("factors", lambda: factor.read(seen, factors, factors_positive)))
    if augmentations is not None:
        steps.append(("augmentations", lambda: factor.read_augmentations(seen, augmentations)))
    for i, (name, step) in enumerate(steps):
        tell(name, 0.5 + 0.5 * i / len(steps))
        readings.append(step())
    readings.append(recipe.read(seen, law, {reading.name: reading for reading in readings}))
    tell("done", 1.0)
    return Diagnosis(tuple(readings), n, d, home.kind, LEVEL)


def _require(
    h_anchor: Rows,
    h_positive: Rows,
    h_test: Rows | None,
    factors: Rows | None,
    factors_positive: Rows | None,
    augmentations: Rows | None,
) -> None:
    n, d = arrays.require("h_anchor", h_anchor).shape
    arrays.require("h_positive", h_positive, ("h_anchor", h_anchor))
    named = {"h_positive": h_positive} | ({} if h_test is None else {"h_test": arrays.require("h_test", h_test)})
    for name, rows in named.items():
        if rows.shape[1] != d:
            raise ValueError(f"`{name}` must have the {d} columns of `h_anchor`, got {rows.shape[1]}.")
    if d < 2:
        raise ValueError("`h_anchor` must have at least two columns, got one.")
    fewest = max(FEWEST, FEWEST_PER_COORDINATE * d)
    if n < fewest:
        raise ValueError(
            f"`h_anchor` must have at least {fewest} rows for {d} columns, got {n}: with fewer nothing can be told "
            "from chance. Give more pairs, or project onto fewer columns."
        )
    if h_test is not None and len(h_test) < FEWEST:
        raise ValueError(f"`h_test` must have at least {FEWEST} rows, got {len(h_test)}.")
    for name, rows in {"factors": factors, "augmentations": augmentations}.items():
        if rows is not None:
            arrays.require(name, rows, ("h_anchor", h_anchor))
    if factors_positive is not None:
        if factors is None:
            raise ValueError("`factors_positive` needs `factors`, those of the anchors, to compare with.")
        arrays.require("factors_positive", factors_positive, ("h_anchor", h_anchor))
        if factors_positive.shape != factors.shape:
            raise ValueError(
                f"`factors_positive` must have the shape of `factors`, {tuple(factors.shape)}; "
                f"got {tuple(factors_positive.shape)}."
            )


def _require_varying(gathered: moments.Moments, epsilon: float) -> None:
    """A column that varies by rounding alone has no scale to measure anything against."""
    size = torch.maximum(gathered.low.abs(), gathered.high.abs())
    flat = (gathered.high - gathered.low) <= 8 * max(epsilon, 1e-15) * size
    if bool(flat.any()):
        columns = flat.nonzero().flatten().tolist()
        raise ValueError(
            f"`h_anchor` and `h_positive` must vary in every column; columns {columns} are constant. Leave them out "
            "of both (and look for dead outputs of the encoder)."
        )
