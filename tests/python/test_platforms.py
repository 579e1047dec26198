"""What other systems do not say: memory on macOS and Windows, the load average on Windows."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from aglet import _core, reports
from aglet.cli import app
from support import ToyEngine


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine that does not tell its memory."""
    machine = {**_core.doctor(), "memory_available_bytes": None, "memory_total_bytes": None, "features": []}
    monkeypatch.setattr(_core, "doctor", lambda: machine)


@pytest.mark.usefixtures("silent")
def test_keys_are_made_where_free_memory_is_unknown() -> None:
    keys = ToyEngine().create_keys(bootstrap=None, rotation=False)
    assert keys.secret is not None


@pytest.mark.usefixtures("silent")
def test_a_forecast_says_that_free_memory_is_unknown() -> None:
    memory = reports.memory_report(_core.plan("regular", "regular", 3, "large", 2**15))
    assert memory.fits
    assert "of an unknown amount free" in str(memory)


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("command", [["doctor"], ["doctor", "--json"], ["plan"]])
def test_commands_work_there(command: list[str]) -> None:
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    if command == ["doctor"]:
        assert "unknown" in result.output
