"""The public workloads: whole chains of stages in small, against results in the clear, and what stages refuse."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from support import ROOT

sys.path.insert(0, str(ROOT))

from workloads import common, standin
from workloads.zn import case as zn_case
from workloads.zn import columns

STAGES = sorted(p for p in (ROOT / "workloads").glob("*/*.py") if p.stem.startswith(("client_", "server_")))


def chain(name: str, size: str, folder: Path, **options: Any) -> dict[str, Any]:
    """Run all stages of a workload, each in its own process. It raises if a result differs."""
    given = argparse.Namespace(name=name, size=size, runs=1, seed=7, count_only=False)
    vars(given).update(options)
    return standin.run(given, folder)


def stage(name: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "workloads" / f"{name}.py"), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def refused(name: str, folder: Path, *arguments: str) -> str:
    """What a stage says that refuses: one line, and no traceback."""
    ended = stage(name, folder, *arguments)
    assert ended.returncode == 1
    assert len(ended.stderr.strip().splitlines()) == 1, ended.stderr
    return ended.stderr


# All workloads


def test_stages_are_short_and_servers_know_no_secret() -> None:
    assert len(STAGES) >= 6
    for path in STAGES:
        text = path.read_text()
        assert len(text.splitlines()) <= 50, path
        if path.stem.startswith("server"):
            assert "secret" not in text, path
            assert "intermediate" not in text, path


def test_the_stand_in_hides_what_a_server_must_not_have(tmp_path: Path) -> None:
    place = common.Place("single", tmp_path)
    for path in (place.secret_key, place.intermediate / "digits", place.data / "lhs.txt", place.upload / "x"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    with standin.hidden(place, ()):
        assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["x"]
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 4


def test_a_stage_that_opens_the_secret_key_fails_under_the_stand_in(tmp_path: Path, monkeypatch: Any) -> None:
    """The check of the check: a server that reads the key is found."""
    fake = tmp_path / "workloads" / "zn"
    fake.mkdir(parents=True)
    (fake / "server_bad.py").write_text("open('io/single/secret_key/secret.key')")
    monkeypatch.setattr(standin, "WORKLOADS", fake.parent)
    place = common.Place("single", tmp_path / "root")
    place.secret_key.parent.mkdir(parents=True)
    place.secret_key.touch()
    with pytest.raises(common.WorkloadError, match="server_bad"):
        standin.run_stage(zn_case, "zn", place, ["server_bad"])
    assert place.secret_key.exists()


def test_streams_of_ciphertexts_refuse_other_lengths(tmp_path: Path) -> None:
    engine = columns.engine()
    key, path = engine.create_secret_key(), tmp_path / "two.bin"
    common.write_all(engine, [engine.encrypt([number], key) for number in (3, 5)], path)
    assert [engine.decrypt(one, key)[0] for one in common.read_all(engine, path, 2, "it")] == [3, 5]
    for count, message in ((1, "more than 1"), (3, "part 2 of 3")):
        with pytest.raises(common.WorkloadError, match=message):
            list(common.read_all(engine, path, count, "it"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(common.WorkloadError, match=r"part 1 of 2; run it again\."):
        list(common.read_all(engine, path, 2, "it"))


def test_launchers_stand_where_harnesses_look(tmp_path: Path) -> None:
    script = ROOT / "workloads" / "zn" / "build_task.sh"
    found = subprocess.run(
        ["sh", str(script)],
        cwd=tmp_path,
        env={"PYTHON": sys.executable, "PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not found.returncode, found.stderr
    made = tmp_path / "submission" / "target" / "release"
    assert {path.name for path in made.iterdir()} == {path.stem for path in STAGES if path.parent.name == "zn"}
    assert "is missing" in subprocess.run(
        [made / "client_preprocess_input", "1"], cwd=tmp_path, capture_output=True, text=True, check=False
    ).stderr  # fmt: skip


# 64-bit products


@pytest.mark.parametrize("size", ["single", "small"])
def test_products(size: str, tmp_path: Path) -> None:
    found = chain("zn", size, tmp_path)
    count = columns.COUNTS[columns.SIZES.index(size)]
    assert found["runs"][0]["result"] == {"products": count, "equal": count}
    place = common.Place(size, tmp_path)
    out = place.io / "cleartext_output" / "out.txt"
    out.write_text(out.read_text().replace("7", "1"))
    if count > 1:
        with pytest.raises(common.WorkloadError, match="differ"):
            zn_case.check(place)


def test_products_at_the_ends_of_the_range() -> None:
    engine = columns.engine()
    key = engine.create_secret_key()
    left = np.array([0, 1, 2**64 - 1, 2**64 - 1, 2**63, 2**32 + 1], dtype=np.uint64)
    right = np.array([5, 2**64 - 1, 2**64 - 1, 1, 2, 2**32 - 1], dtype=np.uint64)
    a, b = ([engine.encrypt(row, key, level=columns.LEVEL) for row in columns.digits(x)] for x in (left, right))
    found = np.array([engine.decrypt(one, key)[: left.size] for one in columns.columns(engine, a, b)])
    np.testing.assert_array_equal(columns.combined(found), left * right)


def test_what_stages_of_products_refuse(tmp_path: Path) -> None:
    assert "client_key_generation" in refused("zn/client_encode_encrypt_input", tmp_path, "small")
    assert "client_encode_encrypt_input first" in refused("zn/server_encrypted_compute", tmp_path, "small", "1000")
    assert "number of products is missing" in refused("zn/server_encrypted_compute", tmp_path, "small")
    assert "no size 'tiny'" in refused("zn/client_key_generation", tmp_path, "tiny")
    assert "no size of 7 inputs" in refused("zn/client_preprocess_input", tmp_path, "7")
    place = common.Place("single", tmp_path)
    for name, text, message in (("lhs", "1\n2\n", "2 numbers, not 1"), ("lhs", "-3", "whole number")):
        common.write_text(place.data / f"{name}.txt", text)
        assert message in refused("zn/client_preprocess_input", tmp_path, "1")
