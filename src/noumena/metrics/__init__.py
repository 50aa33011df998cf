"""Readers: recovered latents against the true ones."""

from .angle import AngleError as AngleError
from .angle import angle_error as angle_error
from .base import AbstractFittedMetric as AbstractFittedMetric
from .base import AbstractMetric as AbstractMetric
from .base import MetricResult as MetricResult
from .blocks import BlockR2 as BlockR2
from .blocks import block_r2 as block_r2
from .canonical import CCAMCC as CCAMCC
from .canonical import cca_mcc as cca_mcc
from .correlation import MCC as MCC
from .correlation import mcc as mcc
from .linear import LinearR2 as LinearR2
from .linear import linear_r2 as linear_r2
from .readout import Accuracy as Accuracy
from .readout import binary_readout as binary_readout
from .readout import knn_accuracy as knn_accuracy
from .readout import linear_probe as linear_probe
from .readout import sgd_probe as sgd_probe
