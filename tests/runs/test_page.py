"""A page of a run holds the run: positions, fields and histories come back from it, within what it says."""

import shutil

import numpy as np
import pytest

from reference.pages import parts, run
from symplex.commands.cli import main
from symplex.errors import OutputError, RenderError
from symplex.meshes.pictures import packed
from symplex.runs.page.write import write_page
from symplex.runs.result import read_result


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A finished run."""
    folder = tmp_path_factory.mktemp("two") / "two-results"
    run(folder)
    return folder


@pytest.fixture(scope="module")
def page(folder):
    """The page of it."""
    return write_page(folder, folder.parent / "page.html")


def test_positions_and_fields_come_back(folder, page):
    header, array = parts(page)
    series, model = read_result(folder).series, header["model"]
    assert model["times"] == series.times.tolist()
    points, block = array(model["points"]), array(model["node_block"])
    means, numbers = array(model["means"]), array(model["displacement"])
    step, low = model["displacement"]["step"], model["displacement"]["low"]
    fields = {field["name"]: field for field in model["fields"]}
    assert set(fields) == {"displacement", *series.point_fields, *series.cell_fields}
    for k, frame in enumerate(series.frames()):
        shown = points + means[k][block] + low + step * numbers[k]
        np.testing.assert_allclose(shown, series.points + frame.displacement, atol=0.51 * step + 1e-7)
        for name in ("velocity", "von_mises"):
            field = fields[name]
            value = field["low"] + field["step"] * array(field["values"])[k]
            of = frame.point_data.get(name)
            expected = np.concatenate([*frame.cell_data[name].values()]) if of is None else of
            np.testing.assert_allclose(value, expected, atol=0.51 * field["step"] + 1e-6 * np.abs(expected).max())


def test_tetrahedra_fill_the_bodies_and_triangles_are_their_surface(page):
    header, array = parts(page)
    model = header["model"]
    points = array(model["points"]).astype(float)
    tetrahedra, triangles = array(model["tetrahedra"]), array(model["triangles"])
    corners = points[tetrahedra[:, 1:]]
    volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
    assert np.abs(volume).sum() == pytest.approx(2e-3)
    a, b, c = (points[triangles[:, k]] for k in (1, 2, 3))
    assert np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2 == pytest.approx(0.12)
    assert len(array(model["cell_block"])) == 2 * 2 * 2 * 6 + 1
    assert (tetrahedra[:, 0] == 48).sum() >= 5  # the hexahedron, divided
    # Its edges are twelve; diagonals of its faces and itself are none.
    bits = array(model["tetrahedron_edges"])
    pairs = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
    of_hexahedron = {
        frozenset((row[1 + i], row[1 + j]))
        for row, bit in zip(tetrahedra, bits, strict=True)
        if row[0] == 48
        for k, (i, j) in enumerate(pairs)
        if bit >> k & 1
    }
    assert len(of_hexahedron) == 12
    # Of the surfaces: 6 faces of 4 squares with diagonals, and 12.
    assert len(array(model["edges"])) == (2 * 3 * 2 * 6 - 24) + 24 + 12


def test_histories_come_back(folder, page):
    header, array = parts(page)
    history = read_result(folder).history
    energies = header["panels"][0]
    assert energies["title"].startswith("energies")
    total = next(curve for curve in energies["curves"] if curve["name"] == "total")
    scale = {"J": 1.0, "mJ": 1e3, "kJ": 1e-3}[energies["unit"]]
    np.testing.assert_allclose(array(total["y"]), history["total"] * scale, rtol=1e-6)
    np.testing.assert_array_equal(array(energies["t"][total["rows"]]), history["t"])


def test_long_curves_keep_their_peaks(monkeypatch):
    from symplex.runs.page import write

    rng = np.random.default_rng(3)
    y = rng.normal(size=100_000)
    rows = write._telling(y)
    assert len(rows) <= write._ROWS
    assert {0, len(y) - 1, int(y.argmax()), int(y.argmin())} <= set(rows.tolist())
    assert (np.diff(rows) > 0).all()
    assert write._telling(y[: write._ROWS]) is None


def test_a_page_needs_nothing_but_itself(page):
    text = page.read_text("utf-8")
    assert "http://" not in text
    assert "https://" not in text
    assert "default-src 'none'" in text
    assert "<b> blocks" not in text.replace("&lt;/script&gt;&lt;b&gt;", "")  # titles are words, not elements
    assert text.count("</script>") == 3


def test_frames_are_left_out_and_then_the_inside_for_a_small_page(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "_FEWEST", 8)
    series = read_result(folder).series
    everything = packed.Arrays()
    whole = packed.pack_series(series, None, everything, 10**7)
    assert whole.frames == list(range(21))
    assert not whole.is_hollow
    assert everything.size == sum(len(part) for part in everything.parts)
    found = []
    for part in (0.7, 0.45):
        arrays = packed.Arrays()
        found.append(packed.pack_series(series, None, arrays, int(part * everything.size * 4 / 3)))
        assert arrays.size <= part * everything.size
    thinned, hollow = found
    assert 8 <= len(thinned.frames) < 21
    assert thinned.frames[0] == 0
    assert thinned.frames[-1] == 20
    assert not thinned.is_hollow
    assert hollow.is_hollow
    with pytest.raises(RenderError, match=r"take more than .* MB; give a larger --max-size"):
        packed.pack_series(series, None, packed.Arrays(), 500)
    path = write_page(folder, tmp_path / "small.html", max_size=0.27)
    assert path.stat().st_size <= 270_000


def test_what_a_killed_run_has_left_is_shown(folder, tmp_path):
    killed = tmp_path / "killed"
    shutil.copytree(folder, killed)
    (killed / "summary.json").unlink()
    header, _ = parts(write_page(killed, tmp_path / "killed.html"))
    assert header["note"].startswith("killed before its end")
    (killed / "history.csv").write_bytes(b"\x00damaged")
    header, _ = parts(write_page(killed, tmp_path / "no-history.html"))
    assert header["panels"] == []
    assert "history.csv" in header["note"]
    assert header["model"]["times"]
    header, *lines = (folder / "history.csv").read_text().splitlines(keepends=True)
    (killed / "history.csv").write_text("".join([header.replace("kinetic", "cinetic"), *lines]))
    header, _ = parts(write_page(killed, tmp_path / "no-column.html"))
    assert "the history lacks 'kinetic'; it has t, cinetic" in header["note"]
    shutil.copy(folder / "history.csv", killed)
    (killed / "motion.vtkhdf").unlink()
    header, _ = parts(write_page(killed, tmp_path / "no-frames.html"))
    assert header["model"] is None
    assert "motion" in header["no_model"]
    assert header["panels"]
    (killed / "history.csv").unlink()
    with pytest.raises(OutputError, match="motion"):
        write_page(killed, tmp_path / "nothing.html")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["FOLDER", "--html", "OUT.txt"], "a page is written as .html, not '.txt'."),
        (["FOLDER", "--html", "OUT.html", "--max-size", "-1"], "above 0 MB, not -1"),
        (["FOLDER", "--html", "OUT.html", "--field", "stresses"], "has no field 'stresses'; it has: displacement"),
        (["FOLDER", "--html", "OUT.html", "--fields", "von_mises", "w"], "has no field 'w'; it has: displacement"),
        (["FOLDER", "--html", "OUT.html", "--scale", "-2"], "enlarged by a factor from 0 on, not -2."),
        (["NOWHERE", "--html", "OUT.html"], "there is no results folder"),
        (["FOLDER", "--html", "TAKEN.html"], "is no page of symplex; replace it with --overwrite"),
        (["FOLDER", "--html", "MISSING/OUT.html"], "cannot be written"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(folder, tmp_path, capsys, arguments, why):
    (tmp_path / "TAKEN.html").write_text("<html>mine</html>")
    words = {"FOLDER": str(folder), "NOWHERE": str(tmp_path / "nowhere")}
    given = [words.get(word, str(tmp_path / word) if ".html" in word or ".txt" in word else word) for word in arguments]
    assert main(["view", *given]) == 2
    reported = capsys.readouterr().err
    assert why in reported
    assert reported.count("\n") == 1
    assert (tmp_path / "TAKEN.html").read_text() == "<html>mine</html>"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["TAKEN.html"]


def test_a_page_takes_the_place_of_an_earlier_one(folder, tmp_path, capsys):
    path = tmp_path / "a.html"
    arguments = [
        "view",
        str(folder),
        "--html",
        str(path),
        "--field",
        "speed",
        "--slice",
        "z=0.05",
        "--fields",
        "velocity",
    ]
    for _ in range(2):
        assert main(arguments) == 0
    assert capsys.readouterr().out == f"{path}\n{path}\n"
    header, _ = parts(path)
    assert [field["name"] for field in header["model"]["fields"]] == ["displacement", "velocity"]
    assert header["field"] == "velocity"
    assert header["cut"] == {"across": "z", "place": 0.05}
    assert {text["title"] for text in header["texts"]} == {"summary", "conservation", "scenario"}
