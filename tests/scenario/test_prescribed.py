"""Tables in files: every row counts, and a row that is not two numbers is an error with its line."""

import codecs

import pytest

from symplex.errors import ScenarioError
from symplex.scenario.prescribed import read_table

ROWS = "0,5\n1,7\n"


def read(tmp_path, content: str | bytes):
    path = tmp_path / "record.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return read_table(path, "record.csv")


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        codecs.BOM_UTF8 + ROWS.encode(),  # as spreadsheets write it
        codecs.BOM_UTF8 + b"time,factor\r\n" + ROWS.replace("\n", "\r\n").encode(),
        ROWS.replace("\n", "\r"),
        "\n\n0,5\n\n1,7",
        " 0 , 5 \n+1.0,7e0\n",
        '"0","5"\n"1","7"\n',
        "t (s),a (g)\n" + ROWS,
        "time [s],acceleration [m/s^2]\n" + ROWS,
        "t1,m s-2,a third\n" + ROWS,
        '"time, in s",factor [1]\n' + ROWS,
        "t,inflow\n" + ROWS,
    ],
)
def test_every_row_counts_and_a_heading_has_no_number(tmp_path, content):
    assert read(tmp_path, content) == ([0.0, 1.0], [5.0, 7.0])


@pytest.mark.parametrize(
    "first",
    [
        *(
            "0;5",
            "0\t5",
            "0 5",
            "0,5,",
            "0,nan",
            "0,inf",
            "nan,nan",
            "-inf,NaN",
            "O,5",
            "0,S",
            "−1,5",
            "0,5 N",
            "0 s,x",
        ),
        *("0", "$5,a", "1_0,5", ".5;x", "0,5,6", "1e999,5", "12.3.4,x", "a,1/s", "1940-05-18,a"),
    ],
)
@pytest.mark.parametrize("heading", ["", "t,f\n", "\n\n"])
def test_a_row_that_is_no_two_numbers_is_an_error_with_its_line(tmp_path, first, heading):
    line = heading.count("\n") + 1
    with pytest.raises(ScenarioError, match=rf"^record\.csv, line {line} must have two numbers"):
        read(tmp_path, heading + first + "\n" + ROWS)


def test_numbers_beyond_what_can_be_computed_with(tmp_path):
    with pytest.raises(ScenarioError, match=r"^record\.csv, line 2: numbers must be below 1e\+30\.$"):
        read(tmp_path, "0,1\n1,1e300\n")


def test_lines_are_those_of_the_file(tmp_path):
    with pytest.raises(ScenarioError, match=r"^record\.csv, line 6 must have two numbers"):
        read(tmp_path, '"a\nb",c\n0,1\n\n1,2\n3,x\n4,y\n')


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"^record\.csv has no numbers;"),
        ("t,f\n", r"^record\.csv has no numbers;"),
        (codecs.BOM_UTF16_LE + ROWS.encode("utf-16-le"), "not a text file in UTF-8"),
        (b"\0" * 1000, r"^record\.csv has no numbers;"),
        (b"0,1\n" + b"\0" * 1000, "line 2 must have two numbers"),
        ("0," + 200_000 * "5" + "\n", "^record.csv"),
    ],
)
def test_what_is_no_table(tmp_path, content, message):
    with pytest.raises(ScenarioError, match=message) as caught:
        read(tmp_path, content)
    assert len(str(caught.value)) < 250


def test_a_folder_and_a_missing_file(tmp_path):
    with pytest.raises(ScenarioError, match=r"^record is not a file\.$"):
        read_table(tmp_path, "record")
    with pytest.raises(ScenarioError, match=r"^record cannot be read: No such file or directory\.$"):
        read_table(tmp_path / "none.csv", "record")
    with pytest.raises(ScenarioError, match=r"^record cannot be read: File name too long\.$"):
        read_table(tmp_path / ("n" * 1000), "record")
