"""What the papers' experiments found, as their tables print it (means and spreads over seeds)."""

from .base import Evidence, Maps

TABLE_1 = "Zimmermann et al. 2021, Table 1"
TABLE_2 = "Zimmermann et al. 2021, Table 2"

WARM = Evidence(TABLE_1, "vMF(10) pairs under the model vMF(1): R² 99.86 ± .01 %")
PROJECTED = {
    1.0: Evidence(TABLE_1, "Laplace pairs projected to the sphere, model vMF(1): R² 99.91 ± .01 %"),
    2.0: Evidence(TABLE_1, "normal pairs projected to the sphere, model vMF(1): R² 99.86 ± .00 %"),
}
NORMAL_ON_SPHERE = Evidence(TABLE_1, "normal marginal projected to the sphere, model vMF(1): R² 99.02 ± .01 or .02 %")
GATHERED = Evidence(
    "Zimmermann et al. 2021, Figure 2",
    "R² stays above 95 %, often 99 %, until the marginal is more concentrated than the pairs, then drops sharply",
)
UNBOUNDED = Evidence(TABLE_1, "unbounded latents, normal pairs, free embeddings: R² 98.13 ± .14 and 98.76 ± .03 %")
BOX_ON_SPHERE = Evidence(
    "Zimmermann et al. 2021, Table 4", "3DIdent, box latents and sphere embeddings: R² 65.74 ± .01, MCC 42.44 ± 3.27 %"
)
STYLE = Evidence(
    "Rusak et al. 2024, Figures 2A, 3 and 11",
    "InfoNCE on uneven pairs loses the coordinates that vary most: R² .774 at precisions 5 to 50 (AnInfoNCE .997), "
    ".48 in the two-process setting (AnInfoNCE .93)",
)
SHELL = Evidence(
    "training logs of Rusak et al. 2024", "AnInfoNCE with shell draws: R² .9973, precisions 23.1 and 5.5 for 25 and 5"
)
TRICL = Evidence("Rusak et al. 2024, Figure 12", "TriCL is less stable and ends at a lower R² than AnInfoNCE")
RATIO = Evidence(
    "Zaliaduonis et al. 2026, Tables 8 to 11 (values of its result files)",
    "mixtures of both kinds of negatives: R² of an MLP at most .575 with identity or linear mixings",
)
# (exponent of pairs, exponent of the model) -> what a box or a free end found.
BOX = {
    (2, 2): Evidence(TABLE_2, "normal pairs and model on a box: MCC 99.77 ± .01 %"),
    (1, 2): Evidence(TABLE_2, "Laplace pairs, normal model on a box: MCC 99.76 ± .02 %"),
    (3, 1): Evidence(TABLE_2, "generalised normal (3) pairs, Laplace model on a box: MCC 98.80 ± .02 %"),
    (1, 1): Evidence(TABLE_2, "Laplace pairs and model on a box: MCC 98.62 ± .05 %"),
    (3, 3): Evidence(TABLE_2, "generalised normal (3) pairs and model on a box: MCC 99.90 ± .06 %"),
}
FREE = {
    (2, 2): Evidence(f"{TABLE_1} and Table 2", "normal pairs and model, unbounded: R² 99.60 ± .02, MCC 58.26 ± 3.00 %"),
    (1, 2): Evidence(
        f"{TABLE_1} and Table 2", "Laplace pairs, normal model, unbounded: R² 99.64 ± .02, MCC 59.67 ± 2.33 %"
    ),
    (1, 3): Evidence(TABLE_1, "Laplace pairs, generalised normal (3) model, unbounded: R² 99.70 ± .02 %"),
    (2, 3): Evidence(
        f"{TABLE_1} and Table 2", "normal pairs, generalised normal (3), unbounded: R² 99.69 ± .02, MCC 43.80 ± 2.15 %"
    ),
    (1, 1): Evidence(TABLE_2, "Laplace pairs and model, unbounded: MCC 98.57 ± .02 %"),
    (3, 3): Evidence(TABLE_2, "generalised normal (3) pairs and model, unbounded: MCC 99.85 ± .01 %"),
}


def of_box(pairs: float, model: float, bounded: bool) -> tuple[tuple[Evidence, ...], Maps]:
    """What was found of these exponents, and the class of maps that it suggests."""
    if not (found := (BOX if bounded else FREE).get((int(pairs), int(model)))) or pairs % 1 or model % 1:
        return (), Maps.OPEN
    return (found,), Maps.PERMUTATION if bounded or pairs == model != 2 else Maps.AFFINE
