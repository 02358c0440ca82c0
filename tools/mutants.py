"""Break the core at random places, one at a time, and count how often a test notices: `make mutants`.

A mutant is the code with one operator, comparison, number, option or statement changed (`mutants_of`). It is written
into a copy of the clone outside of it, and the tests that reach the changed function run there until one fails: first
those of the function's package that are quick, then the others, then tests that reach the module. Strings, messages,
annotations and decorators are not changed. A mutant that makes tests run for ever counts as noticed.

The order of mutants follows from the seed, which is printed, and results are kept in the output folder, so that a run
that was stopped continues with the same ``--seed``; ``--again`` tries again those that survived. Survivors in
tools/equivalent_mutants.txt, which says for each why no test can notice it, are counted apart.
"""

from __future__ import annotations

import argparse
import ast
import copy
import hashlib
import json
import os
import random
import resource
import secrets
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from mutants_pytest import Chosen, Noting  # noqa: E402

PACKAGES = ("conditions", "counting", "curves", "decisions", "inference")
TESTS = [
    *(f"tests/{package}" for package in (*PACKAGES, "base", "multiclass", "planning")),
    *("tests/data/tallies", "tests/data/test_predictions.py", "tests/test_hostile.py", "tests/test_oracles.py"),
    *("tests/test_paper_numbers.py", "tests/test_views_agree.py", "tests/house/test_recorded_answers.py"),
    *(f"src/costcurves/{package}" for package in PACKAGES),
]
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.txt"
# CPU seconds of tests: quick ones of the package, those that reach the function, those that reach the module.
QUICK, REACHING, NEAR = 4.0, 25.0, 6.0

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one module: bytes `start` to `stop` of its source become `text`."""

    module: str
    function: str
    line: int
    start: int
    stop: int
    before: str
    text: str

    @property
    def change(self) -> str:
        """Say what is changed, without the number of the line, which other changes move."""
        short = [" ".join(part.split()) for part in (self.before, self.text)]
        return f"{self.module}:{self.function}: {short[0]} -> {short[1]}"


class Changes(ast.NodeVisitor):
    """Collect the changes of a module."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source.encode()
        lines = self.source.splitlines(keepends=True)
        self.starts = [0]
        for line in lines:
            self.starts.append(self.starts[-1] + len(line))
        self.names: list[str] = []
        self.found: list[Mutant] = []

    def change(self, node: ast.AST, text: str) -> None:
        """Add a mutant in which a node has another text."""
        start = self.starts[node.lineno - 1] + node.col_offset
        stop = self.starts[node.end_lineno - 1] + node.end_col_offset
        before = self.source[start:stop].decode()
        function = ".".join(self.names)
        self.found.append(Mutant(self.module, function, node.lineno, start, stop, before, text))

    def replaced(self, node: ast.expr, **fields: object) -> None:
        """Add a mutant in which fields of an expression are others."""
        other = copy.copy(node)
        for name, value in fields.items():
            setattr(other, name, value)
        self.change(node, f"({ast.unparse(other)})")

    def _inside(self, name: str, parts: list[ast.AST]) -> None:
        self.names.append(name)
        for part in parts:
            self.visit(part)
        self.names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            if default is not None:
                self._inside(node.name, [default])
        self.names.append(node.name)
        self._inside("<locals>", node.body)
        self.names.pop()

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node.name, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.body)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        alias = isinstance(node.targets[0], ast.Name) and node.targets[0].id[:1].isupper()
        if not self.names and alias and isinstance(node.value, (ast.BinOp, ast.Subscript)) and "|" in ast.unparse(node):
            return  # a type
        if isinstance(node.targets[0], (ast.Subscript, ast.Attribute)):
            self.change(node, "pass")
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.change(node, "pass")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.change(node, "pass")
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) == "TYPE_CHECKING":
            return
        self._negated(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negated(node.test)
        self.generic_visit(node)

    def _negated(self, test: ast.expr) -> None:
        if isinstance(test, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            self.change(test, f"(not {ast.unparse(test)})")

    def visit_Break(self, node: ast.Break) -> None:
        self.change(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.change(node, "break")

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.change(node, "pass")
        if type(node.op) in OPERATORS:
            other = copy.copy(node)
            other.op = OPERATORS[type(node.op)]()
            self.change(node, ast.unparse(other))
        self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for i, op in enumerate(node.ops):
            if type(op) in OPERATORS:
                self.replaced(node, ops=[*node.ops[:i], OPERATORS[type(op)](), *node.ops[i + 1 :]])
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if type(node.op) in OPERATORS:
            self.replaced(node, op=OPERATORS[type(node.op)]())
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.replaced(node, op=OPERATORS[type(node.op)]())
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        self.change(node, f"({ast.unparse(node.operand)})")
        if not isinstance(node.operand, ast.Constant):
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if ast.unparse(node.func) in ("cast", "TypeVar", "field", "warnings.warn"):
            return  # types, declarations and texts
        for i, keyword in enumerate(node.keywords):
            if keyword.arg in ("dtype", "strict"):
                continue  # what the types and lengths are anyway
            if keyword.arg is not None:
                self.replaced(node, keywords=[*node.keywords[:i], *node.keywords[i + 1 :]])
            self.visit(keyword.value)
        for part in (node.func, *node.args):
            self.visit(part)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self.change(node, str(not node.value))
        elif isinstance(node.value, (int, float)):
            self.change(node, repr(node.value + 1))


def mutants_of(module: str) -> list[Mutant]:
    """Return all mutants of a module, which is given relative to the package."""
    source = (ROOT / "src" / "costcurves" / module).read_text(encoding="utf-8")
    changes = Changes(module, source)
    changes.visit(ast.parse(source))
    return changes.found


def mutated(mutant: Mutant, source: bytes) -> bytes:
    """Return the source of a module with the change of a mutant."""
    return source[: mutant.start] + mutant.text.encode() + source[mutant.stop :]


# Running tests -------------------------------------------------------------------------------------------------------


def in_child(tree: Path, arguments: list[str], plugin: object, cpu: float, log: Path) -> bool | None:
    """Run pytest in a copy of this process, and return whether tests passed, or None if they took too long.

    The copy has the packages that take long to import, but not costcurves, which it imports from the tree.
    """
    child = os.fork()
    if child == 0:
        code = 70
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 5))
            os.chdir(tree)
            os.environ["PYTHONPATH"] = str(tree / "src")
            sys.path.insert(0, str(tree / "src"))
            sys.dont_write_bytecode = True
            options = [
                "-qx",
                "--no-header",
                "--tb=line",
                "-pno:cacheprovider",
                "-Wignore::pytest.PytestAssertRewriteWarning",
            ]
            code = int(pytest.main([*options, *arguments], plugins=[plugin]))
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    deadline = time.monotonic() + 20 * cpu + 60
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            if os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
                return None
            # 5 means that pytest found no tests, which is no verdict of a test.
            return status == 0 or (os.WIFEXITED(status) and os.WEXITSTATUS(status) == 5)
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def copy_tree(tree: Path) -> None:
    """Copy the clone without what was made in it."""
    made = shutil.ignore_patterns(".git", ".venv*", "*-output", "__pycache__", ".*_cache", "dist", "_build", "*.tmp")
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT, tree, ignore=made)


