"""Rules: from a spec to findings, all at once. Never loads aws_cdk."""
