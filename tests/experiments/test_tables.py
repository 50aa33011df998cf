"""Every table of the package: valid, complete, and able to take a step, in both recipes and all baselines."""

import re
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import torch

from noumena import streams
from noumena.experiments.build import build, build_computation, check
from noumena.experiments.description import Description, merge
from noumena.experiments.spec import LOSS, TABLES, Row, Table, load_table, parse_table, table_names
from noumena.training import evaluate, train

load = cache(load_table)
EVERY = [(name, row) for name in table_names() for row in load(name).rows]


def ends(table: Table) -> list[Row]:
    """All rows, but of a sweep only the two ends of each series: its rows differ in one number."""
    series: dict = {}
    for row in table.rows:
        place = row.sweep and ("sweep", row.sweep.get("panel"), row.sweep.get("series"))
        series.setdefault(place or row.id, []).append(row)
    return [row for members in series.values() for row in {id(row): row for row in (members[0], members[-1])}.values()]


ENDS = [(name, row) for name in table_names() for row in ends(load(name))]
# Rows of images have the recipe `small` in place of it, and tests of their own.
ROWS = [(name, row.id) for name, row in ENDS if "fast" in row.recipes and "compute" not in row.recipes["fast"]]
COMPUTED = [(name, row) for name, row in EVERY if "compute" in row.recipes.get("fast", {})]
OURS = ("loss_is_not_enough/sampler", "zimmermann2021/row22")  # no published recipe; rivals are rows of their own
WORLD = ("space", "marginal", "conditional", "mixing", "metrics", "evaluation", "world_seed")


def small(description: Description, **train_changes) -> Description:
    """The same with few pairs and negatives, and a mixing that is quick to draw: what is built has the same parts."""
    changes: dict = {}
    if description.sections["mixing"]["kind"] == "mlp.InvertibleMLP":
        changes["mixing"] = {"pool": 50}
    pairs = description.sections.get("pairs", {})
    if description.sections.get("compute", {}).get("kind") == "precision_sweep.PrecisionSweep":
        changes["compute"] = {"anchors": 20, "m": 5}
    if "group_size" in pairs:
        changes["pairs"] = {"group_size": 8, **({"negatives": 8} if "negatives" in pairs else {})}
    elif "negatives" in pairs:
        changes["pairs"] = {"negatives": {"m": 8}}
    if "train" in description.sections:
        changes["train"] = {"batch_size": 32, "steps": 1, **train_changes}
    if "pretrain" in description.sections:
        grouped = "group_size" in description.sections["pretrain"]["pairs"]
        changes["pretrain"] = {"train": changes["train"], "pairs": {"group_size": 8} if grouped else {}}
    return replace(description, sections=merge(description.sections, changes))


@pytest.mark.parametrize(("name", "id"), ROWS)
def test_every_row_takes_a_step(name, id):
    row = load(name).row(id)
    assert set(row.recipes) == ({"fast"} if name in OURS else {"published", "fast"})
    for recipe in row.recipes:
        for baseline in (None, *row.baselines_of(recipe)):
            made = build(small(row.describe(recipe, baseline)), seed=0)
            if made.loss is None or made.training is None:
                assert baseline == "identity"
                continue
            if made.before is not None:
                first = made.before
                next(train(first.source, made.encoder, first.loss, **first.training, generator=made.streams.pairs))
            before = [parameter.detach().clone() for parameter in made.encoder.parameters()]
            training = {**made.training, "until": None, "generator": made.streams.pairs}
            (record,) = train(made.source, made.encoder, made.loss, **training)
            assert torch.isfinite(torch.tensor(record.loss))
            moved = [not torch.equal(a, b) for a, b in zip(before, made.encoder.parameters(), strict=True)]
            assert any(moved)


