"""Tables of images: complete and valid without data, and able to run on generated data in the released layouts."""

import math
from dataclasses import replace

import pytest

from noumena.experiments import stored
from noumena.experiments.build import check
from noumena.experiments.description import Description, merge
from noumena.experiments.run import check_tasks, perform, tasks
from noumena.experiments.spec import Row, load_table
from tests.experiments.released import released

QUICK = ("zimmermann2021/table3", "zimmermann2021/table4", "aninfonce/fig6", "aninfonce/fig13", "aninfonce/sectionG")
LARGE = ("aninfonce/fig3", "aninfonce/table1", "loss_is_not_enough/cifar10")
STEPS = 20

# One row of each kind; the others differ in what is named beside it.
REPRESENTATIVES = {
    ("zimmermann2021/table3", "slowvae-5"): {},  # frames apart
    ("zimmermann2021/table3", "laplace-unbounded-1"): {},  # frames apart
    ("zimmermann2021/table3", "normal-box-5"): {},  # frames apart, exponents
    ("zimmermann2021/table4", "4.1"): {},  # 4.2 and 4.3: heads, pairs
    ("zimmermann2021/table4", "4.4"): {},
    ("zimmermann2021/table4", "4.5"): {},
    ("zimmermann2021/table4", "4.S"): {},
    ("aninfonce/fig3", "anisotropic-25.0"): {},  # precisions
    ("aninfonce/fig3", "infonce-25.0"): {},  # precisions
    ("aninfonce/fig6", "vae"): {},
    ("aninfonce/fig6", "encoder"): {},
    ("aninfonce/sectionG", "infonce"): {},
    ("aninfonce/sectionG", "aninfonce"): {},
    ("aninfonce/table1", "cifar-aninfonce"): {},  # scores
    ("aninfonce/table1", "cifar-aninfonce-free"): {},
    # 100 million parameters of the projector are a matter of memory alone.
    ("aninfonce/table1", "imagenet-infonce"): {"encoder": {"projector": {"widths": [64]}, "dim_out": 64}},
    ("loss_is_not_enough/cifar10", "resnet-all"): {},  # regimes and definitions
    ("loss_is_not_enough/cifar10", "vit-crop"): {},
    ("loss_is_not_enough/cifar10", "january-mlp-all_without_crop"): {},
    ("loss_is_not_enough/cifar10", "adapted-resnet-all"): {"pairs": {"negatives": 3}},  # encoders and regimes
}


def rows(name: str) -> list[Row]:
    """Those of images: figure 6 has others, too."""
    return [row for row in load_table(name).rows if "small" in row.recipes]


@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGE)])
def test_a_table_is_valid_without_its_data(name, tmp_path, monkeypatch):
    monkeypatch.setenv("NOUMENA_DATA", str(tmp_path))
    table = load_table(name)
    check(replace(table, rows=tuple(rows(name))))
    chosen = tasks(table, recipe="small", seeds=[0], out=str(tmp_path), rows=[rows(name)[0].id])
    if "walkers" not in str(chosen[0].description.sections):
        with pytest.raises(FileNotFoundError, match=r"recipe `small`: no .*[;.]") as missing:
            check_tasks(chosen)
        assert len(str(missing.value).splitlines()) == 1


@pytest.mark.parametrize("name", [*QUICK, *LARGE])
def test_recipes_say_what_they_are(name):
    for row in rows(name):
        assert set(row.recipes) == {"published", "small"} and row.recipe_notes["small"]
        for recipe in ("published", "small"):
            if "compute" not in row.recipes[recipe]:
                assert "untrained" in row.baselines_of(recipe)
        same = row.describe("published").sections, row.describe("small").sections
        assert same[0]["metrics"] == same[1]["metrics"]


def test_every_table_of_images_is_represented():
    assert {name for name, _ in REPRESENTATIVES} == {*QUICK, *LARGE} - {"aninfonce/fig13"}


def reduced(description: Description, changes: dict) -> Description:
    """Few pairs, small images and readers that few images can feed; all else as published."""
    fewer = {"train": {"steps": STEPS, "every": 10, "batch_size": 16}, "evaluation": 64}
    readers = [_reader(reader) for reader in description.sections.get("diagnostics", ())]
    sections = merge(description.sections, {**fewer, **({"diagnostics": readers} if readers else {})})
    return replace(description, sections=_smaller(merge(sections, changes)))


def _reader(reader: dict) -> dict:
    few = {"ConditionalShape": {"n": 4, "views": 20}, "AugmentationReadout": {"n": 16}, "SGDProbe": {"epochs": 2}}
    return {**reader, **few.get(reader["kind"].split(".")[-1], {})}


def _smaller(value):
    """Images of 224 pixels with 64."""
    if isinstance(value, dict):
        return {key: 64 if key == "size" and inner == 224 else _smaller(inner) for key, inner in value.items()}
    return [_smaller(inner) for inner in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        released(tmp_path_factory.mktemp("data"), patch)
        yield
    stored._loaded.cache_clear()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "id"), REPRESENTATIVES)
def test_the_published_recipe_runs_on_the_released_layout(name, id, data, tmp_path):
    (task, *others) = tasks(load_table(name), recipe="published", seeds=[0], out=str(tmp_path), rows=[id])
    changes = REPRESENTATIVES[name, id]
    trained = perform(replace(task, description=reduced(task.description, changes)))
    assert trained.steps == STEPS and trained.loss is not None and math.isfinite(trained.loss)
    assert {number["metric"] for number in task.reported} <= {*trained.metrics, "loss"}
    (untrained,) = (one for one in others if one.description.baseline == "untrained")
    before = perform(replace(untrained, description=reduced_untrained(untrained.description, changes)))
    assert set(before.metrics) == set(trained.metrics)


def reduced_untrained(description: Description, changes: dict) -> Description:
    made = reduced(description, changes)
    return replace(made, sections={key: value for key, value in made.sections.items() if key != "train"})


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["published", "small"])
def test_sheets_are_computed(recipe, data, tmp_path):
    runs = tasks(load_table("aninfonce/fig13"), recipe=recipe, seeds=[0], out=str(tmp_path))
    near, far = sorted(map(perform, runs), key=lambda one: one.metrics["distance_ratio"])
    assert near.row == "precision-50.0" and far.row == "precision-5.0"
    assert 0 < near.metrics["distance_ratio"] < far.metrics["distance_ratio"] < 1.2
    assert near.metrics["marginal_distance"] == pytest.approx(far.metrics["marginal_distance"], rel=0.2)
