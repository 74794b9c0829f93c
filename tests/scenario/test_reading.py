"""Tables are read by their annotations: each mistake has one line with its place."""

import pickle
from typing import Annotated, Any, ClassVar, Literal

import pytest

from symplex.base.quantities import Key, Text, positive
from symplex.scenario.reading import Keys, fields_of, keys_of, read


class Inner(Keys):
    size: Annotated[float, positive("m"), "How large."]
    word: Literal["one", "two"] = "one"

    @classmethod
    def _prepared(cls, value: Any) -> Any:
        return {"size": value} if isinstance(value, float) else value


class Outer(Keys):
    begin: Annotated[float, positive("s"), Key("from")] = 1.0
    inner: Inner | None = None
    several: Annotated[list[Inner], "Some."] = []
    by_name: dict[Text, Inner] = {}
    yes: bool = False

    def _check(self) -> None:
        if self.yes and self.begin > 2.0:
            raise ValueError("yes is for early ones")


class Narrow(Outer):
    by_name: ClassVar[dict[str, Inner]] = {}
    last: Annotated[str, "Text."] = "end"

    def _check_last(self) -> None:
        if self.last == "never":
            raise ValueError("last must come")


def lines_of(model, value, here=""):
    lines: list[str] = []
    assert (read(model, value, lines, here) is None) == bool(lines)
    return lines


def test_values_are_kept_as_checked_and_others_are_defaults():
    table = read(Outer, {"from": 2, "several": [0.5, {"size": 3.0, "word": "two"}], "by_name": {"a": 1.5}}, lines := [])
    assert lines == []
    assert table == Outer(
        **{"from": 2.0, "several": [Inner(size=0.5), Inner(size=3.0, word="two")], "by_name": {"a": 1.5}}
    )
    assert (table.begin, table.inner, table.yes) == (2.0, None, False)
    assert table.given_keys == {"begin", "several", "by_name"}
    assert pickle.loads(pickle.dumps(table)) == table
    assert repr(table.several[0]) == "Inner(size=0.5, word='one')"
    assert table.replaced(yes=True).given_keys == table.given_keys
    assert table.replaced(yes=True) != table


def test_tables_cannot_be_changed_and_do_not_share_defaults():
    with pytest.raises(AttributeError, match="Outer is frozen"):
        Outer().yes = True
    Outer().several.append(Inner(size=1.0))
    assert Outer().several == []


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, ["must be a table, got 1."]),
        ({"start": 1.0}, ["unknown key 'start'; known are: from, inner, several, by_name, yes."]),
        ({"form": 1.0, "yes": 1}, ["yes must be true or false, got 1.", "unknown key 'form'; did you mean 'from'?"]),
        ({"begin": 1.0}, ["unknown key 'begin'; known are: from, inner, several, by_name, yes."]),
        ({"inner": {}}, ["inner.size is missing (m)."]),
        ({"inner": {"sizes": 1}}, ["unknown key 'sizes' in inner; did you mean 'size'?"]),
        ({"inner": -1.0}, ["inner.size must be positive, got -1 m."]),
        ({"several": [1.0, 2, {"size": 1.0, "word": "tow"}]}, 2),
        ({"several": {}}, ["several must be a list, got {}."]),
        ({"by_name": {"a": {"size": 0}, "b": True}}, 2),
        ({"by_name": []}, ["by_name must be a table, got []."]),
        ({"yes": True, "from": 3.0}, ["yes is for early ones."]),
        ({"yes": True, "from": -3.0}, ["from must be positive, got -3 s."]),
    ],
)
def test_each_mistake_has_a_line(value, expected):
    found = lines_of(Outer, value)
    assert len(found) == expected if isinstance(expected, int) else found == expected
    if expected == 2:
        assert all(line.startswith(("several.2 must be", "several.3.word must be", "by_name.")) for line in found)


def test_subclasses_have_the_keys_and_checks_of_their_bases():
    assert keys_of(Narrow) == ("from", "inner", "several", "yes", "last")
    assert fields_of(Inner)["size"].is_required
    assert lines_of(Narrow, {"by_name": {}}, "it") == [
        "unknown key 'by_name' in it; known are: from, inner, several, yes, last."
    ]
    assert lines_of(Narrow, {"yes": True, "from": 3.0, "last": "never"}) == ["yes is for early ones."]
    assert lines_of(Narrow, {"last": "never"}) == ["last must come."]
