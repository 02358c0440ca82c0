"""Compile src/costcurves/counting/loops.c while the package is built; go on without it if there is no C compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledLoops(BuildHookInterface):  # type: ignore[type-arg]
    """Makes src/costcurves/counting/_loops.so, which compiled.py loads."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the files of a wheel, or of an editable install, are listed."""
        if self.target_name != "wheel":
            return
        folder = Path(self.root) / "src" / "costcurves" / "counting"
        library = folder / "_loops.so"
        library.unlink(missing_ok=True)
        if not self._compiled(folder / "loops.c", library):
            return
        build_data["artifacts"].append("src/costcurves/counting/_loops.so")
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"  # ctypes loads the library, whatever the version of Python

    def _compiled(self, source: Path, library: Path) -> bool:
        """Return whether the library could be made."""
        compiler = os.environ.get("CC", "cc").split()
        if sys.platform == "win32" or os.environ.get("COSTCURVES_COMPILED") == "0" or not shutil.which(compiler[0]):
            self.app.display_info("costcurves: no C compiler is used; NumPy does the work of the compiled loops")
            return False
        fresh = library.with_suffix(".new")
        command = [*compiler, "-O3", "-std=c99", "-shared", "-fPIC", "-o", str(fresh), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            self.app.display_warning(f"costcurves: the compiled loops are left out: {done.stderr.strip()[-300:]}")
            fresh.unlink(missing_ok=True)
            return False
        fresh.replace(library)
        return True
