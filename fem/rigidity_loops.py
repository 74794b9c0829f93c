"""The forms of `symplex.fem.rigidity.Rigidity`, in compiled loops over bodies.

With p_k the axes of a body, σ_kl = c_kl g_kl and s_ak the signs of its particles a (see there):

    ∂φ/∂x_a = ¼ Σ_k s_ak t_k,   t_k = Σ_l σ_kl p_l,       DG: t_k = Σ_l ½ (σ_kl(p0) + σ_kl(p1)) ½ (p0_l + p1_l),
    ∂t_k/∂p_l = σ_kl I + c_kl p_l ⊗ p_k + δ_kl Σ_n c_kn p_n ⊗ p_n,

and for DG half of the last one, with the mean of σ, and the mean of p on the left of ⊗ and p1 on the right.
"""

from symplex.fem.kernels import uncounted_formula as formula, uncounted_kernel as kernel
from symplex.fem.records import Nodes, Numbers, Record, Rows


class RigidityRecord(Record):
    """Nodes [m, 4], radii r [m, 3] in m, and stiffnesses m ω² [m] in N/m."""

    nodes: Nodes
    radii: Rows
    stiffness: Numbers


@formula
def _axes(q, nodes, e):
    """Return p_k of vectors at the particles relative to the first: what their sum has is not needed."""
    o, a, b, c = nodes[e, 0], nodes[e, 1], nodes[e, 2], nodes[e, 3]
    x, y, z = q[a, 0] - q[o, 0], q[a, 1] - q[o, 1], q[a, 2] - q[o, 2]
    u, v, w = q[b, 0] - q[o, 0], q[b, 1] - q[o, 1], q[b, 2] - q[o, 2]
    r, s, t = q[c, 0] - q[o, 0], q[c, 1] - q[o, 1], q[c, 2] - q[o, 2]
    return (
        (0.25 * (x - u - r), 0.25 * (y - v - s), 0.25 * (z - w - t)),
        (0.25 * (u - x - r), 0.25 * (v - y - s), 0.25 * (w - z - t)),
        (0.25 * (r - x - u), 0.25 * (s - y - v), 0.25 * (t - z - w)),
    )


@formula
def _mean(a, b):
    """Return ½ (a + b) of two vectors."""
    return 0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1]), 0.5 * (a[2] + b[2])


@formula
def _mean_axes(p0, p1):
    return _mean(p0[0], p1[0]), _mean(p0[1], p1[1]), _mean(p0[2], p1[2])


@formula
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@formula
def _weight(radii, e, stiffness, k, m):
    """Return c_km = m ω²/(r_k² + r_m²)."""
    r, s = radii[e, k], radii[e, m]
    return stiffness / (r * r + s * s)


@formula
def _strain(p, radii, e, k, m):
    """Return g_km = p_k · p_m − r_k² δ_km."""
    return _dot(p[k], p[m]) - (radii[e, k] * radii[e, k] if k == m else 0.0)


@formula
def _row(p0, p1, radii, e, stiffness, k):
    """Return ½ (σ_km(p0) + σ_km(p1)) for all m."""
    a = _weight(radii, e, stiffness, k, 0) * 0.5 * (_strain(p0, radii, e, k, 0) + _strain(p1, radii, e, k, 0))
    b = _weight(radii, e, stiffness, k, 1) * 0.5 * (_strain(p0, radii, e, k, 1) + _strain(p1, radii, e, k, 1))
    c = _weight(radii, e, stiffness, k, 2) * 0.5 * (_strain(p0, radii, e, k, 2) + _strain(p1, radii, e, k, 2))
    return a, b, c


@formula
def _sign(a, k):
    """Return s_ak (`symplex.fem.rigidity.CORNERS`)."""
    return 1.0 if a == 0 or a == k + 1 else -1.0


@formula
def _add_vector(t, k, nodes, e, out):
    """Add ¼ s_ak t to the particles."""
    for a in range(4):
        factor = 0.25 * _sign(a, k)
        for i in range(3):
            out[nodes[e, a], i] += factor * t[i]


