"""Lambda functions run as local processes."""
