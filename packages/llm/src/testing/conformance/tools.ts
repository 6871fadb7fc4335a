import { callsOf, callText, check, equal, expectFailure, expectSuccess, textOf } from "./check.ts";
import type { ConformanceCase } from "./harness.ts";
import { requestOf, requestWithTools, collectChunks, longTimeouts, toolOf, twoCalls } from "./requests.ts";

/** Names that trip up objects, patterns and limits. */
export const hostileNames: readonly string[] = [
  "toString",
  "constructor",
  "__proto__",
  "hasOwnProperty",
  "then",
  "my tool/ä",
  "my_tool_ä",
  "x0",
  "long ".repeat(60),
  "",
];

/** What a model calls. */
export const toolCases: readonly ConformanceCase[] = [
  {
    name: "tool calls come in order, beside the text, with their arguments as they were made",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: twoCalls });
      const { chunks, onChunk } = collectChunks();
      const outcome = expectSuccess(await caller.call(requestWithTools(), { ...longTimeouts, onChunk }));
      equal(callsOf(outcome).map(callText), ['add({"a":1,"b":2})', 'multiply({"a":3,"b":4})'], "the calls");
      equal(textOf(outcome), "Let me compute.", "the text");
      equal(outcome.finish.unified, "tool-calls", "the finish");
      equal(
        chunks.flatMap((chunk) => (chunk.type === "tool-call" ? [chunk.name] : [])),
        ["add", "multiply"],
        "the names that were streamed",
      );
    },
  },
  {
    name: "pieces of calls that come in turns never cross",
    needs: ["interleaved-calls"],
    async run({ caller, serve }) {
      const calls = [1, 2, 3].map((n) => ({
        name: n === 2 ? "multiply" : "add",
        arguments: ['{"a"', ":", `${n}`, ',"b"', ":", `${n * 10}}`],
      }));
      serve({ type: "answer", answer: { calls, interleaved: true } });
      const outcome = expectSuccess(await caller.call(requestWithTools(), longTimeouts));
      equal(
        callsOf(outcome).map(callText),
        ['add({"a":1,"b":10})', 'multiply({"a":2,"b":20})', 'add({"a":3,"b":30})'],
        "the calls",
      );
    },
  },
  {
    name: "malformed arguments stay as the model made them",
    needs: [],
    async run({ caller, serve }) {
      const malformed = ['{"a":1', "{'a':1}", '{"a":NaN}', '{"a":1}{"a":2}', '["a"]', '{"a":1,}'];
      serve({
        type: "answer",
        answer: { calls: malformed.map((made) => ({ name: "add", arguments: [made] })) },
      });
      const outcome = expectSuccess(await caller.call(requestWithTools(), longTimeouts));
      equal(
        callsOf(outcome).map((call) => call.arguments),
        malformed,
        "the arguments",
      );
    },
  },
  {
    name: "a call without arguments has an empty object",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { calls: [{ name: "add", arguments: [] }] } });
      equal(
        callsOf(expectSuccess(await caller.call(requestWithTools(), longTimeouts))).map(callText),
        ["add({})"],
        "the call",
      );
    },
  },
  {
    name: "a provider's ids may be missing or repeated",
    needs: ["loose-ids"],
    async run({ caller, serve }) {
      const call = { name: "add", arguments: ['{"a":1,"b":2}'] };
      serve({
        type: "answer",
        answer: {
          calls: [
            { ...call, id: "same" },
            { ...call, id: "same" },
            { ...call, id: "" },
          ],
        },
      });
      const calls = callsOf(expectSuccess(await caller.call(requestWithTools(), longTimeouts)));
      equal(calls.map(callText), Array(3).fill('add({"a":1,"b":2})'), "the calls");
      check(
        calls.every((made) => made.id !== ""),
        "a call has no id",
      );
    },
  },
  {
    name: "hostile names of tools go out in the dialect's pattern and come back as they were",
    needs: ["http"],
    async run({ caller, serve }) {
      const calls = hostileNames.map((_, tool) => ({ name: { tool }, arguments: ['{"a":1,"b":2}'] }));
      serve({ type: "answer", answer: { calls } });
      const { chunks, onChunk } = collectChunks();
      const request = requestOf({ tools: hostileNames.map(toolOf) });
      const outcome = expectSuccess(await caller.call(request, { ...longTimeouts, onChunk }));
      equal(
        callsOf(outcome).map((call) => call.name),
        hostileNames,
        "the names",
      );
      equal(
        chunks.flatMap((chunk) => (chunk.type === "tool-call" ? [chunk.name] : [])),
        hostileNames,
        "the names that were streamed",
      );
    },
  },
  {
    name: "a name that no tool has stays as the model made it",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { calls: [{ name: "subtract", arguments: ["{}"] }] } });
      equal(
        callsOf(expectSuccess(await caller.call(requestWithTools(), longTimeouts))).map(callText),
        ["subtract({})"],
        "the call",
      );
    },
  },
  {
    name: "a turn that the token limit cut says so, whatever it calls",
    needs: [],
    async run({ caller, serve }) {
      serve({
        type: "answer",
        answer: {
          calls: [
            { name: "add", arguments: ['{"a":1,"b":2}'] },
            { name: "add", arguments: ['{"a":3'] },
          ],
          finish: "length",
        },
      });
      const outcome = await caller.call(requestWithTools(), longTimeouts);
      // A provider may leave the last call out; it must never look like a turn that came to its end.
      if (outcome.ok) equal(outcome.finish.unified, "length", "the finish");
      else expectFailure(outcome, "malformed");
    },
  },
];
