"""Rows whose world is a table of images."""

import json
import re
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch

from noumena.experiments.build import build, check
from noumena.experiments.explain import NEAREST, NO_LAW, explain
from noumena.experiments.folder import SAMPLE, records
from noumena.experiments.run import check_tasks, perform, tasks
from noumena.experiments.spec import parse_table
from noumena.experiments.stored import ROWS
from noumena.pairs import Images
from noumena.report.load import load
from noumena.report.page import page
from tests.experiments.components import Bars

HERE = "tests.experiments.components"
FACTORS = ("linear_r2", "linear_r2/row", "linear_r2/column")

CONTENT: dict[str, Any] = {
    "title": "Bars",
    "source": "nowhere",
    "seeds": [0],
    "base": {
        "data": {"kind": f"{HERE}.Bars", "split": "train"},
        "pairs": {"kind": f"{HERE}.Noisy", "noise": 0.2},
        "test": {"data": {"kind": f"{HERE}.Bars", "split": "test"}},
        "metrics": ["linear.LinearR2"],
        "diagnostics": [{"kind": f"{HERE}.SameClass", "table": {"kind": f"{HERE}.Bars", "split": "test"}}],
        "evaluation": 64,
        "recipes": {
            "published": {
                "encoder": {"kind": f"{HERE}.Flat", "dim_out": 3, "head": "sphere"},
                "loss": {"kind": "infonce.InfoNCE", "score": {"kind": "dot.Dot", "tau": 0.5}},
                "train": {"steps": 4, "every": 2, "batch_size": 16, "optimizer": {"kind": "optim.Adam", "lr": 1e-2}},
                "untrained": {},
                "identity": {},
            },
        },
    },
    "row": [{"id": "a", "name": "two views"}],
}


def content(**changes: Any) -> dict[str, Any]:
    """The table with entries at paths such as base__data__split replaced; None removes one."""
    copy: Any = deepcopy(CONTENT)
    for path, value in changes.items():
        *parents, last = path.split("__")
        inner = copy
        for key in parents:
            inner = inner[int(key)] if isinstance(inner, list) else inner.setdefault(key, {})
        inner.pop(last, None) if value is None else inner.__setitem__(last, value)
    return copy


def described(baseline: str | None = None, recipe: str = "published", **changes: Any):
    return parse_table("t", content(**changes)).row("a").describe(recipe, baseline)


LAWS = {
    "base__space": {"kind": "box.Box", "dim": 2, "low": -1.0, "high": 1.0},
    "base__marginal": "uniform.Uniform",
    "base__conditional": {"kind": "generalized_normal.GeneralizedNormal", "p": 2, "std": 0.1},
    "base__pairs": {"kind": f"{HERE}.Lookup"},
}
SMALL = {
    "world": {"data": {"kind": f"{HERE}.Bars", "rows": 32}, "evaluation": 32},
    "notes": ["32 bars in place of 64."],
    **{key: CONTENT["base"]["recipes"]["published"][key] for key in ("encoder", "loss", "train")},
}


def test_the_encoder_fits_the_images_and_scores_are_of_the_other_table():
    made = build(described(), seed=0)
    assert made.mixing is None and made.space is None and made.factors == ("row", "column")
    assert made.encoder.shape == (1, 8, 8) and made.encoder.dim_in == 64  # pyright: ignore
    assert isinstance(made.test, Images) and made.test.table.name == "bars/test"
    assert made.source.table.name == "bars/train" and made.source.noise == 0.2  # pyright: ignore
    batch = made.test.draw(64, made.streams.eval)
    assert batch.z is not None and batch.z.unique(dim=0).shape == (64, 2) and 0 <= batch.x.min() < batch.x.max() <= 1


def test_dimensions_come_from_the_factors_or_the_space():
    free = build(described(base__recipes__published__encoder__dim_out=None), seed=0)
    assert free.encoder.dim_out == 2
    lawful = build(described(base__recipes__published__encoder__dim_out=None, **LAWS), seed=0)
    assert lawful.encoder.dim_out == 2 and lawful.space is not None
    assert lawful.source.conditional.space == lawful.space  # pyright: ignore
    with pytest.raises(ValueError, match="`encoder`: needs `dim_out`, which this row does not have"):
        changes = {"base__data__kind": f"{HERE}.Unnamed", "base__data__split": None, "base__metrics": None}
        build(described(base__recipes__published__encoder__dim_out=None, base__test=None, **changes), seed=0)


def test_equal_tables_are_loaded_once():
    Bars.made.clear()
    made = build(described(base__data__rows=77), seed=0)
    again = build(described(base__data__rows=77), seed=1)
    assert made.source.table is again.source.table and made.test.table is made.diagnostics[0].table  # pyright: ignore
    assert Bars.made.count("bars/train") == 1


def test_the_whole_path_runs_and_is_reported(tmp_path):
    chosen = tasks(parse_table("t", content()), recipe="published", seeds=[0], out=str(tmp_path))
    assert [task.description.baseline for task in chosen] == [None, "identity", "untrained"]
    check_tasks(chosen)
    trained, identity, untrained = map(perform, chosen)
    assert set(trained.metrics) == {*FACTORS, "same_class"} == set(identity.metrics) == set(untrained.metrics)
    assert trained.factors == ["row", "column"] and trained.floor is None and trained.fresh_loss is not None
    assert [set(record.metrics) for record in records(chosen[0].folder)] == [set(FACTORS)] * 2
    assert untrained.steps == identity.steps == 0 and untrained.metrics != trained.metrics
    assert identity.metrics["linear_r2"] > 0.5  # bars are nearly linear in their pixels
    sample = load(tmp_path)[0].sample()
    assert sample["anchors"].shape == (24, 1, 8, 8) == sample["positives"].shape and sample["h"].shape == (64, 3)
    assert (chosen[0].folder / SAMPLE).stat().st_size < 20_000
    written = page(load(tmp_path))
    assert "anchors above, their positives below" in written and ">column</th>" in written


