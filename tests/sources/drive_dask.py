"""Run ``examples/dask_cluster.py`` on two worker processes and kill one in the middle.

A process of its own, because workers import the main module again.
"""

import json
import os
import signal
import sys
import threading
import time


def kill_in_the_middle(scheduler, process, done):
    """Kill a worker as soon as some tasks are finished and others are not."""

    def watch():
        while True:
            states = [task.state for task in list(scheduler.tasks.values())]
            if states.count("memory") >= 2 and {"waiting", "processing"} & set(states):
                os.kill(process, signal.SIGKILL)
                done.set()
                return
            time.sleep(0.001)

    threading.Thread(target=watch, daemon=True).start()


def main(folder):
    from dask_cluster import assess
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        before = sorted(client.run(os.getpid).values())
        killed = threading.Event()
        kill_in_the_middle(cluster.scheduler, before[0], killed)
        result = assess(folder).to_dict()
        client.wait_for_workers(2)
        after = sorted(client.run(os.getpid).values())
    told = {"result": result, "killed": killed.is_set(), "before": before, "after": after}
    print(json.dumps(told))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
