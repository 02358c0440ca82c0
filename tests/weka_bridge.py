"""Ask Weka: a Java process of our own, reached over the loopback by the bridge that Spark brings along."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

# Where Debian's package `weka` puts it.
JAR = Path(os.environ.get("WEKA_JAR", "/usr/share/java/weka.jar"))


def why_weka_is_missing() -> str | None:
    """Return what is missing to run Weka, or None."""
    if not JAR.exists():
        return f"there is no {JAR} (Debian: weka; or say where in WEKA_JAR)"
    if shutil.which("java") is None:
        return "Java is not on the PATH"
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark, which has the bridge to Java, is not installed"
    return None


@contextmanager
def start_weka() -> Iterator[Any]:
    """Yield a gateway to a Java with Weka; skip where it cannot run."""
    reason = why_weka_is_missing()
    if reason is not None:
        pytest.skip(f"no comparison with Weka: {reason}")
    import pyspark
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    (bridge,) = (Path(pyspark.__file__).parent / "jars").glob("py4j-*.jar")
    port, process = launch_gateway(
        jarpath=str(bridge),
        classpath=str(JAR),
        javaopts=["-Djava.awt.headless=true"],
        die_on_exit=True,
        return_proc=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
    try:
        yield gateway
    finally:
        gateway.shutdown()
        process.stdin.close()
        process.wait(timeout=600)


def doubles(gateway: Any, values: Sequence[float]) -> Any:
    """Return a Java array of doubles."""
    array = gateway.new_array(gateway.jvm.double, len(values))
    for place, value in enumerate(values):
        array[place] = float(value)
    return array


def predictions(gateway: Any, labels: Sequence[bool], scores: Sequence[float]) -> Any:
    """Return Weka's list of predictions; the second class is the positive one."""
    listed = gateway.jvm.weka.core.FastVector()
    for label, score in zip(labels, scores, strict=True):
        chances = doubles(gateway, [1 - score, score])
        listed.addElement(gateway.jvm.weka.classifiers.evaluation.NominalPrediction(float(label), chances))
    return listed


def columns(instances: Any, *names: str) -> list[list[float]]:
    """Return some columns of Weka's instances."""
    found = [instances.attributeToDoubleArray(instances.attribute(name).index()) for name in names]
    return [list(column) for column in found]


def field(thing: Any, name: str) -> Any:
    """Return a public field of a Java object."""
    from py4j.java_gateway import get_field

    return get_field(thing, name)
