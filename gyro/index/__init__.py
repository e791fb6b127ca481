"""The text index: every n-gram of a text with its count, memory-mapped.

reader  opens an index and looks n-grams up in it
build   makes an index from sentences, or merges several; levels holds its sorting and merging
phrase  the phrases of a bag, L(Ω)
"""
