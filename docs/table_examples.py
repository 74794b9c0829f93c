"""Examples of the reference of scenarios, by table and kind; together they have every key.

A test reads each of them as a scenario, with those tables of `HOST` whose names are in it, and builds what it
describes.
"""

from __future__ import annotations

HOST = {
    "beam": """
[[body]]
name = "beam"
mesh = { box = [1.0, 0.1, 0.1], cells = [4, 1, 1], split = "6" }
material = { young = 1e9, poisson = 0.3, density = 1000, expansion = 1e-5 }
""",
    "block": """
[[body]]
name = "block"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "hexahedra" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
translate = [0.9, 0, 0.1]
""",
    "mast": """
[[truss]]
name = "mast"
mesh = { lattice = [0.1, 0.1, 0.4], cells = [1, 1, 4] }
section = 1e-4
material = { young = 2e11, density = 7850 }
translate = [0, 2, 0]
""",
    "girder": """
[[beam]]
name = "girder"
mesh = { line = 2.0, bars = 4 }
up = [0, 0, 1]
section = { kind = "box", height = 0.1, width = 0.06, thickness = 0.004 }
material = { young = 2.1e11, poisson = 0.3, density = 7850 }
translate = [0, 4, 0]
""",
    "flap": """
[[rigid_body]]
name = "flap"
mesh = { box = [0.4, 0.2, 0.02] }
density = 1000
translate = [0, 6, 0]
""",
    "ball": """
[[point_mass]]
name = "ball"
mass = 2
position = [1, 2, 0]
""",
    "floor": """
[[obstacle]]
name = "floor"
kind = "half-space"
point = [0, 0, -1]
normal = [0, 0, 1]
stiffness = 1e6
""",
    "seam": """
[[contact]]
name = "seam"
begins = "touch"
""",
    "clamp": """
[[support]]
name = "clamp"
body = "beam"
group = "x_min"
displacement = [0, 0, 1e-3]
history = { kind = "sine", frequency = 30 }
""",
    "push": """
[[load]]
name = "push"
kind = "nodal"
body = "beam"
group = "x_max"
force = [0, 0, 10]
history = { kind = "sine", frequency = 30 }
""",
}

_MATERIALS = (
    'law = "saint-venant-kirchhoff", young = 70e9, poisson = 0.33, density = 2700, expansion = 2.3e-5',
    'law = "neo-hookean", lambda = 60.5e9, mu = 26e9, density = 2700, viscosity = 1e3, bulk_viscosity = 2e3',
    "young = 1e7, poisson = 0.4, density = 1000, viscous = [{ ratio = 0.3, time = 0.01 }, { ratio = 0.1, time = 1 }]",
    "young = 1e7, poisson = 0.4, density = 1000, viscous = [{ modulus = 1e6, time = 0.01 }]",
    "young = 117e9, poisson = 0.35, density = 8930, yield_stress = 0.4e9, hardening = 0.1e9",
    "young = 124e9, poisson = 0.34, density = 8960, yield_stress = 9e7, power_modulus = 2.92e8, power = 0.31, "
    "reference_rate = 1.0, rate_factor = 0.025, heat_capacity = 383, heat_fraction = 0.9, temperature = 293.15, "
    "melting_temperature = 1356, reference_temperature = 293.15, softening_exponent = 1.09",
    "young = 200e9, poisson = 0.3, density = 7850, yield_stress = 2.5e8, back_modulus = 2e10, recovery = 100.0",
    "young = 200e9, poisson = 0.3, density = 7850, yield_stress = 2.5e8, reference_rate = 40.4, rate_exponent = 0.2",
    "young = 70e9, poisson = 0.33, density = 2700, yield_stress = 2.4e8, failure_strain = 0.5",
    "young = 200e9, poisson = 0.3, density = 7850, yield_stress = 7.9e8, failure_johnson_cook = [0.05, 3.44, -2.12, "
    "0.002, 0], failure_stress = 3e9, failure_tension = 2e9, failure_time_step = 1e-9",
    "young = 70e9, poisson = 0.33, density = 2700, yield_stress = 2.4e8, saturation_stress = 3e8, saturation_rate = 9, "
    'return_mapping = "mean-normal"',
    "young = 210e9, poisson = 0.3, density = 7850, yield_table = [[0, 2.5e8], [0.05, 3.5e8], [0.2, 4.5e8]]",
    'law = "mooney-rivlin", c10 = 3e5, c01 = 1e5, bulk = 1e8, density = 1100',
    'law = "anisotropic", moduli = [12e9, 0.6e9, 0.4e9], poisson_ratios = [0.4, 0.4, 0.3], '
    "shear_moduli = [0.7e9, 0.6e9, 0.05e9], axes = [[1, 1, 0], [0, 0, 1]], density = 500",
    'law = "linear-anisotropic", stiffness = [2e9, 1e9, 2e9, 1e9, 1e9, 2e9, 5e8, 5e8, 5e8], density = 500',
    'law = "mu/2*(I1bar - 3) + K/2*(J - 1)**2 + k*(I4 - 1)**2", mu = 1e6, K = 1e8, k = 1e6, fibres = [1, 0, 0], '
    "density = 1100",
)

