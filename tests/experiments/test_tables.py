"""Every table of the package: valid, complete, and able to take a step, in both recipes and all baselines."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from noumena.experiments.build import build, check
from noumena.experiments.description import Description, merge
from noumena.experiments.spec import LOSS, RECIPES, load_table, parse_table, table_names
from noumena.training import evaluate, train

EVERY = [(name, row) for name in table_names() for row in load_table(name).rows]
ROWS = [(name, row.id) for name, row in EVERY if "compute" not in row.recipes["fast"]]
COMPUTED = [(name, row) for name, row in EVERY if "compute" in row.recipes["fast"]]
WORLD = ("space", "marginal", "conditional", "mixing", "metrics", "evaluation", "world_seed")


def small(description: Description, **train_changes) -> Description:
    """The same with few pairs and negatives, and a mixing that is quick to draw: what is built has the same parts."""
    changes: dict = {}
    if description.sections["mixing"]["kind"] == "mlp.InvertibleMLP":
        changes["mixing"] = {"pool": 50}
    pairs = description.sections["pairs"]
    if "negatives" in pairs:
        changes["pairs"] = {"negatives": {"m": 8}}
    if "group_size" in pairs:
        changes["pairs"] = {"group_size": 8}
    if "train" in description.sections:
        changes["train"] = {"batch_size": 32, "steps": 1, **train_changes}
    return replace(description, sections=merge(description.sections, changes))


@pytest.mark.parametrize(("name", "id"), ROWS)
def test_every_row_takes_a_step(name, id):
    row = load_table(name).row(id)
    assert tuple(sorted(row.recipes)) == tuple(sorted(RECIPES))
    for recipe in RECIPES:
        for baseline in (None, *row.baselines_of(recipe)):
            made = build(small(row.describe(recipe, baseline)), seed=0)
            if made.loss is None or made.training is None:
                assert baseline == "identity"
                continue
            before = [parameter.detach().clone() for parameter in made.encoder.parameters()]
            (record,) = train(made.source, made.encoder, made.loss, **made.training, generator=made.streams.pairs)
            assert torch.isfinite(torch.tensor(record.loss))
            moved = [not torch.equal(a, b) for a, b in zip(before, made.encoder.parameters(), strict=True)]
            assert any(moved)


@pytest.mark.parametrize(("name", "id"), ROWS)
def test_recipes_share_world_and_metrics(name, id):
    row = load_table(name).row(id)
    made = {recipe: build(small(row.describe(recipe)), seed=1) for recipe in RECIPES}
    published, fast = made["published"], made["fast"]
    for key in WORLD:
        assert published.description.sections.get(key) == fast.description.sections.get(key)
    assert published.space == fast.space and published.metrics == fast.metrics
    assert published.evaluation == fast.evaluation
    z = published.source.draw(16, published.streams.eval).z
    assert z is not None and torch.equal(published.mixing(z), fast.mixing(z))


@pytest.mark.parametrize(("name", "id"), ROWS)
def test_reported_numbers_belong_to_metrics(name, id):
    row = load_table(name).row(id)
    made = build(small(row.describe("fast", "identity")), seed=0)
    scores = evaluate(made.source, made.encoder, made.metrics, n=64, generator=made.streams.eval)
    for numbers in (row.reported, *row.baselines.values()):
        for number in numbers:
            assert number.metric in {*scores, LOSS}
            assert number.source and (number.spread is None or number.spread >= 0)
            assert (number.negatives is not None) == (number.metric == LOSS)
            assert number.metric == LOSS or 0 <= number.mean <= 1


def test_rows_are_those_of_the_papers():
    ids = {name: [row.id for row in load_table(name).rows] for name in table_names()}
    assert ids["zimmermann2021/table1"] == [f"1.{i}" for i in range(1, 13)]
    assert ids["zimmermann2021/table2"] == [f"2.{i}" for i in range(1, 11)]
    mixings = ["identity", "linear", "spiral", "patches", "invmlp"]
    assert ids["loss_is_not_enough/holds"] == mixings
    assert ids["loss_is_not_enough/violated"] == [
        *(f"infonce-{mixing}" for mixing in mixings),
        *(f"adapted-{mixing}" for mixing in mixings),
        *(f"inverse-{mixing}" for mixing in mixings[:-1]),
    ]


def test_computed_rows_are_complete():
    for name in {name for name, _ in COMPUTED}:
        check(load_table(name))
    assert all(set(row.recipes) == {"fast"} and row.reported for _, row in COMPUTED)


def test_no_two_rows_are_one_run():
    for name in table_names():
        digests = [row.describe(recipe).digest for row in load_table(name).rows for recipe in row.recipes]
        assert len(set(digests)) == len(digests)


def test_runs_that_share_a_mixing_say_so():
    shared = {name for name in table_names() for row in load_table(name).rows if "world_seed" in row.world}
    assert shared == {"loss_is_not_enough/holds", "loss_is_not_enough/violated"}


def test_another_objective_is_named():
    """A fast recipe whose loss is not InfoNCE with its positive in the denominator and weight 1 says so, and has
    plain InfoNCE beside it."""
    for row in (load_table(name).row(id) for name, id in ROWS):
        loss = row.recipes["fast"]["loss"]
        plain = loss["kind"] == "infonce.InfoNCE" and loss.get("positive_in_denominator", True)
        plain = plain and loss.get("positive_weight", 1.0) == 1.0
        assert plain or any("Another objective" in note for note in row.recipe_notes["fast"])
        assert plain or "plain" in row.baselines_of("fast")


def test_the_example_of_the_documentation_is_a_table():
    text = (Path(__file__).parents[2] / "docs" / "tables.md").read_text()
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    table = parse_table("docs/tables.md", tomllib.loads(example))
    check(table)
    assert [row.world["conditional"]["kappa"] for row in table.rows] == [5.0, 20.0]
