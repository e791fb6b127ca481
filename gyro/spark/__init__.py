"""Spark, for those who have a cluster of it: the one room that touches pyspark.

connection  a connection to a master, through which functions run in executors
pool        the tasks of a batch in executors; executor is their side of it
driver      the Java beside this process, and how masters are reached
fault       what goes wrong, in one line
question    what executors are asked before they have this code
"""
