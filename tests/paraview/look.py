"""Run by pvpython: opens files as a user of ParaView does and writes down what is seen.

    pvpython look.py FOLDER FILE ...

For each file ``FOLDER/found.json`` has its times and, for the first, a middle and the last of them, names of the
blocks, their bounds, fields and ranges of their lengths, and the bounds after warping by minus the displacement. Then
``FOLDER/FILE.png``: the file as it is shown at its last time.
"""

import json
import sys
from pathlib import Path

from paraview.simple import (
    ColorBy,
    Delete,
    GetActiveViewOrCreate,
    GetParaViewVersion,
    Hide,
    OpenDataFile,
    Render,
    ResetCamera,
    SaveScreenshot,
    Show,
    WarpByVector,
)


def output_of(proxy, t):
    proxy.UpdatePipeline(t)
    return proxy.SMProxy.GetClientSideObject().GetOutputDataObject(0)


def leaves(data, name=""):
    """Yield the name and the grid of each block, of one in a block as BLOCK/NAME."""
    if data.IsA("vtkMultiBlockDataSet"):
        for i in range(data.GetNumberOfBlocks()):
            meta = data.GetMetaData(i) if data.HasMetaData(i) else None
            called = meta.Get(data.NAME()) if meta is not None and meta.Has(data.NAME()) else ""
            yield from leaves(data.GetBlock(i), f"{name}/{called}" if name else called)
    elif data.IsA("vtkPartitionedDataSet"):
        for i in range(data.GetNumberOfPartitions()):
            yield from leaves(data.GetPartition(i), name)
    else:
        yield name, data


def lengths_of(attributes):
    """Return the range of the length of each field."""
    arrays = [attributes.GetArray(i) for i in range(attributes.GetNumberOfArrays())]
    return {array.GetName(): array.GetRange(-1 if array.GetNumberOfComponents() > 1 else 0) for array in arrays}


def blocks_of(proxy, t):
    return {
        name: {
            "points": grid.GetNumberOfPoints(),
            "cells": grid.GetNumberOfCells(),
            "bounds": grid.GetBounds(),
            "at_points": lengths_of(grid.GetPointData()),
            "at_cells": lengths_of(grid.GetCellData()),
        }
        for name, grid in leaves(output_of(proxy, t))
    }


def looked_at(path):
    """Return what is in a file and the proxy of its reader."""
    reader = OpenDataFile(path)
    reader.UpdatePipelineInformation()
    times = [float(t) for t in getattr(reader, "TimestepValues", None) or [0.0]]
    seen = {"times": times, "at": {}}
    for i in sorted({0, len(times) // 2, len(times) - 1}):
        seen["at"][i] = {"blocks": blocks_of(reader, times[i])}
        if "displacement" in [array.Name for array in reader.PointData]:
            warp = WarpByVector(Input=reader)
            warp.Vectors = ["POINTS", "displacement"]
            warp.ScaleFactor = -1.0
            seen["at"][i]["warped"] = {
                name: grid.GetBounds()
                for name, grid in leaves(output_of(warp, times[i]))
                if grid.GetPointData().HasArray("displacement")
            }
            Delete(warp)
    return seen, reader


def draw(reader, t, path):
    view = GetActiveViewOrCreate("RenderView")
    view.ViewSize = [400, 300]
    view.ViewTime = t
    shown = Show(reader, view)
    if "displacement" in [array.Name for array in reader.PointData]:
        ColorBy(shown, ("POINTS", "displacement"))
    ResetCamera(view)
    Render(view)
    SaveScreenshot(path, view)
    Hide(reader, view)


def main(folder, paths):
    version = GetParaViewVersion()
    found = {"version": [version.major, version.minor], "files": {}}
    readers = {}
    for path in paths:
        try:
            found["files"][path], readers[path] = looked_at(path)
        except RuntimeError as error:
            found["files"][path] = {"refused": str(error)}
    (folder / "found.json").write_text(json.dumps(found))
    for path, reader in readers.items():
        draw(reader, found["files"][path]["times"][-1], str(folder / f"{Path(path).name}.png"))


main(Path(sys.argv[1]), sys.argv[2:])
