"""Do the assumptions hold? Readers that look at worlds and losses as well as at embeddings."""

from .base import AbstractDiagnostic as AbstractDiagnostic
from .base import Subject as Subject
from .classes import KNNAccuracy as KNNAccuracy
from .classes import LinearProbe as LinearProbe
from .classes import SGDProbe as SGDProbe
from .conditional_shape import ConditionalShape as ConditionalShape
from .diagnose import diagnose as diagnose
from .domain import DomainClassifier as DomainClassifier
from .fibres import FibreRadius as FibreRadius
from .limit import LimitLoss as LimitLoss
from .mass import TransportedMass as TransportedMass
from .overlap import Overlap as Overlap
from .precision import LearnedPrecision as LearnedPrecision
from .reading import Diagnosis as Diagnosis
from .readouts import AugmentationReadout as AugmentationReadout
from .readouts import AugmentedDomain as AugmentedDomain
