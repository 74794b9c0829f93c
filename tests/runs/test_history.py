"""Histories: exact numbers back, also after a cut and a resume."""

import json

import numpy as np
import pytest

from symplex.base.columns import Column
from symplex.errors import OutputError
from symplex.runs.history import HistoryWriter, columns_of, read_history


def row(i):
    return {"t": i / 3, "kinetic": 1 / (i + 1), "total": np.float64(1.1) ** i}


def write(path, count):
    with HistoryWriter(path) as history:
        for i in range(count):
            history.append(row(i))


def test_numbers_come_back_exactly(tmp_path):
    write(tmp_path / "history.csv", 50)
    history = read_history(tmp_path / "history.csv")
    assert list(history) == ["t", "kinetic", "total"]
    for name, values in history.items():
        np.testing.assert_array_equal(values, [row(i)[name] for i in range(50)])


def test_each_row_is_there_at_once(tmp_path):
    with HistoryWriter(tmp_path / "history.csv") as history:
        history.append(row(0))
        assert len(read_history(tmp_path / "history.csv")["t"]) == 1


def test_a_torn_last_line_is_left_out_and_repaired_by_resuming(tmp_path):
    path = tmp_path / "history.csv"
    write(path, 5)
    path.write_text(path.read_text()[:-3])
    assert len(read_history(path)["t"]) == 4
    with HistoryWriter.resume(path, up_to=2 / 3) as history:
        history.append(row(7))
    np.testing.assert_array_equal(read_history(path)["t"], [0, 1 / 3, 2 / 3, 7 / 3])


def test_bad_rows_and_files_are_refused(tmp_path):
    path = tmp_path / "history.csv"
    with HistoryWriter(path) as history:
        history.append(row(0))
        with pytest.raises(OutputError, match="'work'"):
            history.append(row(1) | {"work": 1.0})
        with pytest.raises(OutputError, match="'total' is nan"):
            history.append(row(1) | {"total": np.nan})
    with pytest.raises(OutputError, match="exists already"):
        HistoryWriter(path)
    with pytest.raises(OutputError, match="does not exist"):
        read_history(tmp_path / "other.csv")
    with pytest.raises(OutputError, match="cannot be written"):
        HistoryWriter(tmp_path / "missing" / "history.csv")
    path.write_text("t,kinetic\n0,1\n1,x\n")
    with pytest.raises(OutputError, match="line 3"):
        read_history(path)
    path.write_text("a,b\n")
    with pytest.raises(OutputError, match="not a history"):
        read_history(path)


DECLARED = {
    "t": Column("t", "s", "time"),
    "swing": Column("swing", "rad", "other", plot="angles", summary="peak"),
    "kinetic": Column("kinetic", "J", "energy"),
    "unused": Column("unused"),
}


def declared(path):
    with HistoryWriter(path, DECLARED) as history:
        history.append({"t": 0.0, "swing": 1.0, "kinetic": 2.0})
    return path.with_name("history.json")


def test_what_columns_are_is_beside_them(tmp_path):
    path = tmp_path / "history.csv"
    next_to = declared(path)
    assert read_history(path).columns == {name: DECLARED[name] for name in ("t", "swing", "kinetic")}
    assert [column["name"] for column in json.loads(next_to.read_text("utf-8"))["columns"]] == ["t", "swing", "kinetic"]
    assert columns_of(dict(read_history(path)))["swing"] == Column("swing")  # a mapping has names only
    assert np.genfromtxt(path, delimiter=",", names=True).dtype.names == ("t", "swing", "kinetic")


def test_a_history_of_an_earlier_version_tells_by_names_what_columns_are(tmp_path):
    path = tmp_path / "history.csv"
    next_to = declared(path)
    next_to.unlink()
    names = "t,kinetic,block,total,work_push,balance,momentum_x,contact_force_x,events,own"
    path.write_text(f"{names}\n{'0,' * 9}0\n")
    columns = read_history(path).columns
    kinds = ["time", "energy", "energy", "total", "work", "total", "momentum", "force", "count", "other"]
    assert [column.kind for column in columns.values()] == kinds
    assert [column.unit for column in columns.values()] == ["s", *["J"] * 5, "kg m/s", "N", "", ""]
    with HistoryWriter.resume(path, 0.0, DECLARED):
        assert next_to.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"columns": 3}', '{"columns": [{"unit": "J"}]}'])
def test_a_damaged_declaration_is_refused_with_a_way_out(tmp_path, text):
    path = tmp_path / "history.csv"
    declared(path).write_text(text)
    with pytest.raises(OutputError, match=r"history\.json cannot be read.*remove it: the names then") as reported:
        read_history(path)
    assert "\n" not in str(reported.value)
    with HistoryWriter.resume(path, 0.0, DECLARED):
        assert read_history(path).columns["swing"] == DECLARED["swing"]
