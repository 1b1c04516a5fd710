"""Preflight: whether an account has what a spec needs, before anything is deployed. Only reads."""

from hyperpod_cdk.preflight.aws import Aws
from hyperpod_cdk.preflight.check import Check, Outcome, Result, Unchecked
from hyperpod_cdk.preflight.policy import policy
from hyperpod_cdk.preflight.registry import CHECKS, RULES
from hyperpod_cdk.preflight.report import Report
from hyperpod_cdk.preflight.run import run

__all__ = ["CHECKS", "RULES", "Aws", "Check", "Outcome", "Report", "Result", "Unchecked", "policy", "run"]
