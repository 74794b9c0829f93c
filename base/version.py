"""The version of the package."""

VERSION = "0.10.0"