def test_map(output: Path, tree: Path, fresh: bool) -> dict[str, dict]:
    """Return the functions that each test reaches, noted again for test files that changed."""
    kept = output / "reached.json"
    known = json.loads(kept.read_text()) if kept.exists() and not fresh else {}
    files = sorted(
        str(path.relative_to(tree))
        for test in TESTS
        for path in ([tree / test] if (tree / test).is_file() else (tree / test).rglob("*.py"))
        if (path.name.startswith("test_") or test.startswith("src")) and path.name != "__init__.py"
    )
    result: dict[str, dict] = {}
    for file in files:
        text = (tree / file).read_text(encoding="utf-8")
        if file.startswith("src") and ">>>" not in text:
            continue
        digest = hashlib.sha256(text.encode()).hexdigest()
        if known.get(file, {}).get("digest") != digest:
            part, log = output / "part.json", output / "noting.log"
            part.unlink(missing_ok=True)
            passed = in_child(tree, [file], Noting(part), 1200, log)
            if not passed:
                sys.exit(f"{file} fails without any change: {log}")
            known[file] = {"digest": digest, "tests": json.loads(part.read_text())}
            kept.write_text(json.dumps(known))
            print(f"{file}: {len(known[file]['tests'])} tests", flush=True)
        result |= known[file]["tests"]
    return result


def chosen_tests(mutant: Mutant, tests: dict[str, dict]) -> Iterator[list[str]]:
    """Yield lists of tests to run one after the other, until one of them fails."""
    # Code outside of functions and in class bodies runs when the module is imported.
    inside = mutant.function.removesuffix(".<locals>") if ".<locals>" in mutant.function else ""
    place = f"{mutant.module}:{inside}"
    package = mutant.module.split("/", maxsplit=1)[0]
    reaching, near = [], []
    for name in sorted(tests, key=lambda name: tests[name]["seconds"]):
        functions = tests[name]["functions"]
        if inside and any(f == place or f.startswith(place + ".<locals>") for f in functions):
            reaching.append(name)
        elif any(f.startswith(mutant.module + ":") for f in functions):
            near.append(name)

    def within(names: list[str], seconds: float) -> list[str]:
        kept = []
        for name in names:
            seconds -= tests[name]["seconds"] + 0.002
            if seconds < 0 and kept:
                break
            kept.append(name)
        return kept

    own = (f"tests/{package}/", f"src/costcurves/{mutant.module}")
    quick = within([name for name in (reaching or near) if name.startswith(own)], QUICK)
    first = set(quick)
    yield quick
    yield within([name for name in reaching if name not in first], REACHING)
    yield within([name for name in near if name not in first], NEAR)


