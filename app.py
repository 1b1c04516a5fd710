"""The CDK app: one YAML file, one stack."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "constructs"))

from hyperpod_cdk.app import main

main()
