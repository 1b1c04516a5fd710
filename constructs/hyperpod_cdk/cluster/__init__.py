"""The cluster: its request, the construct and the custom resource behind it."""
