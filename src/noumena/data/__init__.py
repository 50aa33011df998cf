"""Observations that exist already: tables of images, where they come from, and how they are checked."""

from .base import AbstractImageTable as AbstractImageTable
from .base import InMemory as InMemory
