"""Keywords of steps and procedures."""

from __future__ import annotations

from symplex.decks.deck import Procedure, Step
from symplex.decks.reading import Keyword, Once, Reading, UnsupportedKeyword, fields, real, reals, single_line, words
from symplex.errors import MeshError
from symplex.meshes.formats.abaqus_deck import Block

_SOLVING = ("SOLVER", "DIRECT")
_SCALED = "masses that are scaled for longer steps are not supported"


def _take_step(reading: Reading, block: Block) -> None:
    if reading.in_step:
        raise MeshError("a *STEP begins before the last one has ended.")
    if "NLGEOM" in block.parameters:
        reading.nonlinear = block.parameters["NLGEOM"].upper() != "NO"
    steps = reading.deck.steps
    perturbation = "PERTURBATION" in block.parameters
    step = Step(
        number=len(steps) + 1,
        where=reading.where(block),
        nonlinear=reading.nonlinear and not perturbation,
        perturbation=perturbation,
    )
    if "AMPLITUDE" in block.parameters:
        step.ramped = block.parameters["AMPLITUDE"].upper() == "RAMP"
    steps.append(step)
    reading.in_step = True
    for k in range(len(block.lines)):  # a title
        reading.account.add_without_meaning(*block.place(k))


def _end_step(reading: Reading, block: Block) -> None:
    step = reading.step
    if step.procedure is None and not any(missed.step == step.number for missed in reading.deck.missed):
        reading.miss(block, "the step has no procedure that is known")
    reading.in_step = False


def _begin(reading: Reading, procedure: Procedure) -> Step:
    step = reading.step
    if step.procedure is not None and (step.procedure, procedure) != ("static", "frequency"):
        raise UnsupportedKeyword("the step has another procedure already")
    if step.procedure is not None:
        reading.deck.remarks.append(f"step {step.number} has *STATIC and *FREQUENCY: the last, as in CalculiX")
    step.procedure = procedure
    return step


def _times(step: Step, block: Block, *, needed: bool) -> None:
    """Take the step of time and the duration of a procedure."""
    # Of the smallest and the largest step nothing is taken, as steps are as long as the first.
    line = single_line(block)
    values = reals(",".join(fields(line, 4)[:2]))
    if needed and len(values) < 2:
        raise UnsupportedKeyword("it says no step of time and no duration")
    if values and values[0]:
        step.dt = values[0]
    step.period = values[1] if len(values) > 1 and values[1] else 1.0
    if min(step.dt, step.period) <= 0.0:
        raise ValueError(f"the step of time is {step.dt:g} and the duration {step.period:g}; both must be positive")


def _take_static(reading: Reading, block: Block) -> None:
    _times(_begin(reading, "static"), block, needed=False)


def _take_dynamic(reading: Reading, block: Block) -> None:
    explicit = block.parameters.get("EXPLICIT")
    step = _begin(reading, "dynamic" if explicit is None else "explicit")
    if "NLGEOM" in block.parameters and not step.nonlinear:
        raise UnsupportedKeyword("NLGEOM is a parameter of *STEP, which does not have it")
    if step.perturbation:
        raise UnsupportedKeyword("dynamics as a perturbation is not supported")
    if "ALPHA" in block.parameters:
        step.alpha = reals(block.parameters["ALPHA"])[0]
        if not -1 / 3 <= step.alpha <= 0:
            raise UnsupportedKeyword(f"ALPHA is {step.alpha:g}, not from -1/3 to 0")
    found = words(single_line(block))
    if explicit is not None and any(found[2:3]):  # the step for which masses are scaled
        step.least = real(found[2])
    if any(found[3 if explicit is not None else 4 :]):
        raise UnsupportedKeyword("it has a largest step, or more numbers, which are not supported")
    _times(step, block, needed=True)


def _begin_modes(reading: Reading, block: Block, procedure: Procedure, what: str) -> list[str]:
    """Begin a step that looks for a number of modes, and return the words of its line."""
    step, found = _begin(reading, procedure), words(single_line(block))
    step.modes = int(found[0]) if found[0].isdecimal() else 0
    if step.modes < 1:
        raise UnsupportedKeyword(f"it does not say how many {what}")
    return found


def _take_frequency(reading: Reading, block: Block) -> None:
    if any(_begin_modes(reading, block, "frequency", "frequencies")[3:]):
        raise UnsupportedKeyword(_SCALED)


def _take_buckle(reading: Reading, block: Block) -> None:
    _begin_modes(reading, block, "buckle", "factors")


