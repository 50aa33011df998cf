"""Published recipes train: one row of each table, or one of each kind, for 300 steps.

Rows of a table that stand for nothing of their own differ from the row taken in what is named beside it. What a step
costs is reduced, since a published step takes seconds: fewer pairs and negatives, and mixings from a smaller pool.
Encoders, losses, optimisers and rates are as published. That a killed run resumes is shown in
`tests/training/test_checkpoint.py` and `test_run.py`. Tables of images are in `test_image_tables.py`.
"""

import math
from dataclasses import replace

import pytest

from noumena.experiments.build import build
from noumena.experiments.description import Description, merge
from noumena.experiments.spec import load_table, table_names
from noumena.training import train

STEPS, EVERY = 300, 50

PAIRS = {"train": {"batch_size": 256}}
LARGE = {"train": {"batch_size": 64}}  # encoders of three million parameters
SHARED = {"train": {"batch_size": 128}, "pairs": {"negatives": {"m": 256}}}
# 2000 negatives for each of 2000 anchors are four million encodings, about 100 s a step.
PRIVATE = {"train": {"batch_size": 32}, "pairs": {"negatives": {"m": 32}}}
STAGES = {**LARGE, "pretrain": {"train": {"batch_size": 64, "steps": STEPS, "every": EVERY}}}

REPRESENTATIVES = {
    ("zimmermann2021/table1", "1.2"): PAIRS,  # 1.1 to 1.4, 1.9 and 1.10: on the sphere
    ("zimmermann2021/table1", "1.5"): PAIRS,  # 1.5 and 1.6: squared distance
    ("zimmermann2021/table1", "1.8"): PAIRS,  # 1.7 and 1.8: cubed distance
    ("zimmermann2021/table1", "1.12"): PAIRS,  # 1.11 and 1.12: unbounded latents
    ("zimmermann2021/table2", "2.1"): PAIRS,  # 2.1 to 2.5: a box with learned bounds
    ("zimmermann2021/table2", "2.10"): PAIRS,  # 2.6 to 2.10: no bounds
    ("zimmermann2021/fig2", "sphere-4.0"): PAIRS,  # concentrations
    ("zimmermann2021/fig2", "box-4.0"): PAIRS,  # concentrations
    ("aninfonce/fig2", "anisotropic-25"): PAIRS,  # precisions
    ("aninfonce/fig2", "infonce-25"): PAIRS,  # precisions
    ("aninfonce/fig4", "a-d10-b256"): {},  # dimensions, precisions and batches
    ("aninfonce/fig6", "k5"): PAIRS,  # concentrations
    ("aninfonce/fig8", "p25-b256"): {},  # precisions and batches
    ("aninfonce/fig9", "a-d6-b256"): {},  # dimensions and batches
    ("aninfonce/fig10", "hard"): STAGES,  # both rows are trained in two stages
    ("aninfonce/fig11", "infonce"): LARGE,
    ("aninfonce/fig11", "aninfonce"): LARGE,
    ("aninfonce/fig11", "ensemble"): LARGE,
    ("aninfonce/fig12", "uniform-aninfonce"): LARGE,  # marginals
    ("aninfonce/fig12", "uniform-spectral"): LARGE,  # marginals
    ("aninfonce/fig12", "uniform-infonce"): LARGE,  # marginals
    ("loss_is_not_enough/holds", "patches"): SHARED,  # mixings
    ("loss_is_not_enough/violated", "infonce-linear"): SHARED,  # mixings
    ("loss_is_not_enough/violated", "adapted-identity"): PRIVATE,  # mixings
    ("loss_is_not_enough/violated", "inverse-spiral"): SHARED,  # encoders of other shapes stand in the next table
    ("loss_is_not_enough/progressive", "monomial-3"): SHARED,  # mixings, and how many coordinates are fixed
    ("loss_is_not_enough/ratio", "identity-mlp-0.5"): PRIVATE,  # shares and mixings
    ("loss_is_not_enough/ratio", "linear-inverse-0.5"): PRIVATE,  # shares, and the identity
    ("loss_is_not_enough/ratio", "patches-inverse-0.5"): PRIVATE,  # shares
}


def reduced(description: Description, changes: dict) -> Description:
    sections = merge(description.sections, {"train": {"steps": STEPS, "every": EVERY}})
    if sections["mixing"]["kind"] == "mlp.InvertibleMLP":
        sections = merge(sections, {"mixing": {"pool": 200}})
    return replace(description, sections=merge(sections, changes))


def test_every_table_is_represented():
    trained = {
        name
        for name in table_names()
        for row in load_table(name).rows
        if "fast" in row.recipes and "compute" not in row.recipes.get("published", {"compute": None})
    }
    assert trained == {name for name, _ in REPRESENTATIVES}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "id"), REPRESENTATIVES)
def test_it_trains(name, id):
    description = load_table(name).row(id).describe("published")
    made = build(reduced(description, REPRESENTATIVES[name, id]), seed=0)
    assert made.loss is not None and made.training is not None
    if made.before is not None:
        first = made.before
        for record in train(first.source, made.encoder, first.loss, **first.training, generator=made.streams.pairs):
            assert math.isfinite(record.loss)
    training = {**made.training, "until": None, "generator": made.streams.pairs}
    losses = [record.loss for record in train(made.source, made.encoder, made.loss, **training)]
    assert len(losses) == STEPS // EVERY and all(math.isfinite(loss) for loss in losses)
    # Means over 50 steps each: their noise is far below what these losses fall by.
    assert losses[-1] < losses[0], losses
