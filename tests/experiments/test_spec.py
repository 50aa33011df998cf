import re

import pytest

from noumena.experiments.spec import load_table, parse_table, table_names
from tests.experiments.tables import content


def test_rows_inherit_the_base():
    a, b = parse_table("t", content()).rows
    assert a.world["conditional"] == {"kind": "vmf.VonMisesFisher", "kappa": 5.0}
    assert b.world["conditional"] == {"kind": "vmf.VonMisesFisher", "kappa": 7.0}
    assert a.world["marginal"] == {"kind": "uniform.Uniform"} and a.world["evaluation"] == 4096
    assert a.recipes["fast"] == b.recipes["fast"]
    assert a.recipes["fast"]["pairs"] == {"kind": "synthetic.Synthetic"}


def test_a_recipe_of_a_row_changes_the_recipe_of_the_base_alone():
    given = content("row.1.recipes", {"fast": {"loss": {"score": {"tau": 0.5}}, "encoder": {"head": "free"}}})
    a, b = (row.recipes["fast"] for row in parse_table("t", given).rows)
    assert b["loss"] == {"kind": "infonce.InfoNCE", "score": {"kind": "dot.Dot", "tau": 0.5}}
    assert b["encoder"] == {"kind": "mlp.MLP", "widths": [8], "head": "free"}
    assert a["loss"]["score"]["tau"] == 0.2 and b["train"] == a["train"]


def test_a_sweep_is_inherited_key_by_key():
    given = content("row.1.sweep", {"value": 3})
    given["base"]["sweep"] = {"name": "kappa", "value": 1, "draw": ["mcc"]}
    a, b = parse_table("t", given).rows
    assert (a.sweep, b.sweep) == (given["base"]["sweep"], {"name": "kappa", "value": 3, "draw": ["mcc"]})


def test_notes_add_up():
    given = content("row.1.notes", ["row"])
    given["base"]["notes"] = ["base"]
    given["base"]["recipes"]["fast"]["notes"] = ["base recipe"]
    given["row"][1]["recipes"] = {"fast": {"notes": ["row recipe"]}}
    a, b = parse_table("t", given).rows
    assert a.notes == ("base",) and b.notes == ("base", "row")
    assert a.recipe_notes == {"fast": ("base recipe",)} and b.recipe_notes == {"fast": ("base recipe", "row recipe")}


def test_baselines_change_the_learner_and_not_the_world():
    row = parse_table("t", content()).row("a")
    plain, supervised, identity = (row.describe("fast", one).sections for one in (None, "supervised", "identity"))
    assert plain["loss"]["kind"] == "infonce.InfoNCE" and plain["train"]["steps"] == 2
    assert supervised["loss"] == {"kind": "regression.Regression"} and supervised["train"]["steps"] == 3
    assert supervised["train"]["batch_size"] == 8 and supervised["encoder"] == plain["encoder"]
    assert not {"encoder", "loss", "train"} & identity.keys()
    assert all(one[key] == value for one in (supervised, identity) for key, value in row.world.items())


def test_reported_numbers_are_kept():
    a = parse_table("t", content()).row("a")
    (number,) = a.reported
    assert (number.metric, number.mean, number.spread, number.source) == ("linear_r2", 0.9, 0.1, "Table 0")
    (number,) = a.baselines["supervised"]
    assert number.mean == 1 and number.spread is None and number.negatives is None


