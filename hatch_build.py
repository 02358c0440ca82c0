"""Compile src/costcurves/counting/loops.c while the package is built; go on without it if there is no C compiler.

The loops are compiled for this machine by `cc` (or `CC`). If the environment variable COSTCURVES_PLATFORM names one of
`PLATFORMS`, they are compiled for that one instead, by the C compiler of the package `ziglang`, which has the headers
and libraries of all of them (`make wheels`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The platform tags of the wheels that are published, and what the compiler calls these platforms.
PLATFORMS = {
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
    "win_arm64": "aarch64-windows-gnu",
}
# Results are the same on all processors: none may fuse a multiplication and an addition, which rounds differently.
FLAGS = ["-O3", "-std=c99", "-ffp-contract=off", "-shared", "-fPIC"]


class CompiledLoops(BuildHookInterface):  # type: ignore[type-arg]
    """Makes the library in src/costcurves/counting that compiled.py loads: _loops.so, _loops.dylib or _loops.dll."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of a wheel, or of an editable install, are listed."""
        if self.target_name != "wheel":
            return
        platform = os.environ.get("COSTCURVES_PLATFORM")
        folder = Path(self.root) / "src" / "costcurves" / "counting"
        library = folder / f"_loops{suffix_of(platform or sysconfig.get_platform())}"
        library.unlink(missing_ok=True)
        compiler = self._compiler(platform)
        if compiler is None or not self._compiled(compiler, folder / "loops.c", library, must=platform is not None):
            return
        build_data["artifacts"].append(library.relative_to(self.root).as_posix())
        build_data["pure_python"] = False
        tag = platform or sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{tag}"  # ctypes loads the library, whatever the version of Python

    def _compiler(self, platform: str | None) -> list[str] | None:
        """Return the command of the compiler, or None if there is none or the loops are not wanted."""
        if os.environ.get("COSTCURVES_COMPILED") == "0":
            return None
        if platform is not None:
            if platform not in PLATFORMS:
                raise ValueError(f"COSTCURVES_PLATFORM must be one of {', '.join(PLATFORMS)}, got {platform!r}")
            return [sys.executable, "-m", "ziglang", "cc", "-target", PLATFORMS[platform], "-s"]
        compiler = os.environ.get("CC", "" if sys.platform == "win32" else "cc").split()
        if not compiler or not shutil.which(compiler[0]):
            self.app.display_info("costcurves: no C compiler is used; NumPy does the work of the compiled loops")
            return None
        return compiler

    def _compiled(self, compiler: list[str], source: Path, library: Path, *, must: bool) -> bool:
        """Return whether the library could be made. Raise an error if it must be, and cannot."""
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            fresh = Path(folder) / library.name  # some compilers write other files beside it
            command = [*compiler, *FLAGS, "-o", str(fresh), str(source)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode and must:
                raise RuntimeError(f"the compiled loops cannot be made: {done.stderr.strip()}")
            if done.returncode:
                self.app.display_warning(f"costcurves: the compiled loops are left out: {done.stderr.strip()[-300:]}")
                return False
            fresh.replace(library)
        return True


def suffix_of(platform: str) -> str:
    """Return how the names of shared libraries end on a platform; compiled.py has the same rule."""
    return ".dll" if platform.startswith("win") else ".dylib" if platform.startswith("macosx") else ".so"
