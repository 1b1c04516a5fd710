"""Waiting longer than a custom resource may: a WaitCondition, and the state machine that tells it."""

import hashlib
import json
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from hyperpod_cdk.access.keys import encrypted_log_group
from hyperpod_cdk.cluster.findings import acknowledge_watch

_LOOK_SECONDS = 60
# A lasting fault of a look is told to the condition after half an hour of tries.
_TRIES = 30


class MinimumCounts(Construct):
    """Waits until every instance group has its minimum of nodes, for up to 12 hours.

    The custom resource starts the state machine when it answers. A WaitCondition cannot be updated
    (CFN aws-resource-cloudformation-waitcondition), so its logical id follows the request and the timeout: a
    changed request waits anew, an unchanged one does not.

    The condition's signed address travels in the custom resource's properties, which CDK's provider framework
    writes to its log: who reads that log could end this one wait, and do nothing else with it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        request: dict[str, Any],
        look: lambda_.IFunction,
        timeout: cdk.Duration,
        log_retention: logs.RetentionDays,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the condition and the state machine.

        Args:
            request: the CreateCluster request.
            look: the handler's function that looks once and tells the condition.
            timeout: at most 12 hours.
            log_retention: of the state machine's log group.
            encryption_key: for the log group. Default: AWS-managed keys.
        """
        super().__init__(scope, construct_id)
        self.timeout = timeout
        """How long the condition waits."""
        name = _digest([cdk.Stack.of(self).resolve(request), timeout.to_seconds()])
        self.handle = cdk.CfnWaitConditionHandle(self, f"Handle{name}")
        self.condition = cdk.CfnWaitCondition(
            self,
            f"Reached{name}",
            handle=self.handle.ref,
            timeout=str(int(timeout.to_seconds())),
            count=1,
        )
        self.log_group = encrypted_log_group(
            self, "Log", retention=log_retention, encryption_key=encryption_key
        )
        self.state_machine = sfn.StateMachine(
            self,
            "Watch",
            definition_body=sfn.DefinitionBody.from_string(json.dumps(DEFINITION)),
            definition_substitutions={"Look": look.function_arn},
            timeout=timeout,
            # the input holds the condition's signed address, which is a secret
            logs=sfn.LogOptions(
                destination=self.log_group, include_execution_data=False, level=sfn.LogLevel.ALL
            ),
        )
        look.grant_invoke(self.state_machine)
        acknowledge_watch(self.state_machine, look)


_AGAIN = {
    "ErrorEquals": ["States.ALL"],
    "IntervalSeconds": _LOOK_SECONDS,
    "MaxAttempts": _TRIES,
    "BackoffRate": 1,
}
DEFINITION = {
    "Comment": "Looks at a HyperPod cluster until it has its nodes",
    "StartAt": "Look",
    "States": {
        "Look": {
            "Type": "Task",
            "Resource": "${Look}",
            "ResultPath": "$.Seen",
            "Retry": [_AGAIN],
            "Catch": [{"ErrorEquals": ["States.ALL"], "ResultPath": "$.Error", "Next": "GiveUp"}],
            "Next": "Done?",
        },
        "GiveUp": {
            "Comment": "Look tells the condition about the error, and looks no more",
            "Type": "Task",
            "Resource": "${Look}",
            "ResultPath": "$.Seen",
            "Retry": [_AGAIN],
            "Next": "Done?",
        },
        "Done?": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.Seen.Done", "BooleanEquals": True, "Next": "Told"}],
            "Default": "Later",
        },
        "Later": {"Type": "Wait", "Seconds": _LOOK_SECONDS, "Next": "Look"},
        "Told": {"Type": "Succeed"},
    },
}
"""Looks each minute. When looking itself fails for long, Look is told so and tells the condition."""


def _digest(resolved: Any) -> str:
    text = json.dumps(resolved, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:8]
