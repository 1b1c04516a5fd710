"""HyperPod clusters: the first custom resource.

Apart from the quota's by good reason: a cluster has no versions, and takes an update in steps of several
operations, planned from a table of what each member allows; what the service does not show is taken from the
request before; a new one may be watched for longer than CloudFormation waits; and a deleted one leaves
network interfaces and logs behind.
"""
