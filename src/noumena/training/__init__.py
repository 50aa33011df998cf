"""Training and measuring."""

from .engine import Schedule as Schedule
from .engine import embed as embed
from .engine import train as train
from .evaluate import evaluate as evaluate
from .record import Record as Record
