"""The long versions of the failure tests: the bits of theta and of the course are those of a run to
which nothing happened."""

import innermean.ray as imr
import psutil
import ray

from crews import Struck, kill, stop_for


#: Seconds.
STILL = 30


def bits(fit):
    """Of theta and of the course."""
    return fit.theta.tobytes() + fit.trace.objective.tobytes()


def lines(folder):
    """A row of the table for each thing that may happen."""
    for method in ("newton", "lbfgs"):
        how = {"l2": 1e-3, "method": method, "tolerance": 1e-8}
        fit = lambda workers: imr.linear(folder, "logistic", workers=workers, **how)  # noqa: B023, E731
        sound = fit(2)
        same = [bits(fit(count)) == bits(sound) for count in (1, 3, 7)]
        yield row(f"{method}: 1, 3 and 7 workers for 2", all(same), sound.passes)
        killed = []
        for at in range(sound.passes):
            found = fit(Struck(at, kill))
            killed.append(bits(found) == bits(sound))
        yield row(f"{method}: a worker killed in each of the passes", all(killed), len(killed))
    found = imr.linear(folder, "logistic", workers=Struck(2, stop_for(STILL)), **how)
    yield row(f"{method}: a worker stands still for {STILL} s", bits(found) == bits(sound), found.passes)
    yield removed(folder, how, bits(sound))


def removed(folder, how, sound):
    """The node of a worker goes, with all that is on it; another one is there."""
    from ray.cluster_utils import Cluster

    ray.shutdown()
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    for _ in range(3):
        cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address, log_to_driver=False, configure_logging=False)
    cluster.wait_for_nodes()
    # The parent of a worker is its node.
    strike = lambda process: kill(psutil.Process(process).ppid())  # noqa: E731
    found = imr.linear(folder, "logistic", workers=Struck(3, strike), **how)
    nodes = sum(node["Alive"] for node in ray.nodes())
    ray.shutdown()
    cluster.shutdown()
    return row("a node removed", bits(found) == sound and nodes == 3, found.passes)


def row(what, same, passes):
    """Of the table."""
    return f"| {what} | {passes} | {'the same bits: met' if same else 'OTHER BITS: missed'} |"
