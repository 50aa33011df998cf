"""Do the assumptions hold? Readers that look at worlds and losses as well as at embeddings."""

from .base import AbstractDiagnostic as AbstractDiagnostic
from .base import Subject as Subject
from .fibres import FibreRadius as FibreRadius
from .limit import LimitLoss as LimitLoss
