"""Make a wheel for this platform, with compiled kernels: ``python release/kernels.py WHEEL [--output DIR]``.

The kernels of the usual methods (those of ``symplex warmup``) are compiled for each family of processors that this
machine's belongs to, and put into a copy of the wheel that pip prefers on this platform with this version of Python.
They serve with the version of numba that is installed here only; with another one, kernels are compiled when they are
needed, as with the wheel for all platforms. Needs the package ``wheel``, and what the wheel itself depends on.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

PACK = """
import sys
from pathlib import Path
from symplex.fem.compiled.shipped import pack
print(pack(Path(sys.argv[1]), Path(sys.argv[2])))
"""
FAMILIES = """
from symplex.fem.compiled.shipped import archive_of, families_here
for family in families_here():
    print(family, archive_of(family))
"""


def main(arguments: list[str] | None = None) -> int:
    """Make the wheel and return the exit status."""
    parser = argparse.ArgumentParser(description="Make a wheel for this platform, with compiled kernels.")
    parser.add_argument("wheel", type=Path, help="the wheel for all platforms (release/check.py --output)")
    parser.add_argument("--output", type=Path, help="folder for the new wheel; default: that of the wheel")
    options = parser.parse_args(arguments)
    if not options.wheel.is_file():
        print(f"There is no {options.wheel}: name a wheel, as `python release/check.py --output dist` builds.",
              file=sys.stderr)  # fmt: skip
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        _run("-m", "wheel", "unpack", "--dest", scratch, str(options.wheel))
        (unpacked,) = Path(scratch).iterdir()
        for line in _run("-c", FAMILIES, package=unpacked).splitlines():
            family, archive = line.split(maxsplit=1)
            cache = Path(scratch) / "cache" / family
            environment = {"NUMBA_CPU_NAME": family, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(cache)}
            _run("-m", "symplex", "warmup", "--quiet", package=unpacked, **environment)
            number = _run("-c", PACK, str(cache), archive, package=unpacked).strip()
            print(f"{family}: {number} kernels, {Path(archive).stat().st_size / 1e6:.1f} MB", flush=True)
        output = options.output or options.wheel.parent
        output.mkdir(parents=True, exist_ok=True)
        _run("-m", "wheel", "pack", "--dest-dir", scratch, str(unpacked))
        (packed,) = Path(scratch).glob("*.whl")
        tags = ("--python-tag", f"cp{sys.version_info[0]}{sys.version_info[1]}", "--platform-tag", platform_tag())
        name = _run("-m", "wheel", "tags", *tags, str(packed)).split()[-1]
        (output / name).write_bytes((Path(scratch) / name).read_bytes())
        print(f"{output / name}: {(output / name).stat().st_size / 1e6:.1f} MB")
    return 0


def platform_tag() -> str:
    """Return the tag of wheels for this platform; kernels call no more than the C library's mathematics."""
    machine = platform.machine().lower()
    if sys.platform.startswith("linux"):
        return f"manylinux_2_17_{machine}.manylinux2014_{machine}"
    if sys.platform == "darwin":
        return f"macosx_11_0_{machine}"
    return sysconfig.get_platform().replace("-", "_")


def _run(*command: str, package: Path | None = None, **variables: str) -> str:
    """Run Python, with a package that is not installed, and return what it prints."""
    hidden = ("PYTHONPATH", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES", "NUMBA_CACHE_DIR")
    environment = {key: value for key, value in os.environ.items() if key not in hidden}
    environment |= variables | ({} if package is None else {"PYTHONPATH": str(package)})
    # Bytecode would be packed with the rest.
    done = subprocess.run(
        [sys.executable, "-B", *command],
        env=environment | {"PYTHONSAFEPATH": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"python {' '.join(command[:3])} failed with exit status {done.returncode}.")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
