"""The rehearsal: an embedded AWS on loopback, and a deployment against it.

Importing this package loads nothing heavy; take the part you need:
:mod:`hyperpod_cdk.rehearsal.hyperpod` is the emulated HyperPod service.
"""
