"""One page with all tables and plots. It contains everything: it has no script and needs no other file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from aglet_bench.reproduce.report import COLUMNS, REMARK, Block, cells, summary
from aglet_bench.reproduce.runner import Outcome

__all__ = ["page"]

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 78rem; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-size: 13px; font-variant-numeric: tabular-nums }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right }
th:first-child, td:first-child, th:last-child, td:last-child { text-align: left }
tr.FAILED td { background: #fde2e0; font-weight: 600 } tr.met td:last-child { color: #176b2c }
tr.not td { color: #777 }
svg text { font: 12px system-ui, sans-serif; fill: #222 }
"""
_LABEL, _WIDTH, _STEP, _TOP = 190, 900, 22, 34
_PUBLISHED, _OURS, _MISSED = "#8a8a8a", "#1f6fb2", "#c0392b"


def page(blocks: Sequence[Block], machine: Mapping[str, Any], stamp: Mapping[str, Any]) -> str:
    """The page as HTML."""
    outcomes = [outcome for block in blocks for outcome in block.outcomes]
    commit = f", commit {stamp['commit']}" if stamp.get("commit") else ""
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f"<title>aglet reproduce, {escape(machine['cpu'])}</title><style>{_STYLE}</style></head><body>",
        "<h1>Published bootstraps, measured again</h1>",
        f"<p>aglet {escape(machine['version'])}{escape(commit)} on {escape(machine['cpu'])}, {machine['cores']} cores, "
        f"backend {escape(machine['backend'])}, {escape(stamp['date'])}. {escape(summary(outcomes))}</p>",
        f"<p>{escape(REMARK)}</p>",
    ]
    seen = None
    for block in blocks:
        if block.table is not seen:
            parts.append(_head(block))
            seen = block.table
        parts += [f"<h3>{escape(block.section.title)}</h3>", _plot(block.outcomes), _rows(block)]
    parts.append("</body></html>\n")
    return "\n".join(parts)


def _head(block: Block) -> str:
    table = block.table
    remark = f" {table.remark}" if table.remark else ""
    return (
        f"<h2>{escape(table.title)}</h2><p>Source: {escape(table.source)}. Published on {escape(table.machine)}; "
        f"statistic of the times: {escape(table.statistic)}.{escape(remark)}</p>"
    )


def _rows(block: Block) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in COLUMNS)
    lines = []
    for outcome in block.outcomes:
        line = "".join(f"<td>{escape(cell)}</td>" for cell in cells(outcome, block.table.precision))
        lines.append(f'<tr class="{escape(outcome.status)}">{line}</tr>')
    note = f"<p>{escape(block.note)}</p>" if block.note else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>{note}"


def _plot(outcomes: Sequence[Outcome]) -> str:
    """The seconds of the measured rows on a logarithmic axis: grey marks are published, coloured ones ours."""
    measured = [outcome for outcome in outcomes if outcome.record]
    times = [o.record["seconds"] for o in measured]
    times += [p for o in measured if (p := o.published_seconds)]
    if not times:
        return ""
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times) * 1.0001))

    def x(seconds: float) -> float:
        return _LABEL + (_WIDTH - _LABEL - 70) * (math.log10(seconds) - low) / (high - low)

    height = _TOP + _STEP * len(measured) + 8
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" role="img" aria-label="seconds, published and ours">'
    ]
    for power in range(low, high + 1):
        at = x(10.0**power)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP - 10}" y2="{height - 6}" stroke="#ddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{_TOP - 16}" text-anchor="middle">{10.0**power:g} s</text>')
    parts += [_line(outcome, _TOP + _STEP * index + 8, x) for index, outcome in enumerate(measured)]
    return "\n".join([*parts, "</svg>"])


def _line(outcome: Outcome, y: float, x: Any) -> str:
    ours, published = outcome.record["seconds"], outcome.published_seconds
    colour = _OURS if outcome.status == "met" else _MISSED
    label = f"{outcome.row.name}, {outcome.threads} thr."
    parts = [f'<text x="{_LABEL - 10}" y="{y + 4}" text-anchor="end">{escape(label)}</text>']
    end = x(ours)
    if published:
        at = x(published)
        parts.append(f'<line x1="{end:.1f}" x2="{at:.1f}" y1="{y}" y2="{y}" stroke="#bbb" stroke-width="3"/>')
        parts.append(f'<circle cx="{at:.1f}" cy="{y}" r="5" fill="{_PUBLISHED}"/>')
        end = max(end, at)
    parts.append(f'<circle cx="{x(ours):.1f}" cy="{y}" r="5" fill="{colour}"/>')
    words = f"{outcome.ratio:.1f}x" if outcome.ratio else f"{ours:.2f} s"
    parts.append(f'<text x="{end + 10:.1f}" y="{y + 4}">{words}</text>')
    return "".join(parts)
