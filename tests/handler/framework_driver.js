// Runs cases through CDK's own provider framework: node framework_driver.js RUNTIME_FOLDER < cases > responses
const path = require("path");
const runtime = path.resolve(process.argv[2]);
console.log = () => {};
Object.assign(process.env, {
  USER_ON_EVENT_FUNCTION_ARN: "arn:aws:lambda:us-west-2:123456789012:function:on-event",
  USER_IS_COMPLETE_FUNCTION_ARN: "arn:aws:lambda:us-west-2:123456789012:function:is-complete",
  WAITER_STATE_MACHINE_ARN: "arn:aws:states:us-west-2:123456789012:stateMachine:waiter",
});
const outbound = require(path.join(runtime, "outbound.js"));
const framework = require(path.join(runtime, "framework.js"));

let answers, bodies, started;
outbound.httpRequest = async (_options, body) => bodies.push(JSON.parse(body));
outbound.startExecution = async (request) => { started = JSON.parse(request.input); };
outbound.invokeFunction = async (request) => {
  const which = request.FunctionName.endsWith("on-event") ? "on_event" : "is_complete";
  const script = answers[which];
  const answer = script.length > 1 ? script.shift() : script[0];
  if (answer.error === undefined) return { Payload: JSON.stringify(answer) };
  return { FunctionError: "Unhandled", Payload: JSON.stringify({ errorMessage: answer.error }) };
};

// The waiter's state machine: Retry on every error, MaxAttempts times, then the timeout handler.
async function wait(event, maxAttempts) {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await framework.isComplete(event);
    } catch (error) {
      if (attempt === maxAttempts) {
        return framework.onTimeout({ Cause: JSON.stringify({ errorMessage: error.message }) });
      }
    }
  }
}

async function main(cases) {
  const results = [];
  for (const one of cases) {
    answers = one.answers;
    bodies = [];
    started = undefined;
    await framework.onEvent({ ...one.event, ResponseURL: "https://response.example/put?signature" });
    if (started !== undefined) await wait(started, one.maxAttempts);
    results.push(bodies);
  }
  process.stdout.write(JSON.stringify(results));
}

let text = "";
process.stdin.on("data", (chunk) => { text += chunk; });
process.stdin.on("end", () => main(JSON.parse(text)));
