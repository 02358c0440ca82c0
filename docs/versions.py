"""Add built pages to the published site as one version: python docs/versions.py PAGES SITE VERSION.

The site has a folder for each release, `latest` for the main branch, and `stable`, a copy of the newest release (of
`latest` before the first one). `switcher.json` lists them for the menu of versions, and the first page leads to
`stable`.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

ADDRESS = "https://costcurves.github.io/costcurves"
FIRST_PAGE = """<!doctype html>
<meta charset="utf-8">
<title>costcurves</title>
<meta http-equiv="refresh" content="0; url=stable/index.html">
<a href="stable/index.html">costcurves documentation</a>
"""


def add(pages: Path, site: Path, version: str) -> None:
    """Put pages into the site as a version, and bring everything that depends on it up to date."""
    if not re.fullmatch(r"latest|\d+\.\d+\.\d+", version):
        sys.exit(f"VERSION must be latest or a release such as 0.1.0, got {version!r}")
    replace(pages, site / version)
    releases = [
        folder.name
        for folder in site.iterdir()
        if re.fullmatch(r"\d+\.\d+\.\d+", folder.name)
    ]
    releases.sort(
        key=lambda name: [int(part) for part in name.split(".")], reverse=True
    )
    newest = releases[0] if releases else "latest"
    replace(site / newest, site / "stable")
    listed = ["latest"] * (site / "latest").is_dir() + releases
    entries = [
        {
            "version": name,
            "url": f"{ADDRESS}/{name}/",
            "name": f"{name} (stable)" if name == newest else name,
        }
        | ({"preferred": True} if name == newest else {})
        for name in listed
    ]
    (site / "switcher.json").write_text(
        json.dumps(entries, indent=1) + "\n", encoding="utf-8"
    )
    (site / "index.html").write_text(FIRST_PAGE, encoding="utf-8")
    (site / ".nojekyll").touch()  # folders such as _static are published as they are


def replace(source: Path, target: Path) -> None:
    """Copy a folder to the place of another."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(source, target)


if __name__ == "__main__":
    add(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
