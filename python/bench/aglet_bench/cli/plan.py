"""`aglet plan`: what a bootstrap needs, its predicted cost, and its measured cost."""

from __future__ import annotations

import json as text
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from aglet import _core, forecast
from aglet.ckks.options import PRECISIONS
from aglet.cli import output
from aglet.errors import ParameterError
from aglet.progress import progress_bar
from aglet.reports import failure_text, gigabytes, memory_report
from aglet_bench import quiet
from aglet_bench.ckks import modelled
from aglet_bench.ckks.functional import FunctionalCase
from aglet_bench.ckks.measure import Case
from aglet_bench.cli import options
from aglet_bench.cli.fhew import is_fhew_preset, plan_fhew
from aglet_bench.cli.functional import plan_functional
from aglet_bench.cli.integer import is_integer_preset, plan_integer
from aglet_bench.cli.scheme_switch import plan_scheme_switch
from aglet_bench.scheme_switch.measure import SchemeSwitchCase

__all__ = ["model_tables", "plan", "plan_tables"]


@output.sentences
def plan(
    method: options.Method = "regular",
    stages: options.Stages = None,
    key_size: options.KeySize = "large",
    slots: Annotated[int | None, typer.Option(help="Number of slots; all of them if not given.")] = None,
    real: Annotated[bool, typer.Option(help="Plan for real messages.")] = False,
    target_level: Annotated[
        int | None, typer.Option(help="Level of the result; the highest possible if not given.")
    ] = None,
    bound: Annotated[float, typer.Option(help="With --model: the largest absolute value of a slot.")] = 1.0,
    preset: options.Preset = "regular",
    model: Annotated[bool, typer.Option("--model", help="Predict work, seconds and noise of each stage.")] = False,
    measure: Annotated[
        bool, typer.Option("--measure", help="Predict, then make the keys, run the bootstrap, and compare.")
    ] = False,
    repeat: Annotated[int, typer.Option(help="With --measure: number of bootstraps; the median is reported.")] = 3,
    factor: Annotated[
        float, typer.Option(help="With --measure: warn of a stage that differs from the prediction by this factor.")
    ] = modelled.FACTOR_BOUND,
    units: Annotated[
        Path | None, typer.Option(help="A JSON file with microseconds per unit of work; measured now if not given.")
    ] = None,
    entries: Annotated[
        int | None,
        typer.Option(help="Plan a functional bootstrap with a table of so many entries, by the key of --method."),
    ] = None,
    scheme_switch: Annotated[
        str | None, typer.Option(help="A parameter set of FHEW: show the calls that switch between it and --preset.")
    ] = None,
    allow_insecure: output.AllowInsecure = False,
    json: output.Json = False,
) -> None:
    """Show the stages of a bootstrap, its levels, its keys and its memory. Only --measure makes keys.

    With a set of FHEW (--preset gate or lut4, for example) it shows the time and the noise of calls. With a set of
    integers (--preset int16) it shows levels and products of circuits, the stages of a bootstrap, keys and, with
    --model, seconds. With --entries it shows a functional bootstrap: the noise of its results and what inputs may err
    by. With --scheme-switch it shows the calls that switch schemes and, with --model, the stages of both
    directions.
    """
    if method == "to14" and preset == "regular":
        preset = "to14"  # The method names its set; the option has a default.
    _known(preset, scheme_switch is None)
    bootstraps = {
        "--method": method != "regular", "--stages": stages is not None, "--real": real, "--repeat": repeat != 3,
        "--target-level": target_level is not None, "--bound": bound != 1.0, "--measure": measure,
        "--factor": factor != modelled.FACTOR_BOUND, "--units without --model": units is not None and not model,
    }  # fmt: skip
    if entries is not None:
        others = {
            "--entries with a parameter set of FHEW or integers": is_fhew_preset(preset) or is_integer_preset(preset),
            "--slots": slots is not None, "--bound": bound != 1.0, "--measure": measure,
            "--scheme-switch": scheme_switch is not None,
        }  # fmt: skip
        _refuse("a functional bootstrap", [name for name, given in others.items() if given])
        case_of_table = FunctionalCase(
            entries, method, preset, stages, real=real, target_level=target_level, allow_insecure=allow_insecure
        )
        plan_functional(case_of_table, key_size, _units(units) if model else None, model, json)
        return
    unheard = [name for name, given in bootstraps.items() if given]
    if scheme_switch is not None:
        over = SchemeSwitchCase("to-fhew", 1, None, preset, scheme_switch, slots, key_size, 1, allow_insecure)
        plan_scheme_switch(over, unheard, _units(units) if model else None, model, json)
        return
    unheard += [
        name for name, given in {"--slots": slots is not None, "--key-size": key_size != "large"}.items() if given
    ]
    if is_fhew_preset(preset):
        if model or measure:
            raise ParameterError(
                "--model and --measure only work for bootstraps of Engine; run `aglet bench lookup --preset "
                f"{preset}` instead."
            )
        _refuse(f"{preset}, a parameter set of FHEW,", unheard)
        plan_fhew(preset, allow_insecure, json)
        return
    if is_integer_preset(preset):
        if measure:
            raise ParameterError(
                f"--measure only works for bootstraps of Engine; run `aglet bench integer --preset {preset}` instead."
            )
        _refuse(f"{preset}, a parameter set of integers,", unheard)
        plan_integer(preset, _units(units), model, json)
        return
    case = Case(
        method=method,
        key_size=key_size,
        stage_count=stages,
        slot_count=slots,
        real=real,
        preset=preset,
        bound=bound,
        target_level=target_level,
        allow_insecure=allow_insecure,
    )
    if model or measure:
        _model(case, _units(units), repeat if measure else None, factor, json)
        return
    slot_count = _slots(preset) if slots is None else slots
    words: Any = {"real": real, "target_level": target_level}
    planned = forecast.plan(preset, case.core_method, stages, key_size, slot_count, **words)
    if json:
        output.json_line(dict(planned))
        return
    choices = (preset, case.core_method, stages, key_size, slot_count, real, target_level, bound)
    predicted = _core.predicted_precision(*choices)["mean_bits"]
    console = output.console()
    for part in plan_tables(planned, console.width, predicted):
        console.print(part)
    for name, steps in planned["rotations"].items():
        if steps:
            console.print(f"{name} rotates by {', '.join(str(step) for step in steps)}")


