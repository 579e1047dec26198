"""What is shipped: licences of everything that is linked, and what a wheel may not hold."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import licences
import wheel
from array_records import Figure


@pytest.mark.parametrize(
    ("expression", "fine"),
    [
        ("MIT", True),
        ("MIT OR Apache-2.0", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("none", False),
    ],
)
def test_permissive(expression: str, fine: bool) -> None:
    assert licences.permitted(expression) == fine


def test_everything_linked_is_permissive() -> None:
    names = {package["name"] for package in licences.linked()}
    assert {"pyo3", "rayon", "blake3"} <= names
    assert "proptest" not in names
    assert not licences.refused()


def test_a_wheel_is_finished(tmp_path: Path) -> None:
    """Paths leave, licences come, and the record fits what is there."""
    made = tmp_path / "aglet_fhe-0.1.0-cp310-abi3-manylinux2014_x86_64.whl"
    info = "aglet_fhe-0.1.0.dist-info"
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("aglet/py.typed", "")
        archive.writestr(f"{info}/licenses/LICENSE", "text")
        archive.writestr(f"{info}/sboms/x.cyclonedx.json", f'"path+file://{licences.ROOT.resolve()}/crates/py"')
        archive.writestr(f"{info}/RECORD", "")
    assert any("THIRD-PARTY" in fault for fault in wheel.faults(made))
    assert any(str(licences.ROOT.resolve()) in fault for fault in wheel.faults(made))
    wheel.finish(made)
    assert wheel.faults(made) == []
    with zipfile.ZipFile(made) as archive:
        record = archive.read(f"{info}/RECORD").decode().splitlines()
        sums = {line.split(",")[0]: line.split(",")[1] for line in record}
        for name in archive.namelist():
            assert sums[name] == ("" if name.endswith("RECORD") else f"sha256={wheel.digest(archive.read(name))}")
    other = made.rename(tmp_path / "aglet_fhe-0.1.0-cp311-cp311-linux_x86_64.whl")
    assert wheel.faults(other)


def test_each_wheel_has_its_own_package(tmp_path: Path) -> None:
    first = tmp_path / "aglet_fhe-0.1.0-cp310-abi3-manylinux2014_x86_64.whl"
    with zipfile.ZipFile(first, "w") as archive:
        archive.writestr("aglet/planned.json", "")
        archive.writestr("aglet_bench/__init__.py", "")
    said = [fault for fault in wheel.faults(first) if "the second package's" in fault]
    assert said == [f"it has {name}, which is the second package's" for name in archive.namelist()]
    second = tmp_path / "aglet_fhe_bench-0.1.0-py3-none-any.whl"
    own = ("planned.json", "measured.jsonl", "tables/seal_rows.json", "py.typed", "reproduce/tables/ship.json")
    with zipfile.ZipFile(second, "w") as archive:
        archive.writestr("aglet_fhe_bench-0.1.0.dist-info/licenses/LICENSE", "text")
        for name in own:
            archive.writestr(f"aglet_bench/{name}", "")
    assert wheel.bench_faults(second) == []
    with zipfile.ZipFile(second, "a") as archive:
        archive.writestr("aglet/__init__.py", "")
    other = second.rename(tmp_path / "aglet_fhe_bench-0.1.0-cp311-cp311-linux_x86_64.whl")
    assert wheel.bench_faults(other) == [f"{other.name} is not for all systems", f"{other.name} has aglet/__init__.py"]


def test_figures_of_a_record_say_their_unit() -> None:
    """Bytes, shares and seconds; nothing that was wrong is reached."""
    said = []
    for measured, most in (({"bytes": 4_200_000}, 5e6), ({"share": 0.031}, 0.03), ({"seconds": 41.0}, 60.0)):
        figure = Figure("name", most, {"kind": "array", **measured})
        said.append((figure.said(figure.value), figure.met))
    assert said == [("4.20 MB", True), ("3.1 %", False), ("41.00 s", True)]
    assert Figure("name", 60.0, {"seconds": 1.0, "wrong": 1}).met is False
