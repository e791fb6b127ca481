"""One TOML file for the whole chain from text to scores, and searches and stages that are run in one go.

config            the file and its tables
pipeline          the stages
chain             their order, and a report: `gyro run`
stamp             what is up to date is not made again
reference         sentences to make bags of, with their ids
neural_generator  the first pass and the neural model on each bag in one go
options           GYRO as a system of `gyro generate`, with or without it
"""
