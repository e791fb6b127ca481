"""Language models: KenLM, estimating models, and the language model of one bag."""
