import { answers, fails, hangs } from "@moora/llm/testing";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import { call } from "../counting-agent.ts";
import { asked, handles, inLoop, onlyRuns, reflects, runs, streams, thinks, waitsToRetry } from "./stages.ts";
import { asks, cancels, inLoops, pauses, resumes, transcript, type Transcript } from "./transcript.ts";

const held = { name: "hold", arguments: { text: "never" } };
const says = ["Begin.", "Go on."];

const custom = {
  graph: {
    states: ["Check"],
    replay: { Check: "safe" as const },
    rows: { Observing: { Continue: "Check" }, Check: { Fine: "Planning" } },
    terminals: [],
  },
};

/** A call that gets no result before the loop is canceled. */
const forever = (_: unknown, { signal }: { readonly signal: AbortSignal }): Promise<string> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve("Fine"), { once: true }));

/** Canceled at every stage, with another message after that. */
export const stopping: readonly Transcript[] = [
  inLoops("cancelled before the first word", [[hangs()]], { says, deeds: [cancels(thinks)] }),
  inLoops("cancelled within an answer", [[hangs("Let me see")]], {
    says,
    deeds: [cancels(streams("Let me see"), "Enough.")],
  }),
  inLoops("cancelled while a tool runs", [[[held]]], { says, deeds: [cancels(runs("hold"))] }),
  inLoops("cancelled while one of three tools runs", [[[call("look"), held, call("pay")]]], {
    says,
    deeds: [cancels(onlyRuns("hold"))],
  }),
  inLoops("cancelled while calls wait for their turn", [[[held, call("pay"), call("look")]]], {
    says,
    config: { toolCalls: { maxParallel: 1 } },
    deeds: [cancels(runs("hold"))],
  }),
  inLoops("cancelled while humans are asked", [[[call("pay"), call("edit")]]], {
    says,
    config: asks("pay", "edit"),
    decide: () => undefined,
    deeds: [cancels(asked(2), "Never mind.")],
  }),
  inLoops("cancelled while one runs and one asks", [[[call("pay"), held]]], {
    says,
    config: asks("pay"),
    decide: () => undefined,
    deeds: [cancels((view) => asked(1)(view) && runs("hold")(view))],
  }),
  inLoops("cancelled while it waits to ask again", [[fails("overloaded", { retryAfterMs: 30_000 })]], {
    says,
    deeds: [cancels(waitsToRetry)],
  }),
  inLoops("cancelled while it reflects", [[[call("look")]]], {
    says,
    config: { reflection: { everyNSteps: 1 } },
    reflects: hangs(),
    deeds: [cancels(reflects)],
  }),
  inLoops("cancelled in a state of its own", [[[call("look")]]], {
    says,
    config: custom,
    extras: { states: { Check: forever } },
    deeds: [cancels(handles)],
  }),
  inLoops("cancelled in the second loop", [[[call("pay")]], [hangs("Second")]], {
    says: ["One.", "Two.", "Three."],
    deeds: [cancels(inLoop(2, streams("Second")))],
  }),
  inLoops("cancelled in two loops", [[[held]], [hangs("Once more")], [answers("At last.")]], {
    says: ["One.", "Two.", "Three."],
    deeds: [
      { ...cancels(runs("hold")), name: "first" },
      { ...cancels(streams("Once more")), name: "second" },
    ],
  }),
  inLoops("cancelled after work that stays", [[[call("pay"), call("look")], [held]]], {
    says,
    deeds: [cancels(runs("hold"), "Stop here.")],
  }),
  inLoops("paused before the first word", [[[call("pay")]]], {
    deeds: [
      pauses(({ reActContext: { control } }) => control.type === "Idle", "Until the morning."),
      resumes(isLoopRunning),
    ],
  }),
  inLoops("paused while a human is asked", [[[call("pay")]]], {
    config: asks("pay"),
    deeds: [pauses(asked(1)), resumes((view) => isLoopRunning(view) && !asked(1)(view))],
  }),
  transcript("a cancel when nothing runs", [], {
    says: ["Begin."],
    deeds: [cancels(({ reActContext: { control } }) => control.type === "Done")],
  }),
];
