"""The site, where the extra ``docs`` is installed: links, examples, and the whole of it in a browser."""

import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
MODULES = ("sphinx", "myst_parser", "pydata_sphinx_theme", "sphinx_copybutton", "sphinx_design", "sphinxcontrib.bibtex")


@pytest.fixture
def extensions(monkeypatch):
    """The extensions of docs/extensions can be imported."""
    for module in MODULES:
        pytest.importorskip(module, reason="the extra docs is not installed")
    monkeypatch.syspath_prepend(DOCS / "extensions")
    monkeypatch.syspath_prepend(DOCS)


def test_links_to_what_is_outside_lead_to_pages_of_the_site(extensions):
    from outside import turned

    text = "[a](../README.md#two-commands) [b](../examples/drop.toml) [c](view.md#cuts) [d](../pyproject.toml) [e](https://x.y)"
    assert turned(text, DOCS, DOCS) == (
        "[a](project/overview.md#two-commands) [b](gallery/drop_toml.md) [c](view.md#cuts) [d](../pyproject.toml) [e](https://x.y)"
    )
    text = "![a](docs/pictures/view.png) [b](examples) [c](docs/nowhere.md)"
    home = DOCS / "project"
    assert turned(text, DOCS.parent, home) == "![a](../pictures/view.png) [b](../gallery/index.md) [c](docs/nowhere.md)"


def test_every_example_has_a_page_with_its_command(extensions):
    from gallery import all_examples

    examples = {example.path.name: example for example in all_examples()}
    assert set(examples) == {
        path.name for path in (DOCS.parent / "examples").glob("*.*") if path.suffix in (".py", ".toml")
    }
    drop = examples["oblique_impact.toml"]
    assert drop.command == "symplex run examples/oblique_impact.toml"
    assert "oblique_impact.png" in [picture.name for picture in drop.pictures]
    assert DOCS / "kepler.md" in examples["kepler.py"].pages
    bare = {name for name, example in examples.items() if example.command and not example.pictures}
    assert bare == {"falling_climber.toml", "touching_spheres.py"}  # numbers only


def test_terms_of_other_programs_lead_to_sections(extensions):
    """The first link of each row of the glossary's table is an entry of the site's index."""
    from terms import PAGE, terms

    found = terms(PAGE.read_text("utf-8"))
    expected = {"boundary condition", "material model", "rigid surface", "history output", "field output", "sensor"}
    expected |= {"node set", "element set", "step", "tied contact", "hinge", "preload", "mass scaling", "restart"}
    assert expected | {"Rayleigh damping", "amplitude"} <= set(found)
    assert found["mass scaling"] == (DOCS / "local-steps.md", "")
    assert found["frequency response"] == (DOCS / "modes.md", "harmonic-response")
    assert found["plasticity"] == (DOCS / "plasticity.md", "")
    assert found["NLGEOM"] == (PAGE, "terms-of-other-programs")  # without a link
    assert found["install"] == (DOCS / "project/overview.md", "two-commands")  # of the README


def test_old_addresses_lead_to_pages(extensions):
    from moved import PAGES, SECTIONS, script, stub

    assert not [old for old in PAGES if (DOCS / f"{old}.md").exists()]
    assert not [page for page in (*PAGES.values(), *SECTIONS) if not (DOCS / f"{page}.md").exists()]
    assert 'url=../outputs.html"' in stub("results/probes", "outputs")
    assert '{"load-forces": "scenario/load.html"}[location.hash' in script({"load-forces": "scenario/load"})


@pytest.mark.slow
@pytest.mark.filterwarnings("default::ResourceWarning")
def test_the_site_is_built_without_warnings_and_opens_in_a_browser(extensions, tmp_path):
    done = subprocess.run(
        [sys.executable, str(DOCS / "build.py"), "--output", str(tmp_path / "html"), "--scenes", "oblique_impact"],
        capture_output=True, text=True, encoding="utf-8", timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    from browse import PAGES, browser, complaints, scenes

    assert not [page for page in PAGES if not (tmp_path / "html" / page).exists()]
    assert "oblique_impact.html" in [page.name for page in scenes(tmp_path / "html")]
    assert '<iframe class="scene"' in (tmp_path / "html/gallery/oblique_impact_toml.html").read_text("utf-8")
    running = browser()
    if running is None:
        pytest.skip("there is no Chromium with its driver here")
    running.quit()
    assert complaints(tmp_path / "html") == []
