"""Series in pieces: what is read is the whole, VTK opens the index, a kill between pieces and index loses a frame."""

import numpy as np
import pytest

import symplex as sx
from symplex.errors import OutputError
from symplex.meshes.series.piece_index import Piece, PieceIndex, path_of_piece
from symplex.meshes.series.pieces import new_piece
from symplex.meshes.series.series import Block, open_series, read_series, repair_series, resume_series

MESH = sx.box((2.0, 1.0, 1.0), (4, 2, 2), split="6")
TETRAHEDRA = MESH.cells["tetra"]
BAR = np.array([[0, 5], [5, 9]], np.int32)  # a truss on nodes of the body
FLOOR = Block.plane([[-1, -1, 0], [3, -1, 0], [3, 2, 0], [-1, 2, 0]])
BLOCKS = {"body": Block.of({"tetra": TETRAHEDRA}), "bars": Block.of({"line": BAR}), "floor": FLOOR}


def pieces():
    """The body in two pieces, in another order, the truss in the first."""
    is_left = MESH.points[TETRAHEDRA].mean(axis=1)[:, 0] < 0.8
    found = []
    for k, chosen in enumerate((np.flatnonzero(is_left)[::-1], np.flatnonzero(~is_left))):
        cells = {"body": ("tetra", TETRAHEDRA[chosen], chosen)} | (
            {"bars": ("line", BAR, np.arange(2))} if k == 0 else {}
        )
        numbers = np.unique(np.concatenate([rows.ravel() for _, rows, _ in cells.values()])).astype(np.int32)
        blocks = {
            name: Block.of({kind: np.searchsorted(numbers, rows).astype(np.int32)})
            for name, (kind, rows, _) in cells.items()
        }
        found.append(Piece(MESH.points[numbers], blocks, numbers, {name: at for name, (_, _, at) in cells.items()}))
    return found


def frame(i):
    """Displacement, point data and cell data of a frame."""
    random = np.random.default_rng(i)
    moved = 0.1 * i + random.standard_normal(MESH.points.shape)
    at_cells = {"von_mises": {"body": random.random(len(TETRAHEDRA))}, "axial_force": {"bars": random.random(2)}}
    return 0.5 * i, moved, {"velocity": random.random(MESH.points.shape)}, at_cells


def written(path, frames, more=0):
    """Write frames in pieces, and some more that the index does not count."""
    parts = pieces()
    index = PieceIndex(
        path, len(MESH.points), {"body": None, "bars": None, "floor": FLOOR}, [list(p.blocks) for p in parts]
    )
    writers = [new_piece(path, k, piece) for k, piece in enumerate(parts)]
    for i in range(frames + more):
        t, moved, at_points, at_cells = frame(i)
        for writer, piece in zip(writers, parts, strict=True):
            values = {
                field: {name: by_block[name][piece.cells[name]] for name in by_block if name in piece.cells}
                for field, by_block in at_cells.items()
            }
            values = {field: by_block for field, by_block in values.items() if by_block}
            writer.append(t, moved[piece.numbers], {k: v[piece.numbers] for k, v in at_points.items()}, values)
        if i < frames:
            positions = MESH.points + moved
            index.append(t, positions.min(axis=0), positions.max(axis=0))
    for one in (*writers, index):
        one.close()


def assert_as_one_file(path, tmp_path, frames):
    """Check that a series is what one file with the same frames is."""
    whole = tmp_path / "whole.vtkhdf"
    whole.unlink(missing_ok=True)
    with open_series(whole, MESH.points, BLOCKS) as writer:
        for i in range(frames):
            writer.append(*frame(i))
    a, b = read_series(whole), read_series(path)
    assert (list(a.blocks), a.point_fields, a.cell_fields) == (list(b.blocks), b.point_fields, b.cell_fields)
    np.testing.assert_array_equal(a.points, b.points)
    np.testing.assert_array_equal(a.times, b.times)
    for name, block in a.blocks.items():
        np.testing.assert_array_equal(b.blocks[name].nodes, block.nodes)
        np.testing.assert_array_equal(b.blocks[name].connectivity, block.connectivity)
        assert b.blocks[name].is_endless == block.is_endless
    np.testing.assert_array_equal(b.blocks["floor"].points, a.blocks["floor"].points)
    with b.kept_open():
        for i in range(frames):
            one, other = a.frame(i), b.frame(i)
            np.testing.assert_array_equal(other.displacement, one.displacement)
            np.testing.assert_array_equal(other.point_data["velocity"], one.point_data["velocity"])
            for field, by_block in one.cell_data.items():
                assert other.cell_data[field].keys() == by_block.keys()
                for name, values in by_block.items():
                    np.testing.assert_array_equal(other.cell_data[field][name], values)


def steps_of(path):
    """What VTK's reader finds: the times, and of the last the cells of each leaf with their first stress."""
    pyvista = pytest.importorskip("pyvista")
    from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline as Pipeline
    from vtkmodules.vtkIOHDF import vtkHDFReader

    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    times = reader.GetOutputInformation(0).Get(Pipeline.TIME_STEPS())
    reader.UpdateTimeStep(times[-1])
    return times, pyvista.wrap(reader.GetOutputDataObject(0))


def test_pieces_are_read_as_one_series(tmp_path):
    path = tmp_path / "motion.vtkhdf"
    written(path, 3)
    assert_as_one_file(path, tmp_path, 3)


def test_vtk_opens_the_index_also_where_pieces_have_more_frames(tmp_path):
    path = tmp_path / "motion.vtkhdf"
    written(path, 2, more=1)
    times, found = steps_of(path)
    assert times == (0.0, 0.5)
    assert [found["body"][k].n_cells for k in range(2)] == [len(piece.cells["body"]) for piece in pieces()]
    _, moved, _, at_cells = frame(1)
    for k, piece in enumerate(pieces()):
        np.testing.assert_array_equal(
            found["body"][k].cell_data["von_mises"],
            at_cells["von_mises"]["body"][piece.cells["body"]].astype(np.float32),
        )
    numbers = pieces()[0].numbers[pieces()[0].blocks["body"].nodes]
    np.testing.assert_allclose(found["body"][0].points, (MESH.points + moved)[numbers], atol=1e-6)
    assert found["floor"].n_cells == 1


@pytest.mark.parametrize("more", [0, 1])
def test_a_series_in_pieces_goes_on_from_whole_frames(tmp_path, more):
    path = tmp_path / "motion.vtkhdf"
    written(path, 2, more)
    with resume_series(path, 0.5, 2) as writer:
        for i in (2, 3):
            writer.append(*frame(i))
    assert_as_one_file(path, tmp_path, 4)
    with resume_series(path, 0.6) as writer:
        writer.append(*frame(2))
    assert_as_one_file(path, tmp_path, 3)


def test_what_a_kill_leaves_is_tidied_up(tmp_path):
    path = tmp_path / "motion.vtkhdf"
    written(path, 2, more=1)
    assert repair_series(path) == 2
    assert len(read_series(path_of_piece(path, 1))) == 2
    assert_as_one_file(path, tmp_path, 2)


def test_a_piece_that_is_missing_is_named(tmp_path):
    path = tmp_path / "motion.vtkhdf"
    written(path, 1)
    path_of_piece(path, 1).unlink()
    with pytest.raises(
        OutputError, match=r"piece00001\.vtkhdf does not exist; motion\.vtkhdf is in 2 pieces, of which"
    ):
        read_series(path)
