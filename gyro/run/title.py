"""What runs are called where several are shown together.

system_names    a name for each run or file of orders: the one that was given, or the folder's, or what its settings say
settings_title  what the settings of a run say in a few words

Folders that the program itself has named, as a pipeline does, are called by their settings: "generated" says nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gyro.run.paths import RunPaths
from gyro.run.record import read_run
from gyro.score.outputs import unique_names

# The folders of a pipeline: its first pass, and its stages, which have no name of their own as a rule.
FIRST_PASS, STAGES = "generated", ("rescored", "dependency", "neural", "mbr")
CONFIGURATION = "config.toml"  # what a pipeline was made from lies beside them


def system_names(named: Sequence[tuple[Path, str | None]]) -> list[str]:
    """A short name for each; two runs with equal settings have the folders of their pipelines before them."""
    titles = [_title(path) if name is None else None for path, name in named]
    taken = Counter(name or title for (_, name), title in zip(named, titles, strict=True))
    shown = []
    for (path, name), title in zip(named, titles, strict=True):
        is_alone = title is not None and taken[title] == 1
        folder = path.resolve().parent.name
        shown.append((path, name or (title if is_alone or not folder or title is None else f"{folder}: {title}")))
    return unique_names(shown)


def _title(path: Path) -> str | None:
    """That of a run in a folder that a pipeline made; None for others."""
    record, place = RunPaths(path).run, path.resolve()
    is_made = place.name == FIRST_PASS or (place.name in STAGES and (place.parent / CONFIGURATION).is_file())
    if not is_made or not record.is_file():
        return None
    return settings_title(read_run(record)["settings"])


def settings_title(settings: Mapping[str, Any]) -> str | None:
    """What made a run; None where the settings are of a kind that is not known here.

    >>> settings_title({"algorithm": "beam", "beam": 64, "rules": "3-5", "model_order": 4})
    'beam 64, rules 3-5, 4-gram'
    >>> settings_title({"command": "rescore", "models": [{"name": "SB5", "weight": 0.4}]})
    '+ SB5'
    """
    match settings:
        case {"algorithm": str() as algorithm}:
            facts = [f"{algorithm} {settings.get('beam', '')}".rstrip() if algorithm == "beam" else algorithm]
            facts += [f"rules {settings['rules']}"] if settings.get("rules", "1-5") != "1-5" else []
            facts += [f"{settings['model_order']}-gram"] if "model_order" in settings else []
            title = ", ".join(facts)
            return f"{title} + neural search" if "neural" in settings else title
        case {"models": [*models]} if all(isinstance(model, dict) and "name" in model for model in models):
            return "+ " + " + ".join(str(model["name"]) for model in models)
        case {"neural_model": _}:
            return "+ neural search" if settings.get("budget") else "+ neural model"
        case {"dependency_model": _}:
            return "+ dependency LM"
        case {"command": "mbr"}:
            return "LMBR"
    return None
