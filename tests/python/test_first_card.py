"""tools/first_card: the first minutes with a card, over a library that emulates one."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from emulated_card import compiled
from support import ROOT

sys.path.insert(0, str(ROOT / "tools/first_card"))
import run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the emulator of cards is for Linux")

STUB = r"""
#include <stddef.h>
#include <string.h>
typedef unsigned long long u64;
static u64 next = 1ull << 40;
static double clock_;
int cuInit(unsigned flags) { return flags; }
int cuDriverGetVersion(int *v) { return *v = 13000, 0; }
int cuDeviceGet(int *d, int i) { return *d = i, 0; }
int cuDeviceGetAttribute(int *v, int which, int d) { return *v = which == 16 ? 132 : 1, d; }
int cuDevicePrimaryCtxRetain(void **c, int d) { return *c = (void *)7, d; }
int cuCtxPushCurrent_v2(void *c) { return c != (void *)7; }
int cuCtxPopCurrent_v2(void **c) { return *c = (void *)7, 0; }
int cuCtxGetCurrent(void **c) { return *c = (void *)7, 0; }
int cuStreamCreate(void **s, unsigned f) { return *s = (void *)15, f != 1; }
int cuStreamSynchronize(void *s) { return s != (void *)15; }
int cuEventCreate(void **e, unsigned f) { return *e = (void *)9, f; }
int cuEventRecord(void *e, void *s) { return e != (void *)9 || s != (void *)15; }
int cuEventSynchronize(void *e) { return e != (void *)9; }
int cuEventElapsedTime(float *ms, void *a, void *b) { return *ms = 2, a != b; }
int cuModuleLoadData(void **m, const void *image) { return *m = (void *)11, memcmp(image, "\177ELF", 4) != 0; }
int cuModuleGetFunction(void **f, void *m, const char *name) { return *f = (void *)(size_t)(name[0]), m != (void *)11; }
int cuMemAlloc_v2(u64 *p, size_t n) { return *p = next += 1 << 30, n > 1 << 30; }
int cuMemsetD8Async(u64 p, unsigned char x, size_t n, void *s) {
    return p < 1ull << 40 || x != 3 || !n || s != (void *)15;
}
int cuMemHostAlloc(void **p, size_t n, unsigned f) { return *p = (void *)(1ull << 44), f || !n; }
int cuMemGetInfo_v2(size_t *f, size_t *w) { return *f = *w = 1, 0; }
int cuDeviceGetDefaultMemPool(void **p, int d) { return *p = (void *)13, d; }
int cuMemPoolSetAttribute(void *p, int which, u64 *v) { return p != (void *)13 || which != 4 || *v != 1 << 30; }
int cuMemAllocFromPoolAsync(u64 *p, size_t n, void *pool, void *s) {
    return *p = next += 1 << 30, n != 4096 || pool != (void *)13 || s != (void *)15;
}
int cuMemFreeAsync(u64 p, void *s) { return p != next || s != (void *)15; }
int cuMemcpyHtoDAsync_v2(u64 to, const void *from, size_t n, void *s) {
    return to < 1ull << 40 || !from || !n || s != (void *)15;
}
int cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t n, void *s) {
    return !to || from < 1ull << 40 || !n || s != (void *)15;
}
int cuLaunchKernel(void *f, unsigned x, unsigned y, unsigned z, unsigned t, unsigned u, unsigned v, unsigned shared,
                   void *s, void **p, void **e) {
    if (!f || !x || y != 1 || z != 1 || t != 256 || u != 1 || v != 1 || shared || s != (void *)15 || e) return 1;
    int reads = f == (void *)'r' || (f == (void *)'c' && *(u64 *)p[0] >= 1ull << 40 && *(u64 *)p[0] < 1ull << 50);
    return reads && (*(u64 *)p[1] == 0 || *(u64 *)p[2] == 0 || *(u64 *)p[3] < 1ull << 40);
}
int cuGetErrorName(int status, const char **name) { return *name = "CUDA_ERROR_OF_THE_STUB", status < 0; }
"""


def lines(out: Path) -> list[dict[str, Any]]:
    """The records that were written."""
    return [json.loads(line) for line in (out / "first_card.jsonl").read_text().splitlines()]


def test_a_step_that_fails_or_hangs_does_not_end_the_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = (sys.executable, "-c")
    steps = [
        run.Step("fails", 9, (*python, "import sys; print('words'); sys.exit(3)")),
        run.Step("hangs", 5, (*python, 'import time; print(\'{"operation": "begun"}\', flush=True); time.sleep(99)')),
        run.Step("is not there", 9, (str(tmp_path / "nothing"),)),
        run.Step("works", 9, (*python, 'print(\'{"operation": "x", "same_words": false, "seconds": 0.25}\')')),
    ]
    runner = run.Runner(tmp_path, 60, [])
    for step in steps:
        runner.run(step)
    ends = {record["step"]: record["status"] for record in lines(tmp_path) if record["operation"] == "end"}
    assert (ends["fails"], ends["hangs"], ends["works"]) == ("status 3", "stopped after 5 s", "status 0")
    assert "No such file" in ends["is not there"]
    # What a step printed before it was stopped is kept.
    assert [record["operation"] for record in lines(tmp_path) if record["step"] == "hangs"] == ["begun", "end"]
    assert "fails: words" in (tmp_path / "first_card.log").read_text()
    assert "works: x, OTHER WORDS, run 250.00 ms" in capsys.readouterr().out
    # Without time nothing begins.
    late = run.Runner(tmp_path, 4, [])
    late.run(steps[3])
    assert lines(tmp_path)[-1]["status"] == "no time is left"


HANGS = """
import sys, run
child = "import json, os, time; print(json.dumps({'operation': 'begun', 'process': os.getpid()}), flush=True)"
steps = (("fine", ""), ("hangs", child + "; time.sleep(99)"))
run.FIRST = tuple(run.Step(name, 90, (sys.executable, "-c", code)) for name, code in steps)
run.main()
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_call_that_is_cut_off_keeps_what_it_found_and_leaves_no_step(tmp_path: Path, how: signal.Signals) -> None:
    environment = {**os.environ, "OUT": str(tmp_path), "PYTHONPATH": str(ROOT / "tools/first_card")}
    with subprocess.Popen([sys.executable, "-c", HANGS], env=environment, stdout=subprocess.PIPE, text=True) as call:
        assert call.stdout is not None
        said = ""
        while "begun" not in said:
            said = call.stdout.readline()
        call.send_signal(how)
        table = call.stdout.read()
    assert [(record["step"], record["operation"]) for record in lines(tmp_path)] == [
        ("fine", "end"),
        ("hangs", "begun"),
    ]
    if how == signal.SIGTERM:
        assert re.search(r"^fine +\d+\.\d s  fine$", table, re.MULTILINE)
    process = Path("/proc", str(lines(tmp_path)[1]["process"]), "cmdline")
    end = time.monotonic() + 60
    # One that is dead and whom nobody has waited for has no words.
    while process.exists() and process.read_bytes():
        assert time.monotonic() < end, "the step runs on"
        time.sleep(0.05)


