"""A page in a real browser without a screen: it opens, moves, is cut, and its histories go along."""

import shutil
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest

from reference.pages import run
from symplex.runs.page.write import write_page

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default::ResourceWarning")]
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1200,800"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)


@pytest.fixture(scope="module")
def browser():
    """A browser without a screen, which draws by itself."""
    binary = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if not binary or not driver:
        pytest.skip("there is no Chromium with its driver here")
    webdriver = pytest.importorskip("selenium.webdriver")
    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for option in _OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    running = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield running
    running.quit()


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """The browser with the page of a run."""
    folder = tmp_path_factory.mktemp("browser")
    run(folder / "two")
    return opened(browser, write_page(folder / "two", folder / "two.html"))


def opened(browser, path: Path):
    """Open a page and wait until it is there."""
    browser.get(path.as_uri())
    until = monotonic() + 600
    while not browser.execute_script("return typeof state !== 'undefined' && state.ready"):
        assert monotonic() < until, browser.get_log("browser")
        sleep(0.05)
    return browser


def picture(browser) -> np.ndarray:
    """Return what is seen of the bodies, as numbers [height, width, 3]."""
    import imageio.v3 as imageio
    from selenium.webdriver.common.by import By

    shown = browser.find_element(By.ID, "view").screenshot_as_png
    return np.asarray(imageio.imread(BytesIO(shown)))[..., :3].astype(int)


def differs(one: np.ndarray, other: np.ndarray) -> float:
    """Return which part of the picture is different."""
    return float((np.abs(one - other).max(axis=-1) > 20).mean())


def test_the_page_opens_without_complaints_and_shows_bodies(page):
    assert page.get_log("browser") == []
    seen = picture(page)
    assert (seen.max(axis=-1) - seen.min(axis=-1) > 60).mean() > 0.02  # something coloured
    assert page.title == "Two </script><b> blocks"
    assert page.execute_script("return document.getElementById('trouble').hidden")
    assert page.execute_script("return plots.panels.every((one) => one.picture || !one.canvas.clientWidth)")


def test_time_moves_what_is_seen_and_the_histories_set_it(page):
    page.execute_script("showFrame(0)")
    first = picture(page)
    page.execute_script("const slider = byId('time'); slider.value = 20; slider.dispatchEvent(new Event('input'))")
    assert differs(first, picture(page)) > 0.02
    assert page.execute_script("return byId('clock').textContent") == "t = 4.0 ms"
    # A click in the middle of the first plot.
    page.execute_script("""
        const canvas = plots.panels[0].canvas, box = canvas.getBoundingClientRect(), f = plots.panels[0].frame;
        const at = { clientX: box.left + (f.left + f.right) / 2, clientY: box.top + 50, pointerId: 1, bubbles: true };
        canvas.setPointerCapture = () => {};
        canvas.dispatchEvent(new PointerEvent('pointerdown', at));""")
    assert page.execute_script("return state.frame") == 10
    assert page.execute_script("return state.t") == pytest.approx(2e-3, rel=0.02)


def test_play_goes_on_and_stops(page):
    page.execute_script("showFrame(0); byId('play').click()")
    until = monotonic() + 600
    while page.execute_script("return state.frame") < 3:
        assert monotonic() < until
        sleep(0.05)
    page.execute_script("byId('play').click()")
    at = page.execute_script("return state.frame")
    sleep(0.4)
    assert page.execute_script("return state.frame") == at


def test_a_cut_shows_the_inside_with_its_area(page):
    page.execute_script("showFrame(0)")
    whole = picture(page)
    choose = "byId('{}').value = '{}'; byId('{}').dispatchEvent(new Event('input'))"
    page.execute_script(choose.format("across", "z", "across"))
    page.execute_script(choose.format("cut", "plane", "cut"))
    cut = picture(page)
    assert differs(whole, cut) > 0.02
    # Both cubes are cut half way up: two squares, divided into triangles.
    area = page.execute_script("""
        const x = section(motion, motion.positions(1), [0, 0, 1], 0.05, null, false).corners;
        let area = 0;
        for (let i = 0; i < x.length; i += 12) {
          const a = [0, 1, 2].map((c) => x[i + 4 + c] - x[i + c]), b = [0, 1, 2].map((c) => x[i + 8 + c] - x[i + c]);
          area += Math.hypot(...cross(a, b)) / 2;
        }
        return area;""")
    assert area == pytest.approx(0.02, rel=1e-5)
    page.execute_script(choose.format("place", "200", "place"))
    assert differs(cut, picture(page)) > 0.01
    page.execute_script(choose.format("cut", "cells", "cut"))
    page.execute_script(choose.format("place", "900", "place"))
    # Where the middles of all cells are kept, the surface of them is that of the bodies.
    closed, kept = page.execute_script("""
        const kept = keptCells(motion, motion.positions(1), [0, 0, 1], 1.0);
        const below = keptCells(motion, motion.positions(1), [0, 0, 1], 0.05);
        return [kept.triangles.length / 6, below.triangles.length / 6];""")
    assert closed == page.execute_script("return motion.volume_triangles")
    assert 0 < kept < closed
    page.execute_script(choose.format("cut", "", "cut"))
    assert differs(whole, picture(page)) == 0.0


def test_fields_components_scale_and_enlargement(page):
    page.execute_script("showFrame(20)")
    seen = [picture(page)]
    for change in (
        "chooseField(motion.fields.findIndex((one) => one.name === 'velocity'))",
        "chooseComponent(3)",
        "byId('now').click()",
        "chooseField(motion.fields.length)",  # a colour for each body
        "byId('factor').value = '3'; byId('factor').dispatchEvent(new Event('change'))",
        "byId('faces').click()",
        "camera.look('-x'); draw()",
    ):
        page.execute_script(change)
        seen.append(picture(page))
    assert all(differs(before, after) > 0.001 for before, after in pairwise(seen))
    page.execute_script("chooseField(motion.fields.findIndex((one) => one.name === 'velocity')); chooseComponent(3)")
    low, high = page.execute_script("return state.limits")
    assert low < 0 <= high  # it falls
    assert page.execute_script("return byId('unit').textContent") == "m/s"


def test_the_conservation_report_is_there(page):
    page.execute_script("[...byId('tabs').children].find((one) => one.textContent === 'conservation').click()")
    assert "energy" in page.execute_script("return byId('texts').textContent")
    until = monotonic() + 600
    while not page.execute_script("return byId('texts').querySelector('img').naturalWidth > 300"):
        assert monotonic() < until
        sleep(0.05)
    page.execute_script("byId('tabs').children[0].click()")
    assert page.get_log("browser") == []


def test_a_run_without_frames_shows_its_histories(browser, tmp_path):
    run(tmp_path / "two")
    (tmp_path / "two" / "motion.vtkhdf").unlink()
    page = opened(browser, write_page(tmp_path / "two", tmp_path / "two.html"))
    assert "motion" in page.execute_script("return byId('trouble').textContent")
    assert page.execute_script("return plots.panels.length") > 2
    assert page.get_log("browser") == []
