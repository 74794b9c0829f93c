"""Geometry in, pictures out: reading, generating, writing and rendering meshes; knows no mechanics."""

from symplex.base.lazy import public

__all__, __getattr__, __dir__ = public(
    __name__,
    {
        ".bundled_meshes": ("bundled",),
        ".formats.read": ("read_mesh",),
        ".formats.save": ("save_mesh",),
        ".generate": ("box", "cube_mesh"),
        ".linear_faces": ("divided_faces",),
        ".cutting": ("Cut", "cut_by_faces", "cut_by_plane"),
        ".joining": ("join_nodes",),
        ".mapping": ("ball", "cylinder", "mapped"),
        ".location": ("weights_in_cells",),
        ".mesh": ("Mesh", "merge"),
        ".midside_nodes": ("quadratic",),
        ".pictures.film": ("render_film",),
        ".pictures.render": ("render_snapshots",),
        ".pictures.view": ("View",),
        ".series.series": ("Block", "open_series", "read_series", "repair_series"),
    },
)
