"""AWS CDK constructs for Amazon SageMaker HyperPod."""
