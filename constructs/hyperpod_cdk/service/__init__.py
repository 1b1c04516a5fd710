"""What AWS is: the API model, instance types, limits. Data with source and date; no aws_cdk."""
