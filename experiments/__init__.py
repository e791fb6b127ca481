"""Experiments that reproduce the paper's tables and figures; `python -m experiments` runs what is missing.

experiment   text, sets of bags, settings and stages: what an experiment is
description  the same as its TOML file tells it
stage        the stages of rescoring.stage after the lattices, each tuned on the development set
laboratory   the steps of an experiment, in order, each skipped when it is done
estimate     how long the steps that are not done will take
results      the report and the Markdown tables; stage_results and neural_lists have some of these

syntax, syntax_description, syntax_estimate, syntax_results and syntax_figure are the same for experiments of the kind
"syntax", with the best-first decoder; markdown has their tables.

An experiment is a TOML file in this folder; description.py and syntax_description.py tell its keys.
"""
