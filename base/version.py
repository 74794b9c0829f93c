"""The version of the package."""

VERSION = "0.9.0"
