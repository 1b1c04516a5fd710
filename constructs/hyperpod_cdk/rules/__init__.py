"""Rules: from a spec to findings, all at once. Never loads aws_cdk."""

from hyperpod_cdk.rules.finding import Finding, Position, Severity, errors
from hyperpod_cdk.rules.registry import RULES, check
from hyperpod_cdk.rules.rule import Check, Rule
from hyperpod_cdk.rules.training_jobs import check_job

__all__ = ["RULES", "Check", "Finding", "Position", "Rule", "Severity", "check", "check_job", "errors"]
