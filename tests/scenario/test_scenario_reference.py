"""The reference of scenario files names every key, and its example is valid."""

import re

import pytest

from symplex.scenario.actions import History, Turn
from symplex.scenario.bodies import Instance, MeshTable
from symplex.scenario.equations import TermTable
from symplex.scenario.materials import MaterialTable
from symplex.scenario.rigid import ShapeTable
from symplex.scenario.scenario import Scenario
from symplex.scenario.start import Perturbation
from symplex.scenario.tables import MODELS
from symplex.scenario.trusses import BarMaterial, TrussMesh


@pytest.fixture(scope="module")
def reference(pytestconfig):
    """The text of the reference."""
    return (pytestconfig.rootpath / "docs" / "scenario.md").read_text("utf-8")


def test_every_key_is_in_the_reference(reference):
    models = [m for model in MODELS.values() for m in (model.values() if isinstance(model, dict) else [model])]
    inner = [
        MaterialTable,
        MeshTable,
        History,
        Turn,
        Instance,
        TrussMesh,
        BarMaterial,
        ShapeTable,
        Perturbation,
        TermTable,
    ]
    keys = {field.alias or name for m in [*models, *inner] for name, field in m.model_fields.items()}
    words = set(re.findall(r"[a-z_][a-z_0-9]*", " ".join(re.findall(r"`([^`\n]*)`", reference))))
    assert keys - words == set()


def test_the_example_is_valid(reference):
    example = re.search(r"```toml\n(.*?)```", reference, re.DOTALL)
    assert Scenario.parse(example.group(1)).build().system.n_nodes == 71
