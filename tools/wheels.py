"""Make everything that is published into dist/, and check it: `make wheels`.

There is a source archive, a wheel for each platform of `hatch_build.PLATFORMS` with compiled loops, and one without
them for all others. All wheels are made from the source archive on this machine, whatever it is, by the cross compiler
of `ziglang`. Each library must have the format of its platform and all loops, and must need nothing that the platform
may not have. The wheel that pip selects for this machine is installed in a new environment, where the compiled loops
must find exactly what NumPy finds. The tests of the source archive must be collectable.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

import lief

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src"), str(ROOT / "tools")]
from try_wheel import must, try_installing  # noqa: E402

from costcurves.counting.compiled import SIGNATURES  # noqa: E402
from hatch_build import PLATFORMS, suffix_of  # noqa: E402

FOLDER = "costcurves/counting/"
# By platform: the format of its libraries, and the processors by the second part of the format's name for them.
FORMATS = {"manylinux": "ELF", "musllinux": "ELF", "macosx": "MACHO", "win": "PE"}
PROCESSORS = {"x86_64": "X86_64", "amd64": "AMD64", "aarch64": "AARCH64", "arm64": "ARM64"}
# What every Windows from 10 on has. The libraries of other systems may need the C library only.
WINDOWS = ("kernel32.dll", "api-ms-win-crt-")


def main() -> None:
    """Make, check and try what is published."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", choices=["any", *PLATFORMS], action="append", help="make only these wheels")
    parser.add_argument("--no-try", action="store_true", help="make and check, but do not install anything")
    options = parser.parse_args()
    lief.logging.disable()
    output: Path = options.output.resolve()
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        archive = build("sdist", ROOT, output)
        print(f"{archive.name}: {archive.stat().st_size:,} bytes")
        with tarfile.open(archive) as file:
            file.extractall(scratch, filter="data")
        source = Path(scratch) / archive.name.removesuffix(".tar.gz")
        for platform in options.only or ["any", *PLATFORMS]:
            wheel = build("wheel", source, output, None if platform == "any" else platform)
            print(f"{wheel.name}: {check(wheel, platform)}")
        if not options.no_try:
            try_collecting(source)
            try_installing(output)


def build(target: str, source: Path, output: Path, platform: str | None = None) -> Path:
    """Build the source archive or a wheel from a folder, and return its path."""
    environment = {**os.environ, "COSTCURVES_COMPILED": "0"}
    if platform is not None:
        environment |= {"COSTCURVES_PLATFORM": platform, "COSTCURVES_COMPILED": "1"}
    with tempfile.TemporaryDirectory(dir=output) as folder:
        command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", folder]
        done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        (made,) = Path(folder).iterdir()
        return made.replace(output / made.name)


def check(path: Path, platform: str) -> str:
    """Check a wheel's tags and its library. Return a line about it, or end with the reason to refuse it."""
    with zipfile.ZipFile(path) as wheel:
        told = wheel.read(next(name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))).decode()
        libraries = [name for name in wheel.namelist() if name.endswith((".so", ".dylib", ".dll", ".lib", ".pdb"))]
        must(f"Tag: py3-none-{platform}\n" in told, path, f"is tagged otherwise: {told}")
        must(path.name.endswith(f"-py3-none-{platform}.whl"), path, "has another name than its platform")
        if platform == "any":
            must(not libraries and "Root-Is-Purelib: true" in told, path, f"has libraries: {libraries}")
            return "without compiled loops"
        must(libraries == [f"{FOLDER}_loops{suffix_of(platform)}"], path, f"has the libraries {libraries}")
        content = wheel.read(libraries[0])
    library = lief.parse(list(content))
    return f"{len(content):,} bytes of loops, {check_library(library, path, platform)}"


def check_library(library: lief.Binary, path: Path, platform: str) -> str:
    """Check that a library has all loops, the format of its platform, and needs nothing else."""
    system, _, processor = platform.partition("_")
    processor = next(name for name in PROCESSORS if platform.endswith(name))
    must(library.format.name == FORMATS[system], path, f"has a library of format {library.format.name}")
    machine = {"ELF": "machine_type", "MACHO": "cpu_type", "PE": "machine"}[library.format.name]
    found = getattr(library.header, machine).name
    must(found == PROCESSORS[processor], path, f"is for the processor {found}")
    exported = {function.name.removeprefix("_") for function in library.exported_functions}
    must(set(SIGNATURES) <= exported, path, f"lacks the loops {sorted(set(SIGNATURES) - exported)}")
    if system == "win":
        needed = [str(name) for name in library.libraries]
        must(all(name.lower().startswith(WINDOWS) for name in needed), path, f"needs {needed}")
        return f"needs {len(needed)} libraries that Windows 10 has"
    if system == "macosx":
        needed = [command.name for command in library.libraries if command.command.name == "LOAD_DYLIB"]
        must(set(needed) <= {"/usr/lib/libSystem.B.dylib"}, path, f"needs {needed}")
        must(list(library.build_version.minos)[:2] <= [11, 0], path, f"needs macOS {library.build_version.minos}")
        must(processor != "arm64" or library.has_code_signature, path, "is not signed, and macOS would not load it")
        return "needs macOS 11"
    needed = [str(name) for name in library.libraries]
    must(set(needed) <= {"libc.so.6", "libc.so", "libm.so.6"}, path, f"needs {needed}")
    versions = {
        symbol.name for needs in library.symbols_version_requirement for symbol in needs.get_auxiliary_symbols()
    }
    newest = max((tuple(map(int, name.removeprefix("GLIBC_").split("."))) for name in versions), default=(0,))
    must(newest <= (2, 17), path, f"needs {sorted(versions)}")
    must(library.has_nx, path, "has an executable stack")
    return f"needs {', '.join(sorted(versions)) or 'no C library'}"


def try_collecting(source: Path) -> None:
    """Collect the tests of the source archive."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    done = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True, check=False)
    must(done.returncode == 0, source, f"has tests that cannot be collected:\n{done.stdout[-3000:]}")
    print(f"{source.name}: {done.stdout.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
