import { fault, type Fault } from "./fault.ts";

const effects = "packages/agent-core-effects/src";
const tests = "packages/agent-core-effects/test";

/** Faults at the edge: models, tools, arguments, results and files are not what they seem. */
export const effectFaults: readonly Fault[] = [
  fault(
    9,
    "a call is named by its provider's id",
    {
      file: `${effects}/run/observation.ts`,
      text: "const call = { id: ids(), name: toolNameOf(state, name), parameters, calledAt: now };",
      replacement: "const call = { id: part.id, name: toolNameOf(state, name), parameters, calledAt: now };",
    },
    [`${tests}/run/numbering.test.ts`],
    /two calls of one id|one id in five turns|hostile and empty ids are data, and never keys/,
  ),
  fault(
    10,
    "each attempt of a call has an idempotency key of its own",
    {
      file: `${effects}/run/call-context.ts`,
      text: "this.idempotencyKey = callIdempotencyKey(host.sessionId, toolCallId);",
      replacement: "this.idempotencyKey = `${callIdempotencyKey(host.sessionId, toolCallId)}/${attempt}`;",
    },
    [`${tests}/run/call-tool.test.ts`],
    /an idempotency key that every attempt has|a probe > knows the idempotency key of the call/,
  ),
  {
    number: 12,
    name: "a tool runs before its intent is on record",
    changes: [
      {
        file: `${effects}/run/call-tool.ts`,
        text: "  const running = toolOutcome(tool, { effect, updates }, state, host);\n",
        replacement: "",
      },
      {
        file: `${effects}/run/call-tool.ts`,
        text: "if (host.intended !== true && !(yield* dispatchIntent(",
        replacement:
          "const started = updatesOf(tool, effect, state, host);\n  const running = toolOutcome(tool, { effect, updates: started }, state, host);\n  if (host.intended !== true && !(yield* dispatchIntent(",
      },
    ],
    tests: [`${tests}/run/call-tool.test.ts`],
    caughtBy: /the call of a tool > is recorded before the tool runs/,
  },
  fault(
    13,
    "results stand in the order of their arrival",
    {
      file: `${effects}/request/turn-to-message.ts`,
      text: `return { role: "assistant", turn: { origin: turn.origin, parts, ...raw }, results };`,
      replacement: `const arrived = turn.parts
    .flatMap((part) => (part.type === "call" ? (recordOf(state, part.toolCallId) ?? []) : []))
    .toSorted((a, b) => (a.result?.receivedAt ?? 0) - (b.result?.receivedAt ?? 0))
    .map(recordResult);
  return { role: "assistant", turn: { origin: turn.origin, parts, ...raw }, results: arrived.length === results.length ? arrived : results };`,
    },
    ["packages/agent-testing/test/rare-transcripts.test.ts"],
    /results that arrive out of order > stand in the order of their calls/,
  ),
  fault(
    17,
    "arguments are read leniently",
    {
      file: `${effects}/tool/parse-arguments.ts`,
      text: "value = JSON.parse(text);",
      replacement:
        'value = JSON.parse(text.trim().replaceAll("\'", \'"\').replaceAll(/,\\s*(?=[}\\]])/g, ""));',
    },
    [`${tests}/tool/parse-arguments.long.test.ts`],
    /malformed arguments.* do not run/,
  ),
  fault(
    19,
    "a stream that was cut off counts as a whole answer",
    {
      file: "packages/llm/src/stream-guard.ts",
      text: 'return this.#fault ?? { type: "cut", empty: !this.#hasReached("receiving") };',
      replacement: "return this.#fault;",
    },
    ["packages/llm/test/stream-guard.test.ts", "packages/llm-openai/test/chat-conformance.test.ts"],
    /is cut when it ends before its last event|an answer that is cut .* after any event is a retryable failure/,
  ),
  fault(
    21,
    "an approval is bound to the name of the tool",
    {
      file: `${effects}/run/observation.ts`,
      text: "digestOf(sessionId, id, name, parameters, JSON.stringify(toolOf(state, name) ?? null));",
      replacement: "digestOf(name);",
    },
    [`${tests}/run/judged.test.ts`, "packages/agent/test/session/approvals.test.ts"],
    /(?:approval of something else|digest of a call)/,
  ),
  fault(
    28,
    "a text is cut within a character",
    {
      file: `${effects}/truncate.ts`,
      text: "last >= 0xd800 && last <= 0xdbff ? most - 1 : most",
      replacement: "last >= 0xd800 && last <= 0xdbff ? most : most",
    },
    [`${tests}/truncate.test.ts`, `${tests}/run/call-tool.test.ts`],
    /never ends in half a character|is never cut within a character/,
  ),
  fault(
    54,
    "a result is kept at any length",
    {
      file: `${effects}/run/dispatch-result.ts`,
      text: "const content = truncated(outcome.content.toWellFormed(), maxLength);",
      replacement: "const content = outcome.content.toWellFormed();",
    },
    [`${tests}/run/call-tool.test.ts`],
    /a result .*of a hundred million characters is cut/,
  ),
  fault(
    55,
    "a value that does not fit is shown to the model",
    {
      file: `${effects}/tool/standard-schema.ts`,
      text: "const what = redactValues(message, valueAt(value, keys));",
      replacement: "const what = redactValues(message, keys.length > 99 ? valueAt(value, keys) : undefined);",
    },
    [`${tests}/tool/secrets.test.ts`],
    /arguments that do not fit the schema of .* without the value/,
  ),
  fault(
    56,
    "an object with a function then is waited for",
    {
      file: `${effects}/is-promise.ts`,
      text: 'Object.prototype.toString.call(value) === "[object Promise]" &&',
      replacement: "",
    },
    [`${tests}/tool/tool-reply.test.ts`],
    /\{then: fn\} is not JSON, and nothing calls it/,
  ),
  fault(
    57,
    "of two equal keys in arguments the last one counts",
    {
      file: "packages/llm/src/repeated-key.ts",
      text: "if (keys.has(key)) return { key, offset };",
      replacement: "",
    },
    [`${tests}/tool/parse-arguments.long.test.ts`],
    /malformed arguments.* say where a key occurs for the second time/,
  ),
  fault(
    58,
    "a summary replaces what the user said, too",
    {
      file: "packages/agent-core-state-machine/src/control/visible-entries.ts",
      text: '(entry.type === "message" ||\n    hidden.every(',
      replacement: '(entry.type !== "summary" &&\n    hidden.every(',
    },
    ["packages/agent-testing/test/llm-request.long.test.ts"],
    /leaves out what a summary replaces; user messages stay/,
  ),
  fault(
    59,
    "the memo of a request does not look at results",
    {
      file: `${effects}/request/messages.ts`,
      text: "hasSameCalls(known.of, state, known.callIds) &&",
      replacement: "",
    },
    ["packages/agent-testing/test/request-memo.long.test.ts"],
    /where two branches of one state differ in a result only|where a host edits a state by hand/,
  ),
  fault(
    60,
    "a tool speaks after its call was called off",
    {
      file: `${effects}/run/call-tool.ts`,
      text: `if (isAborted(host)) return;
  const stored = outcomeToStore(outcome, host);
  if (isPromise(stored)) outcome = yield* waitFor(stored);
  if (isAborted(host)) return;`,
      replacement: `const stored = outcomeToStore(outcome, host);
  if (isPromise(stored)) outcome = yield* waitFor(stored);`,
    },
    [`${tests}/run/called-off.test.ts`],
    /dispatches nothing more > a tool that is called off as it starts/,
  ),
  fault(
    61,
    "half of a surrogate pair is passed on as it came",
    {
      file: `${effects}/run/chunk-reporter.ts`,
      text: "? whole.length - 1 : whole.length",
      replacement: "? whole.length : whole.length",
    },
    [`${tests}/run/call-llm.test.ts`],
    /joins a pair of surrogates that came in two pieces/,
  ),
  {
    number: 62,
    name: "a path that leads out of the root folder is opened",
    changes: [
      {
        file: "packages/tools/src/files/root-folder.ts",
        text: "if (!this.#contains(real)) throw outside(path);",
        replacement: "",
      },
    ],
    tests: ["packages/tools/test/root-folder.test.ts"],
    caughtBy: /read_file rejects|does not reveal what exists outside/,
  },
];
