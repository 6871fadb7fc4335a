import { answers, callsTools, fails } from "@moora/llm/testing";
import { call, calls } from "../counting-agent.ts";
import { answersOnce, inLoops, tries, type Transcript } from "./transcript.ts";

const says = ["First.", "Second."];
const looks = calls([call("look")]);

/** Models that fail, refuse, return empty answers, or are cut off. */
export const failures: readonly Transcript[] = [
  inLoops("busy, without a time", [[tries(fails("rate-limit"), looks)]]),
  inLoops("busy for three times", [
    [tries(fails("rate-limit"), fails("overloaded"), fails("server"), looks)],
  ]),
  inLoops("busy for a year", [[tries(fails("rate-limit", { retryAfterMs: 31_536_000_000 }), looks)]]),
  inLoops("busy for no time", [[tries(fails("rate-limit", { retryAfterMs: 0 }), looks)]]),
  inLoops("broken to the end", [[fails("server")]], { says }),
  inLoops("broken in the second step", [[looks, fails("connection")]], { says }),
  inLoops("two tries only", [[fails("timeout")]], { says, config: { retries: { maxLlmAttempts: 2 } } }),
  inLoops("the wrong key", [[fails("auth", { message: "This key is not known." })]], { says }),
  inLoops("no money", [[fails("billing")]], { says }),
  inLoops("a request that is refused as invalid", [[fails("invalid-request")]], { says }),
  inLoops("a refusal", [[fails("refusal", { message: "I will not." })]], { says }),
  inLoops("a refusal after calls", [[looks, fails("refusal")]], { says }),
  inLoops("a filter", [[fails("content-filter", { partial: "The way to" })]], { says }),
  inLoops("silent once", [[tries(fails("empty"), answersOnce("Sorry: here it is."))]]),
  inLoops("silent twice", [[fails("empty")]], { says }),
  inLoops("an answer without a part", [[answers("")]], { says, config: { limits: { maxSteps: 3 } } }),
  inLoops("a malformed answer", [[tries(fails("malformed"), answersOnce("Well-formed."))]]),
  inLoops("a stream that breaks off", [
    [tries(fails("interrupted", { partial: "As I was say" }), answersOnce("As I was saying: yes."))],
  ]),
  inLoops(
    "a stream that breaks off twice, at its price",
    [
      [
        tries(
          fails("interrupted", { partial: "One", usage: { inputTokens: 5, outputTokens: 1 } }),
          fails("interrupted", { partial: "One, two", usage: { inputTokens: 5, outputTokens: 2 } }),
          answersOnce("One, two, three."),
        ),
      ],
    ],
    { countsAttempts: true },
  ),
  inLoops("too long, and something to leave out", [[looks, [call("pay")], tries(fails("context-length"))]], {
    says,
  }),
  inLoops("too long, and older messages to leave out", [[], [], [], [tries(fails("context-length"))]], {
    says: ["One.", "Two.", "Three.", "Four."],
  }),
  inLoops("too long, and nothing to leave out", [[fails("context-length")]], { says }),
  inLoops("a summary that fails", [[looks, [call("pay")]]], {
    config: { reflection: { everyNSteps: 1 } },
    reflects: fails("server"),
  }),
  inLoops("an answer that is cut off", [[answers("It is as I s", { finish: "length" })]], { says }),
  inLoops("calls that are cut off", [
    [callsTools([call("pay"), { name: "pay", arguments: '{"of":' }], { finish: "length" }), [call("pay")]],
  ]),
  inLoops("calls that are cut off for three times", [
    [1, 2, 3].map((of) => callsTools([call("pay", of)], { finish: "length" })),
  ]),
  inLoops("stopped for a reason of its own", [[answers("Hm.", { finish: "other" })]]),
];
