"""Peaks of contact forces in a summary: those of the mesh's own vibrations are filtered out."""

import numpy as np
import pytest

from symplex.runs.summary import filtered_peak

T = np.linspace(0.0, 3.0, 60_001)


def pulse(start, duration=1.0, height=1.0):
    """A blow as Hertz's: sin^1.5, nearly."""
    phase = np.clip((T - start) / duration, 0.0, 1.0)
    return height * np.sin(np.pi * phase) ** 1.5


def peak(force):
    return filtered_peak(T, np.column_stack([0.6 * force, 0.0 * force, -0.8 * force]))


def test_a_smooth_blow_keeps_its_peak():
    assert peak(pulse(0.5)) == pytest.approx(1.0, abs=0.01)
    assert peak(0.0 * T) == 0.0


def test_ringing_is_filtered_out():
    force = pulse(0.5) * (1.0 + np.cos(2.0 * np.pi * 53.0 * T))
    assert force.max() > 1.9
    assert peak(force) == pytest.approx(1.0, abs=0.05)


def test_so_is_a_contact_in_many_short_blows():
    force = pulse(0.5) * np.where((100.0 * T) % 1.0 < 0.1, 10.0, 0.0)
    assert force.max() > 9.0
    assert peak(force) == pytest.approx(1.0, abs=0.15)


def test_of_several_contacts_each_has_its_peak():
    """The pause between them does not count to the time that is averaged over."""
    assert peak(pulse(0.1, 0.5) + pulse(1.5, 0.4, height=0.5) + pulse(2.4, 0.3, height=2.0)) == pytest.approx(
        2.0, rel=0.03
    )


def test_a_contact_of_one_sample_has_the_force_of_that():
    force = np.where(np.arange(len(T)) == 700, 3.0, 0.0)
    assert peak(force) == pytest.approx(3.0)


def test_a_force_that_lasts_to_the_end_counts():
    assert peak(np.where(T > 1.0, 2.0, 0.0)) == pytest.approx(2.0, rel=1e-12)
