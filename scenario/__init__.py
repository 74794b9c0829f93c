"""From TOML to a mesh, a system, a state and an integrator: the tables, their checks and their builders."""
