"""What type checkers and editors see of `import gyro`: the package as it is installed, and a file of a user's."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tomllib
import venv
from pathlib import Path

import jedi
import pytest
from setuptools import Distribution, find_packages

import gyro

ROOT = Path(__file__).parent.parent
USER = '''
from collections.abc import Iterator
from pathlib import Path

import gyro

index = gyro.open_index("news.index")
model = gyro.load_model(Path("news.lm"))
orders = gyro.order("the dog barks".split(), index=index, model=model, algorithm="beam", beam=128)
reveal_type(index)
reveal_type(model)
reveal_type(orders)
reveal_type(orders.best().text)
reveal_type(orders.nbest(3)[0].cost)
reveal_type(orders.outcome.lower_bound)
reveal_type(gyro.order_many(gyro.read_bags("bags.jsonl"), index=index, model=model, jobs=2))
reveal_type(gyro.AnnotatedBag(("a", "b"), order=((0, 1),)).constraints)
lists: list[list[str]] = [["a"], ["b"]]
several: Iterator[gyro.Ordering] = gyro.order_many(lists, index=index, model=model, settings=gyro.Settings(beta=4.0))
gyro.build_index(lists, "new.index", normalisation=gyro.Normalisation("none"))
try:
    orders.write("bag.fst")
except gyro.InputError as error:
    reveal_type(error)
# mistakes
gyro.order(["a"], index=index)
gyro.order(["a"], index=index, model=model, bema=128)
gyro.order(["a"], index=index, model=model, beam="wide")
gyro.oder(["a"], index=index, model=model)
gyro.order([1], index=index, model=model)
best: str = orders.best()
'''.lstrip()  # fmt: skip
REVEALED = [
    "gyro.index.reader.TextIndex",
    "lm.kenlm.model.KenlmModel",
    "gyro.run.outcome.Ordering",
    "str",
    "float",
    "float | None",
    "Iterator[gyro.run.outcome.Ordering]",
    "tuple[str, ...]",
    "gyro.errors.InputError",
]
MISTAKES = ["call-arg", "call-arg", "arg-type", "attr-defined", "list-item", "assignment"]


def install(folder: Path) -> None:
    """Put into the folder what a wheel would have of the packages, by pyproject.toml."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    packages = find_packages(str(ROOT), include=tables["packages"]["find"]["include"])
    data = {"" if package == "*" else package: names for package, names in tables["package-data"].items()}
    facts = {"script_name": "none", "packages": packages, "package_dir": {"": str(ROOT)}, "package_data": data}
    distribution = Distribution(facts)
    build = distribution.get_command_obj("build_py")
    build.ensure_finalized()
    build.build_lib = str(folder)
    build.run()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which GYRO is installed, with the packages that it needs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    site = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    (site / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    install(site)
    return folder / "bin" / "python"


@pytest.mark.slow
def test_a_users_file_is_checked(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(environment), "user.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if line.startswith("user.py:")]
    revealed = [line.split('"')[1] for line in lines if "Revealed type is" in line]
    assert [name.replace("builtins.", "").replace("typing.", "") for name in revealed] == REVEALED, done.stdout
    errors = [line for line in lines if ": error: " in line]
    first = USER.splitlines().index("# mistakes") + 2
    assert [int(line.split(":")[1]) for line in errors] == list(range(first, first + len(MISTAKES))), done.stdout
    assert [line.rsplit("[", 1)[1].rstrip("]") for line in errors] == MISTAKES


def test_the_installed_packages_are_marked_as_typed(environment: Path) -> None:
    code = "import gyro, lm, grammars, rescoring, comparison\n"
    code += "print(*(module.__path__[0] for module in (gyro, lm, grammars, rescoring, comparison)), sep='\\n')"
    done = subprocess.run([environment, "-c", code], capture_output=True, text=True, check=True, cwd="/")
    folders = list(map(Path, done.stdout.splitlines()))
    assert all(folder.is_relative_to(environment.parent.parent) for folder in folders)
    assert len(folders) == 5
    assert [folder.name for folder in folders if not (folder / "py.typed").is_file()] == []


def test_an_editor_completes_names_and_shows_signatures() -> None:
    """Without running anything, as editors do it."""
    source = "import gyro\ngyro."
    names = {completion.name for completion in jedi.Script(source).complete(2, 5)}
    assert set(gyro.__all__) <= names
    source = "import gyro\ngyro.order("
    (signature,) = jedi.Script(source).get_signatures(2, len("gyro.order("))
    assert [parameter.name for parameter in signature.params] == ["bag", "index", "model", "settings", "changes"]
    source = "import gyro\ngyro.order([], index=None, model=None).be"
    assert "best" in {completion.name for completion in jedi.Script(source).complete()}
