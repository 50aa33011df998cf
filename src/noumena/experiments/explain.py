"""The verdict on a row of a table, without training it."""

from dataclasses import dataclass, replace

from ..pairs import Synthetic
from ..theory.verdicts import Learner, Verdict, verdict
from ._names import nearest
from .build import Experiment, assemble
from .description import Description
from .spec import Row, Table

_SEED = 0

COMPUTED = "computed, not trained: no verdict"
NO_LAW = "no theorem speaks: the law of these pairs in terms of factors is not known"
NEAREST = "for the laws themselves; stored images only come near them"


@dataclass(frozen=True)
class Explanation:
    """What theory says of a row under a recipe.

    Attributes:
        table, row, recipe, name: What is explained.
        verdict: None where nothing is trained, or no law of the pairs is known.
        reason: Why there is none, or what else to know of it.
    """

    table: str
    row: str
    recipe: str
    name: str
    verdict: Verdict | None
    reason: str = ""

    @property
    def summary(self) -> str:
        said = () if self.verdict is None else (self.verdict.summary,)
        return "; ".join(filter(None, (*said, self.reason)))


def explain(row: Row, recipe: str | None = None) -> Explanation:
    """The verdict on a row, under the published recipe unless another is named or it has none."""
    if recipe is None:
        recipe = "published" if "published" in row.recipes else next(iter(row.recipes))
    description = row.describe(recipe)
    if "compute" in description.sections:
        return Explanation(row.table, row.id, recipe, row.name, None, COMPUTED)
    if "data" in description.sections and "conditional" not in description.sections:
        return Explanation(row.table, row.id, recipe, row.name, None, NO_LAW)
    found, reason = _verdict(stand_in(description))
    return Explanation(row.table, row.id, recipe, row.name, found, reason)


def _verdict(made: Experiment) -> tuple[Verdict | None, str]:
    """The verdict, and what else to know of it."""
    assert made.loss is not None
    learner = Learner.of(made.encoder, made.loss)
    if made.mixing is not None:
        return verdict(made.source, learner), ""  # pyright: ignore[reportArgumentType]
    laws = getattr(made.source, "marginal", None), getattr(made.source, "conditional", None)
    if None in laws:
        return None, NO_LAW
    try:
        # Verdicts are blind to what makes observations, if it is injective: any mixing stands for it.
        return verdict(Synthetic(*laws), learner), NEAREST  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError) as error:
        return None, f"no verdict: {error}"


def summary(row: Row, recipe: str) -> str | None:
    """The verdict in one line; None for components of one's own that it cannot read: they may run all the same."""
    try:
        return explain(row, recipe).summary
    except (TypeError, ValueError, OSError):
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
    mixing = sections.get("mixing", {})
    if "pool" in mixing or mixing.get("kind", "").endswith("InvertibleMLP"):
        sections["mixing"] = {**mixing, "pool": 1}
    return assemble(replace(description, sections=sections), _SEED)