@formula
def _add_forces(p0, p1, radii, stiffness, nodes, e, out):
    """Add DG of a body from the axes p0 to p1; return a sum that is finite if it is."""
    check, p = 0.0, _mean_axes(p0, p1)
    for k in range(3):
        s = _row(p0, p1, radii, e, stiffness, k)
        t = (
            s[0] * p[0][0] + s[1] * p[1][0] + s[2] * p[2][0],
            s[0] * p[0][1] + s[1] * p[1][1] + s[2] * p[2][1],
            s[0] * p[0][2] + s[1] * p[1][2] + s[2] * p[2][2],
        )
        check += t[0] + t[1] + t[2]
        _add_vector(t, k, nodes, e, out)
    return check


@formula
def _add_blocks(p0, p1, radii, stiffness, factor, e, slots, out):
    """Add ∂DG/∂p1 of a body times 2 · factor; return a sum that is finite if it is."""
    check, p = 0.0, _mean_axes(p0, p1)
    for k in range(3):
        s = _row(p0, p1, radii, e, stiffness, k)
        for m in range(3):
            c = _weight(radii, e, stiffness, k, m)
            for i in range(3):
                for j in range(3):
                    value = c * p[m][i] * p1[k][j] + (s[m] if i == j else 0.0)
                    if k == m:
                        for n in range(3):
                            value += _weight(radii, e, stiffness, k, n) * p[n][i] * p1[n][j]
                    check += value
                    value *= 0.0625 * factor
                    for a in range(4):
                        for b in range(4):
                            out[slots[e, a, b], i, j] += _sign(a, k) * _sign(b, m) * value
    return check


@kernel
def add_gradient(q, our, out, first, last):
    """Add ∂φ/∂q [n, 3]; return a sum that is finite if all forces are."""
    nodes, radii, check = our.nodes, our.radii, 0.0
    for e in range(first, last):
        p = _axes(q, nodes, e)
        check += _add_forces(p, p, radii, our.stiffness[e], nodes, e, out)
    return check


@kernel
def add_discrete_gradient(q0, q1, our, out, first, last):
    """Add DG(q0, q1) [n, 3]; return a sum that is finite if all forces are."""
    nodes, radii, check = our.nodes, our.radii, 0.0
    for e in range(first, last):
        p0, p1 = _axes(q0, nodes, e), _axes(q1, nodes, e)
        check += _add_forces(p0, p1, radii, our.stiffness[e], nodes, e, out)
    return check


@kernel
def add_hessian(q, our, slots, out, first, last):
    """Add ∂²φ/∂q² to blocks; return a sum that is finite if all of it is."""
    nodes, radii, check = our.nodes, our.radii, 0.0
    for e in range(first, last):
        p = _axes(q, nodes, e)
        check += _add_blocks(p, p, radii, our.stiffness[e], 1.0, e, slots, out)
    return check


@kernel
def add_discrete_hessian(q0, q1, our, slots, out, first, last):
    """Add ∂DG/∂q1 to blocks; return a sum that is finite if all of it is."""
    nodes, radii, check = our.nodes, our.radii, 0.0
    for e in range(first, last):
        p0, p1 = _axes(q0, nodes, e), _axes(q1, nodes, e)
        check += _add_blocks(p0, p1, radii, our.stiffness[e], 0.5, e, slots, out)
    return check


@kernel
def add_third(q, along, our, out, first, last):
    """Add ∇³V[along, along] [n, 3]; return a sum that is finite if all of it is.

    With the axes b of ``along``: t_k = 2 Σ_l c_kl [(b_k · b_l) p_l + (b_k · p_l + p_k · b_l) b_l].
    """
    nodes, radii, check = our.nodes, our.radii, 0.0
    for e in range(first, last):
        p, b = _axes(q, nodes, e), _axes(along, nodes, e)
        stiffness = our.stiffness[e]
        for k in range(3):
            x, y, z = 0.0, 0.0, 0.0
            for m in range(3):
                c = 2.0 * _weight(radii, e, stiffness, k, m)
                bent, slope = c * _dot(b[k], b[m]), c * (_dot(b[k], p[m]) + _dot(p[k], b[m]))
                x += bent * p[m][0] + slope * b[m][0]
                y += bent * p[m][1] + slope * b[m][1]
                z += bent * p[m][2] + slope * b[m][2]
            check += x + y + z
            _add_vector((x, y, z), k, nodes, e, out)
    return check
