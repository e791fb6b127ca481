"""Language models.

model    what every model offers
loading  models by name
walker   the contexts of a model in bulk, as far as somebody asks
kenlm, stupid_backoff, dependency   the kinds of models, a room each
"""
