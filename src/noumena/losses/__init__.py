"""What is minimised: plain modules that take `PairEmbeddings` and give a `LossOutput`."""

from .base import AbstractLoss as AbstractLoss
from .base import LossOutput as LossOutput
from .candidates import Drawn as Drawn
from .candidates import GroupMates as GroupMates
from .candidates import InBatch as InBatch
from .candidates import Union as Union
from .cca import CovarianceContrast as CovarianceContrast
from .decoders import AbstractDecoder as AbstractDecoder
from .decoders import ImageDecoder as ImageDecoder
from .decoders import VectorDecoder as VectorDecoder
from .ensemble import Ensemble as Ensemble
from .infonce import InfoNCE as InfoNCE
from .infonce import infonce as infonce
from .regression import Regression as Regression
from .scores import AbstractScore as AbstractScore
from .scores import AnisotropicScore as AnisotropicScore
from .scores import Dot as Dot
from .scores import Lp as Lp
from .slowvae import SlowVAE as SlowVAE
from .tricl import TriCL as TriCL
from .vae import VAE as VAE
from .weighting import Equal as Equal
from .weighting import HardNegatives as HardNegatives
