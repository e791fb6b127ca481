"""From lattices to better lattices.

stage               the table of stages and the one way to run them: ngram_stage, dependency_stage, …
source              lattices and n-best lists of our own runs or of other tools
ngram, dependency   new costs by n-gram and dependency models; ngram_paths walks lattice and model together
neural              new costs by a pretrained model; neural_search finds orders that it likes better,
                    by swaps (segment_move) and what was said of next words (word_table)
posterior, mbr      n-gram posteriors, of lattices (lattice_posterior) and in files (posterior_file), and minimum Bayes
                    risk; evidence and string_evidence bring the posteriors of MT systems, hypotheses their strings
in_order            work on every lattice of a source
distinct            lattices made ready for counting strings: one path for each
tuning, mbr_tuning  weights and parameters from development sets; nbest_lists collects what weights are tuned on,
                    added_weight tunes that of a model whose costs are added
oracle              the best that lattices hold
"""