def test_what_is_wrong_with_a_driver_is_said_first(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools/first_card/driver.py")]

    def said(library: Path) -> dict[str, Any]:
        environment = {**os.environ, "AGLET_CUDA_DRIVER": str(library)}
        made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert made.returncode == 1
        return dict(json.loads(made.stdout))

    assert "there is no driver of NVIDIA cards" in said(tmp_path / "libcuda.so.1")["error"]
    for status, words in ((100, "finds no card"), (803, "have different versions")):
        source, library = tmp_path / "bad.c", tmp_path / f"bad{status}.so"
        source.write_text(f"int cuInit(int f) {{ return {status}; }}" + STUB[STUB.index("int cuGetErrorName") :])
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", str(library), str(source)], check=True)
        error = said(library)["error"]
        assert "cuInit: CUDA_ERROR_OF_THE_STUB" in error
        assert words in error


def test_a_card_is_described_and_tested_and_computes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What needs seconds on an emulated card; the others are rehearsed by hand."""
    monkeypatch.setenv("AGLET_CUDA_DRIVER", str(compiled(tmp_path)))
    runner = run.Runner(tmp_path, 200, ["--rehearsal"])
    for step in run.FIRST:
        if step.name in ("driver", "doctor", "toy-int16", "gates"):
            runner.run(step)
    records = lines(tmp_path)
    assert {record["status"] for record in records if record["operation"] == "end"} == {"status 0"}
    (card,) = (record for record in records if record["operation"] == "driver")
    assert (card["card"], card["compute_capability_major"], card["cuda"]) == ("fake card 0", 9, 12080)
    (test,) = (record for record in records if record["operation"] == "self-test")
    assert (test["self_test"], test["arithmetic"]) == ("passed", "F50")
    compared = [record for record in records if "same_words" in record]
    assert [record["operation"] for record in compared] == ["multiply", "bootstrap", "nand", "nand"]
    assert all(record["same_words"] for record in compared)
    assert [record["count"] for record in compared[2:]] == [1, 4]


def test_rates_ask_the_driver_for_what_its_functions_take(tmp_path: Path) -> None:
    """The functions of the stub refuse what is none of theirs."""
    source, library = tmp_path / "stub.c", tmp_path / "libcuda.so"
    source.write_text(STUB)
    subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", str(library), str(source)], check=True)
    environment = {**os.environ, "AGLET_CUDA_DRIVER": str(library), "AGLET_RATES": str(tmp_path / "rates.cubin")}
    (tmp_path / "rates.cubin").write_bytes(b"\177ELF and more")
    command = [sys.executable, str(ROOT / "tools/first_card/rates.py")]
    made = subprocess.run([*command, "--rehearsal"], env=environment, capture_output=True, text=True, check=True).stdout
    records = [json.loads(line) for line in made.splitlines()]
    assert [record for record in records if "error" in record] == []
    counts = {
        kind: sum(record["operation"] == kind for record in records) for kind in ("call", "read", "read and write")
    }
    assert counts == {"call": 9, "read": 2, "read and write": 2}
    # Two milliseconds for each: 128 KB twice over, and 8 chains of 16 steps in all threads.
    copied = next(record for record in records if record["operation"] == "copy")
    assert copied["gb_per_second"] == pytest.approx(2**16 / 2e-3 / 1e9)
    fma = next(record for record in records if record["operation"] == "arithmetic")
    assert fma["giga_per_second"] == pytest.approx(8 * 16 * 8 * 132 * 256 / 2e-3 / 1e9)
