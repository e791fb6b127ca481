"""Stupid backoff (Brants et al. 2007) over the counts of a text index: model, and the acceptor of one bag."""