def _known(preset: str, fhew: bool) -> None:
    """Refuse an unknown preset with all that a plan takes: those that bootstrap, of FHEW (if asked), of integers."""
    slots = [known["name"] for known in _core.presets()]
    others = [known["name"] for known in _core.fhew_presets()] if fhew else []
    others += [known["name"] for known in _core.integer_presets()]
    plannable = [known["name"] for known in _core.presets() if known["methods"]]
    if preset not in {*plannable, *others}:
        what = f'The preset "{preset}" has no bootstrap' if preset in slots else f'There is no preset "{preset}"'
        raise ParameterError(f"{what} to plan; choose one of {', '.join([*plannable, *others])}.")


def _refuse(what: str, unheard: list[str]) -> None:
    """Refuse options of bootstraps of `Engine`, which would change nothing here."""
    if unheard:
        raise ParameterError(f"A plan of {what} does not take {', '.join(unheard)}; leave that out.")


def _units(path: Path | None) -> dict[str, float] | None:
    """The units of a file, or None if they are to be measured."""
    if path is None:
        return None
    try:
        read: Any = text.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ParameterError(
            f"The units cannot be read from {path}: {error}. Give a file that `aglet plan --model --json` wrote."
        ) from error
    read = read.get("units_us", read) if isinstance(read, dict) else read
    if not isinstance(read, dict) or not all(isinstance(value, int | float) for value in read.values()):
        raise ParameterError(f"{path} contains no object of microseconds; write one with `aglet plan --model --json`.")
    return {name: float(value) for name, value in read.items()}


def _model(case: Case, units: dict[str, float] | None, repeat: int | None, factor: float, json: bool) -> None:
    if factor <= 1:
        raise ParameterError(f"--factor {factor:g} would warn of every stage; give more than 1.")
    found = modelled.forecast(case, units)
    if repeat is not None:
        with progress_bar() as progress:
            found = modelled.measure(found, case, repeat=repeat, progress=progress)
    if json:
        output.json_line(found.record(factor))
        return
    console = output.console()
    for part in model_tables(found, console.width):
        console.print(part)
    for line in _facts(found):
        console.print(line)
    for warning in found.warnings(factor):
        console.print(warning, style="bold")


def model_tables(found: modelled.Forecast, width: int) -> list[Table]:
    """The stages with predicted work, seconds and noise, and the measured figures beside them."""
    measured = found.measured is not None
    columns = ["stage", "transforms", "products", "key products", "conversion products", "reads", "noise", "predicted"]
    rows = []
    for stage in found.stages:
        bits = stage.noise_bits
        row = [stage.name, *_work(stage.work), "-" if bits is None else f"{bits:.1f} bits", f"{stage.seconds:.3f} s"]
        if measured:
            ratio = stage.ratio
            row += [f"{stage.measured:.3f} s", "-" if ratio is None else f"{ratio:.2f}", _rate(stage.read_rate)]
        rows.append(row)
    names = found.stages[0].work
    total = {name: sum(stage.work[name] for stage in found.stages) for name in names}  # type: ignore[literal-required]
    last = ["all", *_work(total), "", f"{found.seconds:.3f} s"]  # type: ignore[arg-type]
    if measured:
        columns += ["measured", "ratio", "GB/s"]
        seconds = sum(stage.measured or 0.0 for stage in found.stages)
        last += [f"{seconds:.3f} s", f"{seconds / found.seconds:.2f}" if found.seconds else "-"]
        last += [
            _rate(sum(modelled.bytes_read(stage.work) for stage in found.stages) / seconds / 1e9 if seconds else None)
        ]
    plan = found.plan
    title = (
        f"{plan['method']} bootstrap, preset {plan['preset']}, {plan['key_size']} key, {plan['stage_count']} stages, "
        f"{plan['slot_count']} slots, one thread: work in limbs of 2^{plan['log_n']} words"
    )
    return output.fitting(title, columns, [*rows, last], width)


