"""Anisotropic elasticity: engineering constants, turned axes, and the isotropic case."""

from __future__ import annotations

import numpy as np
import pytest

import symplex as sx
from symplex.errors import InvalidSystem, MaterialError

E, NU, G = (60e9, 30e9, 10e9), (0.2, 0.3, 0.4), (9e9, 6e9, 4e9)


def strains(n=6):
    F = np.eye(3) + 0.05 * np.random.default_rng(3).standard_normal((n, 3, 3))
    return np.einsum("pki,pkj->pij", F, F)


def turn():
    axis = np.array([1.0, 2.0, -1.0]) / np.sqrt(6.0)
    K = np.cross(np.eye(3), -axis)
    return np.eye(3) + np.sin(0.7) * K + (1 - np.cos(0.7)) * K @ K


def test_with_isotropic_constants_it_is_saint_venant_and_kirchhoffs_law():
    young, nu = 70e9, 0.33
    shear = young / (2 * (1 + nu))
    ours = sx.AnisotropicElastic.orthotropic([young] * 3, [nu] * 3, [shear] * 3, 2700.0)
    theirs = sx.SaintVenantKirchhoff.from_young(young, nu, 2700.0)
    C = strains()
    assert np.allclose(ours.stress(C), theirs.stress(C), rtol=1e-12, atol=1e-3)
    assert np.allclose(ours.energy_density(C), theirs.energy_density(C), rtol=1e-12)
    assert ours.lame_constants == pytest.approx(theirs.lame_constants)
    assert ours.young == pytest.approx(young)
    assert ours.wave_speed >= theirs.wave_speed


@pytest.mark.parametrize("i", range(3))
def test_a_tension_along_an_axis_has_its_modulus_and_contractions(i):
    material = sx.AnisotropicElastic.orthotropic(E, NU, G, 1000.0, small=True)
    compliance = np.linalg.inv(material.tangent(np.eye(3)[None])[0][:, :, [0, 1, 2], [0, 1, 2]][[0, 1, 2], [0, 1, 2]])
    strain = np.diag(compliance[:, i])
    stress = material.stress((np.eye(3) + 2 * strain)[None])[0]
    assert np.allclose(stress, np.diag(np.eye(3)[i]), atol=1e-5)
    assert strain[i, i] == pytest.approx(1 / E[i])
    ratio = {(0, 1): NU[0], (0, 2): NU[1], (1, 2): NU[2]}
    for j in set(range(3)) - {i}:
        nu = ratio[i, j] if (i, j) in ratio else ratio[j, i] * E[i] / E[j]
        assert strain[j, j] == pytest.approx(-nu / E[i])


def test_turned_axes_turn_the_stress():
    plain = sx.AnisotropicElastic.orthotropic(E, NU, G, 1000.0)
    R = turn()  # its columns are the axes
    turned = sx.AnisotropicElastic.orthotropic(E, NU, G, 1000.0, axes=R.T)
    C = strains()
    assert np.allclose(turned.stress(R @ C @ R.T), R @ plain.stress(C) @ R.T, atol=1.0)
    assert turned.wave_speed == pytest.approx(plain.wave_speed)
    turned.verify()


def test_the_work_of_the_discrete_stress_is_the_change_of_energy():
    material = sx.AnisotropicElastic.orthotropic(E, NU, G, 1000.0, axes=turn().T)
    C0, C1 = strains(3), strains(6)[3:]
    work = 0.5 * np.einsum("pij,pij->p", material.discrete_stress(C0, C1), C1 - C0)
    assert np.allclose(work, material.energy_density(C1) - material.energy_density(C0), rtol=1e-10)


def test_its_directions_are_its_own():
    mesh = sx.box((1.0, 1.0, 1.0), (1, 1, 1))
    material = sx.AnisotropicElastic.orthotropic(E, NU, G, 1000.0, axes=turn().T)
    assert np.allclose(np.linalg.norm(material.directions, axis=1), 1.0, rtol=1e-15)
    assert not len(sx.AnisotropicElastic.orthotropic(E, NU, G, 1000.0, small=True).directions)
    with pytest.raises(InvalidSystem, match="AnisotropicElastic has no fibres, but is given their directions"):
        sx.Solid(mesh.points, mesh.cells["tetra"], material, fibres=np.ones((6, len(mesh.cells["tetra"]), 3)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"stiffness": np.eye(5)}, "6 × 6"),
        ({"stiffness": np.diag([1.0] * 5 + [-1.0])}, "least eigenvalue is -1 Pa"),
        ({"stiffness": np.triu(np.ones((6, 6))) + 9 * np.eye(6)}, "not symmetric"),
        ({"density": 0.0}, "density"),
        ({"axes": [[1, 0, 0], [2, 0, 0]]}, "span no plane"),
        ({"axes": [1, 0, 0]}, "two directions"),
    ],
)
def test_impossible_constants_are_refused(change, message):
    with pytest.raises(MaterialError, match=message):
        sx.AnisotropicElastic(**({"stiffness": np.eye(6), "density": 1.0} | change))


def test_impossible_engineering_constants_are_refused():
    with pytest.raises(MaterialError, match="three positive"):
        sx.AnisotropicElastic.orthotropic((1.0, 1.0, 0.0), NU, G, 1000.0)
    with pytest.raises(MaterialError, match="give energy back"):
        sx.AnisotropicElastic.orthotropic((1.0, 9.0, 1.0), (0.9, 0.0, 0.0), (1.0, 1.0, 1.0), 1000.0)
