"""Checkpoints whose nodes are in parts: read as whole, or refused by the file that is wrong."""

import numpy as np
import pytest

from symplex.base.checkpoint import (
    Checkpoint,
    Parts,
    files_of_parts,
    load_checkpoint,
    path_of_part,
    save_checkpoint,
    save_part,
)
from symplex.errors import OutputError

Q = np.arange(12.0).reshape(4, 3)
NODES = [np.array([2, 0]), np.array([1, 3])]


def saved(path, parts, q=Q):
    """Write a checkpoint in two parts."""
    for k, nodes in enumerate(NODES):
        save_part(path, k, parts, nodes, {"q": q[nodes], "acting": np.stack([q, 2.0 * q])[:, nodes]})
    save_checkpoint(path, Checkpoint(3, 1.5, "1.0", {}, {"n": np.array(7)}, ("t",), parts))


@pytest.fixture
def path(tmp_path):
    """Of a checkpoint in a folder with room for parts."""
    (tmp_path / "motion").mkdir()
    return tmp_path / "checkpoint.npz"


def test_parts_are_read_as_a_whole(path):
    first = Parts.after(None, 2)
    saved(path, first)
    found = load_checkpoint(path)
    assert (found.sample, found.parts, int(found.motion["n"])) == (3, first, 7)
    np.testing.assert_array_equal(found.motion["q"], Q)
    np.testing.assert_array_equal(found.motion["acting"], np.stack([Q, 2.0 * Q]))


def test_a_kill_on_the_way_to_the_next_leaves_the_one_before(path):
    first = Parts.after(None, 2)
    saved(path, first)
    second = Parts.after(first, 2)
    save_part(path, 0, second, NODES[0], {"q": -Q[NODES[0]]})
    np.testing.assert_array_equal(load_checkpoint(path).motion["q"], Q)
    saved(path, second, -Q)
    np.testing.assert_array_equal(load_checkpoint(path).motion["q"], -Q)
    assert Parts.after(second, 2).which == first.which
    assert len(files_of_parts(path)) == 4


def test_a_part_of_another_checkpoint_or_none_is_refused(path):
    first = Parts.after(None, 2)
    saved(path, first)
    place = path_of_part(path, 1, first.which)
    save_part(path, 1, Parts.after(None, 2), NODES[1], {"q": Q[NODES[1]]})
    with pytest.raises(OutputError, match=r"part00001-a\.npz cannot be read: .*of another checkpoint than checkpoint"):
        load_checkpoint(path)
    place.unlink()
    with pytest.raises(OutputError, match=r"part00001-a\.npz"):
        load_checkpoint(path)
