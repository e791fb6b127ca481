"""The systems of Wan et al. (2009): dependency spanning trees over a bag, and the n-gram orders they are compared with.

vertex       the vertices of a bag or tree: tokens and base noun phrases
count        dependency events of treebanks, counted
model        the probabilities of arcs and arguments, as a folder of plain files
arborescence minimum spanning trees (Chu-Liu and Edmonds)
assignment   trees by repeated assignment of words to argument positions
linearise    orders of trees by an n-gram model, greedily
viterbi      orders without trees: a beam of an n-gram model
system       all four for bags and run folders; options has the command line
"""
