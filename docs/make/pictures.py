"""The pictures of the concepts, drawn as SVG: levels as a staircase, slots, who holds which key."""

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt
import numpy as np

from aglet import Engine

INK, ACCENT, PALE = "#33415c", "#c2571a", "#dde3ee"
plt.rcParams.update({"svg.hashsalt": "aglet", "font.size": 11, "text.color": INK, "axes.edgecolor": INK})


def logistic_levels(steps: int) -> tuple[list[int], list[int]]:
    """Levels of the logistic map in the toy ring after each step, and the steps before which it was refreshed."""
    engine = Engine(preset="toy", allow_insecure=True)
    secret_key = engine.create_secret_key()
    relinearization_key = engine.create_relinearization_key(secret_key)
    conjugation_key = engine.create_conjugation_key(secret_key)
    bootstrap_key = engine.create_bootstrap_key(secret_key)
    x = engine.encrypt(np.full(engine.slot_count, 0.2), secret_key)
    levels, refreshed = [x.level], []
    for step in range(steps):
        if x.level < 2:
            x = engine.bootstrap(x, relinearization_key, conjugation_key, bootstrap_key)
            refreshed.append(step)
        x = engine.multiply(engine.subtract(x, engine.square(x, relinearization_key)), 2.5)
        levels.append(x.level)
    return levels, refreshed


def staircase(path: Path) -> None:
    """Levels over the steps of a computation, as the toy ring counts them."""
    levels, refreshed = logistic_levels(15)
    figure, axes = plt.subplots(figsize=(7.2, 3.2), layout="constrained")
    axes.step(range(len(levels)), levels, where="post", color=INK, linewidth=2)
    for step in refreshed:
        axes.text(step + 0.9, levels[step + 1] + 1.2, "bootstrap", color=ACCENT, ha="right")
        axes.axvline(step + 1, color=ACCENT, linestyle=":")
    axes.set(xlabel="step of x ← 2.5 x (1 − x), two levels each", ylabel="level", ylim=(0, max(levels) + 2.5))
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, path)


def boxes(axes: plt.Axes, values: list[str], at: tuple[float, float], colour: str = PALE) -> None:
    """A row of slots with their values."""
    for i, value in enumerate(values):
        axes.add_patch(plt.Rectangle((at[0] + i, at[1]), 0.94, 0.8, facecolor=colour, edgecolor=INK))
        axes.text(at[0] + i + 0.47, at[1] + 0.4, value, ha="center", va="center")


def slots(path: Path) -> None:
    """One ciphertext is many numbers: operations act on all slots, rotations move them."""
    figure, axes = plt.subplots(figsize=(7.2, 3.6), layout="constrained")
    rows = [
        ("x", ["3", "1", "4", "1", "5", "…"]),
        ("y", ["2", "7", "1", "8", "2", "…"]),
        ("multiply(x, y)", ["6", "7", "4", "8", "10", "…"]),
        ("rotate(x, key, 1)", ["…", "3", "1", "4", "1", "5"]),
    ]
    for i, (name, values) in enumerate(rows):
        boxes(axes, values, (0, -1.1 * i), PALE if i < 2 else "#f4e4d7")
        axes.text(-0.2, -1.1 * i + 0.4, name, ha="right", va="center", family="monospace")
    axes.set(xlim=(-4, 6.2), ylim=(-3.5, 1))
    axes.axis("off")
    save(figure, path)


def keys(path: Path) -> None:
    """Who holds which key, from top to bottom: a telephone is narrow."""
    figure, axes = plt.subplots(figsize=(4.6, 4.8), layout="constrained")
    parties = {
        "owner of the data": "secret key: makes all keys, decrypts",
        "whoever sends data": "public key: encrypts, no more",
        "server": "relinearization, rotation, conjugation,\nbootstrap key: computes, cannot read",
    }
    for i, (name, holds) in enumerate(parties.items()):
        axes.add_patch(plt.Rectangle((0, -2 * i), 8, 1.3, facecolor=PALE, edgecolor=INK))
        axes.text(4, 0.98 - 2 * i, name, ha="center", va="center", weight="bold")
        axes.text(4, 0.42 - 2 * i, holds, ha="center", va="center", fontsize=10)
    arrow = {"arrowstyle": "->", "color": ACCENT, "linewidth": 1.6}
    for i, what in enumerate(("public key", "encrypted data")):
        axes.annotate("", (3, -0.7 - 2 * i), (3, -2 * i), arrowprops=arrow)
        axes.text(3.3, -0.35 - 2 * i, what, va="center", color=ACCENT)
    axes.annotate("", (8, 0.65), (8, -3.35), arrowprops={**arrow, "connectionstyle": "arc3,rad=0.35"})
    axes.text(8.6, -1.35, "encrypted results", ha="center", va="center", rotation=90, color=ACCENT)
    axes.set(xlim=(-0.1, 9.6), ylim=(-4.1, 1.4))
    axes.axis("off")
    save(figure, path)


def save(figure: plt.Figure, path: Path) -> None:
    """As SVG, the same bytes for the same picture."""
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write(folder: Path) -> None:
    """All pictures."""
    for name, draw in {"levels": staircase, "slots": slots, "keys": keys}.items():
        draw(folder / f"{name}.svg")