def verdict_on(mutant: Mutant, tests: dict[str, dict], tree: Path, output: Path) -> str:
    """Return "killed", "timeout" or "survived"."""
    path = tree / "src" / "costcurves" / mutant.module
    source = path.read_bytes()
    try:
        path.write_bytes(mutated(mutant, source))
        for names in chosen_tests(mutant, tests):
            if not names:
                continue
            seconds = sum(tests[name]["seconds"] for name in names)
            files = list(dict.fromkeys(name.split("::", maxsplit=1)[0] for name in names))
            passed = in_child(tree, files, Chosen(names), 30 + 4 * seconds, output / "tests.log")
            if passed is None:
                return "timeout"
            if not passed:
                return "killed"
        return "survived"
    finally:
        path.write_bytes(source)


# The campaign --------------------------------------------------------------------------------------------------------


def known_equivalents() -> set[str]:
    """Return the changes that no test can notice, from the file that says why."""
    if not EQUIVALENT.exists():
        return set()
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines()
    return {line.strip() for line in lines if line and not line.startswith(("#", "  "))}


def main() -> None:
    """Try mutants until the time or their number is up, and print the score."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=30.0, help="no mutant is begun after this time")
    parser.add_argument("--count", type=int, help="stop after so many mutants of the seed")
    parser.add_argument("--seed", type=int, help="repeat or continue the run with this seed")
    parser.add_argument("--only", help="only modules whose path contains this text")
    parser.add_argument("--again", action="store_true", help="try the survivors of the seed again")
    parser.add_argument("--fresh", action="store_true", help="note again which functions each test reaches")
    parser.add_argument("--output", type=Path, default=Path(tempfile.gettempdir()) / "costcurves-mutants")
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    seed = secrets.randbelow(2**32) if asked.seed is None else asked.seed
    asked.output.mkdir(parents=True, exist_ok=True)
    tree = asked.output / "tree"
    copy_tree(tree)
    for name in ("numpy", "scipy.stats", "scipy.optimize", "scipy.special", "hypothesis", "pandas"):
        __import__(name)
    tests = test_map(asked.output, tree, asked.fresh)
    modules = sorted(
        str(path.relative_to(ROOT / "src" / "costcurves"))
        for package in PACKAGES
        for path in (ROOT / "src" / "costcurves" / package).rglob("*.py")
    )
    mutants = [m for module in modules if not asked.only or asked.only in module for m in mutants_of(module)]
    random.Random(seed).shuffle(mutants)
    kept = asked.output / f"seed-{seed}.json"
    results: dict[str, str] = json.loads(kept.read_text()) if kept.exists() else {}
    print(f"seed {seed}: {len(mutants)} mutants, {len(results)} of them tried before", flush=True)
    for mutant in mutants[: asked.count]:
        key = f"{mutant.change} @{mutant.line}:{mutant.start}"
        if key in results and not (asked.again and results[key] == "survived"):
            continue
        if time.monotonic() > end:
            break
        results[key] = verdict_on(mutant, tests, tree, asked.output)
        kept.write_text(json.dumps(results, indent=1))
        if results[key] == "survived":
            print(f"survived: src/costcurves/{mutant.module}:{mutant.line} {mutant.change}", flush=True)
    report(results)


def report(results: dict[str, str]) -> None:
    """Print the score of each package and of all."""
    equivalent = known_equivalents()
    rows: dict[str, Counter[str]] = {}
    for key, verdict in results.items():
        same = verdict == "survived" and key.rsplit(" @", 1)[0] in equivalent
        for name in (key.split("/", maxsplit=1)[0], "all"):
            rows.setdefault(name, Counter())["equivalent" if same else verdict] += 1
    for name in sorted(rows, key=lambda name: (name == "all", name)):
        row = rows[name]
        noticed, tried = row["killed"] + row["timeout"], row.total() - row["equivalent"]
        print(f"{name}: {noticed} of {tried} noticed ({noticed / max(tried, 1):.1%}), {row['equivalent']} equivalent")


if __name__ == "__main__":
    main()
