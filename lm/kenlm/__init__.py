"""KenLM models.

model      scores, and the model of one bag; the one module that imports kenlm
estimate   text into a model, with lmplz; toolchain builds lmplz; sidecar tells how a model was made
probing    KenLM's probing files, read in place; bag_acceptor and probing_walker read them in bulk
"""
