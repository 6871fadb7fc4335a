import { checkDrafts } from "./check-drafts.ts";
import { requestOf, requestWithTools, toolOf, twoCalls } from "./requests.ts";
import {
  callsOf,
  callTexts,
  check,
  equal,
  failureIn,
  rules,
  streamedNames,
  textOf,
  type ConformanceCase,
} from "./scene.ts";

/** Names that conflict with object prototypes, formats and limits. */
const inherited = ["toString", "constructor", "__proto__", "hasOwnProperty", "then"];
const hostileNames = [...inherited, "my tool/ä", "my_tool_ä", "x0", "long ".repeat(60), ""];

/** Tool calls. */
export const toolCases: readonly ConformanceCase[] = [
  ...rules([], {
    "tool calls are in order, with the text, and with unchanged arguments": async (at) => {
      const outcome = await at.answer(twoCalls, requestWithTools());
      equal(callTexts(outcome), ['add({"a":1,"b":2})', 'multiply({"a":3,"b":4})'], "The calls");
      equal(textOf(outcome), "Let me compute.", "The text");
      equal(outcome.finish.unified, "tool-calls", "The finish");
      equal(streamedNames(outcome), ["add", "multiply"], "The streamed tool names");
    },
    "the arguments of calls are streamed, each piece with the number of its call": async (at) => {
      const outcome = await at.answer(twoCalls, requestWithTools());
      checkDrafts(outcome.chunks, callsOf(outcome));
    },
    "a turn with tool calls that was cut by the token limit has the finish reason length": async (at) => {
      const calls = ['{"a":1,"b":2}', '{"a":3'].map((made) => ({ name: "add", arguments: [made] }));
      const behavior = { type: "answer", answer: { calls, finish: "length" } } as const;
      const outcome = await at.outcome(behavior, requestWithTools());
      // A provider may leave out the last call. The turn must not appear complete.
      if (outcome.ok) equal(outcome.finish.unified, "length", "The finish");
      else failureIn(outcome, "malformed");
    },
  }),
  ...rules(["interleaved-calls"], {
    "chunks of interleaved calls are assigned to their own calls": async (at) => {
      const calls = [1, 2, 3].map((n) => ({
        name: n === 2 ? "multiply" : "add",
        arguments: ['{"a"', ":", `${n}`, ',"b"', ":", `${n * 10}}`],
      }));
      const outcome = await at.answer({ calls, interleaved: true }, requestWithTools());
      const wanted = ['add({"a":1,"b":10})', 'multiply({"a":2,"b":20})', 'add({"a":3,"b":30})'];
      equal(callTexts(outcome), wanted, "The calls");
      checkDrafts(outcome.chunks, callsOf(outcome));
    },
  }),
  ...rules(["text-arguments"], {
    "malformed arguments are unchanged": async (at) => {
      const malformed = ['{"a":1', "{'a':1}", '{"a":NaN}', '{"a":1}{"a":2}', '["a"]', '{"a":1,}'];
      const calls = malformed.map((made) => ({ name: "add", arguments: [made] }));
      const outcome = await at.answer({ calls }, requestWithTools());
      const texts = callsOf(outcome).map((call) => call.arguments);
      equal(texts, malformed, "The arguments");
    },
  }),
  ...rules(["loose-ids"], {
    "a call always has an id, even if the provider sends none, or the same id twice": async (at) => {
      const calls = ["same", "same", ""].map((id) => ({ id, name: "add", arguments: ['{"a":1,"b":2}'] }));
      const outcome = await at.answer({ calls }, requestWithTools());
      equal(callTexts(outcome), Array(3).fill('add({"a":1,"b":2})'), "The calls");
      const hasIds = callsOf(outcome).every(({ id }) => id !== "");
      check(hasIds, "Every call must have an id.");
    },
  }),
  ...rules(["http"], {
    "a call without arguments has an empty object as its arguments": async (at) => {
      const outcome = await at.answer({ calls: [{ name: "add", arguments: [] }] }, requestWithTools());
      equal(callTexts(outcome), ["add({})"], "The call");
    },
    "any tool names are sent in the provider's format, and answers contain the original names": async (
      at,
    ) => {
      const calls = hostileNames.map((_, tool) => ({ name: { tool }, arguments: ['{"a":1,"b":2}'] }));
      const outcome = await at.answer({ calls }, requestOf({ tools: hostileNames.map(toolOf) }));
      const names = callsOf(outcome).map((call) => call.name);
      equal(names, hostileNames, "The names");
      equal(streamedNames(outcome), hostileNames, "The streamed tool names");
    },
    "the name of an unknown tool is unchanged": async (at) => {
      const calls = [{ name: "subtract", arguments: ["{}"] }];
      equal(callTexts(await at.answer({ calls }, requestWithTools())), ["subtract({})"], "The call");
    },
  }),
];
