"""The properties of `Engine`: slots, levels, mode, threads, security.

A subclass may assign to the arguments of the constructor, as in `self.mode = mode`. An assignment before the engine
exists has no effect. Afterwards only the engine's own value is accepted.
"""

from __future__ import annotations

from typing import Any

from aglet import _core, reports
from aglet.errors import ParameterError

__all__ = ["Figures"]


class Figures:
    """Mixed into `Engine`."""

    _core: _core.Engine
    _max_level: int
    _mode: str

    def _assigned(self, name: str, value: Any) -> None:
        if "_core" in self.__dict__ and value != getattr(self, name):
            raise ParameterError(
                f"{name}={getattr(self, name)!r} of this engine cannot be changed; make another engine with "
                f"Engine({name}={value!r})."
            )

    @property
    def slot_count(self) -> int:
        """The number of values in one ciphertext."""
        return self._core.slot_count

    @slot_count.setter
    def slot_count(self, value: int) -> None:
        self._assigned("slot_count", value)

    @property
    def log_slot_count(self) -> int:
        """The base-2 logarithm of `slot_count`."""
        return self._core.slot_count.bit_length() - 1

    @log_slot_count.setter
    def log_slot_count(self, value: int) -> None:
        self._assigned("log_slot_count", value)

    @property
    def max_level(self) -> int:
        """The level of a fresh ciphertext: the number of multiplications that it allows."""
        return self._max_level

    @max_level.setter
    def max_level(self, value: int) -> None:
        self._assigned("max_level", value)

    @property
    def log_coeff_count(self) -> int:
        """The base-2 logarithm of the ring dimension N."""
        return self._core.log_n

    @log_coeff_count.setter
    def log_coeff_count(self, value: int) -> None:
        self._assigned("log_coeff_count", value)

    @property
    def mode(self) -> str:
        """The mode: "cpu", "parallel" or "gpu"."""
        return self._mode

    @mode.setter
    def mode(self, value: str) -> None:
        self._assigned("mode", value)

    @property
    def thread_count(self) -> int:
        """The number of threads."""
        return self._core.threads

    @thread_count.setter
    def thread_count(self, value: int) -> None:
        self._assigned("thread_count", value)

    @property
    def preset(self) -> str:
        """The name of the parameter set."""
        return self._core.preset

    @property
    def backend(self) -> str:
        """The kernels in use: "avx512ifma", "avx2", "portable" or "scalar"."""
        return self._core.backend

    @property
    def device(self) -> str:
        """What does macro-operations: "host", or the name of a card and its arithmetic."""
        return self._core.device

    def security_report(self) -> reports.SecurityReport:
        """The security of the parameters in bits. `print` shows it as a sentence."""
        core = self._core
        return reports.SecurityReport(core.preset, core.log_n, core.log_q, core.log_qp, core.security_bits, core.secret)
