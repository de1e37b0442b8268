"""The documents say what the code does: links lead somewhere, and lists of the code's own names are complete."""

import re
import runpy
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from dlq_janitor.repairs import Repair
from reelworks.domain import options
from reelworks.domain.task import TaskStatus
from reelworks.domain.upload import UploadStatus
from reelworks.runtime.metrics import Metrics
from reelworks.runtime.settings import variables
from upload_api.problems import KINDS
from worker.verdict import Ending

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
SOURCES = sorted((ROOT / "services").glob("*/src/**/*.py"))


def relative(page: Path) -> str:
    return str(page.relative_to(ROOT))


every_page = pytest.mark.parametrize("page", PAGES, ids=relative)


def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    """Without blocks of code, where brackets are no links and `#` is no heading."""
    return re.sub(r"^```.*?^```$", "", text(page), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """File and anchor of every link within the repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            yield (page.parent / file if file else page), anchor


def section(page: str, heading: str) -> str:
    """From a heading to the next one of any level."""
    found = re.search(
        rf"^#+ {re.escape(heading)}$(.*?)(^#+ |\Z)", prose(DOCS / page), re.MULTILINE | re.DOTALL
    )
    assert found, f"{page} has no heading {heading!r}"
    return found[1]


def first_cells(table: str) -> list[str]:
    """Every name in the first column of the tables in a section."""
    cells = re.findall(r"^\| ([^|]*`[^|]*) \|", table, flags=re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def values(names: Iterable[str]) -> set[str]:
    return {str(name) for name in names}


@every_page
def test_every_link_leads_to_something(page: Path) -> None:
    broken = [
        f"{file.name}#{anchor}"
        for file, anchor in links(page)
        if not file.exists() or (anchor and anchor not in anchors(file))
    ]
    assert broken == []


@every_page
def test_every_make_target_exists(page: Path) -> None:
    known = set(re.findall(r"^([a-z][a-z0-9-]*):", text(ROOT / "Makefile"), flags=re.MULTILINE))
    named = re.findall(r"(?:`| {4})make(?: [A-Z]+=\S+)* ([a-z][a-z-]*)", text(page))
    assert set(named) <= known


@every_page
def test_every_setting_exists(page: Path) -> None:
    named = re.findall(r"REELWORKS_[A-Z0-9_]+[A-Z0-9]", text(page).replace("REELWORKS_API_PROT ", ""))
    assert set(named) <= set(variables())


@every_page
def test_every_path_of_the_repository_exists(page: Path) -> None:
    named = re.findall(r"(?<![\w./-])((?:services|tests|docs|requirements)/[\w./-]*\w)", text(page))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_page_of_settings_is_what_the_script_prints() -> None:
    script = runpy.run_path(str(DOCS / "settings.py"))
    assert text(DOCS / "settings.md") == script["page"](), (
        "run: .venv/bin/python docs/settings.py > docs/settings.md"
    )
    assert {f"REELWORKS_{name}" for name in script["MEANINGS"]} == set(variables())


def test_every_option_is_documented() -> None:
    documented = set(
        re.findall(r"^\| (.+?) \|", section("api.md", "What a profile makes"), flags=re.MULTILINE)
    )
    names = {name for cell in documented for name in re.findall(r"`(\w+)`", cell)}
    assert set(options.ALLOWED) <= names


def test_every_problem_is_documented_with_its_status() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", section("api.md", "Errors"), flags=re.MULTILINE)
    assert {code: int(status) for status, code in rows} == {code: kind.status for code, kind in KINDS.items()}


def test_every_status_of_an_upload_is_documented() -> None:
    assert set(first_cells(section("api.md", "GET /api/uploads/{uploadId}"))) == values(UploadStatus)


def test_the_operator_learns_who_moves_every_status() -> None:
    found = set(first_cells(section("operations.md", "Who moves it next")))
    assert found == values(UploadStatus) | values(TaskStatus)


def test_every_failure_that_is_documented_can_happen() -> None:
    code = "\n".join(text(source) for source in SOURCES)
    documented = first_cells(section("api.md", "Why an upload failed"))
    assert documented
    assert [name for name in documented if f'"{name}"' not in code] == []


def test_every_repair_is_documented() -> None:
    assert set(first_cells(section("operations.md", "What the janitor does"))) == values(Repair)


def test_every_ending_of_a_message_is_documented() -> None:
    assert set(first_cells(section("architecture.md", "What becomes of a message"))) == values(Ending)


def test_every_metric_is_documented_with_its_type_and_labels() -> None:
    rows = re.findall(
        r"^\| `(reelworks_\w+)` \| (\w+) \| (.*?) ?\| ",
        section("operations.md", "Metrics"),
        flags=re.MULTILINE,
    )
    documented = {name: (kind, re.findall(r"`(\w+)`", labels)) for name, kind, labels in rows}
    assert documented == dict(registered(Metrics()))


def registered(metrics: Metrics) -> Iterator[tuple[str, tuple[str, list[str]]]]:
    """Name as it is scraped, type, labels."""
    for metric in vars(metrics).values():
        if metric is not metrics.registry:
            family = next(iter(metric.describe()))
            total = "_total" if family.type == "counter" else ""
            yield family.name + total, (family.type, list(metric._labelnames))


def test_the_readme_is_short() -> None:
    assert len(text(ROOT / "README.md").splitlines()) <= 170
