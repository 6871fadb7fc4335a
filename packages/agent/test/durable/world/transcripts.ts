import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import type { Agent, AgentConfig, Decision, Question } from "../../../src/index.ts";
import type { Counter } from "./counter.ts";
import { call, countingAgent, once, scripted, type Script, type World } from "./counting-agent.ts";

/**
 * A conversation that goes the same way in every process: the model answers by what its request holds, tools count what
 * they do, people decide by what they are asked.
 */
export interface Transcript {
  readonly name: string;
  readonly says: readonly string[];
  readonly agent: (world: World) => Agent;
  readonly decide: (question: Question) => Decision;
  /** Whether some call of it may be left with an unknown outcome by a crash. */
  readonly mayBeUnknown: boolean;
}

interface Manner extends Partial<AgentConfig>, Partial<Pick<Transcript, "says" | "decide" | "mayBeUnknown">> {
  readonly llm?: (script: Script, counter: Counter) => MockLlmCaller;
}

function transcript(name: string, script: Script, manner: Manner = {}): Transcript {
  const {
    says = ["Please."],
    decide = () => "approve",
    mayBeUnknown = script.flat().some((step) => "name" in step && once.has(step.name)),
    llm = scripted,
    ...config
  } = manner;
  const agent = (world: World): Agent => countingAgent(world, llm(script, world.counter), config);
  return { name, says, decide, mayBeUnknown, agent };
}

const asks = (...tools: readonly string[]): Pick<AgentConfig, "approval"> => ({
  approval: { policy: { tools } },
});

/** Busy at first, to whoever asks. */
const busyOnce = (script: Script, counter: Counter): MockLlmCaller => {
  const steps = scripted(script);
  return new MockLlmCaller((request) =>
    counter.isFirst("busy") ? fails("rate-limit", { retryAfterMs: 2_000 }) : steps.callSync(request),
  );
};

const checks: AgentConfig["graph"] = {
  states: ["Check"],
  rows: { Observing: { Continue: "Check" }, Check: { Fine: "Planning" } },
  terminals: [],
};

export const transcripts: readonly Transcript[] = [
  transcript("an answer", []),
  transcript("two answers", [], { says: ["First.", "Second."] }),
  transcript("one keyed call", [[call("pay")]]),
  transcript("one call that runs once", [[call("send")]]),
  transcript("a call that runs once, and a human settles", [[call("send_or_ask")]], {
    decide: ({ about }) => (about === "outcome" ? { reject: "Leave it." } : "approve"),
  }),
  transcript("a call that can be probed", [[call("ship")]], { maxToolAttempts: 9, mayBeUnknown: false }),
  transcript("two steps", [[call("look"), call("pay")], [call("pay", 2)]]),
  transcript("three parallel calls", [[call("look"), call("pay"), call("send")]]),
  transcript("eight parallel calls", [Array.from({ length: 8 }, (_, index) => call("pay", index))]),
  transcript("one call at a time", [[call("look"), call("pay"), call("ship")]], {
    parallelTools: false,
    mayBeUnknown: false,
  }),
  transcript("an approval", [[call("pay")]], asks("pay")),
  transcript("a rejection", [[call("pay")]], { ...asks("pay"), decide: () => ({ reject: "No." }) }),
  transcript("a change", [[call("pay")]], { ...asks("pay"), decide: () => ({ approve: { of: 7 } }) }),
  transcript("three parallel calls with two approvals", [[call("look"), call("pay"), call("ship")]], {
    ...asks("pay", "ship"),
    decide: ({ name }) => (name === "pay" ? "approve" : { reject: "Not this." }),
    mayBeUnknown: false,
  }),
  transcript("a question to a human", [[call("ask_human")]], { decide: () => ({ answer: "Forty-two." }) }),
  transcript("a failing tool", [[call("miss"), call("look")]]),
  transcript(
    "calls that cannot be made",
    [[{ name: "look", arguments: '{"of":' }, { name: "nothing", arguments: {} }, call("pay")]],
    // What is not known is not known to be harmless either.
    { mayBeUnknown: true },
  ),
  transcript("a reflection", [[call("look"), call("pay")]], { reflectEveryNSteps: 1 }),
  transcript("a state of its own", [[call("look")]], { graph: checks }),
  transcript("a model that has to be asked again", [[call("look")]], { llm: busyOnce }),
  transcript("a limit of steps", [[call("look")], [call("look", 2)], [call("look", 3)]], { maxSteps: 2 }),
  transcript("low confidence", [answers("Perhaps.", { confidence: 0.1 })], { maxRetries: 1 }),
];

export const transcriptOf = (name: string): Transcript => {
  const found = transcripts.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no transcript "${name}".`);
  return found;
};
