"""Compute quotas of teams: the second custom resource, on the same core as the cluster's.

CloudFormation has a type of its own for them since November 2026, in some Regions.
"""
