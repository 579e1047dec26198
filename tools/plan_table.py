#!/usr/bin/env python3
"""Writes `python/bench/aglet_bench/ckks/planned.json`: what every bootstrap of the secure presets takes and gives, for `aglet advise`.

Laying out the plans of one wish takes many seconds, the table none. Run it after a change of presets, circuits, keys or
forecasts of memory: `tests/python/test_advise.py` computes a sample of it again and says so.
"""

from __future__ import annotations

import itertools
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aglet import _core
from aglet.errors import AgletError
from aglet_bench.ckks import planned

TARGET = Path(planned.__file__).with_name("planned.json")


def rows(preset: _core.PresetInfo, method: str, slots: int) -> dict[str, list[int]]:
    """The rows of all sizes of keys, stages and kinds of messages that there are."""
    found = {}
    for size, stages, real in itertools.product(planned.SIZES, planned.stages_of(preset, slots), (False, True)):
        if real and method in planned.PAIRS:
            continue
        try:
            found[planned.label(size, stages, real)] = planned.compute(
                preset["name"], method, size, stages, slots, real
            )
        except AgletError:  # this number of stages does not suit these slots
            continue
    return found


def bits(preset: str, noise: str, slots: int) -> float:
    """Mean bits of the plan in the clear with the noise of ciphertexts."""
    return round(planned.predict(preset, noise, slots), 2)


def main() -> None:
    """Compute all and write the file, a line for each preset, method and number of slots."""
    able = [p for p in _core.presets() if planned.advised(p)]
    asked = [
        (p, m, slots)
        for p in able
        for m in p["methods"]
        for slots in (1 << i for i in range(p["slots"].bit_length()))
        if planned.stages_of(p, slots)
    ]
    noises = sorted({(p["name"], planned.noise_of(m), slots) for p, m, slots in asked})
    with ThreadPoolExecutor() as pool:
        plans = list(pool.map(lambda case: rows(*case), asked))
        predicted = list(pool.map(lambda case: bits(*case), noises))
    lines = [
        f'"{p["name"]}/{m}/{slots}": {json.dumps(found)}' for (p, m, slots), found in zip(asked, plans, strict=True)
    ]
    sure = [f'"{"/".join(map(str, case))}": {value}' for case, value in zip(noises, predicted, strict=True)]
    text = '{"plans": {\n' + ",\n".join(lines) + '\n},\n"bits": {\n' + ",\n".join(sure) + "\n}}\n"
    TARGET.write_text(text, encoding="utf-8")
    print(f"{sum(map(len, plans))} plans, {len(sure)} predictions, {len(text) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
