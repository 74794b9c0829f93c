"""What acts on a system: mass, supports at rest and in motion, loads and damping."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".accelerograms": ("corrected_baseline",),
        ".centrifugal": ("Centrifugal",),
        ".combined_motion": ("CombinedMotion",),
        ".coriolis": ("Coriolis",),
        ".dampers": ("MeanDashpot", "QuadraticDrag"),
        ".damping": ("Dashpots", "Drag", "StiffnessDamping"),
        "..energies.differentiable_load": ("DifferentiableLoad",),
        ".energy_load": ("EnergyLoad",),
        ".increment_load": ("IncrementLoad",),
        "..energies.inelastic": ("Inelastic",),
        "..energies.rate_independent": ("RateIndependent",),
        ".loads": ("Gravity", "NodalForce", "NodalLoad", "Pressure", "SurfaceTraction"),
        ".mass": ("bar_mass", "consistent_bar_mass", "consistent_mass", "lumped_mass", "mixed_mass"),
        ".mass_scaling": ("ScaledMass", "scaled_mass"),
        ".support_motion": ("SupportMotion", "SupportRotation", "SupportTranslation"),
        ".supports": ("fixed_mask",),
        ".thermal_load": ("ThermalLoad",),
        ".time_function": ("TimeFunction",),
    },
)
