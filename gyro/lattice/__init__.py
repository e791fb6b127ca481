"""Automata and lattices: weighted sets of strings.

automaton       automata over the words of one bag, as dense arrays
lattice         word lattices; the one module that touches OpenFst
minimal         the smallest lattice of the same strings; determinise gives each string one path
strings         the strings of an automaton, the cheapest first
file_format     how lattice files of other tools are read; word maps
lattice_file    lattices in files
labelling       lattices as other tools want them: labels of a word map, sentence marks, numbered names
openfst_format  OpenFst's binary formats out of numpy arrays; openfst_reader is the way back
arc_weight      what the weights of arcs are made of; sparse_tuple reads those without a fixed size
nbest           n-best lists, in the format of Moses and as JSON Lines
layout          where states, arcs and words stand in a drawing
drawing         lattices as SVG and PNG, by svg and png
"""
