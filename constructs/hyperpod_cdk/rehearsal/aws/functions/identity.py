"""The credentials that a function finds in its environment: those of its role, in a session of its name."""

from __future__ import annotations

from moto.awslambda.models import LambdaFunction
from moto.sts.models import sts_backends
from moto.utilities.utils import get_partition

_SECONDS = 12 * 3600


def credentials(function: LambdaFunction) -> dict[str, str]:
    """Assume a function's role as Lambda does.

    Args:
        function: as moto keeps it.
    """
    partition = get_partition(function.region)
    session = sts_backends[function.account_id][partition].assume_role(
        region_name=function.region,
        role_session_name=str(function.function_name),
        role_arn=str(function.role),
        policy="",
        duration=_SECONDS,
        external_id="",
    )
    return {
        "AWS_ACCESS_KEY_ID": session.access_key_id,
        "AWS_SECRET_ACCESS_KEY": session.secret_access_key,
        "AWS_SESSION_TOKEN": session.session_token,
    }
