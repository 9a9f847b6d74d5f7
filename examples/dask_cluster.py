"""Assess predictions on a Dask cluster; the rows stay there
=========================================================

::

    python examples/dask_cluster.py tcp://HOST:8786 predictions/

Needs ``dask[dataframe,distributed]`` and ``pip install 'secant[frames]'``. The folder must be
readable from every worker.
"""

# sphinx_gallery_thumbnail_path = "gallery/how-it-works-1.png"

from __future__ import annotations

import argparse

import dask.dataframe

import secant


def assess(folder: str) -> secant.Calibration:
    """Assess a folder of Parquet files with the columns ``happened`` and ``forecast``."""
    table = dask.dataframe.read_parquet(folder)
    return secant.assess("happened", "forecast", data=table)


if __name__ == "__main__":
    from distributed import Client

    parser = argparse.ArgumentParser()
    parser.add_argument("scheduler", help="address of a Dask cluster, as in tcp://HOST:8786")
    parser.add_argument("folder", help="Parquet files, readable from every worker")
    given = parser.parse_args()
    with Client(given.scheduler):  # what is computed in here is computed there
        print(assess(given.folder))
