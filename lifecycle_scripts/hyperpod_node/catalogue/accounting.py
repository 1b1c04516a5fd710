"""Slurm's accounting: the database before slurmctld, what is declared in it after."""

from hyperpod_node import accounting, idle
from hyperpod_node.catalogue.modes import CONTROLLER, OURS, SERVICES
from hyperpod_node.step import Later, Step

BEFORE_START = (
    # Before the first start of slurmctld (field report 112).
    Step(
        name="accounting",
        run=Later("steps.accounting.set_up_accounting"),
        modes=OURS,
        node_types=CONTROLLER,
        needs=("slurm-conf", "multi-head"),
        # an external database may be away for ten minutes
        time_limit_seconds=1000,
        attempts=2,
    ),
)

AFTER_START = (
    Step(
        name="purge",
        run=Later("steps.accounts.purge_settings"),
        idle=idle.nothing_to_purge,
        modes=SERVICES,
        node_types=CONTROLLER,
        needs=("before",),
        required=False,
        time_limit_seconds=120,
    ),
    # Best effort: a cluster whose accounts are wrong can be put right by a command, one that is gone can not.
    Step(
        name="accounts",
        run=Later("steps.accounts.reconcile_accounts"),
        idle=idle.nothing_declared,
        node_types=CONTROLLER,
        # What slurmdbd sends to a slurmctld that has registered and does not listen yet is lost, and accounts
        # are unknown to it until it starts anew (measured): so not beside its start. Nor beside
        # a reconfigure, which is one since 23.11: slurmctld 24.11 hung in three of six runs (measured).
        needs=("before", "slurmctld"),
        after=("purge", "slurm-refresh"),
        required=False,
        time_limit_seconds=600,
        attempts=2,
        advice=accounting.ADVICE,
    ),
)
