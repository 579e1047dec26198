"""Published tables: the copies are right, rows are measured and judged, and no row passes that misses something."""

from __future__ import annotations

import importlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from aglet import AgletError, ParameterError
from aglet.cli import app
from aglet_bench import recording
from aglet_bench.reproduce import TABLES, load, run, select, workloads
from aglet_bench.reproduce.applications import ApplicationCase, bench_application
from aglet_bench.reproduce.programs import PROGRAMS
from aglet_bench.reproduce.report import cells, exit_code, summary
from aglet_bench.reproduce.runner import Keyring, misses
from aglet_bench.reproduce.tables import AnyCase, read
from aglet_bench.reproduce.workloads import WorkloadCase, bench_workload
from support import ROOT

TOY = {"preset": "toy", "allow_insecure": True, "stage_count": 3, "key_size": "large"}
NEEDS = {"slots": 512, "bits": 18.0, "levels": 10, "security": 0}


def row(name: str, case: dict[str, Any] | None = None, needs: dict[str, Any] | None = None, **more: Any) -> Any:
    return {"name": name, "case": case or {}, "needs": needs or {}, "published": {"seconds": {"1": 9.0}}, **more}


ROWS = [
    row("good", quick=True),
    row("short-of-levels", needs={"levels": 11}),
    row("short-of-bits", needs={"bits": 60.0}),
    row("few-slots", {"slot_count": 32, "method": "sparse"}),
    row("insecure", needs={"security": 128}),
    row("signs", {"method": "sign", "real": True}, {"levels": 13}),
    row("lossy", {"method": "lossy"}, {"levels": 13}, message="alternating"),
    row("again", {"method": "regular"}, quick=True),
    row("elsewhere", not_yet="Aglet does not have it"),
    row("later", {"preset": "toy99"}),
    row("twice", {"colour": 2}),
    row("broken", {"stage_count": 99}),
]
EXPECTED = {
    "good": "met",
    "short-of-levels": "FAILED",
    "short-of-bits": "FAILED",
    "few-slots": "FAILED",
    "insecure": "FAILED",
    "signs": "met",
    "lossy": "met",
    "again": "met",
    "elsewhere": "not yet",
    "later": "not yet",
    "twice": "not yet",
    "broken": "not run",
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    section = {"name": "s", "title": "Toys", "inferred": "levels", "case": TOY, "needs": NEEDS, "rows": ROWS}
    path = tmp_path / "toys.json"
    head = {"name": "toys", "title": "Toys", "source": "here", "machine": "<one>", "statistic": "median"}
    path.write_text(json.dumps({**head, "precision": "mean", "sections": [section]}))
    return path


def reproduce(*arguments: str) -> Any:
    return CliRunner().invoke(app, ["reproduce", *arguments])


def published_folder() -> Path | None:
    """The figures that the tables were copied from, where the source tree lies beside them."""
    found = [parent / "shared" / "published" for parent in ROOT.parents]
    return next((folder for folder in found if folder.is_dir()), None)


def leaves(data: Any) -> list[float]:
    """All numbers below a value."""
    if isinstance(data, dict):
        return [number for value in data.values() for number in leaves(value)]
    if isinstance(data, list):
        return [number for value in data for number in leaves(value)]
    return [float(data)] if isinstance(data, (int, float)) else []


def test_the_tables_are_whole() -> None:
    counts = {name: len(load(name).rows) for name in TABLES}
    others = {"desilofhe": 72, "ship": 8, "demystifying": 13, "seal-rns-ckks": 72}
    assert counts == {**others, "applications": 5, "workloads": 14}
    for name in TABLES:
        rows = load(name).rows
        assert len({row.name for row in rows}) == len(rows)
        assert any(row.quick for row in rows)
        for each in rows:
            assert each.obstacle() or isinstance(each.bench(1), AnyCase)
            assert each.not_yet or each.measured_by != "case" or {"bits", "levels", "slots"} <= set(each.needs)


def test_the_tables_say_what_was_published() -> None:
    folder = published_folder()
    for name in TABLES:
        table = load(name)
        ours = {round(number, 9) for row in table.rows for number in leaves([row.published, row.needs])}
        assert all(math.isfinite(number) for number in ours)
        if folder is None or name in ("applications", "workloads"):  # whose figures stand in other documents
            continue
        original = json.loads((folder / f"{name.replace('-', '_')}.json").read_text())
        published = [row for part in ("runtime", "rows", "sets") for row in _rows(original.get(part, []))]
        assert published
        for line in published:
            wanted = leaves({key: line[key] for key in line if key not in ("no", "log_slots", "precision_bits")})
            assert {round(number, 9) for number in wanted if number > 16} <= ours, line


def _rows(part: Any) -> list[dict[str, Any]]:
    groups = part.values() if isinstance(part, dict) else [part]
    return [row for group in groups for line in group for row in line.get("rows", [line])]


def test_scheme_switching_is_a_row(tmp_path: Path) -> None:
    way = {"kind": "to-fhew", "values": 8, "preset": "toy", "fhew_preset": "gate", "slot_count": 64}
    way |= {"key_size": "medium", "allow_insecure": True}
    rows = [{"name": "to-fhew", "scheme_switch": way, "needs": {"slots": 8, "bits": 1, "security": 0}, "published": {}}]
    section = {"name": "s", "title": "SchemeSwitches", "inferred": "", "case": {}, "needs": {}, "rows": rows}
    head = {"name": "switches", "title": "SchemeSwitches", "source": "here", "machine": "<one>", "statistic": "median"}
    path = tmp_path / "switches.json"
    path.write_text(json.dumps({**head, "precision": "mean", "sections": [section]}))
    (outcome,) = run(read(path).rows, repeat=1)
    assert (outcome.status, outcome.ratio) == ("met", None)


def test_the_times_stand_in_the_right_rows() -> None:
    folder = published_folder()
    ours = {row.name: row for name in TABLES for row in load(name).rows}
    assert ours["regular/large/3"].published["seconds"] == {"1": 27.485, "4": 11.899, "16": 9.567, "gpu": 0.741}
    assert ours["Param16"].published_seconds(8) == 1.9
    assert ours["Param16"].published_seconds(2) is None
    assert ours["12/2^15"].needs == {"slots": 32768, "bits": 18.05, "levels": 9, "security": 128}
    assert ours["sign-real/large/5"].needs["levels"] == 11
    if folder is not None:
        runtime = json.loads((folder / "desilofhe.json").read_text())["runtime"]
        names = {"to_14_levels": "to14", "to_14_levels_compact": "to14-compact"}
        for method, lines in runtime.items():
            for line in lines:
                part = [names.get(method, method.replace("_real_only", "-real")), line["slot_count"]]
                name = "/".join(str(p) for p in [*part, line["key_size"], line["stage_count"]] if p)
                seconds = [ours[name].published["seconds"][key] for key in ("1", "4", "16", "gpu")]
                assert seconds == list(line["seconds"].values())
        for each in json.loads((folder / "seal_rns_ckks.json").read_text())["sets"]:
            for line in each["rows"]:
                mine = ours[f"{each['no']}/2^{line['log_slots']}"]
                assert mine.case["bound"] == 2 ** line["precision_bits"]["integer"]
                assert mine.needs["bits"] == line["precision_bits"]["fraction"]
                assert (mine.needs["levels"], mine.needs["slots"]) == (line["levels_left"], 2 ** line["log_slots"])
                assert mine.published_seconds(1) == line["seconds"]


def test_rows_are_judged(table: Path) -> None:
    keyring, lines = Keyring(), []
    outcomes = list(run(read(table).rows, repeat=1, keyring=keyring, report=lines.append))
    assert {outcome.row.name: outcome.status for outcome in outcomes} == EXPECTED
    by_name = {outcome.row.name: outcome for outcome in outcomes}
    assert by_name["short-of-levels"].reasons == ["levels 10, needed 11"]
    assert "slots 32, needed 512" in by_name["few-slots"].reasons
    assert by_name["later"].reasons == ['this version has no preset "toy99"']
    assert by_name["twice"].reasons == ["this version has no colour"]
    assert by_name["again"].record is by_name["good"].record
    # Nothing that others published stands beside a toy, in no way of showing it; beside a secure set it does.
    toy = by_name["good"]
    assert (toy.ratio, toy.published_seconds, toy.as_record()["published"]) == (None, None, {})
    assert cells(toy, "mean")[2] == "-"
    assert "not compared with published figures" in cells(toy, "mean")[-1]
    secure = replace(toy, record={**toy.record, "security_bits": 128.0})
    assert secure.ratio == pytest.approx(9.0 / toy.record["seconds"])
    assert cells(secure, "mean")[2] == "9"
    assert secure.as_record()["published"]["seconds"] == {"1": 9.0}
    assert {"load", "drift", "spread", "noisy"} <= set(by_name["good"].record)
    # Regular, sparse and lossy keys; sign and lossy rows share theirs although others stand between them.
    assert keyring.made == 3
    assert len(lines) == 9
    assert exit_code(outcomes) == 1
    assert summary(outcomes) == "4 met, 4 FAILED, 1 not run, 3 not yet."


def test_keys_serve_other_numbers_of_threads(table: Path) -> None:
    keyring = Keyring()
    rows = select([read(table)], ["good"], quick=False)
    outcomes = list(run(rows, threads=(1, 2), repeat=1, keyring=keyring))
    assert [(outcome.record["threads"], outcome.status) for outcome in outcomes] == [(1, "met"), (2, "met")]
    assert outcomes[1].ratio is None
    assert keyring.made == 1


def test_a_value_that_is_no_number_is_a_miss() -> None:
    record = {"slot_count": 1, "output_level": 1, "bits_mean": math.nan, "security_bits": 128.0}
    assert misses({"bits": 1}, record, "mean") == ["bits nan, needed 1"]
    record = {"bits_mean": 17.5, "bits_worst": 16.8}
    assert misses({"bits": 17, "worst_bits": 16.9}, record, "mean") == ["worst_bits 16.8, needed 16.9"]


def test_nothing_measured_is_no_success(table: Path) -> None:
    outcomes = list(run(select([read(table)], ["elsewhere", "later"], quick=False)))
    assert exit_code(outcomes) == 1


def test_nothing_is_written_unasked(table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty := tmp_path / "empty").mkdir()
    monkeypatch.chdir(empty)
    assert reproduce(str(table), "--rows", "good", "--repeat", "1").exit_code == 0
    assert not any(empty.iterdir())


def test_the_command(table: Path, tmp_path: Path) -> None:
    records, page, image = tmp_path / "records", tmp_path / "page.html", tmp_path / "plot.png"
    options = ["--repeat", "2", "--record", str(records), "--html", str(page), "--plot", str(image)]
    result = reproduce(str(table), "--rows", "good, elsewhere", *options)
    assert result.exit_code == 0, result.output
    for words in ("good", "met", "not yet: Aglet", "machines", "1 met, 1 not yet."):
        assert words in " ".join(result.stdout.split()), result.stdout
    (path,) = records.glob("*/*.jsonl")
    assert path == records / recording.machine_folder(json.loads(path.read_text().splitlines()[0])["cpu"]) / path.name
    lines = list(recording.read(records))
    assert [(line["row"], line["status"]) for line in lines] == [("elsewhere", "not yet"), ("good", "met")]
    assert {line["table"] for line in lines} == {"toys"}
    assert len(lines[1]["seconds_all"]) == 2
    text = page.read_text()
    assert text.count("<svg") == 1
    assert "&lt;one&gt;" in text
    assert "http" not in text
    assert image.read_bytes().startswith(b"\x89PNG")

    result = reproduce(str(table), "--rows", "short*", "--repeat", "1", "--record", str(records), "--html", str(page))
    assert result.exit_code == 1
    assert "FAILED: bits" in " ".join(result.stdout.split())
    assert page.read_text().count('<tr class="FAILED">') == 2
    assert len(list(recording.read(records))) == 4


def test_the_list(table: Path) -> None:
    result = reproduce(str(table), "--list", "--quick")
    assert result.stdout.split() == ["toys", "good", "toys", "again"]
    everything = reproduce("--list").stdout.splitlines()
    assert len(everything) == sum(len(load(name).rows) for name in TABLES)
    assert {"ship SHIP13", "ship SHIP-bits", "ship HT15"} <= set(everything)


def test_a_pattern_matches_in_one_table() -> None:
    tables = [load(name) for name in TABLES]
    names = [row.name for row in select(tables, ["Param16", "regular/large/*"], quick=False)]
    assert names == ["regular/large/3", "regular/large/4", "regular/large/5", "Param16"]


def test_quick_keeps_rows_that_are_named(table: Path) -> None:
    def names(*patterns: str) -> list[str]:
        return [row.name for row in select([read(table)], patterns, quick=True)]

    assert names() == names("*") == ["good", "again"]
    assert names("signs", "go*") == ["good", "signs"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--html", "nowhere/page.html"], "--html nowhere/page.html cannot be written: No such file"),
        (["--plot", "nowhere/plot.png"], "--plot nowhere/plot.png cannot be written: No such file"),
        (["--plot", "."], "cannot be written"),
        (["--html", "."], "cannot be written: Is a directory"),
        (["--plot", "plot.html"], "ends in .png"),
        (["--record", "table.json"], "give another --record"),
    ],
)
def test_outputs_are_tried_before_anything_is_measured(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        importlib.import_module("aglet_bench.cli.reproduce"),
        "run",
        lambda *_, **__: pytest.fail("something was measured"),
    )
    (tmp_path / "table.json").write_text("{}")
    before = sorted(tmp_path.iterdir())
    result = reproduce(str(table), "--html", "page.html", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert words in result.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["everything"], "choose one of desilofhe"),
        (["ship", "--rows", "Param17"], 'of "ship" matches "Param17"; rows are Param16'),
        (["all", "--rows", "Param16,Param17"], 'matches "Param17"'),
        (["ship", "--rows", "SHIP*", "--quick"], "leave out --quick"),
        (["ship", "--threads", "none"], "numbers from 1"),
        (["ship", "--threads", "0"], "numbers from 1"),
        (["nowhere.json"], "cannot be read"),
    ],
)
def test_failures_are_sentences(arguments: list[str], words: str) -> None:
    result = reproduce(*arguments)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert words in result.stderr
    assert result.stderr.startswith("aglet: ")


