"""The resource types that the embedded CloudFormation can create, change and delete."""
