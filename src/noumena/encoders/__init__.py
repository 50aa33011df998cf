"""From observations to embeddings: networks, and how they end."""

from .base import AbstractEncoder as AbstractEncoder
from .convnet import ConvNet as ConvNet
from .dropout import Dropout as Dropout
from .heads import AbstractHead as AbstractHead
from .heads import BoxHead as BoxHead
from .heads import Free as Free
from .heads import GaussianHead as GaussianHead
from .heads import ProductHead as ProductHead
from .heads import SphereHead as SphereHead
from .heads import Turned as Turned
from .image import AbstractImageEncoder as AbstractImageEncoder
from .image_mlp import ImageMLP as ImageMLP
from .mlp import MLP as MLP
from .projector import Projector as Projector
from .resnet import ResNet as ResNet
from .structured import InverseLinear as InverseLinear
from .structured import InversePatches as InversePatches
from .structured import InverseSpiral as InverseSpiral
from .vit import ViT as ViT
from .wrapped import Wrapped as Wrapped