@pytest.mark.parametrize(("name", "id"), [(name, id) for name, id in ROWS if name not in OURS])
def test_recipes_share_world_and_metrics(name, id):
    row = load(name).row(id)
    made = {recipe: build(small(row.describe(recipe)), seed=1) for recipe in ("published", "fast")}
    published, fast = made["published"], made["fast"]
    for key in WORLD:
        assert published.description.sections.get(key) == fast.description.sections.get(key)
    assert published.space == fast.space and published.metrics == fast.metrics
    assert published.evaluation == fast.evaluation
    z = published.source.draw(16, published.streams.eval).z
    assert z is not None and published.mixing is not None and fast.mixing is not None
    assert torch.equal(published.mixing(z), fast.mixing(z))


@pytest.mark.parametrize(("name", "id"), ROWS)
def test_reported_numbers_belong_to_metrics(name, id):
    row = load(name).row(id)
    made = build(small(row.describe("fast", "identity")), seed=0)
    scores = evaluate(made.source, made.encoder, made.metrics, n=256, generator=made.streams.eval)
    others = {LOSS, *(name for one in made.diagnostics for name in one.names)}
    names = {*scores, *others}
    for numbers in (row.reported, *row.baselines.values()):
        for number in numbers:
            assert number.metric in names
            assert number.source and (number.spread is None or number.spread >= 0)
            assert (number.negatives is not None) == (number.metric == LOSS)
            assert number.metric in others or 0 <= number.mean <= 1


def test_rows_are_those_of_the_papers():
    ids = {name: [row.id for row in load(name).rows] for name in table_names()}
    assert ids["zimmermann2021/table1"] == [f"1.{i}" for i in range(1, 13)]
    assert ids["zimmermann2021/table2"] == [f"2.{i}" for i in range(1, 11)]
    mixings = ["identity", "linear", "spiral", "patches", "invmlp"]
    assert ids["loss_is_not_enough/holds"] == mixings
    assert ids["zimmermann2021/fig2"] == [
        f"{panel}-{2.0**exponent}" for panel in ("sphere", "box") for exponent in range(-6, 11, 2)
    ]
    assert sorted(ids["loss_is_not_enough/progressive"]) == sorted(
        f"{mixing}-{k}" for mixing in ("linear", "monomial") for k in range(11)
    )
    pairs = [f"{mixing}-{encoder}" for mixing in ("identity", "linear") for encoder in ("mlp", "inverse")]
    pairs += [
        "invmlp-mlp",
        *(f"{mixing}-{encoder}" for mixing in ("patches", "spiral") for encoder in ("mlp", "inverse")),
    ]
    assert ids["loss_is_not_enough/ratio"] == [f"{pair}-{i / 10}" for pair in pairs for i in range(11)]
    assert ids["loss_is_not_enough/violated"] == [
        *(f"infonce-{mixing}" for mixing in mixings),
        *(f"adapted-{mixing}" for mixing in mixings),
        *(f"inverse-{mixing}" for mixing in mixings[:-1]),
    ]


def test_computed_rows_are_complete():
    """`check` sees that reported numbers are among those that a computation names."""
    for name in {name for name, _ in COMPUTED}:
        check(load(name))
    assert all("compute" in recipe for _, row in COMPUTED for recipe in row.recipes.values())
    assert all(row.reported for _, row in COMPUTED)


@pytest.mark.parametrize("row", [row for name, row in COMPUTED if name == "aninfonce/fig10"])
def test_a_computation_gives_what_it_names(row):
    computation = build_computation(small(row.describe("fast")), seed=0)
    assert set(computation(streams(0).eval).values) <= set(computation.names)


def test_no_two_rows_are_one_run():
    for name in table_names():
        digests = [row.describe(recipe).digest for row in load(name).rows for recipe in row.recipes]
        assert len(set(digests)) == len(digests)


def test_runs_that_share_a_mixing_say_so():
    shared = {name for name in table_names() for row in load(name).rows if "world_seed" in row.world}
    assert shared == {f"loss_is_not_enough/{name}" for name in ("holds", "violated", "progressive", "ratio")}


