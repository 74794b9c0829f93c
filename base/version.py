"""The version of the package."""

VERSION = "0.7.0"
