"""CloudFormation: templates, stack operations and the API that the CDK CLI speaks to."""