def _rate(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1f}"


def _work(work: _core.Work) -> list[str]:
    """The cells of work: transforms, products without those of keys and conversions, these two, and bytes."""
    transforms = work["forward_transforms"] + work["inverse_transforms"]
    products = work["pointwise_products"] + work["diagonal_products"]
    return [
        f"{transforms:.0f}",
        f"{products:.0f}",
        f"{work['key_products']:.0f}",
        f"{work['conversion_products']:.0f}",
        gigabytes(modelled.bytes_read(work)),
    ]


def _facts(found: modelled.Forecast) -> list[str]:
    """The precision, the units, and the observations while measuring."""
    bits = found.precision
    lines = [
        f"precision predicted: {bits['mean_bits']:.1f} bits (mean), {bits['worst_bits']:.1f} (worst slot), "
        f"{bits['approximation_bits']:.1f} (approximation alone)",
        "time of a unit in us per limb: "
        + ", ".join(f"{name} {value:.1f}" for name, value in dict(found.units).items()),
    ]
    if found.measured is not None:
        own = found.measured
        lines += [
            f"precision measured: {own.precision.bits_mean:.1f} bits (mean), "
            f"{own.precision.bits_worst:.1f} (worst slot)",
            f"one thread reads memory in order at {own.memory_rate:.1f} GB/s; GB/s of a stage counts what it reads of "
            "keys, matrices and ciphertexts, not what its passes write and read again",
            f"keys made in {own.keygen_seconds:.1f} s; bootstraps took "
            + ", ".join(f"{seconds:.3f} s" for seconds in own.seconds),
        ]
        agree = all(stage.counted == stage.work for stage in found.stages)
        lines += ["the kernels did exactly the predicted work"] if agree else []
        noisy = quiet.warning(own.quiet)
        lines += [noisy] if noisy is not None else []
    return lines


def plan_tables(planned: _core.Plan, width: int, predicted_bits: float | None = None) -> list[Table]:
    """A plan as two tables: the stages; and the levels, the precision and the memory."""
    stages = output.fitting(
        f"Stages of the {planned['method']} bootstrap, preset {planned['preset']} (chain levels: limbs - 1)",
        ("stage", "", "level in", "level out", "scale in", "scale out", "keys", "key memory"),
        [
            (
                stage["name"],
                stage["note"],
                stage["level_in"],
                stage["level_out"],
                f"2^{stage['scale_in_log2']:.2f}",
                f"2^{stage['scale_out_log2']:.2f}",
                stage["keys"],
                gigabytes(stage["key_bytes"]),
            )
            for stage in planned["stages"]
        ],
        width,
        left=2,
    )
    bits, memory = planned["precision_bits"], memory_report(planned)
    others = "relinearization, conjugation" + (", rotation" if planned["key_size"] == "small" else "")
    facts = output.facts(
        "Forecast",
        [
            ("level before and after", f"{planned['input_level']} or more, {planned['output_level']}"),
            ("ring", f"N = 2^{planned['log_n']}, log QP = {planned['log_qp']:.0f}, {planned['slot_count']} slots"),
            ("security", f"{planned['security_bits']:.1f} bits"),
            ("some slot six bits below the claim", failure_text(planned["log2_failure"])),
            ("some slot four bits below", failure_text(planned["log2_four_bits_short"])),
            *_precision(planned["preset"], bits, predicted_bits),
            (f"bootstrap key, {planned['key_size']}", gigabytes(planned["key_bytes"])),
            (f"keys for {others}", gigabytes(memory.other_keys)),
            ("all keys as files", gigabytes(memory.keys_seeded)),
            ("matrices", gigabytes(memory.matrices)),
            ("working memory", gigabytes(memory.working)),
            ("peak memory", gigabytes(memory.peak) + ("" if memory.fits else ", MORE than this machine has free")),
            ("memory of a card, with keys", gigabytes(memory.card)),
        ],
    )
    return [*stages, facts]


def _precision(preset: str, claimed: float | None, predicted: float | None) -> list[tuple[str, str]]:
    """The claimed precision that tests assert, the expected mean, and the word that chooses the preset."""
    rows = [("precision claimed, mean (at least)", "none" if claimed is None else f"{claimed:.1f} bits")]
    if predicted is not None:
        rows.append(("precision predicted, mean", f"{predicted:.1f} bits"))
    words = [f'"{word}"' for word, (name, _) in PRECISIONS.items() if name == preset]
    if words:
        rows.append(("Engine(use_bootstrap=True, precision=...)", " or ".join(words)))
    return rows


def _slots(name: str) -> int:
    """All slots of a preset. For an unknown preset any number will do, because the plan raises the error."""
    return next((preset["slots"] for preset in _core.presets() if preset["name"] == name), 1)
