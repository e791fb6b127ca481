"""Combinatory categorial grammar.

category, derivation   categories and the trees made of them, with the AUTO format
grammar, lexicon       rules and words read off derivations
tagger                 likely categories of words
conversion             derivations from dependency trees, by tree, relation and step; report counts what became of them
"""
