"""The statements that verdicts cite, with the numbers of the papers' texts; our own are in docs/theory.md."""

from .base import Theorem

ZIMMERMANN = "Zimmermann et al. 2021"
RUSAK = "Rusak et al. 2024 (AnInfoNCE)"
ZALIADUONIS = "Zaliaduonis et al. 2026 (The Loss Is Not Enough)"
OURS = "noumena (docs/theory.md)"

THEOREM_2 = Theorem(
    ZIMMERMANN,
    "Theorem 2",
    "uniform latents on a sphere, von Mises-Fisher positives, a differentiable injective mixing: InfoNCE recovers the "
    "latents up to an orthogonal map.",
)
THEOREM_4_4 = Theorem(
    ZALIADUONIS,
    "Theorem 4.4",
    "uniform latents on a sphere and von Mises-Fisher positives: InfoNCE recovers them up to an orthogonal map "
    "(Theorem 2 of Zimmermann et al. 2021, without its differentiability).",
)
THEOREM_5 = Theorem(
    ZIMMERMANN, "Theorem 5", "uniform latents in a convex body, positives and score of one metric: affine recovery."
)
THEOREM_6 = Theorem(
    ZIMMERMANN,
    "Theorem 6",
    "as Theorem 5 with an L^p metric, p >= 1 and not 2: recovery up to permutation, signs and scale.",
)
THEOREM_3_1 = Theorem(
    RUSAK, "Theorem 3.1", "anisotropic positives, a trained precision: recovery up to rotations of equal precisions."
)
COROLLARY_B_1 = Theorem(
    RUSAK, "Corollary B.1", "Theorem 3.1 with harder negatives: the precision learned is the difference of the two."
)
COROLLARY_B_2 = Theorem(
    RUSAK,
    "Corollary B.2",
    "an ensemble of Theorem 3.1: coordinates are told apart that differ in some process (Remark D.4).",
)
THEOREM_4_5 = Theorem(
    ZALIADUONIS,
    "Theorem 4.5",
    "positives keep a part of the latents, negatives are from everywhere: a map that is no isometry has a lower loss "
    "than every isometry.",
)
THEOREM_A_5 = Theorem(
    ZALIADUONIS,
    "Theorem 4.6 with Theorem A.5",
    "negatives from the anchor's own support: isometries are optimal, and so is every map that acts on each support "
    "as one.",
)
COVARIANCE = Theorem(
    "noumena (docs/covariance_contrast.md)",
    "steps 8 to 10",
    "uniform latents on a sphere, a density rising with the cosine: the optimum is linear, a rotation at fixed length.",
)
STATEMENT_1 = Theorem(
    OURS, "Statement 1", "quadratic scores of embeddings of free length match quadratic log-densities by affine maps."
)
STATEMENT_2 = Theorem(
    OURS,
    "Statement 2",
    "at a fixed scale that does not match, isometries beat every map of mean zero; too cold, a map of another mean "
    "beats them.",
)
STATEMENT_3 = Theorem(
    OURS, "Statement 3", "Theorems 5 and 6 hold for any head that can contain the matched latents, bounded or not."
)
STATEMENT_4 = Theorem(
    OURS,
    "Statement 4",
    "with negatives from the anchor's own support only angles within a support count: what they match decides.",
)
STATEMENT_5 = Theorem(
    OURS,
    "Statement 5",
    "the spectral contrast spends one coordinate on the constant function, so d coordinates miss a latent direction.",
)
STATEMENT_6 = Theorem(
    OURS, "Statement 6", "pairs that say nothing of their anchor, or are copies of it, leave the latents undetermined."
)
REGRESSION = Theorem(OURS, "least squares", "the encoder is shown the latents, so the optimum is the latents.")
