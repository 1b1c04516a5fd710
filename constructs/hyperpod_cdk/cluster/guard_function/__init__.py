"""The bootstrap guard's function: runs in Lambda, with the standard library and botocore only."""
