"""Scores of outputs against references.

metric        the table of metrics: sentences into sums, sums into scores
bleu, ter, word_order   what metrics count in one sentence
evaluation    the scores of one system, as a whole and by size
significance  intervals and tests between systems
subtree       recall of the phrases of the references' dependency trees
outputs       the systems to be scored: run folders and files of sentences
"""
