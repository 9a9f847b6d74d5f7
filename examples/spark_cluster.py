"""Assess predictions on a Spark cluster; the rows stay there
==========================================================

::

    python examples/spark_cluster.py spark://HOST:7077 predictions/

Needs pyspark and ``pip install 'secant[frames]'``. The folder must be readable from every worker.
"""

# sphinx_gallery_thumbnail_path = "gallery/how-it-works-2.png"

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import secant

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def assess(spark: SparkSession, folder: str) -> secant.Calibration:
    """Assess a folder of Parquet files with the columns ``happened`` and ``forecast``."""
    table = spark.read.parquet(folder)
    return secant.assess("happened", "forecast", data=table)


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    master, folder = sys.argv[1:]
    print(assess(SparkSession.builder.master(master).getOrCreate(), folder))
