"""Grammars and trees.

phrase      the bit-string grammar of a bag's phrases, and their closure P*
ccg         combinatory categorial grammar: derivations, rules, tagger, conversion from dependency trees
conllu      dependency trees in files; base_phrase finds the base noun phrases of one
annotation  treebanks into annotated bags
inflection  the forms of a lemma
"""
