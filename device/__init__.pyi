"""Motions on a CUDA device, by numba-cuda: the same laws and steps as on processors, compiled for the device."""

# Made by tests/write_stubs.py.
from symplex.device.motion import OnDevice as OnDevice
