"""Verdicts: what is identifiable in a world by a learner."""

from .base import Assumption as Assumption
from .base import Evidence as Evidence
from .base import Maps as Maps
from .base import Representable as Representable
from .base import Theorem as Theorem
from .base import Verdict as Verdict
from .expectation import Expectation as Expectation
from .expectation import expectation as expectation
from .learner import Head as Head
from .learner import Learner as Learner
from .verdict import verdict as verdict
