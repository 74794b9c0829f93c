"""The notebook of the examples runs from its first cell to its last, and shows what it says."""

from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


@pytest.mark.slow
def test_the_notebook_runs_and_shows_tables_pictures_and_a_film(tmp_path, can_draw):
    if not can_draw:
        pytest.skip("no OpenGL here")
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # it is kept without
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [
        {kind for output in cell.outputs for kind in output.get("data", {})}
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]
    assert "text/html" in shown[0]  # the mesh as a table
    assert sum("image/png" in kinds for kinds in shown) == 3
    assert "text/html" in shown[-1]
