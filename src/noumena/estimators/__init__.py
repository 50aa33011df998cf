"""Contrastive learning as a scikit-learn estimator."""

from .contrastive import ContrastiveEncoder as ContrastiveEncoder
