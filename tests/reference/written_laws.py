"""Laws as users write them in Python, which elements ask in NumPy."""

import symplex as sx


class Written(sx.Material):
    """A law as its NumPy functions only, which elements know nothing more of."""

    def __init__(self, law):
        self.density, self.objective, self.law = law.density, law.objective, law

    def energy_density(self, C):
        return self.law.energy_density(C)

    def stress(self, C):
        return self.law.stress(C)

    def tangent(self, C):
        return self.law.tangent(C)

    def discrete_stress(self, C0, C1):
        return self.law.discrete_stress(C0, C1)

    def discrete_tangent(self, C0, C1):
        return self.law.discrete_tangent(C0, C1)

    def stress_curvature(self, C, H):
        return self.law.stress_curvature(C, H)
