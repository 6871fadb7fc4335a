import { answers } from "@moora/llm/testing";
import { call } from "../counting-agent.ts";
import { answersOnce, inLoops, type Loops, type Transcript } from "./transcript.ts";

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `Question ${index + 1}.`);

const chat = (count: number): Loops =>
  Array.from({ length: count }, (_, index) => [answersOnce(`Answer ${index + 1}.`)]);

const internal = (name: string, given: object | string = {}) => ({
  name,
  arguments: typeof given === "string" ? given : JSON.stringify(given),
});

const window = (size: number) => ({ window: { initialSize: size, expandBy: size } });

const work = (steps: number) => Array.from({ length: steps }, (_, index) => [call("pay", index + 1)]);

const reading = (step: number, inputTokens: number) =>
  ({
    ...answers(""),
    turn: {
      origin: "mock",
      parts: [{ type: "tool-call", id: `c${step}`, name: "look", arguments: `{"of":${step}}` }],
    },
    usage: { inputTokens, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 1, reasoningTokens: 0 },
    finish: { unified: "tool-calls", raw: "tool_use" },
  }) as const;

/** What the model sees of a long story: windows, summaries, and what it brings back by itself. */
export const contexts: readonly Transcript[] = [
  inLoops("a small window", chat(12), { says: numbered(12), config: window(6) }),
  inLoops("a window of one", chat(5), { says: numbered(5), config: window(1) }),
  inLoops("the model asks for older messages", [...chat(6), [[internal("load_older_messages")]]], {
    says: numbered(7),
    config: window(4),
  }),
  inLoops(
    "the model asks for more than there is",
    [...chat(4), [[internal("load_older_messages")], [internal("load_older_messages")]]],
    {
      says: numbered(5),
      config: window(4),
    },
  ),
  inLoops(
    "the model finds calls that a summary hides",
    [
      [
        [call("pay"), call("look", 2)],
        [internal("find_tool_calls", { text: "pay" })],
        [internal("load_tool_results", { ids: ["call_1"] })],
      ],
    ],
    { config: { reflection: { everyNSteps: 1 }, limits: { maxSteps: 8 } } },
  ),
  inLoops(
    "the model brings back numbers for ids",
    [[[call("pay")], [internal("load_tool_results", { ids: [1, 99] })]]],
    {
      config: { reflection: { everyNSteps: 1 }, limits: { maxSteps: 6 } },
    },
  ),
  inLoops(
    "the model asks for its context in the wrong form",
    [
      [
        [call("pay")],
        [
          internal("find_tool_calls", "{"),
          internal("find_tool_calls"),
          internal("load_tool_results", { ids: "none" }),
        ],
      ],
    ],
    { config: { reflection: { everyNSteps: 1 }, limits: { maxSteps: 6 } } },
  ),
  inLoops(
    "a call of its own and one of the agent's in one turn",
    [[[call("pay")], [internal("find_tool_calls", { text: "" }), call("look", 3)]]],
    { config: { reflection: { everyNSteps: 1 }, limits: { maxSteps: 6 } } },
  ),
  inLoops(
    "the model searches for tools, and calls one that it has not found",
    [[[internal("search_tools", { query: "pay" })], [call("pay")], [call("look", 2)]], [[call("pay", 2)]]],
    { says: ["One.", "Two."], config: { toolSearch: { keep: "loop" } } },
  ),
  inLoops("a summary every two steps", [work(9)], {
    config: { reflection: { everyNSteps: 2 }, limits: { maxSteps: 20 } },
  }),
  inLoops("a summary of a summary", [work(3), work(3)], {
    says: ["One.", "Two."],
    config: { reflection: { everyNSteps: 1 } },
  }),
  inLoops("a summary that says nothing", [work(2)], {
    config: { reflection: { everyNSteps: 1 } },
    reflects: answers("  "),
  }),
  inLoops("a summary when there is much to read", [[reading(1, 50), reading(2, 150), reading(3, 20)]], {
    config: { reflection: { aboveInputTokens: 100 } },
  }),
  inLoops("a summary in every loop", [work(2), work(2), work(2)], {
    says: ["One.", "Two.", "Three."],
    config: { reflection: { everyNSteps: 2 } },
  }),
];
