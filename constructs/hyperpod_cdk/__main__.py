"""``python -m hyperpod_cdk``: the command line."""

import sys

from hyperpod_cdk.cli import main

sys.exit(main())
