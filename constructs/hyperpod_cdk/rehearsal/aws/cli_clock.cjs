// Loaded into the CDK CLI by the rehearsal. The CLI asks a stack's status every 5 s and its events every 2 s,
// which suits an hour-long deployment and not one of a few seconds. Nothing else waits these lengths.
"use strict";

const setTimeoutOf = globalThis.setTimeout;
globalThis.setTimeout = Object.assign(
  (callback, delay, ...rest) => setTimeoutOf(callback, delay === 5000 || delay === 2000 ? 250 : delay, ...rest),
  setTimeoutOf,
);
