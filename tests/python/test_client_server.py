"""The client and the server of the example, in two processes."""

from __future__ import annotations

import subprocess
import sys

from support import ROOT


def test_a_client_and_a_server_share_a_folder_without_secrets() -> None:
    program = [sys.executable, str(ROOT / "examples" / "client_server.py"), "--toy"]
    made = subprocess.run(program, capture_output=True, text=True, check=False, timeout=600)
    assert made.returncode == 0, made.stderr
    assert "1,000 squares: right" in made.stdout
