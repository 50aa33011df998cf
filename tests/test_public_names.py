"""The names that users and other tools rely on."""

import importlib

import pytest

PUBLIC = {
    "noumena": "PairBatch PairEmbeddings Streams streams __version__",
    "noumena.spaces": "AbstractSpace Box Euclidean Product Sphere",
    "noumena.marginals": "AbstractMarginal GeneralizedNormal Product Uniform VonMisesFisher",
    "noumena.conditionals": "AbstractConditional Anisotropic FixedContent GeneralizedNormal Product VonMisesFisher",
    "noumena.mixings": ("AbstractMixing CouplingFlow Identity InjectiveLinear InvertibleMLP Monomial Patches Spiral"),
    "noumena.pairs": (
        "AbstractNegatives AbstractPairSource FromMarginal FromSupport Given GroupedSupport Harder Mixed Processes "
        "Synthetic"
    ),
    "noumena.encoders": (
        "AbstractEncoder AbstractHead BoxHead Free InverseLinear InversePatches InverseSpiral MLP ProductHead "
        "SphereHead"
    ),
    "noumena.losses": (
        "AbstractLoss AbstractScore AnisotropicScore CovarianceContrast Dot Drawn Ensemble Equal GroupMates "
        "HardNegatives InBatch InfoNCE LossOutput Lp Regression TriCL Union infonce"
    ),
    "noumena.metrics": (
        "AbstractFittedMetric AbstractMetric AngleError BlockR2 CCAMCC LinearR2 MCC MetricResult "
        "angle_error block_r2 cca_mcc linear_r2 mcc"
    ),
    "noumena.diagnostics": (
        "AbstractDiagnostic DomainClassifier FibreRadius LearnedPrecision LimitLoss Overlap Subject TransportedMass"
    ),
    "noumena.theory": (
        "AbstractComputation AsymptoticLoss FibreRotation Floor Fold Forget PrecisionSweep Recovery Shrink "
        "asymptotic_loss collapse_bound loss_floor recovery shrink_slope transported_mass"
    ),
    "noumena.training": (
        "AbstractOptimizer Adam AdamW Annealing BatchGrowth Checkpoint Diverged EMA Evaluation Muon Record SGD "
        "Schedule Target embed evaluate options to_table train"
    ),
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_the_intended_ones(module):
    loaded = importlib.import_module(module)
    names = PUBLIC[module].split()
    for name in names:
        getattr(loaded, name)
    if module != "noumena":
        classes = {name for name, value in vars(loaded).items() if name[0] != "_" and not _is_module(value)}
        assert classes == set(names)


def test_everything_the_package_lists_exists():
    noumena = importlib.import_module("noumena")
    for name in noumena.__all__:
        getattr(noumena, name)
    with pytest.raises(AttributeError, match="no attribute `sapces`"):
        noumena.sapces  # noqa: B018


def _is_module(value) -> bool:
    return type(value).__name__ == "module"
