"""Automata and lattices: weighted sets of strings.

automaton       automata over the words of one bag, as dense arrays
lattice         word lattices; the one module that touches OpenFst
minimal         the smallest lattice of the same strings; determinise gives each string one path
strings         the strings of an automaton, the cheapest first
openfst_format  OpenFst's binary files as numpy arrays
nbest           n-best lists, in the format of Moses and as JSON Lines
layout          where states, arcs and words stand in a drawing
drawing         lattices as SVG and PNG
"""
