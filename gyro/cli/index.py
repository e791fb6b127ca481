"""The command index."""

from __future__ import annotations

import argparse

from gyro.cli.text_options import add_text_arguments, counted_sentences, text_normalisation, text_splitting
from gyro.errors import InputError
from gyro.notation import parse_size
from gyro.spark.connection import spark_master


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("corpus", nargs="*", metavar="CORPUS", help="text files (.gz .xz .bz2 .zst too), - for stdin")
    parser.add_argument("-o", "--output", metavar="DIR", help="the folder of the index")
    parser.add_argument("--order", type=int, default=5, metavar="N", help="longest n-grams (default 5)")
    parser.add_argument("--memory", default="2G", metavar="SIZE", help="memory to use (default 2G), by a task of Spark")
    help_line = "leave out n-grams of 1, 2 … words that occur less often, as 1,1,2; the last is for all longer ones too"
    parser.add_argument("--least-counts", type=_counts, metavar="N,…", help=help_line)
    parser.add_argument("--merge", nargs="+", metavar="INDEX", help="merge these indexes instead of reading text")
    parser.add_argument("--info", metavar="DIR", help="tell what is in an index")
    parser.add_argument("--verify", action="store_true", help="with --info: compute all checksums again")
    add_text_arguments(parser)
    group = parser.add_argument_group("Spark, for text that is too much for one machine (docs/scale.md)")
    help_line = "the master, like spark://HOST:7077, yarn or local[4] (default: SPARK_MASTER or that of spark-submit)"
    group.add_argument("--spark", metavar="MASTER", help=help_line)
    help_line = "parts of the index, each made by one task (default: one for each 50 million tokens)"
    group.add_argument("--shards", type=int, metavar="N", help=help_line)


def _counts(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def run(arguments: argparse.Namespace) -> int:
    from gyro.index.build import build_index, merge_indexes
    from gyro.index.reader import open_index

    if arguments.info:
        index = open_index(arguments.info)
        if arguments.verify:
            index.verify()
        print(index.info())
        return 0
    if not arguments.output or bool(arguments.corpus) == bool(arguments.merge):
        raise InputError("gyro index takes CORPUS… -o DIR, or --merge INDEX… -o DIR, or --info DIR")
    memory = parse_size(arguments.memory)
    master = spark_master(arguments.spark) if arguments.corpus else None
    if arguments.shards is not None and master is None:
        raise InputError("found --shards, which goes with --spark MASTER")
    if arguments.merge:
        merge_indexes(arguments.merge, arguments.output, memory=memory)
    elif master is not None:
        _build_in_spark(arguments, master, memory)
    else:
        how = text_normalisation(arguments, arguments.corpus)
        with counted_sentences(arguments, arguments.corpus) as sentences:
            build_index(
                sentences,
                arguments.output,
                order=arguments.order,
                memory=memory,
                normalisation=how,
                least=arguments.least_counts,
            )
    print(open_index(arguments.output).info())
    return 0


def _build_in_spark(arguments: argparse.Namespace, master: str, memory: int) -> None:
    from gyro.index.spark_build import build_in_spark
    from gyro.spark.connection import open_spark
    from gyro.text.hadoop import list_files, local_files, read_in_spark

    with open_spark(master, name="gyro index") as spark:
        files = list_files(spark, arguments.corpus)
        local = local_files(files)
        spark.check_input(local)
        how = text_splitting(arguments, local)
        build_in_spark(
            spark,
            read_in_spark(spark, files, how, paragraphs=arguments.paragraphs, json_field=arguments.json_field),
            arguments.output,
            order=arguments.order,
            normalisation=text_normalisation(arguments, local),
            shards=arguments.shards,
            least=arguments.least_counts,
            memory=memory,
        )
