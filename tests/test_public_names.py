"""The names that users and other tools rely on."""

import importlib

import pytest

PUBLIC = {
    "noumena": "PairBatch PairEmbeddings Streams streams __version__",
    "noumena.spaces": "AbstractSpace Box Euclidean Product Sphere",
    "noumena.marginals": "AbstractMarginal GeneralizedNormal Product Uniform VonMisesFisher",
    "noumena.conditionals": "AbstractConditional Anisotropic FixedContent GeneralizedNormal Product VonMisesFisher",
    "noumena.mixings": (
        "AbstractMixing CouplingFlow Decoder Identity InjectiveLinear InvertibleMLP Monomial Patches Renderer Spiral"
    ),
    "noumena.pairs": (
        "AbstractNegatives AbstractPairSource Augmented Frames FromMarginal FromSupport Given GroupedSupport Harder "
        "Images Mixed Nearest Processes Synthetic Temporal"
    ),
    "noumena.data": (
        "AbstractImageTable CIFAR10 CausalThreeDIdent FashionMNIST ImageNet InMemory KITTIMasks MNIST Mapped "
        "ThreeDIdent Walkers"
    ),
    "noumena.data.augmentations": (
        "AbstractAugmentation Augmented ColorJitter Compose CropAndFlip GaussianBlur Grayscale HorizontalFlip "
        "LossIsNotEnough Normalize RandomErasing RandomResizedCrop Shuffled SimCLR Solarize VICReg"
    ),
    "noumena.encoders": (
        "AbstractEncoder AbstractHead AbstractImageEncoder BoxHead ConvNet Dropout Free GaussianHead ImageMLP "
        "InverseLinear InversePatches InverseSpiral MLP ProductHead Projector ResNet SphereHead Turned ViT Wrapped"
    ),
    "noumena.losses": (
        "AbstractDecoder AbstractLoss AbstractScore AnisotropicScore CovarianceContrast Dot Drawn Ensemble Equal "
        "GroupMates HardNegatives ImageDecoder InBatch InfoNCE LossOutput Lp Regression SlowVAE TriCL Union VAE "
        "VectorDecoder infonce"
    ),
    "noumena.metrics": (
        "AbstractFittedMetric AbstractMetric Accuracy AngleError BlockR2 CCAMCC LinearR2 MCC MetricResult "
        "angle_error binary_readout block_r2 cca_mcc knn_accuracy linear_probe linear_r2 mcc sgd_probe"
    ),
    "noumena.diagnostics": (
        "AbstractDiagnostic AugmentationReadout AugmentedDomain ConditionalShape Diagnosis DomainClassifier "
        "FibreRadius KNNAccuracy LearnedPrecision LimitLoss LinearProbe Overlap SGDProbe Subject TransportedMass "
        "diagnose"
    ),
    "noumena.theory": (
        "AbstractComputation Assumption AsymptoticLoss Attack Difference Evidence Expectation FibreRotation Floor "
        "Fold Forget Head Learner Maps PairSheet PrecisionSweep Recovery Representable Shrink Theorem Tilt Verdict "
        "asymptotic_difference asymptotic_loss attack collapse_bound expectation loss_floor recovery shrink_slope "
        "temperature_slack transported_mass verdict"
    ),
    "noumena.estimators": "ContrastiveEncoder",
    "noumena.training": (
        "AbstractOptimizer Adam AdamW Alone Annealing BatchGrowth Checkpoint Devices Diverged EMA Evaluation Muon "
        "Record SGD Schedule Target disband embed evaluate options to_table train"
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
