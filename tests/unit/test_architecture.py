"""Rules about the source that import-linter cannot express. The others are in pyproject.toml."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVICES = Path(__file__).parents[2] / "services"
SOURCES = sorted(SERVICES.glob("*/src/**/*.py"))
CORE = SERVICES / "core" / "src" / "reelworks"

ENVIRONMENT = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
SPAWNING = {
    "system",
    "popen",
    "fork",
    "forkpty",
    "posix_spawn",
    "posix_spawnp",
    "execv",
    "execve",
    "execvp",
    "spawnv",
}
SPAWNING_ASYNC = {"create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell"}
CLOCKS = {"now", "utcnow", "today"}


READERS = {
    CORE / "runtime" / "settings.py",
    # Makes the environment of the child processes out of its own.
    CORE / "embedded" / "environment.py",
}


def names_taken_from(source: Path, module: str) -> Iterator[str]:
    """`module.name`, under whatever name the module was imported, and `from module import name`."""
    tree = ast.parse(source.read_text(encoding="utf-8"))
    aliases = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == module
    }
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in aliases:
                yield attribute
            case ast.ImportFrom(module=imported) if imported == module:
                yield from (alias.name for alias in node.names)


def packages_imported_by(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        match node:
            case ast.Import():
                yield from (alias.name.partition(".")[0] for alias in node.names)
            case ast.ImportFrom(module=str(module)):
                yield module.partition(".")[0]


def relative(source: Path) -> str:
    return str(source.relative_to(SERVICES))


@pytest.mark.parametrize("source", [s for s in SOURCES if s not in READERS], ids=relative)
def test_only_the_settings_loader_reads_the_environment(source: Path) -> None:
    assert ENVIRONMENT.isdisjoint(names_taken_from(source, "os"))


@pytest.mark.parametrize("source", SOURCES, ids=relative)
def test_processes_are_spawned_through_subprocess_only(source: Path) -> None:
    assert SPAWNING.isdisjoint(names_taken_from(source, "os"))
    assert SPAWNING_ASYNC.isdisjoint(names_taken_from(source, "asyncio"))


@pytest.mark.parametrize("source", sorted((CORE / "domain").rglob("*.py")), ids=relative)
def test_domain_needs_the_standard_library_and_msgspec_only(source: Path) -> None:
    foreign = set(packages_imported_by(source)) - sys.stdlib_module_names
    assert foreign <= {"msgspec", "reelworks"}


@pytest.mark.parametrize("source", sorted((CORE / "domain").rglob("*.py")), ids=relative)
def test_domain_reads_no_clock(source: Path) -> None:
    read = set(names_taken_from(source, "time"))
    tree = ast.parse(source.read_text(encoding="utf-8"))
    read |= {
        node.func.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    assert CLOCKS.isdisjoint(read)


@pytest.mark.parametrize("source", SOURCES, ids=relative)
def test_modules_are_named_after_what_they_hold(source: Path) -> None:
    assert source.stem not in {"utils", "util", "helpers", "common", "misc"}


def test_there_is_a_source_to_judge() -> None:
    assert SOURCES
