"""Gets HyperPod's chart whole: fetched, its dependencies beside it, looked at, and put in place at once."""

from hyperpod_cdk.commands.charts.errors import ChartError
from hyperpod_cdk.commands.charts.whole import Plan, get

__all__ = ["ChartError", "Plan", "get"]
