"""`_core.pyi` says what `_core` is: the same names, the same methods, the same arguments."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from aglet import _core
from support import ROOT

STUB = ast.parse((ROOT / "python" / "aglet" / "_core.pyi").read_text())
CLASSES = {
    node.name: node
    for node in STUB.body
    if isinstance(node, ast.ClassDef) and not any(isinstance(b, ast.Name) and b.id == "TypedDict" for b in node.bases)
}
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
RECORDS = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef) and node.name not in CLASSES}


def public(thing: type | ModuleType) -> set[str]:
    return {name for name in vars(thing) if not name.startswith("_")}


def test_the_module_has_exactly_these_names() -> None:
    assert public(_core) == set(CLASSES) | set(FUNCTIONS)


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes(name: str) -> None:
    stubbed = {
        node.name for node in CLASSES[name].body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    }
    assert public(getattr(_core, name)) == stubbed


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions(name: str) -> None:
    wanted = [argument.arg for argument in FUNCTIONS[name].args.args]
    assert list(inspect.signature(getattr(_core, name)).parameters) == wanted


def test_methods_of_the_engine() -> None:
    for node in CLASSES["Engine"].body:
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and not node.name.startswith("_"):
            wanted = [argument.arg for argument in node.args.args]
            assert list(inspect.signature(getattr(_core.Engine, node.name)).parameters) == wanted, node.name


def fields(record: str) -> set[str]:
    return {node.target.id for node in RECORDS[record].body if isinstance(node, ast.AnnAssign)}  # type: ignore[union-attr]


def test_records() -> None:
    assert set(_core.doctor()) == fields("DoctorReport")
    assert set(_core.bench_ntt(10, 50, "scalar", 1)) == fields("NttTiming")
    for preset in _core.presets():
        assert set(preset) == fields("PresetInfo")
    for preset in _core.lookup_presets():
        assert set(preset) == fields("LookupPresetInfo")
    for preset in _core.integer_presets():
        assert set(preset) == fields("IntegerPresetInfo")
    plan = _core.plan("regular", "regular", 3, "large", 2**15)
    assert set(plan) == fields("Plan")
    for stage in plan["stages"]:
        assert set(stage) == fields("StageRow")
