"""The custom resource's Lambda functions: create, update, delete and wait for a HyperPod cluster.

Runs in Lambda as the top-level package ``handler`` with the standard library and the runtime's botocore only,
and imports nothing of hyperpod_cdk. ``index`` has the entry points, ``core`` what is the same for every
resource; ``cluster`` and ``quota`` are the two kinds that there are.
"""
