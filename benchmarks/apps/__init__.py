"""Apps that the benchmarks time as whole processes: `python -m benchmarks.apps.NAME OUTDIR`."""
