"""``hyperpod-cdk schema``: what editors complete and check by."""

import json

from hyperpod_cdk.commands.exits import OK


def command() -> int:
    """Print the JSON Schema of configurations, for editors."""
    from hyperpod_cdk.config import schema

    print(json.dumps(schema(), indent=2))
    return OK