def test_classes_alone_need_no_metrics(tmp_path):
    changes = {
        "base__data": {"kind": f"{HERE}.Unnamed"},
        "base__test": None,
        "base__metrics": None,
        "base__diagnostics": [{"kind": f"{HERE}.SameClass", "table": {"kind": f"{HERE}.Unnamed"}}],
    }
    (task, *_) = tasks(parse_table("t", content(**changes)), recipe="published", seeds=[0], out=str(tmp_path))
    assert set(perform(task).metrics) == {"same_class"}
    assert "anchors above" in page(load(tmp_path))
    with pytest.raises(ValueError, match="`metrics` compare embeddings with factors, and `bars/train` has none"):
        build(described(**{**changes, "base__metrics": ["linear.LinearR2"]}), seed=0)


def test_the_mode_of_evaluation_is_the_rows():
    scores = {}
    for mode in ("eval", "train"):
        made = build(described(base__evaluation_mode=mode), seed=0)
        buffers = [buffer.clone() for buffer in made.encoder.buffers()]
        scores[mode] = made.measure(made.encoder)
        assert all(torch.equal(*pair) for pair in zip(buffers, made.encoder.buffers(), strict=True))
        assert made.encoder.training
    # The head divides by the length, so that statistics of the batch are more than a linear map.
    assert scores["train"]["linear_r2"] != scores["eval"]["linear_r2"]
    assert described().digest != described(base__evaluation_mode="train").digest


def test_a_description_covers_what_the_small_recipe_replaces():
    table = parse_table("t", content(base__recipes__small=SMALL))
    whole, small = (table.row("a").describe(recipe) for recipe in ("published", "small"))
    assert whole.sections["data"] == {"kind": f"{HERE}.Bars", "split": "train"}
    assert small.sections["data"] == {"kind": f"{HERE}.Bars", "rows": 32} and small.sections["evaluation"] == 32
    assert whole.digest != small.digest and "world" not in small.sections
    assert small.sections["pairs"] == whole.sections["pairs"]
    assert build(small, 0).test.table.name == "bars/test"  # pyright: ignore


def test_nothing_is_loaded_to_check_a_table():
    Bars.made.clear()
    given = content(base__data__root="/nowhere", base__recipes__small=SMALL)
    check(parse_table("t", given))
    assert not Bars.made
    (task, *_) = tasks(parse_table("t", given), recipe="published", seeds=[0], out="nowhere")
    with pytest.raises(FileNotFoundError, match=r"^t, row `a`, recipe `published`: no folder.*noumena data fetch bars"):
        check_tasks([task])
    assert ROWS >= 4096


def test_theory_speaks_of_laws_alone():
    views, lookup = (parse_table("t", content(**changes)).row("a") for changes in ({}, LAWS))
    assert explain(views).verdict is None and explain(views).summary == NO_LAW
    found = explain(lookup)
    assert found.verdict is not None and found.reason == NEAREST and found.summary.endswith(NEAREST)


WRONG = {
    "a mixing": ({"base__mixing": "identity.Identity"}, "t, row `a`: `mixing` must be left out where there are `data`"),
    "no pairs": ({"base__pairs": None}, "t, row `a`: `pairs` must be given"),
    "half a law": ({"base__marginal": "uniform.Uniform"}, "t, row `a`: `space`, `conditional` must be given"),
    "a law to test": ({"base__test": {"marginal": "uniform.Uniform"}}, "`test` must name `data` alone"),
    "pairs of a recipe": (
        {"base__recipes__published__pairs": {"kind": f"{HERE}.Noisy"}},
        "recipe `published`: `pairs` must leave out `kind`: the row says who is paired with whom",
    ),
    "a world that is not small": ({"base__recipes__published__world": {}}, "recipe `published`: unknown key `world`"),
    "no word of it": (
        {"base__recipes__small": {**SMALL, "notes": []}},
        "recipe `small`: `notes` must say what `world` replaces",
    ),
    "other metrics": (
        {"base__recipes__small": {**SMALL, "world": {"metrics": ["linear.LinearR2"]}}},
        "recipe `small`, world: unknown key `metrics`",
    ),
    "a mode": ({"base__evaluation_mode": "test"}, "`evaluation_mode` must be one of ('eval', 'train'), got 'test'"),
    "changes to nothing": (
        {"base__recipes__published__untrained": {"train": {"steps": 1}}},
        "recipe `published`, untrained: unknown key `train`",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_place(case):
    changes, message = WRONG[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_table("t", content(**changes))


def test_more_anchors_than_images_are_refused():
    with pytest.raises(ValueError, match="`evaluation` must be at most the 64 images of `bars/test`, got 65"):
        build(described(base__evaluation=65), seed=0)


def test_runs_of_images_resume(tmp_path):
    table = parse_table("t", content())
    (task, *_) = tasks(table, recipe="published", seeds=[0], out=str(tmp_path / "a"))
    (other, *_) = tasks(table, recipe="published", seeds=[0], out=str(tmp_path / "b"))
    first = perform(task)
    second = perform(replace(other, threads=1))
    assert first.metrics == second.metrics and json.loads(json.dumps(first.factors)) == second.factors
