"""Laws as lines: strain energies from the literature, taken by name."""

from __future__ import annotations

_VOLUME = " + K/2*((J**2 - 1)/2 - log(J))"  # Simo and Taylor's; W → ∞ as the volume vanishes
_TENSION = "k1/(2*k2)*(exp(k2*max({} - 1, 0)**2) - 1)"

# Constants are in Pa but for N, Jm and k2, which are numbers. Rubber is nearly incompressible: K is the bulk modulus.
LAWS = {
    # Rivlin: μ = 2 c10, and μ = 2 (c10 + c01).
    "isochoric-neo-hookean": "c10*(I1bar - 3)" + _VOLUME,
    "isochoric-mooney-rivlin": "c10*(I1bar - 3) + c01*(I2bar - 3)" + _VOLUME,
    # Yeoh 1993, eq. 9: μ = 2 c10; stiffer at large strains by c30.
    "yeoh": "c10*(I1bar - 3) + c20*(I1bar - 3)**2 + c30*(I1bar - 3)**3" + _VOLUME,
    # Gent 1996, eq. 3: chains are stretched out where I1bar - 3 = Jm.
    "gent": "-mu*Jm/2*log(1 - (I1bar - 3)/Jm)" + _VOLUME,
    # Arruda and Boyce 1993, eq. 18: chains of N links, the series of the inverse Langevin function to five terms.
    "arruda-boyce": (
        "mu*((I1bar - 3)/2 + (I1bar**2 - 9)/(20*N) + 11*(I1bar**3 - 27)/(1050*N**2)"
        " + 19*(I1bar**4 - 81)/(7000*N**3) + 519*(I1bar**5 - 243)/(673750*N**4))" + _VOLUME
    ),
    # Blatz and Ko 1962: foamed rubber with Poisson's ratio 1/4; I2/I3 = tr C⁻¹.
    "blatz-ko": "mu/2*(I2/I3 + 2*J - 5)",
    # Holzapfel, Gasser and Ogden 2000, eqs. 70 and 71: arteries. Fibres resist tension only, and are not split into
    # a part of shape and one of volume, as a ball of such a material would else swell into a ball.
    "holzapfel-gasser-ogden": "mu/2*(I1bar - 3)" + _VOLUME + " + " + _TENSION.format("I4"),
    "holzapfel-gasser-ogden-2": (
        "mu/2*(I1bar - 3)" + _VOLUME + " + " + _TENSION.format("I4") + " + " + _TENSION.format("I6")
    ),
}
