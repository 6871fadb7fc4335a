import { answers, fails } from "@moora/llm/testing";
import { call, calls } from "../counting-agent.ts";
import { asks, inLoops, transcript, tries, type Transcript } from "./transcript.ts";

const lookFirst = {
  graph: {
    states: ["Check"],
    terminals: [],
    rows: {
      Observing: { Continue: "Check" },
      Check: { Fine: "Planning" },
    },
  },
};

/** One transcript for each common case. */
export const everyday: readonly Transcript[] = [
  transcript("an answer", []),
  transcript("two answers", [], { says: ["First.", "Second."] }),
  transcript("one keyed call", [[call("pay")]]),
  transcript("one call that runs once", [[call("send")]]),
  transcript("a call that runs once, and a human settles", [[call("send_or_ask")]], {
    decide: ({ about }) => (about === "outcome" ? { outcome: "failed", reason: "Leave it." } : "approve"),
  }),
  transcript("a call that can be probed", [[call("ship")]], {
    config: { retries: { maxToolAttempts: 9 } },
    mayBeUnknown: false,
  }),
  transcript("two steps", [[call("look"), call("pay")], [call("pay", 2)]]),
  transcript("three parallel calls", [[call("look"), call("pay"), call("send")]]),
  transcript("eight parallel calls", [Array.from({ length: 8 }, (_, index) => call("pay", index))]),
  transcript("one call at a time", [[call("look"), call("pay"), call("ship")]], {
    config: { toolCalls: { parallel: false } },
    mayBeUnknown: false,
  }),
  transcript("an approval", [[call("pay")]], { config: asks("pay") }),
  transcript("a rejection", [[call("pay")]], { config: asks("pay"), decide: () => ({ reject: "No." }) }),
  transcript("a change", [[call("pay")]], { config: asks("pay"), decide: () => ({ approve: { of: 7 } }) }),
  transcript("three parallel calls with two approvals", [[call("look"), call("pay"), call("ship")]], {
    config: asks("pay", "ship"),
    decide: ({ name }) => (name === "pay" ? "approve" : { reject: "Not this." }),
    mayBeUnknown: false,
  }),
  transcript("a question to a human", [[call("ask_human")]], { decide: () => ({ answer: "Forty-two." }) }),
  transcript("a failing tool", [[call("miss"), call("look")]]),
  transcript(
    "calls that cannot be made",
    [[{ name: "look", arguments: '{"of":' }, { name: "unheard_of", arguments: {} }, call("pay")]],
    // What is not known is not known to be harmless either.
    { mayBeUnknown: true },
  ),
  transcript("a reflection", [[call("look"), call("pay")]], { config: { reflection: { everyNSteps: 1 } } }),
  transcript("a state of its own", [[call("look")]], {
    config: lookFirst,
    extras: {
      states: { Check: { replay: "safe", handle: () => ({ event: "Fine", note: "It was checked." }) } },
    },
  }),
  transcript("a state that adds to the trace", [[call("look")]], {
    config: lookFirst,
    extras: {
      states: {
        Check: {
          replay: "safe",
          handle: () => ({
            event: "Fine",
            trace: { text: "It was checked.", data: { rules: 3, passed: ["a", null] } },
          }),
        },
      },
    },
  }),
  inLoops("a model that has to be asked again", [
    [tries(fails("rate-limit", { retryAfterMs: 2_000 }), calls([call("look")]))],
  ]),
  transcript("a limit of steps", [[call("look")], [call("look", 2)], [call("look", 3)]], {
    config: { limits: { maxSteps: 2 } },
  }),
  transcript("low confidence", [answers("Perhaps.", { confidence: 0.1 })], {
    config: { retries: { maxAnswerRetries: 1 } },
  }),
];
