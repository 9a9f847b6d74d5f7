"""Run ``examples/spark_cluster.py`` on a cluster and say when it is in the middle of its work.

A process of its own, because a process can have one Spark session only.
"""

import json
import sys
import threading
import time


def announce_the_middle(spark):
    """Print a line as soon as a stage has finished some of its tasks, and has others left."""
    tracker = spark.sparkContext.statusTracker()

    def watch():
        while True:
            for number in tracker.getActiveStageIds():
                stage = tracker.getStageInfo(number)
                if stage and 2 <= stage.numCompletedTasks < stage.numTasks:
                    print("middle", flush=True)  # noqa: T201
                    return
            time.sleep(0.01)

    threading.Thread(target=watch, daemon=True).start()


def main(master, folder):
    from pyspark.sql import SparkSession
    from spark_cluster import assess

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.log.level": "ERROR",
        "spark.sql.files.maxPartitionBytes": "4m",  # a task for every file
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        executors = spark.sparkContext._jsc.sc().statusTracker().getExecutorInfos
        while len(executors()) < 3:  # the driver and two workers
            time.sleep(0.05)
        announce_the_middle(spark)
        result = assess(spark, folder).to_dict()
        left = len(executors()) - 1
    finally:
        spark.stop()
    print(json.dumps({"result": result, "executors left": left}))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