def test_what_a_sweep_draws_is_measured(name="zimmermann2021/fig2"):
    content = tomllib.loads((TABLES / f"{name}.toml").read_text())
    content["base"]["sweep"]["draw"] = ["linear_r2_in_sampel"]
    content["grid"] = [{**content["grid"][0], "over": [{"e": [0], "kappa": [1.0]}], "reported": []}]
    content["base"]["mixing"]["pool"] = 50
    with pytest.raises(ValueError, match="`sweep.draw` asks for `linear_r2_in_sampel`.*did you mean `linear_r2_in_s"):
        check(parse_table(name, content))


def test_curves_of_both_ends_are_those_of_the_other_tables():
    """c = 1 of the ratio is the adapted loss of `violated`, and there the numbers were printed first."""
    ratio, violated = load("loss_is_not_enough/ratio"), load("loss_is_not_enough/violated")
    for mixing in ("identity", "linear", "invmlp", "patches", "spiral"):
        row, other = ratio.row(f"{mixing}-mlp-1.0"), violated.row(f"adapted-{mixing}")
        assert [(one.metric, one.mean, one.spread, one.negatives) for one in row.reported] == [
            (one.metric, one.mean, one.spread, one.negatives) for one in other.reported
        ]
        published = [one.recipes["published"] for one in (row, other)]
        assert published[0]["train"] == published[1]["train"] and published[0]["encoder"] == published[1]["encoder"]
        assert [one["pairs"]["negatives"]["m"] for one in published] == [row.reported[-1].negatives] * 2


def test_rows_of_a_grid_have_the_printed_numbers_of_their_place():
    """Cells read from the published tables by eye: the middle of an array is where a slip would hide."""
    cells = {
        ("loss_is_not_enough/ratio", "spiral-inverse-0.4"): [
            (0.842, 0.312),
            (0.876, 0.245),
            (0.067, 0.109),
            (6.527, 0.139),
        ],
        ("loss_is_not_enough/ratio", "patches-mlp-0.7"): [
            (0.731, 0.057),
            (0.657, 0.049),
            (0.145, 0.014),
            (5.932, 0.012),
        ],
        ("loss_is_not_enough/ratio", "linear-mlp-0.3"): [
            (0.201, 0.029),
            (0.336, 0.029),
            (0.293, 0.006),
            (6.322, 0.002),
        ],
        ("loss_is_not_enough/progressive", "linear-5"): [
            (0.0993, 0.0166),
            (0.1435, 0.0137),
            (0.1717, 0.0015),
            (4.8085, 0.0002),
        ],
        ("loss_is_not_enough/progressive", "monomial-9"): [
            (0.4252, 0.0504),
            (0.3635, 0.0268),
            (0.1344, 0.0062),
            (4.8087, 0.0004),
        ],
        ("loss_is_not_enough/progressive", "monomial-10"): [(0.0859, 0.0289), (0.1593, 0.0288), (0.1995, 0.0217)],
    }
    for (name, id), numbers in cells.items():
        assert [(one.mean, one.spread) for one in load(name).row(id).reported] == numbers


def test_another_objective_is_named():
    """A fast recipe whose loss is not InfoNCE with its positive in the denominator and weight 1, nor of the published
    recipe's kind, says so, and has plain InfoNCE beside it."""
    for name in table_names():
        for row in load(name).rows:
            if "fast" not in row.recipes or "compute" in row.recipes["fast"]:
                continue
            loss = row.recipes["fast"]["loss"]
            if loss["kind"] != "infonce.InfoNCE" and loss["kind"] == row.recipes["published"]["loss"]["kind"]:
                continue
            plain = loss["kind"] == "infonce.InfoNCE" and loss.get("positive_in_denominator", True)
            plain = plain and loss.get("positive_weight", 1.0) == 1.0
            assert plain or any("Another objective" in note for note in row.recipe_notes["fast"])
            assert plain or "plain" in row.baselines_of("fast") or name in OURS


def test_the_example_of_the_documentation_is_a_table():
    text = (Path(__file__).parents[2] / "docs" / "tables.md").read_text()
    example = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)[0]
    table = parse_table("docs/tables.md", tomllib.loads(example))
    check(table)
    assert [row.world["conditional"]["kappa"] for row in table.rows] == [5.0, 20.0]
