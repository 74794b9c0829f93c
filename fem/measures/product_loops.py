"""Products of Hessians of laws of measures with nodal vectors, φ'' (n·v) n + φ' H v (`symplex.fem.measures.loops`)."""

from symplex.fem.compiled.kernels import uncounted_kernel as kernel
from symplex.fem.measures.cut_off import curvature, slope
from symplex.fem.measures.loops import add_vector
from symplex.fem.measures.relative import bend_of, difference, dot, gradient_of, relative, sum_of


@kernel
def add_hessian_product(q, along, our, out, first, last):
    """Add ∇²V along [n, dim]; return a sum that is finite if all of it is."""
    nodes, measure, law, a, b, end = our.nodes, our.measure, our.law, our.a, our.b, our.end
    check = 0.0
    for e in range(first, last):
        d = relative(q, nodes, e, measure)
        m, n = gradient_of(measure, d)
        first, second = slope(law, a[e], b[e], end, m), curvature(law, a[e], b[e], end, m)
        if first == 0.0 and second == 0.0:
            continue
        v = difference(along, nodes, e)
        rate = second * dot(n, v)
        check += first + rate
        add_vector(sum_of(sum_of((0.0, 0.0, 0.0), rate, n), first, bend_of(measure, d, v)), nodes, e, out)
    return check
