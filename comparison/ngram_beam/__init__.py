"""A beam search with an n-gram model (Liu and Zhang 2015), with or without a future cost (Schmaltz et al. 2016).

system          bags into a run folder
problem         bags as the compiled search takes them: units of words, and how many of each are left
kernel          the search
unigram_model   the model of the future cost: what the words that are left will cost; training counts them
"""
