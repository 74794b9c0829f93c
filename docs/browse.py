"""Open pages of the built site in a Chromium without a screen, and say what is broken."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

# What must be seen on each: by a CSS selector.
PAGES = {
    "index.html": ".sd-card",
    "force-stepping.html": "article img",
    "implicit.html": "article div.math .eqno + math mfrac",
    "gallery/index.html": ".sd-card img",
    "gallery/oblique_impact_toml.html": "article img",
    "api/solids.html": "dl.py.class dt.sig",
    "theory.html": "article div.math .eqno + math msub mover",
    "bibliography.html": ".citation, dl.citation",
}
_READY = "return typeof state !== 'undefined' && state.ready && document.getElementById('trouble').hidden"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    *("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000"),
    *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
)
_BROKEN_PICTURES = (
    "return [...document.images].filter(one => (one.loading = 'eager') && one.complete && !one.naturalWidth)"
    ".map(one => one.src)"
)


def browser() -> Any:
    """Return a Chromium with its driver, or None where there is none."""
    binary = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    driver = shutil.which("chromedriver")
    if not binary or not driver:
        return None
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = binary
    for option in _OPTIONS:
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def complaints(site: Path, pictures: Path | None = None) -> list[str]:
    """Open the pages and return what is wrong with them.

    Parameters
    ----------
    site : Path
        Folder of the built site.
    pictures : Path, optional
        A folder to which pictures of the pages are written.
    """
    running = browser()
    if running is None:
        return ["There is no Chromium with its driver here: install chromium and chromium-driver."]
    try:
        found = [one for page, requested in PAGES.items() for one in _look(running, site, page, requested, pictures)]
        return found + [one for page in scenes(site) for one in _open_scene(running, page, pictures)]
    finally:
        running.quit()


def scenes(site: Path) -> list[Path]:
    """Return the pages of ``symplex view`` in the built site."""
    return sorted((site / "_static" / "scenes").glob("*.html"))


def _open_scene(running: Any, page: Path, pictures: Path | None) -> list[str]:
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver.support.wait import WebDriverWait

    running.get(page.resolve().as_uri())
    try:
        WebDriverWait(running, 300).until(lambda one: one.execute_script(_READY))
    except TimeoutException:
        return [f"{page.name}: the scene is not there after five minutes"]
    if pictures is not None:
        running.save_screenshot(str(pictures / f"scene_{page.stem}.png"))
    return [f"{page.name}: {entry['message']}" for entry in running.get_log("browser") if entry["level"] == "SEVERE"]


def _look(running: Any, site: Path, page: str, requested: str, pictures: Path | None) -> list[str]:
    running.get((site / page).resolve().as_uri())
    found = [f"{page}: {entry['message']}" for entry in running.get_log("browser") if entry["level"] == "SEVERE"]
    found += [f"{page}: the picture {source} is broken" for source in running.execute_script(_BROKEN_PICTURES)]
    if not running.execute_script("return document.querySelector(arguments[0])", requested):
        found.append(f"{page}: there is no {requested}")
    if pictures is not None:
        running.save_screenshot(str(pictures / f"{page.replace('/', '_')}.png"))
    return found
