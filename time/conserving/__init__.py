"""Methods that keep energy and momenta by construction: energy-momentum, and those of Graham and Jelenić."""
