"""Batched image augmentations: every image its own draw, every draw recorded."""

from .base import AbstractAugmentation as AbstractAugmentation
from .base import Augmented as Augmented
from .blur import GaussianBlur as GaussianBlur
from .compose import Compose as Compose
from .compose import Shuffled as Shuffled
from .crop import RandomResizedCrop as RandomResizedCrop
from .erase import RandomErasing as RandomErasing
from .flip import HorizontalFlip as HorizontalFlip
from .jitter import ColorJitter as ColorJitter
from .jitter import Grayscale as Grayscale
from .recipes import CropAndFlip as CropAndFlip
from .recipes import LossIsNotEnough as LossIsNotEnough
from .recipes import SimCLR as SimCLR
from .recipes import VICReg as VICReg
from .tone import Normalize as Normalize
from .tone import Solarize as Solarize
