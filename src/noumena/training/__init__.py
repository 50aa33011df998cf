"""Training and measuring.

`train` takes a source, an encoder, a loss and descriptions of how to train, and yields records; `options` reads these
descriptions from a table, and `to_table` writes them.
"""

from .checkpoint import Checkpoint as Checkpoint
from .describe import options as options
from .describe import to_table as to_table
from .devices import Alone as Alone
from .devices import Devices as Devices
from .divergence import Diverged as Diverged
from .ema import EMA as EMA
from .embedding import embed as embed
from .engine import train as train
from .evaluate import Evaluation as Evaluation
from .evaluate import evaluate as evaluate
from .optim import SGD as SGD
from .optim import AbstractOptimizer as AbstractOptimizer
from .optim import Adam as Adam
from .optim import AdamW as AdamW
from .optim import Muon as Muon
from .record import Record as Record
from .schedules import Annealing as Annealing
from .schedules import BatchGrowth as BatchGrowth
from .schedules import Schedule as Schedule
from .target import Target as Target
from .together import disband as disband
