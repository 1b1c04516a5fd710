"""Compute quotas of teams: the second custom resource, on the same core as the cluster's.

CloudFormation has a type of its own for them since November 2026, in some Regions.

Apart from the cluster's by good reason: a quota has versions, and an update names the one that it is of, so
that there is no plan of steps and no grace for what is not shown yet; it is compared by value with what the
service fills in, not member by member with a table of policies; it is found in a list that may lag, and is
known before it can be described.
"""
