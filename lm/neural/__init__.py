"""Pretrained causal language models of the Llama family, for whole strings.

weights      what a model is, whatever file it came from
family       the families of models that are read, and the parts of their layers
gguf_header  what a GGUF file says of itself
gguf_file    models in GGUF files
config       what a Hugging Face folder says of its model
checkpoint   models in Hugging Face folders; a model by its path or as `default`
tokenizer    text to pieces
embedded     the default model: where it is and how it gets there
plain        the forward pass in plain numpy, string by string
trie         strings that share their beginnings, in blocks
smoothing    scales that make weights fit for eight bits
onnx_graph   graphs, node by node: the one module that touches onnx
graph        the forward pass as such graphs
runtime      ONNX Runtime: the one module that touches it
model        costs of strings
bag_scorer   strings of one bag, and what the model says of the words that may follow
prefixes     kept beginnings, to be extended by words
"""
