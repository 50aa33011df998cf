"""Observations that exist already: tables of images, where they come from, and how they are checked."""

from .base import AbstractImageTable as AbstractImageTable
from .base import InMemory as InMemory
from .cifar import CIFAR10 as CIFAR10
from .imagenet import ImageNet as ImageNet
from .kitti_masks import KITTIMasks as KITTIMasks
from .mapped import Mapped as Mapped
from .mnist import MNIST as MNIST
from .mnist import FashionMNIST as FashionMNIST
from .threedident import CausalThreeDIdent as CausalThreeDIdent
from .threedident import ThreeDIdent as ThreeDIdent
from .walkers import Walkers as Walkers
