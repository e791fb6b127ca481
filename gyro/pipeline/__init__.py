"""One TOML file for the whole chain from text to scores.

config    the file and its tables
pipeline  the stages in their order
stamp     what is up to date is not made again
"""
