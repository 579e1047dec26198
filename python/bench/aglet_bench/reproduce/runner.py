"""Measures the rows of published tables and judges them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from aglet.ckks.engine import Engine
from aglet.errors import AgletError
from aglet.keys.keyset import KeySet
from aglet_bench.ckks.measure import Case, bench_bootstrap, run_bootstrap
from aglet_bench.fhew.measure import FhewCase, bench_fhew
from aglet_bench.integer.measure import IntegerCase, bench_integer
from aglet_bench.published import SECURE
from aglet_bench.reproduce.applications import ApplicationCase, bench_application
from aglet_bench.reproduce.tables import AnyCase, Row
from aglet_bench.reproduce.workloads import WorkloadCase, bench_workload
from aglet_bench.scheme_switch.measure import SchemeSwitchCase, bench_scheme_switch

__all__ = ["Keyring", "Outcome", "Status", "misses", "run"]

_FHEW = 15
"""The repeats of a gate or a lookup table, which takes milliseconds."""

Status = Literal["met", "FAILED", "not yet", "not run"]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a row on one number of threads."""

    row: Row
    threads: int
    status: Status
    reasons: list[str]
    """What was missed, or why it was not measured."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """The record of `bench_bootstrap`; empty if the row was not measured."""

    @property
    def comparable(self) -> bool:
        """Whether it may be compared with published figures: not if our parameters are below 128 bits."""
        return not self.record or self.record.get("security_bits", 0.0) >= SECURE

    @property
    def published_seconds(self) -> float | None:
        """The published time on as many threads, if there is one and it may be compared with ours."""
        return self.row.published_seconds(self.threads) if self.comparable else None

    @property
    def ratio(self) -> float | None:
        """The published time over ours on as many threads. Above 1, ours is faster."""
        published, ours = self.published_seconds, self.record.get("seconds")
        return published / ours if published and ours else None

    def as_record(self) -> dict[str, Any]:
        """The outcome as one object for the records."""
        judged = {
            "table": self.row.table,
            "row": self.row.name,
            "status": self.status,
            "reasons": self.reasons,
            "threads": self.threads,
            "published": self.row.published if self.comparable else {},
            "needs": self.row.needs,
            "ratio": self.ratio,
        }
        return {**judged, **self.record}


def misses(needs: Mapping[str, float], record: Mapping[str, Any], precision: str) -> list[str]:
    """The needs that a measurement does not reach; empty if it reaches all. Speed is not one of them."""
    fields = {
        "slots": "slot_count",
        "levels": "output_level",
        "bits": f"bits_{precision}",
        "worst_bits": "bits_worst",
        "security": "security_bits",
    }
    ours = {name: record[fields[name]] for name in needs}
    # Written so that a value that is not a number is missed.
    missed = [f"{name} {ours[name]:.5g}, needed {need:g}" for name, need in needs.items() if not ours[name] >= need]
    return [*missed, *([f"{record['wrong']} results wrong"] if record.get("wrong") else [])]


def _kind(case: AnyCase) -> tuple[Any, ...]:
    """The kind of a case. Cases of one kind use the same keys."""
    if isinstance(case, FhewCase):
        return case.bits, case.preset, case.method
    if isinstance(case, IntegerCase):
        return case.operation, case.preset_name
    if isinstance(case, SchemeSwitchCase):
        return case.kind, case.preset, case.fhew_preset, case.key_size
    if isinstance(case, ApplicationCase):
        return case.program, case.preset
    if isinstance(case, WorkloadCase):
        return case.workload, case.size, case.count_only
    preset, slots, insecure = case.preset_name, case.slot_count, case.allow_insecure
    if case.key_size == "small":
        return preset, slots, insecure, "small"
    family = "regular" if case.core_method in ("regular", "merge") else "lossy"
    return preset, slots, insecure, case.key_size, case.stage_count, family


def _same(case: AnyCase, message: str | None) -> tuple[AnyCase, str | None]:
    """A key that is equal for cases that measure the same thing under different names."""
    if not isinstance(case, Case):
        return case, message
    return replace(case, method=case.core_method, preset=case.preset_name, compact=False), message


class Keyring:
    """The keys of one kind of case. They are dropped before keys of another kind are made."""

    def __init__(self) -> None:
        self._kind: tuple[Any, ...] | None = None
        self._keys: KeySet | None = None
        self._engines: dict[int, Engine] = {}
        self._warm: set[Any] = set()
        self.made = 0
        """The number of times that keys were made."""

    def drop(self) -> None:
        """Free the keys, for a case that makes its own."""
        self._keys = self._kind = None
        self._engines.clear()
        self._warm.clear()
        gc.collect()

    def take(self, case: Case) -> tuple[Engine, KeySet]:
        """An engine with the threads of the case, and its keys, which were made on all cores.

        The engine has run the case once before. The first bootstrap allocates its buffers, and the first one to a level
        or with a bound encodes its linear maps.
        """
        kind = _kind(case)
        if self._keys is None or kind != self._kind:
            self.drop()
            engine = replace(case, threads=0).engine()
            self._keys = case.keys(engine)
            self._kind = kind
            self.made += 1
        if case.threads not in self._engines:
            self._engines[case.threads] = case.engine()
        engine, (same, _) = self._engines[case.threads], _same(case, None)
        if same not in self._warm:
            run_bootstrap(engine, self._keys, np.zeros(engine.slot_count), 1, case)
            self._warm.add(same)
        return engine, self._keys


def run(
    rows: Sequence[Row],
    *,
    threads: Iterable[int] = (1,),
    repeat: int = 3,
    precision: Callable[[Row], str] = lambda row: "mean",
    keyring: Keyring | None = None,
    report: Callable[[str], None] = lambda text: None,
) -> Iterator[Outcome]:
    """Measure rows and yield each outcome at once. Rows that share keys run together, not in the order of the table.

    `report` is called with a line of text before keys are made and before each measurement.
    """
    keyring = Keyring() if keyring is None else keyring
    counts = list(threads)
    work: list[tuple[Row, AnyCase]] = []
    for row in rows:
        obstacle = row.obstacle()
        if obstacle is None:
            work += [(row, row.bench(count)) for count in counts]
        else:
            yield Outcome(row, counts[0], "not yet", [obstacle])
    kinds = list(dict.fromkeys(_kind(case) for _, case in work))
    work.sort(key=lambda item: kinds.index(_kind(item[1])))
    known: dict[tuple[AnyCase, str | None], dict[str, Any]] = {}
    for index, (row, case) in enumerate(work):
        words = "thread" if case.threads == 1 else "threads"
        report(f"{index + 1} of {len(work)}: {row.table} {row.name}, {case.threads} {words}")
        same = _same(case, row.message)
        try:
            if same not in known:
                known[same] = _measure(row, case, repeat, keyring)
        except AgletError as error:
            yield Outcome(row, case.threads, "not run", [str(error)])
            continue
        record = known[same]
        missed = misses(row.needs, record, precision(row))
        yield Outcome(row, case.threads, "FAILED" if missed else "met", missed, record)


def _measure(row: Row, case: AnyCase, repeat: int, keyring: Keyring) -> dict[str, Any]:
    # Their keys take a second, or some.
    if isinstance(case, FhewCase):
        return bench_fhew(case, repeat=max(repeat, _FHEW))
    if isinstance(case, IntegerCase):
        return bench_integer(case, repeat=repeat)
    if isinstance(case, SchemeSwitchCase):
        keyring.drop()
        return bench_scheme_switch(case, repeat=repeat)
    if isinstance(case, ApplicationCase):
        keyring.drop()
        return bench_application(case, repeat=repeat)
    if isinstance(case, WorkloadCase):
        keyring.drop()
        return bench_workload(case, repeat=repeat)
    engine, keys = keyring.take(case)
    messages = () if row.message is None else (row.message,)
    (record,) = bench_bootstrap(case, repeat=repeat, messages=messages, keys=keys, engine=engine)
    return record
