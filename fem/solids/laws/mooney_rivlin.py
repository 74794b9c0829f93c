"""W = c10*(I1 - 3) + c01*(I2 - 3) - (2*c10 + 4*c01)*log(J) + (bulk - 4/3*(c10 + c01) - 4*c01)/2*log(J)**2

Generated from the strain energy (symplex/fem/solids/formula_text.py): change that.
"""

# fmt: off
# ruff: noqa

CONSTANTS = ('c10', 'c01', 'bulk', )
FIBRES = 0
GAUSS_POINTS = 1
HAS_I2 = True
SWITCHES = 0


def _value(n):
    def value(p, x, out):
        p_c10 = p[0]
        p_c01 = p[1]
        p_bulk = p[2]
        for i in range(n):
            I1 = x[i]
            I2 = x[n + i]
            T = x[2 * n + i]
            out[i] = T**2*((0.5)*p_bulk - 2.6666666666666665*p_c01 - 0.6666666666666666*p_c10) - T*(4.0*p_c01 + 2.0*p_c10) + p_c01*(I2 - 3.0) + p_c10*(I1 - 3.0)

    return value


def _first(n):
    def first(p, x, out):
        p_c10 = p[0]
        p_c01 = p[1]
        p_bulk = p[2]
        for i in range(n):
            T = x[2 * n + i]
            out[i] = p_c10
            out[n + i] = p_c01
            out[2 * n + i] = 2.0*T*((0.5)*p_bulk - 2.6666666666666665*p_c01 - 0.6666666666666666*p_c10) - 4.0*p_c01 - 2.0*p_c10

    return first


def _second(n):
    def second(p, x, out):
        p_c10 = p[0]
        p_c01 = p[1]
        p_bulk = p[2]
        for i in range(n):
            T = x[2 * n + i]
            out[i] = p_c10
            out[n + i] = p_c01
            out[2 * n + i] = 2.0*T*((0.5)*p_bulk - 2.6666666666666665*p_c01 - 0.6666666666666666*p_c10) - 4.0*p_c01 - 2.0*p_c10
            out[3 * n + i] = 0.0
            out[4 * n + i] = 0.0
            out[5 * n + i] = 0.0
            out[6 * n + i] = 0.0
            out[7 * n + i] = 0.0
            out[8 * n + i] = p_bulk - 5.333333333333333*p_c01 - 1.3333333333333333*p_c10

    return second


def _third(n):
    def third(p, x, out):
        p_c10 = p[0]
        p_c01 = p[1]
        p_bulk = p[2]
        for i in range(n):
            T = x[2 * n + i]
            out[i] = p_c10
            out[n + i] = p_c01
            out[2 * n + i] = 2.0*T*((0.5)*p_bulk - 2.6666666666666665*p_c01 - 0.6666666666666666*p_c10) - 4.0*p_c01 - 2.0*p_c10
            out[3 * n + i] = 0.0
            out[4 * n + i] = 0.0
            out[5 * n + i] = 0.0
            out[6 * n + i] = 0.0
            out[7 * n + i] = 0.0
            out[8 * n + i] = p_bulk - 5.333333333333333*p_c01 - 1.3333333333333333*p_c10
            out[9 * n + i] = 0.0
            out[10 * n + i] = 0.0
            out[11 * n + i] = 0.0
            out[12 * n + i] = 0.0
            out[13 * n + i] = 0.0
            out[14 * n + i] = 0.0
            out[15 * n + i] = 0.0
            out[16 * n + i] = 0.0
            out[17 * n + i] = 0.0
            out[18 * n + i] = 0.0

    return third


value = _value(128)
first = _first(128)
second = _second(128)
third = _third(128)
point_value = _value(1)
point_first = _first(1)
point_second = _second(1)
