"""W = mu/2*(I1 - 3) - mu*log(J) + lmbda/2*log(J)**2

Generated from the strain energy (symplex/fem/solids/formula_text.py): change that.
"""

# fmt: off
# ruff: noqa

CONSTANTS = ('lmbda', 'mu', )
FIBRES = 0
GAUSS_POINTS = 1
HAS_I2 = False
SWITCHES = 0


def _value(n):
    def value(p, x, out):
        p_lmbda = p[0]
        p_mu = p[1]
        for i in range(n):
            I1 = x[i]
            T = x[2 * n + i]
            out[i] = (0.5)*T**2*p_lmbda - T*p_mu + (0.5)*p_mu*(I1 - 3.0)

    return value


def _first(n):
    def first(p, x, out):
        p_lmbda = p[0]
        p_mu = p[1]
        for i in range(n):
            T = x[2 * n + i]
            out[i] = (0.5)*p_mu
            out[n + i] = 0.0
            out[2 * n + i] = T*p_lmbda - p_mu

    return first


def _second(n):
    def second(p, x, out):
        p_lmbda = p[0]
        p_mu = p[1]
        for i in range(n):
            T = x[2 * n + i]
            out[i] = (0.5)*p_mu
            out[n + i] = 0.0
            out[2 * n + i] = T*p_lmbda - p_mu
            out[3 * n + i] = 0.0
            out[4 * n + i] = 0.0
            out[5 * n + i] = 0.0
            out[6 * n + i] = 0.0
            out[7 * n + i] = 0.0
            out[8 * n + i] = p_lmbda

    return second


def _third(n):
    def third(p, x, out):
        p_lmbda = p[0]
        p_mu = p[1]
        for i in range(n):
            T = x[2 * n + i]
            out[i] = (0.5)*p_mu
            out[n + i] = 0.0
            out[2 * n + i] = T*p_lmbda - p_mu
            out[3 * n + i] = 0.0
            out[4 * n + i] = 0.0
            out[5 * n + i] = 0.0
            out[6 * n + i] = 0.0
            out[7 * n + i] = 0.0
            out[8 * n + i] = p_lmbda
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
