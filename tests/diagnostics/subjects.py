"""Subjects of diagnostics, made of a source and perhaps a loss."""

from torch import nn

from noumena.diagnostics import Subject


def subject(source, loss=None, encoder=None, trained_on=None) -> Subject:
    return Subject(source, nn.Identity() if encoder is None else encoder, loss, trained_on or source)