def _take_modal_dynamic(reading: Reading, block: Block) -> None:
    _times(_begin(reading, "modal-dynamic"), block, needed=True)


def _take_modal_damping(reading: Reading, block: Block) -> None:
    if "RAYLEIGH" not in block.parameters:
        raise UnsupportedKeyword("only RAYLEIGH damping of modes is known")
    first, last, alpha, beta = fields(single_line(block), 4)
    if any(mode and not mode.isdecimal() for mode in (first, last)):
        raise ValueError("the first and the last mode must be integers")
    if not alpha and not beta:
        raise UnsupportedKeyword("it has no damping")
    reading.step.rayleigh = real(alpha or "0"), real(beta or "0")


def _take_heat(reading: Reading, block: Block) -> None:
    reading.step.is_heat = True
    raise UnsupportedKeyword("heat is not computed; of the deck only steps before this one can be imported")


def _take_mass_scaling(reading: Reading, block: Block) -> None:
    given = block.parameters
    if given.get("TYPE", "").upper().replace(" ", "") != "BELOWMIN" or "DT" not in given or {*given} - {"TYPE", "DT"}:
        raise UnsupportedKeyword(
            "masses are scaled by TYPE=BELOW MIN and DT of all elements only; without it explicit steps have the "
            "stable step of the true masses, and *DYNAMIC without EXPLICIT has larger ones"
        )
    reading.step.least = reals(given["DT"])[0]


_STEP = "in steps"
_NO_HEAT = Keyword(
    _take_heat,
    (*_SOLVING, "STEADYSTATE", "FREQUENCY", "MODALDYNAMIC", "STORAGE", "DELTMX", "TIMERESET", "TOTALTIMEATSTART"),
    "refused in one sentence, with the steps that follow: heat is not computed",
    _STEP,
)
_NO_SCALING = Keyword(
    _take_mass_scaling,
    ("TYPE", "DT", "ELSET", "FACTOR", "FREQUENCY", "NUMBERINTERVAL", "NUMBER"),
    "`TYPE=BELOW MIN` with `DT`: `[mass_scaling]`; others are refused",
    _STEP,
)
STEP_KEYWORDS = {
    "STEP": Keyword(
        _take_step,
        ("NLGEOM", "INC", "INCF", "PERTURBATION", "AMPLITUDE", "NAME", "TURBULENCEMODEL", "UNSYMM"),
        "a separate scenario",
    ),
    "ENDSTEP": Keyword(_end_step, (), "", _STEP, has_data=False),
    "STATIC": Keyword(
        _take_static,
        _SOLVING,
        '`[start] kind = "static"` under the loads at the end of the step',
        _STEP,
    ),
    "DYNAMIC": Keyword(
        _take_dynamic,
        (*_SOLVING, "ALPHA", "EXPLICIT", "NOHAF", "NLGEOM"),
        '`kind = "hht"` with the same step, consistent masses; `EXPLICIT`: `kind = "newmark"`, lumped masses, with '
        "`[mass_scaling]` if a third number is given",
        _STEP,
    ),
    "FREQUENCY": Keyword(
        _take_frequency,
        ("SOLVER", "EIGENSOLVER", "STORAGE", "NORMALIZATION"),
        "a scenario of the state, for `symplex modes`",
        _STEP,
    ),
    "BUCKLE": Keyword(
        _take_buckle,
        ("SOLVER", "EIGENSOLVER"),
        "a scenario of the loads of the step, for `symplex buckling`; Saint Venant and Kirchhoff's law, pressures of "
        "constant direction; not after a static step",
        _STEP,
    ),
    "MODALDYNAMIC": Keyword(
        _take_modal_dynamic,
        _SOLVING,
        'integrated in time instead: `kind = "newmark"`, `beta = 0.25`, linear-elastic',
        _STEP,
    ),
    "HEATTRANSFER": _NO_HEAT,
    "COUPLEDTEMPERATURE-DISPLACEMENT": _NO_HEAT,
    "UNCOUPLEDTEMPERATURE-DISPLACEMENT": _NO_HEAT,
    "FIXEDMASSSCALING": _NO_SCALING,
    "VARIABLEMASSSCALING": _NO_SCALING,
    "MASSSCALING": _NO_SCALING,
    "MODALDAMPING": Keyword(_take_modal_damping, ("RAYLEIGH",), "`[[damping]]`", _STEP, Once("damping", owner="step")),
}
