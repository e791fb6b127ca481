"""Automata and lattices: weighted sets of strings.

automaton       deterministic automata over the words of one bag, as dense arrays
lattice         word lattices; the one module that touches OpenFst
strings         the strings of an automaton, the cheapest first
openfst_format  OpenFst's binary files as numpy arrays
nbest           n-best lists, in the format of Moses and as JSON Lines
layout          where states, arcs and words stand in a drawing
drawing         lattices as SVG and PNG
"""
