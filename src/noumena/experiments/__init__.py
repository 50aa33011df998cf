"""Worlds, learners and readers put together."""