FAST = "base.recipes.fast"
WRONG = {
    "an unknown key of the table": ("titel", "x", "t: unknown key `titel`; did you mean `title`?"),
    "of the base": ("base.spaces", {}, "t, base: unknown key `spaces`; did you mean `space`?"),
    "of a row": ("row.1.conditionnal", {}, "t, row `b`: unknown key `conditionnal`; did you mean `conditional`?"),
    "of a recipe": (f"{FAST}.losss", {}, "t, base, recipe `fast`: unknown key `losss`; did you mean `loss`?"),
    "the world in a recipe": (f"{FAST}.space", {}, "recipe `fast`: unknown key `space`"),
    "of a baseline": (f"{FAST}.supervised.trian", {}, "recipe `fast`, supervised: unknown key `trian`"),
    "an unknown recipe": ("base.recipes.fats", {}, "recipes: unknown key `fats`; did you mean `fast`?"),
    "an unknown baseline": ("row.0.baselines.identiy", [], "unknown key `identiy`; did you mean `identity`?"),
    "of a number": ("row.0.reported", [{"men": 1.0}], "reported[0]: unknown key `men`; did you mean `mean`?"),
    "a number without a source": ("row.0.reported", [{"metric": "x", "mean": 1.0}], "`source` must be given"),
    "text for a number": ("row.0.reported", [{"metric": "x", "mean": "1", "source": ""}], "`mean` must be a number"),
    "truth for a number": ("base.evaluation", True, "`evaluation` must be a whole number, got True"),
    "a fraction for a count": (f"{FAST}.train.steps", 1.5, "`train.steps` must be a whole number, got 1.5"),
    "no pairs": (f"{FAST}.train.batch_size", 0, "`train.batch_size` must be at least 1, got 0"),
    "a list for a table": ("row.1.conditional", [], "t, row `b`: `conditional` must be a table, got []"),
    "a number for a kind": ("row.1.conditional.kind", 3, "`conditional.kind` must be text, got 3"),
    "infinity": ("row.1.conditional.kappa", float("inf"), "`conditional.kappa` must be finite, got inf"),
    "a nested NaN": (f"{FAST}.loss.score.tau", float("nan"), "`loss.score.tau` must be finite, got nan"),
    "text for a list": ("base.metrics", "linear.LinearR2", "`metrics` must be a list"),
    "no metrics": ("base.metrics", [], "`metrics` must list at least one"),
    "notes that are no list": ("row.1.notes", "x", "`notes` must be a list"),
    "no seeds": ("seeds", [], "`seeds` must name at least one"),
    "a seed twice": ("seeds", [1, 1], "none twice, got [1, 1]"),
    "a negative seed": ("seeds", [-1], "`seeds` must be at least 0, got -1"),
    "an id twice": ("row.1.id", "a", "no `id` twice"),
    "an id that is no folder": ("row.1.id", "../b", "t, row 2: `id` names a folder"),
    "no rows": ("row", [], "at least one row"),
    "a sweep without a value": ("row.1.sweep", {"name": "kappa"}, "t, row `b`, sweep: `value` must be given"),
    "an unknown key of a sweep": ("row.1.sweep", {"panell": "x"}, "unknown key `panell`; did you mean `panel`?"),
    "one number to draw": ("row.1.sweep", {"draw": "mcc"}, "t, row `b`, sweep: `draw` must be a list, got 'mcc'"),
    "numbers to draw that are no names": ("row.1.sweep", {"draw": [["mcc", 1]]}, "`draw[0][1]` must be text, got 1"),
    "a mark without a name": ("row.1.sweep", {"mark": {"value": 1.0}}, "sweep, mark: `name` must be given"),
    "a row without a name": ("row", [{"id": "a"}], "t, row 1: `name` must be given"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_place(case):
    path, value, message = WRONG[case]
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_table("t", content(path, value))


@pytest.mark.parametrize("key", ["space", "marginal", "conditional", "mixing", "metrics", "recipes"])
def test_a_row_must_be_complete(key):
    given = content()
    del given["base"][key]
    given["row"][1].pop("conditional", None)
    with pytest.raises(ValueError, match=f"t, row `a`: `{key}` must be given"):
        parse_table("t", given)


@pytest.mark.parametrize("key", ["encoder", "loss", "train"])
def test_a_recipe_must_be_complete(key):
    given = content()
    del given["base"]["recipes"]["fast"][key]
    with pytest.raises(ValueError, match=f"t, row `a`, recipe `fast`: `{key}` must be given"):
        parse_table("t", given)


def test_training_must_say_how_long():
    given = content()
    del given["base"]["recipes"]["fast"]["train"]["steps"]
    with pytest.raises(ValueError, match="recipe `fast`, train: `steps` must be given"):
        parse_table("t", given)


def test_a_reported_baseline_needs_its_recipe():
    given = content()
    del given["base"]["recipes"]["fast"]["supervised"]
    with pytest.raises(ValueError, match="recipe `fast`: `supervised` must be given"):
        parse_table("t", given)


def test_names_that_do_not_exist_are_answered_with_the_nearest():
    table = parse_table("t", content())
    with pytest.raises(LookupError, match="t: no row `c`; choose one of `a`, `b`"):
        table.row("c")
    with pytest.raises(LookupError, match="no recipe `fats`; did you mean `fast`"):
        table.row("a").describe("fats")
    with pytest.raises(LookupError, match="no baseline `plain`; choose one of `identity`, `supervised`"):
        table.row("a").describe("fast", "plain")
    with pytest.raises(LookupError, match="no table `zimmermann2021/tabel1`; did you mean `zimmermann2021/table1`"):
        load_table("zimmermann2021/tabel1")


def test_a_table_of_your_own_is_read_from_its_path(tmp_path):
    own = tmp_path / "own.toml"
    with pytest.raises(FileNotFoundError, match="no table file"):
        load_table(own)
    own.write_text("title = ")
    with pytest.raises(ValueError, match=r"own\.toml is not a TOML file"):
        load_table(own)
    own.write_text('title = "x"\nsource = "y"\nseeds = [0]\nnots = []\n[[row]]\nid = "1"\nname = "z"\n')
    with pytest.raises(ValueError, match=r"own\.toml: unknown key `nots`; did you mean `notes`"):
        load_table(own)


def test_tables_are_named_by_their_place():
    assert {"zimmermann2021/table1", "loss_is_not_enough/holds", "aninfonce/fig2"} <= set(table_names())
