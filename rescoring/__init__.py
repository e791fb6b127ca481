"""Rescoring of lattices."""