EXAMPLES: dict[str, dict[str, list[str]]] = {
    "body": {
        "": [
            """
[[body]]
name = "bracket"
mesh = { bundled = "bracket" }
material = { law = "neo-hookean", young = 70e9, poisson = 0.33, density = 2700 }
rotate = { axis = [1, 0, 0], degrees = 90 }
translate = [0, 0, 0.2]
velocity = [0, 0, -3]
angular_velocity = [0, 1, 0]
""",
            """
[[body]]
name = "part"
mesh = { file = "part.msh" }     # or mesh = "part.msh"
group = "volume"
scale = 1e-3
repair = true
formulation = "full"
mass = "consistent"
material = { young = 210e9, poisson = 0.3, density = 7850 }
""",
            """
[[body]]
name = "strip"
quadratic = true
mesh.box = [0.2, 0.01, 0.01]
mesh.cells = [20, 1, 2]
mesh.split = "6"
mesh.regions = { steel = [[0, 0, 0], [0.2, 0.01, 0.005]], copper = [[0, 0, 0.005], [0.2, 0.01, 0.01]] }

[body.materials]
steel = { young = 210e9, poisson = 0.3, density = 7850 }
copper = { young = 120e9, poisson = 0.34, density = 8960 }
""",
            """
[[body]]
name = "later"
mesh = { box = [0.5, 0.1, 0.1], cells = [2, 1, 1], split = "6" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
translate = [1, 0, 0]
from = 2e-4                        # its elements have no stress in the shape that they have then
until = 8e-4

[[tie]]
body = "beam"
to = "later"
""",
            """
[[body]]
name = "blade"
mesh = { box = [0.4, 0.1, 0.02], cells = [8, 2, 1], regions = { root = [[0, 0, 0], [0.1, 0.1, 0.02]] } }
material = { young = 70e9, poisson = 0.33, density = 2700 }
translate = [0, 0, -2]
rigid = "root"                     # the rigid body "blade.root"
""",
            """
[[body]]
name = "tube"
quadratic = true
mesh.cylinder = { radius = 0.1, inner = 0.05, length = 0.4, cells = [2, 6, 4], degrees = 90, grading = 2, split = "24" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
translate = [0, 0, -3]
""",
            """
[[body]]
name = "shell"
mesh.ball = { radius = 0.1, inner = 0.08, cells = [1, 8], symmetry = "xy", grading = 0.5, split = "hexahedra" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
translate = [0, 0, -4]
""",
            """
[[body]]
name = "ring"                      # r, φ and z are mapped to x, y and z; the ends of the strip are joined
quadratic = true
mesh.box = [0.02, 1.0, 0.02]
mesh.cells = [1, 12, 1]
mesh.split = "hexahedra"
mesh.map = ["(0.1 + x)*cos(2*pi*y)", "(0.1 + x)*sin(2*pi*y)", "z"]
material = { young = 1e9, poisson = 0.3, density = 1000 }
translate = [0, 0, -5]
""",
            """
[[body]]
name = "link"
mesh = { box = [0.3, 0.02, 0.02], cells = [12, 2, 2], split = "hexahedra" }
material = { young = 70e9, poisson = 0.33, density = 2700 }
translate = [0, 0, -2]
reduced = { modes = 6, interfaces = ["x_min", "x_max"] }
""",
            """
[[body]]
name = "cube"
mesh = { cube = "I" }
material = { lambda = 60.5e9, mu = 26e9, density = 2700 }

[[body.instance]]
name = "left"

[[body.instance]]
name = "right"
rotate = { axis = [0, 0, 1], degrees = 45 }
translate = [0.3, 0, 0]
velocity = [-10, 0, 0]
angular_velocity = [0, 0, 5]
""",
            """
[[body]]
name = "seal"
mesh = { box = [0.1, 0.1, 0.1], cells = [2, 2, 2], split = "hexahedra" }
material = { young = 1e7, poisson = 0.45, density = 1100 }
massless = "z_min"
""",
            *(
                f"""
[[body]]
name = "block"
mesh = {{ box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "hexahedra" }}
material = {{ {material} }}
"""
                for material in _MATERIALS
            ),
        ]
    },
    "truss": {
        "": [
            """
[[truss]]
name = "mast"
mesh = { lattice = [0.5, 0.5, 2.0], cells = [1, 1, 4], diagonals = "cross" }
section = 1e-4
material = { young = 210e9, density = 7850 }
rotate = { axis = [0, 1, 0], degrees = 10 }
translate = [0, 0, 1]
velocity = [1, 0, 0]
angular_velocity = [0, 0, 2]
mass = "consistent"
""",
            """
[[truss]]
name = "brace"
mesh = { line = 2.0, bars = 1 }
section = 1e-4
material = { young = 210e9, density = 7850, yield_stress = 2.5e8, hardening = 1e9, back_modulus = 2e9 }
""",
            """
[[truss]]
name = "net"
mesh = { ring = 0.3, bars = 24 }
stiffness = 1e6
member_mass = 0.01
strength = 2e3
fracture_energy = 10
""",
            """
[[truss]]
name = "rope"
mesh = { line = 10.0, bars = 20 }
stiffness = 2e4
member_mass = 0.05
law = "tension-only"
prestrain = 0.001
""",
            """
[[truss]]
name = "wheel"
mesh = { ring = 0.3, bars = 24 }
stiffness = 1e6
member_mass = 0.01
""",
            """
[[truss]]
name = "arch"
mesh = { nodes = [[0, 0, 0], [1, 0, 0.5], [2, 0, 0]], members = [[0, 1], [1, 2]], groups = { feet = [0, 2] } }
section = 1e-4
material = { young = 210e9, density = 7850, expansion = 1.2e-5 }
""",
            """
[[truss]]
name = "frame"
mesh = { file = "frame.msh" }
group = "edges"
scale = 1e-3
section = 1e-4
material = { young = 210e9, density = 7850 }
""",
        ]
    },
    "point_mass": {
        "": [
            """
[[point_mass]]
name = "bob"
mass = 2.0
position = [0, 0, 1]
velocity = [1, 0, 0]
""",
            """
[[point_mass]]
name = "cargo"
total = 100
body = "beam"
group = "x_max"
""",
            """
[[point_mass]]
name = "tip"
mass = 0.5
body = "beam"
at = [1, 0, 0.1]
""",
        ]
    },
    "spring": {
        "": [
            """
[[spring]]
name = "hanger"
body = "beam"
group = "x_min"
to = [0, 0, 2]
stiffness = 1e3
length = 1.5
law = "tension-only"
""",
            """
[[spring]]
name = "bumper"
body = "beam"
at = [1, 0, 0.1]
to_body = "block"
to_at = [0.9, 0, 0.2]
stiffness = 1e4
strength = 50
fracture_energy = 1
""",
            """
[[spring]]
name = "snubber"
body = "beam"
group = "x_max"
to = [2, 0, 0]
elongations = [-0.02, -0.01, 0.0, 0.01]
forces = [-500, -50, 0, 20]
""",
            """
[[spring]]
name = "pads"
body = "beam"
group = "x_max"
to_body = "block"
to_group = "z_max"
stiffness = 1e4
""",
        ]
    },
    "cohesive": {
        "": [
            """
[[body]]
name = "lid"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "hexahedra" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
translate = [0.9, 0, 0.2]

[[cohesive]]
name = "glue"
body = "lid"
group = "z_min"
to = "block"
to_group = "z_max"
strength = 5e6
fracture_energy = 300
stiffness = 1e12
shear_ratio = 0.8
tolerance = 1e-6
""",
            """
[[body]]
name = "lid"
mesh = { box = [0.1, 0.1, 0.1], cells = [1, 1, 1], split = "hexahedra" }
material = { young = 1e9, poisson = 0.3, density = 1000 }
translate = [0.9, 0, 0.2]

[[cohesive]]
name = "weld"
body = "lid"
to = "block"
strength = 2e8
fracture_energy = 5e3
law = "exponential"
""",
        ]
    },
    "tie": {
        "": [
            """
[[tie]]
name = "glue"
kind = "surface"
body = "block"
group = "z_min"
to = "beam"
to_group = "z_max"
tolerance = 1e-4
stiffness = 1e9
""",
        ]
    },
    "constraint": {
        "": [
            """
[[constraint]]
name = "flat"                      # the end stays flat: its corners move alike along x
stiffness = 1e10
values = [0, 1e-4]
equations = [
    [
        { body = "beam", at = [1, 0, 0], component = "x", factor = 1 },
        { body = "beam", at = [1, 0, 0.1], component = "x", factor = -1 },
    ],
    [
        { body = "beam", group = "x_min", component = "z", factor = 0.25 },
        { body = "beam", at = [1, 0.1, 0], component = "z", factor = -1 },
    ],
]
""",
            """
[[constraint]]
name = "half"                      # the first end of a beam turns half as far as the second one, about y
stiffness = 1e6
equations = [
    [
        { body = "girder", group = "x_min", component = "ry", factor = 1 },
        { body = "girder", group = "x_max", component = "ry", factor = -0.5 },
    ],
]
""",
        ]
    },
    "cyclic": {
        "": [
            """
[[body]]
name = "quarter"                   # of a square plate
mesh = { box = [0.2, 0.2, 0.02], cells = [4, 4, 1], split = "hexahedra" }
material = { young = 7e10, poisson = 0.33, density = 2700 }
translate = [0, 0, -1]

[[cyclic]]
name = "quarters"
body = "quarter"
low = "y_min"
high = "x_min"
sectors = 4
axis = [0, 0, 1]
point = [0, 0, 0]
tolerance = 1e-6
stiffness = 1e11
""",
        ]
    },
    "pretension": {
        "": [
            """
[[point_mass]]
name = "nut"
position = [0.5, 1, 0]
mass = 1e-3

[[load]]
name = "tightening"
kind = "nodal"
body = "nut"
force = [5e3, 0, 0]                # N in the bolt, within 0.5 ms
history = { kind = "ramp", duration = 5e-4 }

[[support]]
name = "lock"
body = "nut"
components = "x"
from = 5e-4                        # its length stays

[[pretension]]
name = "section"
body = "beam"
node = "nut"
point = [0.5, 0, 0]
normal = [1, 0, 0]
""",
            """
[[point_mass]]
name = "nut"
position = [0.5, 1, 0]
mass = 1e-3

[[support]]
name = "tightening"
body = "nut"
components = "x"
displacement = [1e-5, 0, 0]        # m by which the bolt is shortened
history = { kind = "smooth-ramp", duration = 5e-4 }

[[pretension]]
name = "section"
body = "beam"
node = "nut"
point = [0.5, 0, 0]
normal = [1, 0, 0]
stiffness = 1e10
""",
            """
[[body]]
name = "bolt"
mesh.box = [1.0, 0.1, 0.1]
mesh.cells = [4, 1, 1]
mesh.split = "hexahedra"
mesh.regions = { shank = [[0, 0, 0], [0.75, 0.1, 0.1]], head = [[0.75, 0, 0], [1, 0.1, 0.1]] }
material = { young = 2e11, poisson = 0.3, density = 7850 }

[[point_mass]]
name = "one"
position = [0, 1, 0]
mass = 1e-3

[[point_mass]]
name = "other"
position = [0, 2, 0]
mass = 1e-3

[[pretension]]
name = "section"
body = "bolt"
elements = "shank"                 # in the middle of the shank
point = [0.4, 0, 0]
normal = [1, 0, 0]
node = "one"

[[pretension]]
name = "below_the_head"
body = "bolt"
group = "head"                     # at the face between two elements that has all its corners in this group
normal = [1, 0, 0]
node = "other"
""",
        ]
    },
    "temperature": {
        "": [
            """
[[temperature]]
name = "heating"
body = "beam"
group = "x_max"
change = "100 - 20*x"
history = { kind = "ramp", duration = 1e-3 }
""",
            '\n[[temperature]]\nbody = "beam"\nfile = "warm.csv"\n',
        ]
    },
    "velocity": {
        "": [
            """
[[velocity]]
body = "beam"
group = "x_max"
velocity = [0, 0, 1]
angular_velocity = [0, 2, 0]
gradient = [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
point = [1, 0, 0]
"""
        ]
    },
    "contact": {
        "": [
            """
[[contact]]
bodies = ["beam", "block"]
law = "barrier"
begins = "touch"
distance = 1e-3
margin = 5e-3
friction = 0.3
static_friction = 0.4
slip_speed = 1e-3
""",
            """
[[contact]]
name = "folds"
bodies = ["beam"]
self = true
factor = 2
speed = 10
""",
            """
[[contact]]
begins = "touch"
stiffness = 1e12
bodies = ["beam", "block"]
""",
            """
[[contact]]
integration = "segments"
bodies = ["block", "beam"]
factor = 2
""",
        ]
    },
    "obstacle": {
        "half-space": [
            """
[[obstacle]]
name = "wall"
kind = "half-space"
point = [1.2, 0, 0]
normal = [-1, 0, 0]
normalize = false
penalty = 1e-8
bodies = ["beam"]
friction = 0.2
static_friction = 0.3
slip_speed = 1e-3
velocity = [-1, 0, 0]
""",
            """
[[obstacle]]
name = "shaker"
kind = "half-space"
point = [0, 0, -0.1]
normal = [0, 0, 1]
stiffness = 1e6
acceleration = [0, 0, 10]
history = { kind = "table", times = [0, 1], factors = [0, 1] }
""",
        ],
        "sphere": [
            """
[[obstacle]]
name = "shot"
kind = "sphere"
center = [0.5, 0.05, 0.2]
radius = 0.05
stiffness = 1e6
mass = 1.0
velocity = [0, 0, -10]
""",
            """
[[obstacle]]
name = "vessel"
kind = "sphere"
center = [0.5, 0, 0]
radius = 2
inside = true
stiffness = 1e6
""",
        ],
        "cylinder": [
            """
[[obstacle]]
name = "roller"
kind = "cylinder"
point = [0.5, 0, 0.2]
axis = [0, 1, 0]
radius = 0.05
stiffness = 1e6
friction = 0.4
displacement = [0, 0, -0.02]
rotation = { point = [0.5, 0, 0.2], axis = [0, 1, 0], degrees = 90 }
history = { kind = "table", times = [0, 0.01], factors = [0, 1] }
interpolation = "linear"
""",
            """
[[obstacle]]
name = "pipe"
kind = "cylinder"
point = [0, 0, 0]
axis = [1, 0, 0]
radius = 0.5
inside = true
stiffness = 1e6
""",
        ],
        "spline": [
            """
[[obstacle]]
name = "die"
kind = "spline"
map = ["u", "v", "-0.3 - 0.01*cos(20*u)"]
u = [0, 1]
v = [-0.2, 0.4]
cells = [12, 4]
degree = 3
stiffness = 1e6
friction = 0.1
displacement = [0, 0, 0.01]
history = { kind = "smooth-ramp", duration = 1e-3 }
""",
            """
[[obstacle]]
name = "sheet"
kind = "spline"
points = [
    [[0, 0, 0], [0, 1, 0], [0, 2, 0], [0, 3, 0]],
    [[1, 0, 0], [1, 1, 0.1], [1, 2, 0.1], [1, 3, 0]],
    [[2, 0, 0], [2, 1, 0.1], [2, 2, 0.1], [2, 3, 0]],
    [[3, 0, 0], [3, 1, 0], [3, 2, 0], [3, 3, 0]],
]
flip = true
translate = [-1, -1, 2]
stiffness = 1e6
""",
            """
[[obstacle]]
name = "stamp"
kind = "spline"
file = "stamp.csv"                 # x, y, z of four rows, one after the other
rows = 4
translate = [0, 0, -1]
penalty = 1e-6
""",
        ],
        "capsule": [
            """
[[obstacle]]
name = "bar"
kind = "capsule"
start = [0.4, -0.5, 0.2]
end = [0.4, 0.5, 0.2]
radius = 0.05
stiffness = 1e6
density = 7850
""",
            """
[[obstacle]]
name = "tank"
kind = "capsule"
start = [0, 0, 0]
end = [1, 0, 0]
radius = 0.5
inside = true
stiffness = 1e6
""",
        ],
        "box": [
            """
[[obstacle]]
name = "hammer"
kind = "box"
center = [0.5, 0, 0.3]
size = [0.1, 0.1, 0.2]
rotate = { axis = [0, 0, 1], degrees = 45 }
stiffness = 1e6
density = 7800
velocity = [0, 0, -5]
angular_velocity = [0, 30, 0]
""",
            """
[[obstacle]]
name = "crate"
kind = "box"
center = [0.5, 0, 0]
size = [3, 3, 3]
inside = true
stiffness = 1e6
allow_initial_penetration = true
""",
        ],
        "surface": [
            """
[[obstacle]]
name = "die"
kind = "surface"
mesh = { sphere = 30.0, refinements = 2 }
scale = 1e-3
rotate = { axis = [0, 0, 1], degrees = 15 }
translate = [0.5, 0.05, 0.14]
bodies = ["beam"]
friction = 0.1
static_friction = 0.2
slip_speed = 1e-3
law = "penalty"
factor = 2
speed = 5
distance = 5e-3
margin = 0.01
displacement = [0, 0, -0.01]
history = { kind = "smooth-ramp", duration = 0.02 }
""",
            """
[[obstacle]]
name = "tool"
kind = "surface"
mesh = { file = "tool.stl" }
flip = true
translate = [0, 0, 1]
stiffness = 1e10
begins = "distance"
""",
            """
[[obstacle]]
name = "bracket"
kind = "surface"
mesh = { bundled = "bracket" }
group = "clamp"
translate = [0, 0, 1]
""",
        ],
    },
    "flexible_body": {
        "": [
            """
[[flexible_body]]
name = "rod"
file = "rod.npz"                   # of symplex reduce
rotate = { axis = [0, 0, 1], degrees = 90 }
translate = [0, 0, 1]
velocity = [1, 0, 0]
angular_velocity = [0, 0, 3]
""",
        ]
    },
    "rigid_body": {
        "": [
            """
[[rigid_body]]
name = "top"
mesh = { cylinder = 0.05, length = 0.02, rings = 4 }
density = 2700
translate = [0, 0, 0.05]
pivot = [0, 0, 0]
angular_velocity = [0, 1, 200]
""",
            """
[[rigid_body]]
name = "brick"
mesh = { box = [200, 100, 50], cells = [2, 1, 1] }
scale = 1e-3
mass = 3
rotate = { axis = [1, 0, 0], degrees = 30 }
translate = [0.5, 0, 1]
velocity = [0, 0, -1]
""",
            """
[[rigid_body]]
name = "stamp"
mesh = "tool.stl"
flip = true
translate = [0, 0, 1]
displacement = [0, 0, -0.1]
rotation = { point = [0, 0, 0], axis = [0, 0, 1], degrees = 30 }
history = { kind = "table", file = "record.csv" }
interpolation = "spline"
""",
        ]
    },
    "shell": {
        "": [
            """
[[shell]]
name = "membrane"
mass = "consistent"
mesh = { plate = [2.0, 1.0], cells = [8, 4] }
thickness = 0.01
material = { young = 1e7, poisson = 0.4, density = 1000, viscous = [{ ratio = 0.3, time = 0.01 }], expansion = 1.2e-5 }
""",
            """
[[shell]]
name = "plate"
mesh = { plate = [2.0, 1.0], cells = [8, 4] }
thickness = 0.01
material = { young = 2.1e11, poisson = 0.3, density = 7850 }
rotate = { axis = [0, 1, 0], degrees = 10 }
translate = [0, 0, 1]
velocity = [1, 0, 0]
angular_velocity = [0, 0, 2]
""",
            """
[[shell]]
name = "wing"
mesh = { plate = [3.0, 0.5], cells = [12, 2], split = "triangles" }
offset = 0.001
direction = [0, 1, 0]
fold = 20
extent = 0.3

[[shell.layers]]
thickness = 0.001
angle = 45
material = { moduli = [1.4e11, 1e10], poisson = 0.3, shear_moduli = [5e9, 5e9, 3e9], density = 1600 }

[[shell.layers]]
thickness = 0.001
angle = -45
material = { moduli = [1.4e11, 1e10], poisson = 0.3, shear_moduli = [5e9, 5e9, 3e9], density = 1600 }
""",
            """
[[shell]]
name = "cover"
mesh = { file = "skin.msh" }     # or mesh = "skin.msh"
group = "top"
scale = 1e-3
thickness = 0.002
material = { young = 7e10, poisson = 0.33, density = 2700 }
""",
            """
[[shell]]
name = "roof"
mesh = { file = "roof.msh", pieces = 4 }    # of eight nodes
thickness = 0.002
material = { young = 7e10, poisson = 0.33, density = 2700 }
""",
            """
[[shell]]
name = "hull"
mesh = "skin.msh"
thickness = 0.002
material = { young = 7e10, poisson = 0.33, density = 2700 }

[[shell.parts]]
group = "rim"
thickness = 0.004
offset = 0.001

[[shell.parts]]
group = "patch"
direction = [0, 1, 0]

[[shell.parts.layers]]
thickness = 0.001
material = { moduli = [1.4e11, 1e10], poisson = 0.3, shear_moduli = [5e9, 5e9, 3e9], density = 1600 }
""",
            """
[[shell]]
name = "corrugated"
mesh = { plate = [2.0, 1.0], cells = [8, 4] }

[shell.properties]
membrane = [1e7, 1e6, 5e8, 0, 0, 1e8]
bending = [50, 10, 4e4, 0, 0, 200]
shear = [1e7, 0, 5e7]
thickness = 0.02
mass = 12
""",
            """
[[shell]]
name = "can"
mesh = { box = [0.4, 0.3, 0.2], cells = [4, 3, 2] }
thickness = 0.002
material = { young = 7e10, poisson = 0.33, density = 2700 }

[[shell.parts]]
group = "z_max"

[shell.parts.properties]
membrane = [2e7, 2e6, 1e9, 0, 0, 2e8]
coupling = [1e4, 0, 1e5, 0, 0, 1e4]
bending = [400, 80, 3e5, 0, 0, 1600]
shear = [2e7, 0, 1e8]
thickness = 0.04
mass = 24
""",
        ]
    },
    "beam": {
        "": [
            """
[[beam]]
name = "girder"
mesh = { path = [[0, 0, 0], [2, 0, 0], [2, 0, -1]], bars = 8 }
up = [0, 1, 0]
section = { kind = "box", height = 0.1, width = 0.06, thickness = 0.004 }
material = { young = 2.1e11, poisson = 0.3, density = 7850, expansion = 1.2e-5 }
rotate = { axis = [0, 1, 0], degrees = 10 }
translate = [0, 0, 1]
velocity = [1, 0, 0]
angular_velocity = [0, 0, 2]
""",
            """
[[beam]]
name = "portal"
mesh = { path = [[0, 0, 0], [0, 0, 3], [4, 0, 3], [4, 0, 0]], bars = 6 }
up = [1, 0, 0]
section = { kind = "box", height = 0.1, width = 0.1, thickness = 0.005 }
material = { young = 2.1e11, poisson = 0.3, density = 7850 }

[[beam.parts]]
group = "part_2"
up = [0, 0, 1]
section = { kind = "rectangle", height = 0.2, width = 0.05 }
material = { young = 7e10, poisson = 0.33, density = 2700 }

[[beam.parts]]
group = "part_3"
properties = { axial = 4e8, shear = [6e7, 6e7], bending = [6e5, 6e5], torsion = 5e5, mass = 15, moments = [0.02, 0.02] }
""",
            """
[[beam]]
name = "column"
mesh = { line = 3.0, bars = 12 }
up = [0, 0, 1]
section = { kind = "i", height = 0.2, width = 0.1, web = 0.006, flange = 0.009 }
material = { young = 2.1e11, poisson = 0.3, density = 7850, yield_table = [[0, 2.4e8], [0.1, 3e8]] }
""",
            """
[[beam]]
name = "damper"
mesh = { line = 1.0, bars = 4 }
up = [0, 0, 1]
section = { kind = "circle", radius = 0.02 }
material = { young = 1e7, poisson = 0.4, density = 1000, viscous = [{ ratio = 0.3, time = 0.01 }] }
""",
            """
[[beam]]
name = "post"
mesh = { line = 3.0, bars = 12 }
up = [0, 0, 1]
section = { area = 1e-3, I1 = 8e-8, I2 = 8e-8, J = 1.6e-7, Z1 = 6e-6, Z2 = 6e-6, Zt = 9e-6 }
material = { young = 2.1e11, poisson = 0.3, density = 7850, yield_stress = 2.4e8, hardening = 1e9, back_modulus = 1e9 }
""",
            """
[[beam]]
name = "stud"
mesh = { line = 3.0, bars = 12 }
up = [0, 0, 1]
section = { kind = "pipe", radius = 0.02, thickness = 0.002 }
material = { young = 7e9, poisson = 0, density = 900, yield_stress = 2e8, saturation_stress = 3e8, saturation_rate = 5 }
""",
            """
[[beam]]
name = "strut"
mesh = { line = 3.0, bars = 12 }
up = [0, 0, 1]
section = { kind = "circle", radius = 0.02 }
material = { young = 7e10, poisson = 0.33, density = 2700, yield_stress = 2.4e8, power_modulus = 1e8, power = 0.5 }
""",
            """
[[beam]]
name = "rim"
mass = "consistent"
mesh = { ring = 0.3, bars = 24 }
up = [0, 0, 1]
section = { kind = "pipe", radius = 0.02, thickness = 0.002 }
material = { young = 7e10, poisson = 0.33, density = 2700 }
formulation = "reissner"
""",
            """
[[beam]]
name = "rail"
mesh = { line = 3.0, bars = 12 }
up = [0, 0, 1]
section = { kind = "i", height = 0.2, width = 0.1, web = 0.006, flange = 0.009 }
material = { young = 2.1e11, poisson = 0.3, density = 7850 }
""",
            """
[[beam]]
name = "shaft"
mesh = { line = 1.0, bars = 10 }
up = [0, 0, 1]
section = { area = 1e-3, I1 = 8e-8, I2 = 8e-8, J = 1.6e-7, k1 = 0.9, k2 = 0.9 }
material = { young = 2.1e11, poisson = 0.3, density = 7850 }
extent = 1.0
""",
            """
[[beam]]
name = "elbow"
mesh = { path = [[0, 0, 0], [0, 10, 0], [10, 10, 0]], bars = 5 }
up = [0, 0, 1]
properties = { axial = 1e6, shear = [1e6, 1e6], bending = [1e3, 1e3], torsion = 1e3, mass = 1.0, moments = [10, 10] }
""",
            """
[[beam]]
name = "frame"
mesh = { file = "frame.msh" }
group = "edges"
scale = 1e-3
up = [1, 2, 3]
section = { kind = "circle", radius = 2e-3 }
material = { young = 2.1e11, poisson = 0.3, density = 7850 }
""",
        ]
    },
    "coupling": {
        "": [
            """
[[coupling]]
name = "grip"
body = "beam"
group = "x_max"
to = "flap"                      # a rigid body
until = 5e-4
""",
            """
[[coupling]]
name = "seat"
body = "beam"
group = "x_max"
to = "girder"                    # a beam
at = [2, 4, 0]
""",
            """
[[coupling]]
name = "seat"
body = "beam"
group = "x_max"
to = "girder"
to_group = "x_max"
""",
        ]
    },
    "joint": {
        "": [
            """
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["flap"]                # to the ground
at = [0, 6, 0]
axis = [0, 1, 0]
spring = { stiffness = 20, rest = 0.1 }
stops = { lowest = -0.5, highest = 0.5, stiffness = 2e3 }
damping = 0.1
friction = { resistance = 0.05, slip = 0.01 }
torque = 2.0
history = { kind = "half-sine", duration = 5e-4 }
""",
            """
[[joint]]
name = "mount"
kind = "spherical"
bodies = ["flap", "girder"]      # at a node of the beam, here that of a group
at = [2, 4, 0]
groups = ["", "x_max"]
until = 5e-4                     # it is released then
""",
            """
[[joint]]
name = "drive"
kind = "prismatic"
bodies = ["flap"]
at = [0, 6, 0]
axis = [1, 0, 0]
displacement = 1e-3
history = { kind = "table", times = [0, 2e-4, 1e-3], factors = [0, 0, 1] }
interpolation = "linear"
""",
            """
[[joint]]
name = "motor"
kind = "revolute"
bodies = ["flap"]
at = [0, 6, 0]
axis = [0, 0, 1]
angle = 0.1
history = { kind = "smooth-ramp", duration = 1e-3 }
""",
            """
[[joint]]
name = "sleeve"
kind = "cylindrical"
bodies = ["flap"]
at = [0, 6, 0]
axis = [1, 0, 0]
coordinate = "displacement"
spring = { stiffness = 1e4 }
force = -3.0
""",
            """
[[joint]]
name = "cardan"
kind = "universal"
bodies = ["flap"]
at = [0, 6, 0]
axis = [1, 0, 0]
second = [0, 0, 1]
""",
        ]
    },
    "support": {
        "": [
            """
[[support]]
body = "girder"
group = "x_min"
""",
            """
[[support]]
body = "girder"
group = "x_max"
components = "yz"
rotations = "x"
""",
            """
[[support]]
body = "beam"
group = "x_min"
components = "xz"
until = 5e-4
""",
            """
[[support]]
body = "beam"
symmetry = "y=0"
""",
            """
[[support]]
name = "slope"
body = "beam"
group = "x_min"
direction = [1, 0, 1]
stiffness = 1e9
""",
            """
[[support]]
name = "mirror"
body = "beam"
symmetry = { point = [0, 0, 0], normal = [1, 0, 0] }
""",
            """
[[support]]
name = "bearing"
body = "beam"
group = "x_max"
cylindrical = { point = [0, 0, 1], axis = [1, 0, 0], fixed = ["radial", "axial"] }
""",
            """
[[support]]
name = "wedge"
body = "beam"
group = "x_max"
direction = [0, 1, 1]
displacement = [0, 0.001, 0.001]
history = { kind = "table", times = [0, 1e-3], factors = [0, 1] }
interpolation = "linear"
""",
            """
[[support]]
name = "mandrel"
body = "block"
group = "x_min"
cylindrical = { point = [0, 0, 0], axis = [0, 1, 0], fixed = ["radial", "tangential"] }
displacement = [1e-4, 0, 0]        # radial, tangential, axial
history = { kind = "ramp", duration = 1e-3 }
""",
            """
[[support]]
name = "stretched"
body = "beam"
field = ["0.01*x", "-0.003*y", "-0.003*z"]
history = { kind = "ramp", duration = 1e-3 }
""",
            """
[[support]]
name = "table"
body = "beam"
group = "x_min"
displacement = [0.02, 0, 0]
history = { kind = "sine", frequency = 3 }
""",
            """
[[support]]
name = "earthquake"
body = "mast"
group = "z_min"
acceleration = [9.81, 0, 0]
history = { kind = "table", file = "record.csv" }
baseline = "polynomial"            # so that the ground does not drift
""",
            """
[[support]]
name = "grip"
body = "beam"
group = "x_max"
rotation = { point = [1, 0, 0], axis = [1, 0, 0], degrees = 90 }
history = { kind = "table", times = [0, 1], factors = [0, 1] }
interpolation = "linear"
""",
            """
[[support]]
name = "puller"
body = "beam"
group = "x_max"
velocity = [1, 0, 0]
from = 5e-4
""",
        ]
    },
    "rod": {
        "": [
            """
[[rod]]
name = "links"
body = "chain"
group = "members"

[[truss]]
name = "chain"
mesh = { line = 1.0, bars = 4 }
stiffness = 1e3
member_mass = 0.1

[integrator]
kind = "shake"
dt = 1e-6
""",
            """
[[rod]]
name = "ropes"
body = "beam"
group = "x_max"
to = [1, 0, 2.5]

[integrator]
kind = "rattle"
dt = 1e-6
order = 4
substeps = "suzuki"
beta = 0
""",
        ]
    },
    "damping": {
        "": [
            """
[[damping]]
name = "structural"
bodies = ["beam"]
frequencies = [10, 100]
ratios = 0.02
stiffness = "initial"
""",
            """
[[damping]]
alpha = 0.5
beta = 1e-6
from = 0
until = 5e-4
""",
        ]
    },
    "dashpot": {
        "": [
            """
[[dashpot]]
name = "damper"
between = [{ body = "beam", group = "z_max" }, { body = "block", at = [0.9, 0, 0.2] }]
viscosity = 100
exponent = 1.5
""",
            """
[[dashpot]]
name = "brake"
body = "beam"
group = "x_max"
to = [2, 0, 0]
viscosity = 100
from = 0
until = 5e-4
""",
            """
[[dashpot]]
name = "stay"
body = "beam"
at = [1, 0, 0.1]
to = [1, 0, 1]
viscosity = 100
""",
        ]
    },
    "drag": {
        "": [
            """
[[drag]]
name = "wind"
body = "beam"
group = "x_max"
density = 1.2
coefficient = 1.1
area = 0.01
velocity = [-20, 0, 0]
from = 0
until = 5e-4
"""
        ]
    },
    "mass_scaling": {"": ['\n[mass_scaling]\ndt = 2e-6\nbodies = ["beam"]\n']},
    "gravity": {
        "": [
            "\n[gravity]\nacceleration = [0, 0, -9.81]\nfrom = 0\nuntil = 5e-4\n",
            '\n[gravity]\nacceleration = [0, 0, -9.81]\nhistory = { kind = "smooth-ramp", duration = 1e-3 }\n',
        ]
    },
    "load": {
        "nodal": [
            """
[[load]]
name = "push"
kind = "nodal"
body = "beam"
group = "x_max"
force = [0, 0, 10]
history = { kind = "half-sine", duration = 1e-3 }
from = 1e-4
until = 9e-4
""",
            """
[[load]]
name = "twist"
kind = "nodal"
body = "girder"
group = "x_max"
moment = [200, 0, 0]
""",
        ],
        "traction": [
            """
[[load]]
name = "bend"
kind = "traction"
body = "beam"
group = "x_max"
traction = [0, 0, -1e4]
history = { kind = "ramp", duration = 1e-3 }
from = 0
until = 9e-4
"""
        ],
        "pressure": [
            """
[[load]]
name = "inflate"
kind = "pressure"
body = "beam"
group = "z_max"
pressure = 1e5
history = { kind = "table", times = [0, 1e-3], factors = [0, 1] }
from = 0
until = 9e-4
""",
            """
[[load]]
name = "inside"
kind = "pressure"
body = "can"
pressure = 1e4
side = "bottom"    # of a shell, whose normal is on the top
follower = false

[[shell]]
name = "can"
mesh = { box = [0.4, 0.3, 0.2], cells = [4, 3, 2] }
thickness = 0.002
material = { young = 7e10, poisson = 0.33, density = 2700 }
""",
        ],
        "gravity": [
            """
[[load]]
name = "weight"
kind = "gravity"
body = "beam"
group = "half"
acceleration = [0, 0, -9.81]
history = { kind = "smooth-ramp", duration = 1e-3 }
from = 0
until = 9e-4

[[body]]
name = "beam"
mesh = { box = [1, 0.1, 0.1], cells = [4, 1, 1], regions = { half = [[0, 0, 0], [0.5, 0.1, 0.1]] } }
material = { young = 1e9, poisson = 0.3, density = 1000 }
"""
        ],
        "centrifugal": [
            """
[[load]]
name = "spin"
kind = "centrifugal"
body = "beam"
angular_velocity = [0, 0, 10]
point = [0, 0, 0]
follows = true
from = 0
until = 9e-4
""",
            """
[[load]]
name = "spin-up"
kind = "centrifugal"
body = "beam"
group = "half"
angular_velocity = [0, 0, 10]
point = [0, 0, 0]
follows = false
history = { kind = "ramp", duration = 1e-3 }

[[body]]
name = "beam"
mesh = { box = [1, 0.1, 0.1], cells = [4, 1, 1], regions = { half = [[0, 0, 0], [0.5, 0.1, 0.1]] } }
material = { young = 1e9, poisson = 0.3, density = 1000 }
""",
        ],
    },
    "rotating_frame": {"": ["\n[rotating_frame]\nangular_velocity = [0, 0, 5]\npoint = [0, 0, 0]\n"]},
    "thermostat": {
        "": [
            "\n[thermostat]\ntemperature = 300\nrate = 10\nseed = 1\nboltzmann = 1.380649e-23\n",
            "\n[thermostat]\ntemperature = 300\nfriction = 0.1\n",
        ]
    },
    "run": {"": ["\n[run]\nduration = 1e-3\nframes = 20\nsamples = 200\ncheckpoint = 60\nuntil = 1.5e-3\n"]},
    "output": {
        "": [
            """
[output]
directory = "results"
format = "pvd"
partitioned = true
fields = ["velocity", "von_mises", "nodal_stress"]
frames_at = [2.5e-4]
history_every = 2
pictures = true
film = "none"

[output.view]
field = "von_mises"
direction = "1,-2,0.5"
up = "z"
slice = "y=0.05"
scale = 10
times = [0, 5e-4, 1e-3]
size = [1600, 900]
dpi = 150
to = "x"
orbit = 90
"""
        ]
    },
    "start": {
        "static": [
            """
[start]
kind = "static"
solver = "sparse"
perturbation = { amplitude = 1e-4, of = "velocities", seed = 1 }

[[support]]
body = "beam"
group = "x_min"
""",
            """
[start]
kind = "static"
perturbation = { amplitude = 1e-4, body = "beam", group = "x_max", direction = [0, 0, 1] }

[[support]]
body = "beam"
group = "x_min"
""",
        ],
        "relative-equilibrium": [
            """
[start]
kind = "relative-equilibrium"
angular_velocity = [0, 0, 10]
tilt = 0.1
perturbation = { amplitude = 1e-5, body = "block" }
""",
            """
[start]
kind = "relative-equilibrium"
angular_momentum = [0, 0, 0.1]
perturbation = { amplitude = 1e-5, body = "block", group = "x_max", direction = [1, 0, 0] }
""",
        ],
        "result": [
            """
[start]
kind = "result"
from = "../earlier-results"
time = 0.5
perturbation = { amplitude = 1e-5 }
"""
        ],
    },
    "response": {
        "": [
            """
[response]
between = [1, 100]
points = 50
spacing = "logarithmic"
modes = 10
ratio = 0.02
by = ["clamp"]
at = [{ name = "tip", body = "beam", group = "x_max" }, { name = "corner", body = "beam", at = [1, 0, 0.1] }]
""",
            """
[response]                         # random vibration: rms of places and probes
psd = { frequencies = [5, 50, 500], values = [1e-3, 1e-2, 1e-3] }
modes = 10
ratio = 0.02
by = ["clamp"]
at = [{ name = "tip", body = "beam", group = "x_max" }]
""",
            """
[[support]]
name = "ground"
body = "beam"
group = "x_min"
acceleration = [0, 0, 9.81]
history = { kind = "table", file = "record.csv" }
baseline = "rest"

[response]                         # an earthquake by its response spectrum, in g
spectrum = { file = "spectrum.csv" }
modes = 10
ratio = 0.05
rule = "srss"
missing_mass = false
by = ["ground"]
at = [{ name = "tip", body = "beam", group = "x_max" }]
""",
            """
[response]
frequencies = [5, 10, 20]
loss_factor = 0.01
by = ["push"]
at = ["top"]

[[probe]]
name = "top"
body = "beam"
""",
        ]
    },
    "fit": {
        "": [
            """
[fit]
parameters = [
  { key = "body.beam.material.young", start = 1.9e11, range = [1e11, 3e11] },
  { key = "body.beam.material.density", scale = 100 },
]
curves = [
  { data = "slow.csv", of = "top.displacement_z", deviation = 1e-4, test = "slow" },
  { data = "fast.csv", of = "kinetic", test = "fast" },
]
frequencies = [{ number = 2, value = 163, deviation = 1, test = "slow" }]
tests = [
  { name = "slow", values = { "body.beam.material.poisson" = 0.3 } },
  { name = "fast", values = { "body.beam.material.poisson" = 0.31 } },
]
windows = [0.01, 0.02]

[[probe]]
name = "top"
body = "beam"
""",
            """
[fit]
parameters = [{ key = "body.beam.material.young", range = [1e11, 3e11] }]
frequencies = [{ number = 1, value = 81.2, deviation = 0.4 }, { number = 3, value = 495, deviation = 2 }]
at = "equilibrium"
""",
        ]
    },
    "stage": {
        "": [
            """
[[stage]]
name = "preload"
duration = 0.05
frames = 10
samples = 10
integrator = { kind = "static", dt = 5e-3 }

[[stage]]
name = "impact"
duration = 2e-3
frames = 40
integrator = { kind = "newmark" }

[[support]]
body = "beam"
group = "x_min"
"""
        ]
    },
    "when": {
        "": [
            """
[[probe]]
name = "pull"
support = "grip"

[[support]]
name = "grip"
body = "beam"
group = "x_min"
until = "torn"

[[load]]
name = "push"
kind = "nodal"
body = "beam"
group = "x_max"
force = [0, 0, 100]
history = { kind = "ramp", duration = 1e-3 }
from = "torn"

[[when]]
name = "torn"
probe = "pull"
column = "reaction_z"
below = -1e3
every = 2

[[when]]
name = "fast"
energy = "kinetic"
above = 1.0
after = ["torn"]
stop = true

[[when]]
name = "late"
time = 5e-4
""",
            """
[[stage]]
duration = 0.05
frames = 10
samples = 10
integrator = { kind = "static", dt = 5e-3 }

[[stage]]
name = "impact"
duration = 2e-3
frames = 40
integrator = { kind = "newmark" }

[[support]]
body = "beam"
group = "x_min"

[[when]]
name = "soon"
time = 0.02
stage = "impact"
""",
        ]
    },
    "probe": {
        "": [
            """
[[probe]]
name = "sway"                      # of the end, relative to the shaken one
body = "beam"
group = "x_max"
quantities = ["displacement", "acceleration"]
relative_to = "clamp"
""",
            """
[[probe]]
name = "tip"
body = "beam"
points = [[1, 0.05, 0.05]]
interpolate = false
quantities = ["displacement", "velocity"]
components = ["x", "norm"]
every = 2
format = "hdf5"
""",
            """
[[probe]]
name = "corners"
body = "beam"
nodes = [0, 1]
quantities = ["stress"]
components = ["xx"]
""",
            """
[[probe]]
name = "end"
body = "beam"
group = "x_max"
reduce = ["mean", "max"]
""",
            '\n[[probe]]\nname = "strut"\nbody = "mast"\nmembers = [0, 3]\nquantities = ["axial_force"]\n',
            '\n[[probe]]\nname = "root"\nbody = "girder"\nmembers = [0]\nquantities = ["bending_moment_2", "torque"]\n',
            '\n[[probe]]\nname = "turn"\nbody = "girder"\ngroup = "x_max"\nquantities = ["rotation", "velocity"]\n',
            '\n[[probe]]\nname = "base"\nsupport = "clamp"\nabout = [0, 0.05, 0.05]\nframe_on = "onset"\n',
            '\n[[probe]]\nname = "ground"\nobstacle = "floor"\n',
            """
[[joint]]
name = "hinge"
kind = "revolute"
bodies = ["flap"]
at = [0, 6, 0]
axis = [0, 1, 0]
until = "torn"

[[probe]]
name = "pull"
joint = "hinge"
quantities = ["force", "angle", "angular_velocity"]
components = ["norm"]

[[when]]
name = "torn"
probe = "pull"
above = 1e3                      # N
""",
            '\n[[probe]]\nname = "felt"\ncontact = "seam"\n\n[[velocity]]\nbody = "block"\nvelocity = [0, 0, -1]\n\n'
            '[[velocity]]\nbody = "beam"\nvelocity = [0, 0, 0.1]\n',
        ]
    },
    "integrator": {
        "newmark": [
            """
[integrator]
kind = "newmark"
dt = "auto"
safety = 0.7
contact_safety = 0.2
order = 2
""",
            """
[integrator]
kind = "newmark"
dt = 1e-4
beta = 0.25
gamma = 0.5
solver = "sparse"
iterations = 20
halvings = 4
tolerance = 1e-8
""",
            """
[integrator]
kind = "newmark"
order = 4
substeps = "suzuki"
dt = 1e-7
""",
            """
[integrator]
kind = "newmark"
device = "cuda"
""",
            """
[integrator]
kind = "newmark"
dt = "auto"
contact_steps = "auto"

[[contact]]
self = true
""",
        ],
        "force-stepping": [
            """
[integrator]
kind = "force-stepping"
grid = 1e-4
seed = 1
offset = "random"
mirrored = [true, false, false]
align = "floor"
count_crossings = true
""",
        ],
        "energy-momentum": [
            """
[integrator]
kind = "energy-momentum"
dt = 1e-4
solver = "auto"
iterations = 30
halvings = 4
tolerance = 0
compensated = true
order = 4
substeps = "suzuki"
""",
        ],
        "midpoint": [
            """
[integrator]
kind = "midpoint"
dt = 1e-4
alpha = 0.5
solver = "krylov"
iterations = 30
halvings = 4
tolerance = 1e-9
order = 4
substeps = "triple jump"
""",
        ],
        "variational-midpoint": [
            """
[integrator]
kind = "variational-midpoint"
dt = 1e-4
solver = "auto"
iterations = 30
halvings = 0
tolerance = 0
order = 6
substeps = "kahan-li"
""",
        ],
        "adaptive-variational": [
            """
[integrator]
kind = "adaptive-variational"
dt = 1e-5
bounds = [0.5, 2]
hold = true
carry = true
solver = "auto"
iterations = 30
tolerance = 0
""",
        ],
        "generalized-alpha": [
            """
[integrator]
kind = "generalized-alpha"
dt = 1e-4
rho_inf = 0.8
solver = "auto"
iterations = 30
halvings = 4
tolerance = 1e-9
""",
        ],
        "hht": [
            """
[integrator]
kind = "hht"
dt = 1e-4
alpha = -0.05
solver = "auto"
iterations = 30
halvings = 4
tolerance = 1e-9
""",
        ],
        "graham-jelenic": [
            """
[integrator]
kind = "graham-jelenic"
dt = 5e-5
scheme = "cayley-magnus-4"
interpolant = "hermite"
external = []
solver = "auto"
iterations = 50
""",
            """
[integrator]
kind = "graham-jelenic"
dt = 1e-4
scheme = "energy-momentum-exact-angle"
angle = "nodes"
order = 4
substeps = "suzuki"
""",
        ],
        "zhang-skeel": [
            """
[integrator]
kind = "zhang-skeel"
dt = 1e-5
beta = 0.4
variant = "full"
stiff = ["beam"]
solver = "auto"
order = 4
substeps = "suzuki"
""",
            """
[integrator]
kind = "zhang-skeel"
dt = 1e-5
variant = "push-forward"
iterations = 30
tolerance = 1e-9
""",
        ],
        "multirate": [
            """
[integrator]
kind = "multirate"
dt = "auto"
levels = 8
layers = 2
safety = 0.5
contact_safety = 0.2
given = { beam = 1 }
""",
        ],
        "rattle": [
            """
[integrator]
kind = "rattle"
dt = 1e-6
beta = 0
order = 4
substeps = "suzuki"

[[rod]]
name = "ropes"
body = "beam"
group = "x_max"
to = [1, 0, 2.5]
""",
        ],
        "shake": [
            """
[integrator]
kind = "shake"
dt = 1e-6
beta = 0

[[rod]]
name = "ropes"
body = "beam"
group = "x_max"
to = [1, 0, 2.5]
""",
        ],
        "static": [
            """
[integrator]
kind = "static"
dt = 1e-4
solver = "sparse"
iterations = 30
tolerance = 1e-9

[[support]]
body = "beam"
group = "x_min"
""",
        ],
    },
}
