"""Decks of users on the web: those that could be imported go on to be. They are fetched, and are no part of symplex.

A deck that cannot be fetched, or is not the one any more that was imported, is skipped.
"""

import hashlib
from urllib.error import URLError
from urllib.request import urlopen

import pytest

import symplex as sx

SECONDS = 10.0  # to fetch a deck
# By repository of GitHub: paths, with the first 16 digits of the SHA-256 of the content and how many steps it opens.
DECKS = {
    "JuliaFEM/AbaqusReader.jl": {
        "test/test_parse_mesh/cube_tet4.inp": ("5b9b9190684e39ec", 1),
        "test/test_parse_model/cube_tet4.inp": ("5ebc223acc88be01", 1),
        "test/test_parse_model_mixed_case/cube_tet4_mixed_case.inp": ("23bb9786dd92e255", 1),
    },
    "SaschaGolod/Finite-Element-Analysis-of-Composite-Materials-using-Abaqus--2nd-Edition--Ever-J.-Barbero": {
        "2020/Chapter_2/Ex_2.2/Ex_2.2.inp": ("dbce2cf7575a4355", 1),
    },
    "calculix/CalculiX-Examples": {
        "Dynamics/Discrete/MSM.inp": ("db57d5eb708f5c93", 1),
        "Test/Distributing/minimal.inp": ("d6f7cc65ab6e43ee", 3),
    },
    "calculix/beso": {
        "wiki_files/example_1/Plane_mesh.inp": ("16ca9db13b3a919a", 1),
    },
    "spolanski/CoFEA": {
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Coarse_Lin_Hex/Coarse_Lin_Hex.inp": ("c079345a4f4fc6bf", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Coarse_Lin_Tet/Coarse_Lin_Tet.inp": ("9ffe0e64ac268c3f", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Coarse_Quad_Hex/Coarse_Quad_Hex.inp": (
            "35fb4d47ec57ebd5",
            1,
        ),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Coarse_Quad_Tet/Coarse_Quad_Tet.inp": (
            "1b37b1d3c7f43507",
            1,
        ),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Fine_Lin_Hex/Fine_Lin_Hex.inp": ("5973268fc806f518", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Fine_Lin_Tet/Fine_Lin_Tet.inp": ("65100c7782126e4d", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Fine_Quad_Hex/Fine_Quad_Hex.inp": ("c281309d6cc8d19f", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_33/Fine_Quad_Tet/Fine_Quad_Tet.inp": ("bd765991eed6c0bc", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Coarse_Lin_Hex/Coarse_Lin_Hex.inp": ("0cea846d2ea736d3", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Coarse_Lin_Tet/Coarse_Lin_Tet.inp": ("690d882e07b0a41b", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Coarse_Quad_Hex/Coarse_Quad_Hex.inp": (
            "bc887b42a9e722ec",
            1,
        ),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Coarse_Quad_Tet/Coarse_Quad_Tet.inp": (
            "5de0646d3938cfc7",
            1,
        ),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Fine_Lin_Hex/Fine_Lin_Hex.inp": ("6a3fb6ffdcbc8502", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Fine_Lin_Tet/Fine_Lin_Tet.inp": ("b4b27d891451fffb", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Fine_Quad_Hex/Fine_Quad_Hex.inp": ("0ea4b40b4f8e6e57", 1),
        "benchmarks/02-cooks-membrane/calculix/poisson_0_49/Fine_Quad_Tet/Fine_Quad_Tet.inp": ("0860d02938c09f5e", 1),
        "benchmarks/07-Raasch-shell-challenge/calculix/raasch-rigidbody.inp": ("dd2b406bbebdc94a", 1),
        "benchmarks/07-Raasch-shell-challenge/calculix/raasch-surface-traction.inp": ("27ca2257524f04d9", 1),
    },
}
EVERY = [(repository, path, *known) for repository, paths in DECKS.items() for path, known in paths.items()]


@pytest.mark.slow
@pytest.mark.parametrize(("repository", "path", "digest", "steps"), EVERY, ids=lambda value: str(value)[-40:])
def test_a_deck_opens(tmp_path, repository, path, digest, steps):
    try:
        with urlopen(f"https://raw.githubusercontent.com/{repository}/HEAD/{path}", timeout=SECONDS) as answer:
            content = answer.read()
    except (URLError, OSError) as error:
        pytest.skip(f"it cannot be fetched: {error}")
    if hashlib.sha256(content).hexdigest()[:16] != digest:
        pytest.skip("it is another one by now")
    (tmp_path / "deck.inp").write_bytes(content)
    imported = sx.import_deck(tmp_path / "deck.inp", tmp_path / "out", units="mm-t-s", limit=0.0)
    assert len(imported.scenarios) >= steps, imported.report()
