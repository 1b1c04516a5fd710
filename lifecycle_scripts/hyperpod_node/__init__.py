"""Sets up one node of a HyperPod Slurm cluster: standard library only, Python 3.10, started by on_*.sh.

A second run is mostly the reading of Python, and many nodes may share a processor: a start reads only what
each run needs. Steps are looked up when they run (:class:`hyperpod_node.step.Later`), and data is named
tuples, made by keyword: as immutable as frozen dataclasses, and defined in a seventh of their time (0.5 ms
each, measured).
"""
