"""The papers' theorems as functions of a world and a learner."""

from .asymptotic import AsymptoticLoss as AsymptoticLoss
from .asymptotic import asymptotic_loss as asymptotic_loss
from .base import AbstractComputation as AbstractComputation
from .collapse import collapse_bound as collapse_bound
from .floor import Floor as Floor
from .floor import loss_floor as loss_floor
from .maps import FibreRotation as FibreRotation
from .maps import Fold as Fold
from .maps import Forget as Forget
from .maps import Shrink as Shrink
from .precision_sweep import PrecisionSweep as PrecisionSweep
from .recovery import Recovery as Recovery
from .recovery import recovery as recovery
from .shrink import shrink_slope as shrink_slope
from .transported_mass import transported_mass as transported_mass
