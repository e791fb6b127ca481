"""What the trained systems of the comparison share.

training        learning from a treebank, iteration by iteration, with checkpoints and a picture
development     bags of development data, and scores on them
model_folder    trained weights as folders of plain files
tag_dictionary  the tags a word may have
hashing         hashes of strings and features
"""