@pytest.mark.parametrize("text", ["[]", "{", '{"name": 1}', "nonsense"])
def test_a_table_in_another_form(tmp_path: Path, text: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ParameterError, match=r"docs/reproducing\.md"):
        read(path)


@pytest.mark.parametrize("program", PROGRAMS)
def test_applications(program: str) -> None:
    # Weights of more steps leave the range that training on so few samples assumes.
    size = {"variance": 1300, "logistic": 6}.get(program, 16)
    case = ApplicationCase(program, size, "toy", allow_insecure=True)
    record = bench_application(case, repeat=1)
    assert record["wrong"] == 0
    assert record["seconds"] > 0
    assert misses({"bits": 4, "slots": 512}, record, "worst") == []
    with pytest.raises(ParameterError, match="no program"):
        ApplicationCase("chess")


def test_workloads(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record = bench_workload(WorkloadCase(workload="zn", size="single", threads=1), repeat=1)
    assert misses({"bits": 64, "security": 128}, record, "worst") == []
    assert record["seconds"] > record["runs"][0]["server"]["compute"]
    with pytest.raises(AgletError, match="no size 'huge'"):
        bench_workload(WorkloadCase(size="huge"), repeat=1)
    with pytest.raises(ParameterError, match="repeat=0"):
        bench_workload(WorkloadCase(), repeat=0)
    monkeypatch.setattr(workloads, "_FOLDER", tmp_path)
    with pytest.raises(ParameterError, match="in a checkout"):
        bench_workload(WorkloadCase(), repeat=1)
