"""Grammars: the bit-string phrase grammar and its closure."""
