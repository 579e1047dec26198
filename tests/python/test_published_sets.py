"""Published sets, of RNS-CKKS on SEAL and of SHIP: their security, refused unless waived, and where memory ends."""

from __future__ import annotations

import pytest

from aglet import Engine, InsecureParametersError, MemoryLimitError, _core

SETS = {preset["name"]: preset for preset in _core.presets() if preset["name"].startswith("seal-")}


def test_all_twelve_are_listed_with_their_security() -> None:
    assert list(SETS) == [f"seal-{number}" for number in range(1, 13)]
    weights = [int(preset["secret"].split()[-1]) for preset in SETS.values()]
    assert weights == [64] * 3 + [96] * 3 + [128] * 3 + [192] * 3
    # The light estimator has 90.5 to 105.6 bits; this bound is never above it.
    assert all(80 < preset["security_bits"] < 100 for preset in SETS.values())
    assert all("Not published" in preset["source"] for preset in SETS.values())


def test_they_are_refused_as_secure() -> None:
    with pytest.raises(InsecureParametersError, match="weight 64"):
        Engine(preset="seal-3")


def test_what_does_not_fit_is_refused_with_the_figures() -> None:
    engine = Engine(preset="seal-3", allow_insecure=True, slot_count=1024)
    text = str(engine.security_report())
    assert "a secret of weight 64: 87" in text
    assert "NOT SECURE" in text
    assert engine.memory_report(size="medium").peak < 13.2e9
    small = engine.memory_report(size="small")
    assert small.other_keys > 10 * small.bootstrap_key  # the rotation key is counted
    secret = engine.create_secret_key()
    with pytest.raises(
        MemoryLimitError, match=r"12\.0 GB of memory for bootstrapping with this key, which needs 2\d\.\d GB"
    ):
        engine.create_bootstrap_key(secret, size="large", memory_limit_bytes=12 * 10**9)


@pytest.mark.parametrize(
    ("preset", "modulus", "bits"), [("ship13-published", 218.2, 125), ("ship14-published", 436.2, 126)]
)
def test_the_moduli_of_ship_are_refused_as_secure(preset: str, modulus: float, bits: int) -> None:
    with pytest.raises(InsecureParametersError, match=f"{modulus}"):
        Engine(preset=preset)
    text = str(Engine(preset=preset, allow_insecure=True).security_report())
    assert f"{bits}." in text
    assert "NOT SECURE" in text
