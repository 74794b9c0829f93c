"""The example of local time steps makes the numbers that its documentation claims."""

import pytest


@pytest.mark.slow
def test_a_bracket_a_horn_and_a_resonance(run_script, tmp_path):
    numbers = run_script("local_steps.py", tmp_path, "--across", "2")
    # Where one level is best it takes the same elements at a step that is a smaller part of the stable one.
    for name, gain in (("bracket", 0.85), ("horn", 2.4)):
        of = numbers[name]
        assert of["times fewer elements"] > gain
        assert of["change of energy / exchanged"] < 0.01
        assert of["change of momenta / largest"] < 1e-13
        assert of["difference of positions / largest displacement"] < 2e-3
    assert numbers["bracket"]["levels"] == 1
    assert numbers["horn"]["levels"] >= 6
    assert numbers["largest growth per kick"] == pytest.approx(numbers["by the trace"], rel=0.05)
    assert (tmp_path / "local_steps.png").stat().st_size > 20_000
