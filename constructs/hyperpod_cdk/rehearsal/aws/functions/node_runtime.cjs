// What Lambda's Node.js runtime does, as a process: events in on stdin, results out on a descriptor.
// Started by process.py with two arguments: the handler (`file.export`) and the descriptor's number.
"use strict";

const fs = require("fs");
const http = require("http");
const https = require("https");
const path = require("path");
const readline = require("readline");

const [handlerName, descriptor] = process.argv.slice(2);
const endpoint = new URL(process.env.AWS_ENDPOINT_URL);

// CDK's handlers answer CloudFormation over https on port 443 and drop the port of the ResponseURL.
// Nothing of theirs is changed: what they ask of https at the embedded AWS goes to its http port.
const httpsRequest = https.request;
https.request = (options, ...rest) =>
  options && options.hostname === endpoint.hostname
    ? http.request({ ...options, port: endpoint.port }, ...rest)
    : httpsRequest(options, ...rest);

function load(name) {
  const dot = name.lastIndexOf(".");
  return require(path.join(process.env.LAMBDA_TASK_ROOT, name.slice(0, dot)))[name.slice(dot + 1)];
}

function context(request) {
  return {
    awsRequestId: request.request_id,
    invokedFunctionArn: request.arn,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    getRemainingTimeInMillis: () => Math.max(0, Math.floor(request.deadline * 1000 - Date.now())),
  };
}

async function run(request) {
  try {
    const result = await load(handlerName)(request.event, context(request));
    return { result: result === undefined ? null : result };
  } catch (error) {
    console.error(error);
    const trace = String(error.stack || error).split("\n");
    return { error: { errorType: error.name || "Error", errorMessage: String(error.message), trace } };
  }
}

async function main() {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const answer = await run(JSON.parse(line));
    fs.writeSync(Number(descriptor), JSON.stringify(answer) + "\n");
  }
  process.exit(0);
}

main();
