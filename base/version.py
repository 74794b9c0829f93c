"""The version of the package."""

VERSION = "0.8.0"
