"""The pictures of one row: what moved over the run, what was recovered, what diagnostics want looked at."""

from collections.abc import Mapping, Sequence

from .align import align
from .curves import curve_panels, learned_panels, loss_panel, score_panel, scores, true_precision
from .factors import factor_panels
from .figure import draw
from .load import Run
from .markup import Markup, element, join
from .scatter import MOST, scatter_panels
from .spheres import ball_panels, balls, data
from .sweep import sweep_panels
from .table import primary
from .thumbnails import pair_panels

CURVES = 9  # panels of a diagnostic's curves
ORTHOGONAL = "the best rotation or reflection"


def row_pictures(learners: Mapping[str, Sequence[Run]]) -> list[Markup]:
    """Figures of a row under one recipe.

    Args:
        learners: Runs by the name of their learner, the row itself first, then its baselines.
    """
    name, runs = next(iter(learners.items()))
    row = f"{runs[0].outcome['table']}, row {runs[0].outcome['row']}"
    trained = {learner: members for learner, members in learners.items() if members[0].records()}
    made = [_learning(row, trained)] if trained else []
    sample = runs[0].sample()
    if "anchors" in sample:
        made.append(_seen(f"{row} ({name})", runs[0]))
    if "z" in sample:
        made += _recovered(f"{row} ({name})", runs[0])
    if panels := factor_panels(runs):
        alt = f"{row}: scores of single factors over steps"
        caption = f"How well each factor is found over the steps of seed {runs[0].outcome['seed']}."
        made.append(_figure(draw(panels, alt, size=(4.2, 2.6), margins=(0.55, 1.3, 0.45, 0.25)), caption))
    if learned := learned_panels(runs):
        dashed = "; true precisions are dashed" if true_precision(runs[0].sections) else ""
        caption = f"Learned values over the steps of seed {runs[0].outcome['seed']}{dashed}."
        made.append(_figure(draw(learned, f"{row}: learned values over steps"), caption))
    if curves := curve_panels(runs):
        more = f" The first {CURVES} of {len(curves)} are drawn." if len(curves) > CURVES else ""
        alt = f"{row}: curves of diagnostics and computations"
        caption = f"What diagnostics and computations found, a line for each seed.{more}"
        picture = draw(curves[:CURVES], alt, size=(3.3, 2.4), margins=(0.75, 0.1, 0.45, 0.25))
        made.append(_figure(picture, caption))
    return made


def _learning(row: str, trained: Mapping[str, Sequence[Run]]) -> Markup:
    published = {}
    for members in trained.values():
        published = published or {one["metric"]: one["mean"] for one in members[0].description["reported"]}
    panels = [loss_panel(members, learner) for learner, members in trained.items()]
    if scores(trained):
        panels.append(score_panel(trained, published))
    seeds = ", ".join(str(run.outcome["seed"]) for run in next(iter(trained.values())))
    hollow = " Hollow: the published score." if published else ""
    what = "Loss and distance of scores from perfect" if scores(trained) else "Loss"
    caption = f"{what} over steps; a line for each seed ({seeds}).{hollow}"
    return _figure(draw(panels, f"{row}: loss and scores over steps, by learner", columns=4), caption)


def _seen(name: str, run: Run) -> Markup:
    sample = run.sample()
    panels = pair_panels(sample["anchors"], sample["positives"])
    caption = f"Pairs of seed {run.outcome['seed']}: anchors above, their positives below."
    alt = f"{name}: pairs of images"
    return _figure(draw(panels, alt, columns=1, size=(7.2, 1.3), margins=(0.05, 0.05, 0.05, 0.05)), caption)


def _recovered(name: str, run: Run) -> list[Markup]:
    sample, seed = run.sample(), run.outcome["seed"]
    z, h = sample["z"], sample["h"]
    made = []
    if h.ndim == 2 and z.ndim == 2:
        aligned = align(z, h, primary(run) or "")
        first = f" The first {MOST} of {z.shape[1]} coordinates are drawn." if z.shape[1] > MOST else ""
        caption = (
            f"True coordinates across, recovered ones upwards: embeddings of seed {seed}, {aligned.how} "
            f"(fitted on the {len(z)} points shown). Titles give the share of variance explained.{first}"
        )
        picture = draw(
            scatter_panels(z, aligned, run.outcome.get("factors") or ()),
            f"{name}: true against recovered coordinates",
            columns=5,
            size=(1.7, 1.9),
            margins=(0.1, 0.1, 0.25, 0.25),
        )
        made.append(_figure(picture, caption))
    if "x" in sample and (shown := balls(sample)):
        seen = [ball.title for ball in shown]
        where = "" if "observations" in seen else f" Observations have {sample['x'].shape[1]} coordinates: not drawn."
        caption = (
            f"{', '.join(seen).capitalize()} of seed {seed}; embeddings are turned onto the latents by {ORTHOGONAL}. "
            "Lightness is the first latent, which points up; hue is the direction of the other two. Where colours "
            f"stand in the same order, latents are recovered.{where}"
        )
        alt = f"{name}: spheres coloured by latent, {', '.join(seen)}"
        picture = draw(ball_panels(shown), alt, size=(2.4, 2.6), margins=(0.05, 0.05, 0.05, 0.25))
        points = Markup(data(shown).replace("<", "\\u003c"))
        made.append(_figure(join(picture, element("script", points, type="application/json")), caption, "spheres"))
    return made


def sweep_picture(learner: str, runs: Sequence[Run]) -> Markup:
    """Rows that vary one number, drawn as one figure."""
    name = runs[0].about["sweep"]["name"]
    alt = f"{runs[0].outcome['table']} ({learner}): scores over {name}"
    parts = sweep_panels(runs)
    panels = [panel for part in parts for panel in part]
    # Where there are several parts of several panels each, a part is a line of the figure.
    columns = len(parts[0]) if len(parts) > 1 and len(parts[0]) > 1 else 3
    caption = f"Numbers over {name} ({learner}): mean and spread over seeds. Dashed and hollow: as reported."
    return _figure(draw(panels, alt, columns=columns, size=(3.4, 2.4)), caption)


def _figure(picture: Markup, caption: str, class_: str | None = None) -> Markup:
    return element("figure", picture, element("figcaption", caption), class_=class_)
