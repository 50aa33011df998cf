"""Who is paired with whom, and what else is drawn."""

from .augmented import Augmented as Augmented
from .base import AbstractPairSource as AbstractPairSource
from .frames import Frames as Frames
from .given import Given as Given
from .grouped import GroupedSupport as GroupedSupport
from .images import Images as Images
from .nearest import Nearest as Nearest
from .negatives import AbstractNegatives as AbstractNegatives
from .negatives import FromMarginal as FromMarginal
from .negatives import FromSupport as FromSupport
from .negatives import Harder as Harder
from .negatives import Mixed as Mixed
from .processes import Processes as Processes
from .synthetic import Synthetic as Synthetic
from .temporal import Temporal as Temporal
