"""The version of the package."""

VERSION = "0.6.0"
