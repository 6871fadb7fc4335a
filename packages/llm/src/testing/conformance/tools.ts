import { callsOf, callText, check, equal, expectFailure, expectSuccess, textOf } from "./check.ts";
import { checkDrafts } from "./check-drafts.ts";
import type { ConformanceCase } from "./harness.ts";
import { requestOf, requestWithTools, collectChunks, longTimeouts, toolOf, twoCalls } from "./requests.ts";

/** Names that conflict with object prototypes, formats and limits. */
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

/** Tool calls. */
export const toolCases: readonly ConformanceCase[] = [
  {
    name: "tool calls are in order, with the text, and with unchanged arguments",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: twoCalls });
      const { chunks, onChunk } = collectChunks();
      const outcome = expectSuccess(await caller.call(requestWithTools(), { ...longTimeouts, onChunk }));
      equal(callsOf(outcome).map(callText), ['add({"a":1,"b":2})', 'multiply({"a":3,"b":4})'], "The calls");
      equal(textOf(outcome), "Let me compute.", "The text");
      equal(outcome.finish.unified, "tool-calls", "The finish");
      equal(
        chunks.flatMap((chunk) => (chunk.type === "tool-call" ? [chunk.name] : [])),
        ["add", "multiply"],
        "The streamed tool names",
      );
    },
  },
  {
    name: "the arguments of calls are streamed, each piece with the number of its call",
    needs: [],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: twoCalls });
      const { chunks, onChunk } = collectChunks();
      const outcome = expectSuccess(await caller.call(requestWithTools(), { ...longTimeouts, onChunk }));
      checkDrafts(chunks, callsOf(outcome));
    },
  },
  {
    name: "chunks of interleaved calls are assigned to their own calls",
    needs: ["interleaved-calls"],
    async run({ caller, serve }) {
      const calls = [1, 2, 3].map((n) => ({
        name: n === 2 ? "multiply" : "add",
        arguments: ['{"a"', ":", `${n}`, ',"b"', ":", `${n * 10}}`],
      }));
      serve({ type: "answer", answer: { calls, interleaved: true } });
      const { chunks, onChunk } = collectChunks();
      const outcome = expectSuccess(await caller.call(requestWithTools(), { ...longTimeouts, onChunk }));
      equal(
        callsOf(outcome).map(callText),
        ['add({"a":1,"b":10})', 'multiply({"a":2,"b":20})', 'add({"a":3,"b":30})'],
        "The calls",
      );
      checkDrafts(chunks, callsOf(outcome));
    },
  },
  {
    name: "malformed arguments are unchanged",
    needs: ["text-arguments"],
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
        "The arguments",
      );
    },
  },
  {
    name: "a call without arguments has an empty object as its arguments",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { calls: [{ name: "add", arguments: [] }] } });
      equal(
        callsOf(expectSuccess(await caller.call(requestWithTools(), longTimeouts))).map(callText),
        ["add({})"],
        "The call",
      );
    },
  },
  {
    name: "a call always has an id, even if the provider sends none, or the same id twice",
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
      equal(calls.map(callText), Array(3).fill('add({"a":1,"b":2})'), "The calls");
      check(
        calls.every((made) => made.id !== ""),
        "Every call must have an id.",
      );
    },
  },
  {
    name: "any tool names are sent in the provider's format, and answers contain the original names",
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
        "The names",
      );
      equal(
        chunks.flatMap((chunk) => (chunk.type === "tool-call" ? [chunk.name] : [])),
        hostileNames,
        "The streamed tool names",
      );
    },
  },
  {
    name: "the name of an unknown tool is unchanged",
    needs: ["http"],
    async run({ caller, serve }) {
      serve({ type: "answer", answer: { calls: [{ name: "subtract", arguments: ["{}"] }] } });
      equal(
        callsOf(expectSuccess(await caller.call(requestWithTools(), longTimeouts))).map(callText),
        ["subtract({})"],
        "The call",
      );
    },
  },
  {
    name: "a turn with tool calls that was cut by the token limit has the finish reason length",
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
      // A provider may leave out the last call. The turn must not appear complete.
      if (outcome.ok) equal(outcome.finish.unified, "length", "The finish");
      else expectFailure(outcome, "malformed");
    },
  },
];
