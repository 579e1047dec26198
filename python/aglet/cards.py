"""Which card an engine computes on."""

from __future__ import annotations

import logging

from aglet import _core
from aglet.errors import DeviceError, ParameterError

__all__ = ["MODES", "chosen"]

MODES = ("cpu", "parallel", "gpu", "auto")
"""The modes of engines."""

_LOG = logging.getLogger("aglet")


def chosen(mode: str, device_id: int) -> tuple[str, int | None]:
    """The mode, with "auto" decided, and the number of the card that computes; None for the processor.

    Raises
    ------
    ParameterError
        If there is no such mode, or the number means nothing in it.
    """
    if mode not in MODES:
        raise ParameterError(
            f'There is no mode "{mode}"; use "cpu" for one thread, "parallel" for all cores, "gpu" for a card, or '
            '"auto" for a card where there is one.'
        )
    if device_id < 0:
        raise ParameterError(f"device_id={device_id} is negative; cards are counted from 0.")
    if device_id != 0 and mode not in ("gpu", "auto"):
        raise ParameterError(f'device_id={device_id} only has a meaning with mode="gpu"; leave it out.')
    if mode != "auto":
        return mode, device_id if mode == "gpu" else None
    try:
        _core.test_card(device_id)
    except DeviceError as error:
        _LOG.info('mode="auto" uses the processor. %s', error)
        return "parallel", None
    _LOG.info('mode="auto" uses card %d.', device_id)
    return "gpu", device_id
