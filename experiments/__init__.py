"""Experiments that reproduce the paper's tables and figures; `python -m experiments` runs what is missing.

experiment   text, sets of bags, settings and stages: what an experiment is
description  the same as its TOML file tells it
stage        the stages of rescoring.stage after the lattices, each tuned on the development set
laboratory   the steps of an experiment, in order, each skipped when it is done
estimate     how long the steps that are not done will take
results      the report and the Markdown tables; stage_results and neural_lists have some of these

syntax, syntax_description, syntax_estimate, syntax_results and syntax_figure are the same for experiments of the kind
"syntax", with the best-first decoder; markdown has their tables.

text_size, text_size_description, text_size_estimate, text_size_results, text_size_tables and text_size_figure are the
same for the kind "text-size", with more and more text; text_size_coverage has what an index holds of a bag,
text_size_curve how shares grow.

An experiment is a TOML file in this folder; description.py, syntax_description.py and text_size_description.py tell its
keys.
"""
