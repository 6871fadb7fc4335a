import { answers, callsTools } from "@moora/llm/testing";
import { call } from "../counting-agent.ts";
import { answersOnce, inLoops, type Transcript } from "./transcript.ts";

const says = ["First.", "Second."];

const endless = Array.from({ length: 30 }, (_, index) => [call("look", index)]);

const schema = JSON.stringify({
  type: "object",
  properties: { sum: { type: "number" } },
  required: ["sum"],
  additionalProperties: false,
});

const isSum = (answer: string): string | undefined =>
  /^\{"sum":\d+\}$/.test(answer) ? undefined : "sum: a number is expected.";

const answerExtras = { answerProblem: isSum };

const prices = { default: { input: 100_000, output: 500_000 } };

/** Limits of steps, tokens, costs and calls, and invalid answers. */
export const limits: readonly Transcript[] = [
  inLoops("one step only", [endless], { says, config: { limits: { maxSteps: 1 } } }),
  inLoops("an endless loop", [endless], { config: { limits: { maxSteps: 12 } } }),
  inLoops("a budget of tokens", [endless], { says, config: { budget: { maxTokens: 35 } } }),
  inLoops("a budget of tokens for the whole conversation", [endless, endless], {
    says: ["One.", "Two.", "Three."],
    config: { limits: { maxSteps: 2 }, budget: { maxTotalTokens: 45 } },
  }),
  inLoops("a budget of costs", [endless], { config: { budget: { maxCost: 10 } }, extras: { prices } }),
  inLoops("a budget of costs for the whole conversation", [endless, endless], {
    says,
    config: { limits: { maxSteps: 3 }, budget: { maxTotalCost: 8 } },
    extras: { prices },
  }),
  inLoops("more calls than a turn may have", [[[1, 2, 3, 4, 5].map((of) => call("pay", of))]], {
    config: { toolCalls: { maxPerTurn: 2 } },
  }),
  inLoops("a tool on the blacklist", [[[call("drop")]]], { config: { toolCalls: { blacklist: ["drop"] } } }),
  inLoops("one of three tools on the blacklist", [[[call("look"), call("drop"), call("pay")]]], {
    config: { toolCalls: { blacklist: ["drop"] } },
  }),
  inLoops("the blacklist goes before approval", [[[call("drop"), call("pay")]]], {
    config: { toolCalls: { blacklist: ["drop"] }, approval: { policy: "always" } },
  }),
  inLoops("an answer that is too short", [[answersOnce("No."), answersOnce("No, because it rains there.")]], {
    config: { limits: { minAnswerLength: 20 } },
  }),
  inLoops("an answer that stays too short", [[answersOnce("No."), answersOnce("No!"), answersOnce("No?!")]], {
    config: { limits: { minAnswerLength: 20 }, retries: { maxAnswerRetries: 2 } },
  }),
  inLoops("an answer that does not fit", [[answersOnce("Three."), answersOnce('{"sum":3}')]], {
    config: { answerSchema: schema },
    extras: answerExtras,
  }),
  inLoops("an answer that never fits", [[1, 2, 3].map((n) => answersOnce(`Three (${n}).`))], {
    says,
    config: { answerSchema: schema, retries: { maxAnswerRetries: 2 } },
    extras: answerExtras,
  }),
  inLoops("an answer that fits after calls", [[[call("look")], answersOnce('{"sum":1}')]], {
    config: { answerSchema: schema },
    extras: answerExtras,
  }),
  inLoops("unsure of its calls", [
    [callsTools([call("pay")], { confidence: 0.2 }), callsTools([call("pay")], { confidence: 0.9 })],
  ]),
  inLoops("unsure to the end", [[0.1, 0.2, 0.3].map((confidence) => answers("Maybe.", { confidence }))], {
    config: { retries: { maxAnswerRetries: 2 }, limits: { minConfidence: 0.5 } },
  }),
  inLoops("as sure as it has to be", [[answers("Yes.", { confidence: 0.4 })]]),
];
