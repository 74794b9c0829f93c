"""[define] and expressions in scenarios."""

import math

import pytest

import symplex as sx

TEXT = """\
title = "= kept"
[define]
L = "=n*h"   # the order does not matter
n = 4
h = 0.1
[[body]]
name = "bar"
mesh = { box = ["=L", "=h", "= h"], cells = ["=n", 1, "=n/2"] }
material = { young = "=2e5*10", poisson = 0.3, density = 1000 }
[integrator]
kind = "newmark"
dt = "=1e-4*sqrt(4)"
[run]
duration = "=2e-4*10"
"""


def read(old="", new=""):
    return sx.Scenario.parse(TEXT.replace(old, new) if old else TEXT)


def test_expressions_become_numbers_and_texts_stay():
    tables = read().tables
    assert tables.title == "= kept"
    assert tables.body[0].mesh.box == (0.4, 0.1, 0.1)
    assert tables.body[0].mesh.cells == (4, 1, 2)
    assert tables.integrator.dt == 1e-4 * math.sqrt(4)
    assert tables.body[0].material.young == 2e6


def test_variables_are_set_from_outside():
    changed = read().with_values({"define.h": "0.2", "define.n": 6, "run.duration": "=h/100"}).tables
    assert changed.body[0].mesh.box == (6 * 0.2, 0.2, 0.2)
    assert changed.body[0].mesh.cells == (6, 1, 3)
    assert changed.run.duration == 0.2 / 100


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("=2**3*-1 + 10", 2.0),
        ("=max(1, 2)*min(3, 4)", 6.0),
        ("=abs(-2)*ceil(1.2)*floor(1.8)*round(2.6)", 12.0),
        ("=4*atan(1)/pi", 1.0),
        ("=cos(0) + sin(0) + tan(0) + acos(1) + asin(0)", 1.0),
        ("=exp(0) + log(1) + cosh(0) + sinh(0) + tanh(0)", 2.0),
        ("=sqrt(2)", math.sqrt(2)),
    ],
)
def test_arithmetic(expression, value):
    assert read('"=2e-4*10"', f'"{expression}"').tables.run.duration == value


def test_only_whole_results_are_whole_numbers():
    with pytest.raises(sx.SymplexError, match=r"mesh.cells must be an integer of at least 1, got 1.333\d*"):
        read("n/2", "n/3")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "h = 0.1",
            'h = "0.1*2"',
            r"\[define\]: h must be a number, got '0.1\*2'. An expression is a string such as \"=2\*h\"\.$",
        ),
        ("h = 0.1", "h = true", r"\[define\]: h must be a number, got True"),
        ("h = 0.1", "h = inf", r"\[define\]: h must be finite, got inf"),
        ("h = 0.1", 'h = "=1/0"', r"^scenario.toml: \[define\]: h is '=1/0': it divides by zero\.$"),
        ("h = 0.1", 'h = "=L"', r"\[define\]: h is '=L': it depends on itself, by L → h → L\.$"),
        (
            "h = 0.1",
            "h = 0.1\nk = 1",
            r"^scenario.toml: \[define\]: k is defined, but in no expression; write \"=k\"\.$",
        ),
        ("h = 0.1", "h = 0.1\npi = 3", r"nothing can be called pi, which is a reserved name"),
        ("h = 0.1", 'h = 0.1\n"a b" = 3', r"'a b' is no name"),
        ('"=h"', '"=hh"', r"\[\[body\]\] #1 'bar': mesh.box.2 is '=hh': 'hh' is not defined; did you mean 'h'\?\.?$"),
        ('"=2e-4*10"', '"=10**400"', r"\[run\]: duration is '=10\*\*400': it is too large for a number"),
        ('"=2e-4*10"', '"=(0-1)**0.5"', "it has no value"),
        ('"=2e-4*10"', '"=log(0)"', "it has no value"),
        ('"=2e-4*10"', '"=exp(100)"', r"its value must be 0, or from .*, got 2.68812e\+43"),
        ('"=2e-4*10"', '"=__import__(1)"', "the function '__import__' is not known"),
        ('"=2e-4*10"', '"=h.real"', "'h.real' is not read; there are numbers, names"),
        ('"=2e-4*10"', '"="', "it is empty"),
        ('"=2e-4*10"', '"=2h"', "it is no formula"),
        ('"=2e-4*10"', '"=-1"', r"\[run\]: duration must be positive, got -1 s"),
        ('young = "=2e5*10"', 'law = "=h"\nyoung = 1', "toml"),
        ("[define]", "[defin]", r"unknown table 'defin'; did you mean 'define'\?"),
        ("[define]", "[[define]]", r"define must be written \[define\], with single brackets"),
    ],
)
def test_mistakes_are_told_with_their_place(old, new, message):
    with pytest.raises(sx.SymplexError, match=message):
        read(old, new)
