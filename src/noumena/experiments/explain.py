"""The verdict on a row of a table, without training it."""

from dataclasses import dataclass, replace

from ..theory.verdicts import Learner, Verdict, verdict
from ._names import nearest
from .build import Experiment, build
from .description import Description
from .spec import Row, Table

_SEED = 0


@dataclass(frozen=True)
class Explanation:
    """What theory says of a row under a recipe.

    Attributes:
        table, row, recipe, name: What is explained.
        verdict: None where nothing is trained, and so nothing is identified.
    """

    table: str
    row: str
    recipe: str
    name: str
    verdict: Verdict | None

    @property
    def summary(self) -> str:
        return "computed, not trained: no verdict" if self.verdict is None else self.verdict.summary


def explain(row: Row, recipe: str | None = None) -> Explanation:
    """The verdict on a row, under the published recipe unless another is named or it has none."""
    if recipe is None:
        recipe = "published" if "published" in row.recipes else next(iter(row.recipes))
    description = row.describe(recipe)
    found = None
    if "compute" not in description.sections:
        made = stand_in(description)
        assert made.loss is not None
        found = verdict(made.source, Learner.of(made.encoder, made.loss))  # pyright: ignore[reportArgumentType]
    return Explanation(row.table, row.id, recipe, row.name, found)


def summary(row: Row, recipe: str) -> str | None:
    """The verdict in one line; None for components of one's own that it cannot read: they may run all the same."""
    try:
        return explain(row, recipe).summary
    except (TypeError, ValueError):
        return None


def explain_table(table: Table, rows: list[str], recipe: str | None = None) -> list[Explanation]:
    """The verdicts on the rows named, or on all of them that have the recipe."""
    chosen = [table.row(row) for row in rows] or list(table.rows)
    if recipe is not None and not rows:
        chosen = [row for row in chosen if recipe in row.recipes]
        if not chosen:
            known = {name for row in table.rows for name in row.recipes}
            raise LookupError(f"{table.name}: no recipe `{recipe}`; {nearest(recipe, known)}")
    return [explain(row, recipe) for row in chosen]


def stand_in(description: Description) -> Experiment:
    """The experiment with a mixing of the same kind that is quick to draw: its weights decide no verdict."""
    sections = dict(description.sections)
    if "pool" in sections["mixing"] or sections["mixing"]["kind"].endswith("InvertibleMLP"):
        sections["mixing"] = {**sections["mixing"], "pool": 1}
    return build(replace(description, sections=sections), _SEED)
