"""Geometry in, pictures out: reading, generating, writing and rendering meshes; knows no mechanics."""

# Made by tests/write_stubs.py.
from symplex.meshes.bundled_meshes import bundled as bundled
from symplex.meshes.cutting import Cut as Cut
from symplex.meshes.cutting import cut_by_faces as cut_by_faces
from symplex.meshes.cutting import cut_by_plane as cut_by_plane
from symplex.meshes.formats.read import read_mesh as read_mesh
from symplex.meshes.formats.save import save_mesh as save_mesh
from symplex.meshes.generate import box as box
from symplex.meshes.generate import cube_mesh as cube_mesh
from symplex.meshes.joining import join_nodes as join_nodes
from symplex.meshes.linear_faces import divided_faces as divided_faces
from symplex.meshes.location import weights_in_cells as weights_in_cells
from symplex.meshes.mapping import ball as ball
from symplex.meshes.mapping import cylinder as cylinder
from symplex.meshes.mapping import mapped as mapped
from symplex.meshes.mesh import Mesh as Mesh
from symplex.meshes.mesh import merge as merge
from symplex.meshes.midside_nodes import quadratic as quadratic
from symplex.meshes.pictures.film import render_film as render_film
from symplex.meshes.pictures.render import render_snapshots as render_snapshots
from symplex.meshes.pictures.view import View as View
from symplex.meshes.series.frames import Block as Block
from symplex.meshes.series.series import open_series as open_series
from symplex.meshes.series.series import read_series as read_series
from symplex.meshes.series.series import repair_series as repair_series
