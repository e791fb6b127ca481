"""Transition-based linearisation (Liu et al. 2015; Liu and Zhang 2015): order and tree are built together, by a beam.

options, system, training, treebank   the commands, bags into folders, learning from treebanks
problem, oracle                       what the search works on, and the right actions of a tree
state, legal, score, search, update   compiled: states, what may follow, features, the beam, the perceptron
template                              the features, one table
binning                               probabilities of a language model as features
decoder, output                       what the beam found, as strings and trees
learner, model                        weights on their way, and in folders
"""
