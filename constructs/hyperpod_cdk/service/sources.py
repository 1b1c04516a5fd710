"""Where facts about the service come from."""

GUIDE = "https://docs.aws.amazon.com/sagemaker/latest/dg/"
"""Developer guide of Amazon SageMaker AI."""
API = "https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
"""API reference of Amazon SageMaker AI."""
