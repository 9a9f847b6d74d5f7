"""Assess predictions on a Spark cluster; the rows stay there
==========================================================

::

    python examples/spark_cluster.py spark://HOST:7077 predictions/

Needs pyspark and ``pip install 'secant[frames]'``. The folder must be readable from every worker.
"""

# sphinx_gallery_thumbnail_path = "gallery/how-it-works-2.png"

from __future__ import annotations

import argparse
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

    parser = argparse.ArgumentParser()
    parser.add_argument("master", help="address of a Spark cluster, as in spark://HOST:7077")
    parser.add_argument("folder", help="Parquet files, readable from every worker")
    given = parser.parse_args()
    print(assess(SparkSession.builder.master(given.master).getOrCreate(), given.folder))
