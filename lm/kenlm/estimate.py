"""Estimating n-gram models: text → lmplz (modified Kneser–Ney) → KenLM binary.

estimate_model  write MODEL and MODEL.json (and MODEL.arpa) from tokenised sentences
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO

from gyro.errors import InputError
from gyro.files import scratch_folder
from gyro.text.corpus import Normalisation
from gyro.worker import die_with_parent
from lm.kenlm.probing import HIGHEST_ORDER
from lm.kenlm.sidecar import write_sidecar
from lm.kenlm.toolchain import find_program

LOWEST_ORDER = 2  # KenLM has no unigram models
SENTENCES_AT_ONCE = 2000
# lmplz takes these discounts for the orders whose counts are too few to estimate discounts from, and for no others.
FALLBACK_DISCOUNTS = ("0.5", "1", "1.5")
FALLBACK_MESSAGE = "Substituting fallback discounts"


def estimate_model(
    sentences: Iterable[Sequence[str]],
    path: str | os.PathLike[str],
    *,
    order: int = 4,
    memory: str | int = "2G",
    normalisation: Normalisation,
    prune: Sequence[int] = (0,),
    keep_arpa: bool = False,
    progress: Callable[[str], None] | None = None,
) -> None:
    """Write the model of these sentences; `progress` is told the name of each step as it begins.

    estimate_model([["a", "b"], ["b", "a"]], "tiny.lm", order=2, normalisation=Normalisation("none"))
    """
    if not LOWEST_ORDER <= order <= HIGHEST_ORDER:
        raise InputError(f"found order {order}; KenLM has models of order {LOWEST_ORDER} to {HIGHEST_ORDER}")
    arguments = ["-o", str(order), "-S", _memory_argument(memory), "--skip_symbols", "--prune", *_cutoffs(prune, order)]
    arguments += ["--discount_fallback", *FALLBACK_DISCOUNTS]
    target, tell = Path(path), progress or (lambda step: None)
    lmplz, build_binary = str(find_program("lmplz")), str(find_program("build_binary"))
    with _told_as_input_error(target), scratch_folder(target) as scratch:
        arpa, binary, log = scratch / "arpa", scratch / "binary", scratch / "log"
        tell("counting n-grams")
        counts = _run([lmplz, *arguments, "-T", f"{scratch}/sort", "--arpa", str(arpa)], log, sentences, tell)
        if not counts["sentences"]:
            raise InputError("found no sentence to estimate a model from")
        facts = {"order": order, "normalisation": normalisation.to_json(), "command": ["lmplz", *arguments], **counts}
        facts["discount fallback"] = FALLBACK_MESSAGE in log.read_text(encoding="utf-8", errors="replace")
        tell("writing the binary")
        _run([build_binary, "-T", f"{scratch}/sort", "probing", str(arpa), str(binary)], log)
        if keep_arpa:
            _publish(arpa, Path(f"{target}.arpa"), facts)
        _publish(binary, target, facts)


def _memory_argument(memory: str | int) -> str:
    text = f"{memory}b" if isinstance(memory, int) else memory
    if not re.fullmatch(r"[1-9][0-9]*[%bKMGT]", text):
        raise InputError(f"found the memory {memory!r}; a size such as 500M or 2G is allowed")
    return text


def _cutoffs(prune: Sequence[int], order: int) -> list[str]:
    if not 1 <= len(prune) <= order or prune[0] < 0 or list(prune) != sorted(prune):
        found = " ".join(map(str, prune))
        raise InputError(f"found the cut-offs {found!r}; one to {order} counts that do not fall are allowed")
    return [str(count) for count in prune]


@contextmanager
def _told_as_input_error(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror or error}", path=target) from error


def _run(
    command: Sequence[str],
    log: Path,
    sentences: Iterable[Sequence[str]] = (),
    tell: Callable[[str], None] = lambda step: None,
) -> dict[str, int]:
    """Run a program on sentences, one a line, and count them; InputError with its last line when it fails."""
    counts = {"sentences": 0, "tokens": 0}
    with open(log, "wb") as output:
        parent = os.getpid()
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=output,
            preexec_fn=lambda: die_with_parent(parent),  # else it would go on, on half of the text
        )
        assert process.stdin is not None
        try:
            with process.stdin as pipe:
                _feed(pipe, sentences, counts)
            tell("estimating")
            process.wait()
        except BrokenPipeError:
            process.wait()  # it ended before the text did, and its log says why
        except BaseException:
            process.kill()
            process.wait()
            raise
    if process.returncode != 0:
        raise InputError(f"{Path(command[0]).name} failed: {_failure(process.returncode, log)}")
    return counts


def _feed(pipe: IO[bytes], sentences: Iterable[Sequence[str]], counts: dict[str, int]) -> None:
    remaining = iter(sentences)
    while chunk := list(islice(remaining, SENTENCES_AT_ONCE)):
        chunk = [sentence for sentence in chunk if sentence]
        counts["sentences"] += len(chunk)
        counts["tokens"] += sum(map(len, chunk))
        try:
            pipe.write("".join([" ".join(sentence) + "\n" for sentence in chunk]).encode())
        except UnicodeEncodeError as error:
            found = error.object[error.start]
            raise InputError(f"found the character {found!r}; text in Unicode is allowed") from error


def _failure(code: int, log: Path) -> str:
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    last = next((line for line in reversed(lines) if line and line != "ERROR"), "")
    killed = code < 0 and code != -signal.SIGABRT  # KenLM aborts after it has said what is wrong
    if killed:
        return f"killed by {signal.Signals(-code).name}, perhaps for lack of memory"
    return last or f"code {code}, perhaps for lack of disk space"


def _publish(file: Path, target: Path, facts: Mapping[str, object]) -> None:
    """Give a finished file its name. The sidecar goes first: beside an older model it is refused, never believed."""
    write_sidecar(target, file, facts)
    os.replace(file, target)
