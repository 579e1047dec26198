"""`_core.pyi` says what `_core` is: the same names, the same methods, the same arguments."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

from aglet import _core
from support import ROOT

STUB = ast.parse((ROOT / "python" / "aglet" / "_core.pyi").read_text())
RECORDS = {
    node.name: node
    for node in STUB.body
    if isinstance(node, ast.ClassDef) and any(isinstance(b, ast.Name) and b.id == "TypedDict" for b in node.bases)
}


def test_the_stub_is_what_the_module_is(tmp_path: Path) -> None:
    """Names, parameters, their order, kinds and defaults: mypy's stubtest reads them from the module."""
    aliases = [node.targets[0].id for node in STUB.body if isinstance(node, ast.Assign)]  # type: ignore[attr-defined]
    allowed = tmp_path / "allowed"
    # Types that annotations name, and what every class has.
    names = [*(name for name in aliases if name[0] != "_"), *RECORDS, r".*\.__(deep)?copy__", "__all__"]
    allowed.write_text("".join(rf"aglet\._core\.{name}" + "\n" for name in names))
    words = [
        "aglet._core",
        "--concise",
        "--allowlist",
        str(allowed),
        "--mypy-config-file",
        str(ROOT / "pyproject.toml"),
    ]
    told = subprocess.run([sys.executable, "-m", "mypy.stubtest", *words], capture_output=True, text=True, cwd=ROOT)
    assert told.returncode == 0, told.stdout + told.stderr


def fields(record: str) -> set[str]:
    return {node.target.id for node in RECORDS[record].body if isinstance(node, ast.AnnAssign)}  # type: ignore[union-attr]


def test_records() -> None:
    assert set(_core.doctor()) == fields("DoctorReport")
    assert set(_core.bench_ntt(10, 50, "scalar", 1)) == fields("NttTiming")
    for preset in _core.presets():
        assert set(preset) == fields("PresetInfo")
    for preset in _core.fhew_presets():
        assert set(preset) == fields("FhewPresetInfo")
    for preset in _core.integer_presets():
        assert set(preset) == fields("IntegerPresetInfo")
    plan = _core.plan("regular", "regular", 3, "large", 2**15)
    assert set(plan) == fields("Plan")
    for stage in plan["stages"]:
        assert set(stage) == fields("StageRow")
