"""Batches: many bags into one run folder, by worker processes, again where they were stopped.

batch      the work on many bags: lattices, n-best lists and best strings
folder     whose run a folder holds, how it starts, and how a finished one is read
paths      the names of its files, and which are its own
checksum   checksums of its files; record reads run.json
journal    what has become of each bag while the run goes on
line_file  the lines of a file by number, without holding them in memory
outcome    what came of a bag: the record that every system gives and every file holds
summary    how a run went
progress   how far it is
notebook   what a notebook shows of an outcome
constraint what bags may ask of a system besides their tokens
title      what runs are called where several are shown
system     the table of systems, GYRO among them, and what each offers
"""
