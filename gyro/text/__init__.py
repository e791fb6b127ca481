"""Text and bags: what goes in.

corpus           files, lines, sentences and tokens; how text is normalised
embedded         the State of the Union addresses as the default corpus
parsing          dependency trees and tags by spaCy
bag, bag_file    bags of words, and the files that hold them
annotated_bag    bags whose tokens have tags, heads, units and the like
constrained_bag  bags with constraints that are told by words
allowed_order    whether an order keeps to the constraints of a bag
canonical_order  one order for tokens that are known by what they are
detokenise       tokens in some order as natural text
"""
