"""From names to a head and a loss: where latents live, and how alike two embeddings are."""

from .. import _checks
from ..encoders import AbstractHead, BoxHead, Free, SphereHead
from ..losses import AbstractLoss, AbstractScore, AnisotropicScore, CovarianceContrast, Dot, InBatch, InfoNCE, Lp

# The first is what "auto" means. An inner product needs an origin, which a box has not; the covariance contrast is
# blind to scale, which nothing but a sphere then fixes.
SIMILARITIES = {
    "sphere": ("dot", "lp", "anisotropic", "covariance"),
    "box": ("lp", "anisotropic"),
    "free": ("lp", "dot", "anisotropic"),
}
START = 1.0  # of a learned temperature: a hot start, in which every pair counts, leads past folds


def check(space: str, similarity: str, p: float, temperature: str | float) -> None:
    """Refuse names that are none, and those that do not go together."""
    _checks.choice("space", space, SIMILARITIES)
    known = dict.fromkeys(name for names in SIMILARITIES.values() for name in names)
    if _checks.choice("similarity", similarity, ("auto", *known)) not in ("auto", *SIMILARITIES[space]):
        suits = ", ".join(map(repr, SIMILARITIES[space]))
        raise ValueError(f"`similarity` cannot be {similarity!r} where `space` is {space!r}; choose one of {suits}.")
    _checks.at_least("p", p, 1.0)
    if isinstance(temperature, str):
        _checks.choice("temperature", temperature, ("learned",))
        return
    _checks.positive("temperature", temperature)
    if similarity in ("anisotropic", "covariance"):
        reason = "learns a precision instead" if similarity == "anisotropic" else "has none"
        raise ValueError(f"`temperature` must be 'learned' where `similarity` is {similarity!r}, which {reason}.")


def make_head(space: str, dim: int) -> AbstractHead:
    return {"sphere": SphereHead, "free": Free}[space]() if space != "box" else BoxHead(dim, learnable=False)


def make_loss(space: str, similarity: str, dim: int, p: float, temperature: str | float) -> AbstractLoss:
    similarity = SIMILARITIES[space][0] if similarity == "auto" else similarity
    if similarity == "covariance":
        return CovarianceContrast()
    return contrast(_score(similarity, dim, p, temperature))


def contrast(score: AbstractScore) -> InfoNCE:
    """Both views are anchors, and an anchor is compared with the other view of every pair in the batch."""
    return InfoNCE(score, InBatch(anchors="both", views="other"))


def _score(similarity: str, dim: int, p: float, temperature: str | float) -> AbstractScore:
    if similarity == "anisotropic":
        return AnisotropicScore(dim=dim)
    learned = isinstance(temperature, str)
    tau = START if learned else float(temperature)
    return Dot(tau, learnable=learned) if similarity == "dot" else Lp(p, tau, learnable=learned)
