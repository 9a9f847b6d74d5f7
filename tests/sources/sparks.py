"""One Spark session for all tests that need one: it takes seconds to start."""

from __future__ import annotations

import functools
from typing import Any

from helpers import optional

# Tests are many small queries: no compilation, no partitions, no pages to look at.
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.log.level": "ERROR",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@functools.cache
def session() -> Any:
    """Return the session, started when it is first asked for; ``stop`` ends it."""
    builder = optional("pyspark.sql").SparkSession.builder.master("local[1]").appName("secant")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def stop() -> None:
    """End the session, if there is one, and the Java process with it."""
    if not session.cache_info().currsize:
        return
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    session().stop()
    session.cache_clear()
    gateway.shutdown()
    gateway.proc.stdin.close()
    gateway.proc.wait(30)
    SparkContext._gateway = SparkContext._jvm = None
