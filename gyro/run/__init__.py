"""Batches: many bags into one run folder, by worker processes, again where they were stopped.

folder   the files of a run and how far it has come
batch    the work on many bags; n-best lists and best strings at its end
outcome  what came of a bag: the record that every system gives and every file holds
system   the table of systems, GYRO among them, and what each offers
"""
