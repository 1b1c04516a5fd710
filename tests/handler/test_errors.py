"""The kinds of errors of AWS calls (field reports 13, 60, 61): by code, but for roles that are not ready."""

from collections.abc import Callable

import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
)
from handler import errors

URL = "https://api.sagemaker.us-west-2.amazonaws.com"


def answer(code: str, message: str = "", status: int = 400) -> ClientError:
    return ClientError(
        {"Error": {"Code": code, "Message": message}, "ResponseMetadata": {"HTTPStatusCode": status}}, "Op"
    )


NOT_READY = "Could not assume role arn:aws:iam::123456789012:role/node."
Kind = Callable[[Exception], bool]


@pytest.mark.parametrize(
    ("error", "kinds"),
    [
        (answer("ResourceNotFound"), {errors.is_not_found}),
        (answer("ConflictException", "ResourceNotFound"), {errors.is_conflict}),
        (answer("ResourceInUse"), {errors.is_name_in_use}),
        (answer("ResourceLimitExceeded", "Throttling"), set()),
        (answer("ThrottlingException"), {errors.is_transient}),
        (answer("ThrottlingException", status=503), {errors.is_transient}),
        (answer("InternalFailure", status=500), {errors.is_transient, errors.is_outcome_unknown}),
        (answer("NeverHeardOf", status=502), {errors.is_transient, errors.is_outcome_unknown}),
        (answer("AccessDeniedException"), {errors.is_permission_delay}),
        (answer("ValidationException", NOT_READY), {errors.is_permission_delay}),
        (answer("ValidationException", "InstanceCount must be at least 1"), set()),
        (ReadTimeoutError(endpoint_url=URL), {errors.is_transient, errors.is_outcome_unknown}),
        (ConnectionClosedError(endpoint_url=URL), {errors.is_transient, errors.is_outcome_unknown}),
        (EndpointConnectionError(endpoint_url=URL), {errors.is_transient, errors.is_outcome_unknown}),
        (NoCredentialsError(), set()),
    ],
)
def test_each_error_has_its_kinds_and_no_other(error: Exception, kinds: set[Kind]) -> None:
    every: set[Kind] = {
        errors.is_not_found,
        errors.is_conflict,
        errors.is_name_in_use,
        errors.is_transient,
        errors.is_outcome_unknown,
        errors.is_permission_delay,
    }
    assert {kind for kind in every if kind(error)} == kinds
