import { call } from "../counting-agent.ts";
import { answersOnce, asks, inLoops, type Transcript } from "./transcript.ts";

const reviewed = {
  graph: {
    states: ["Review"],
    replay: { Review: "safe" as const },
    rows: { Planning: { LlmFinalAnswer: "Review" }, Review: { Good: "Done", Bad: "Planning" } },
    terminals: [],
  },
};

const twice = {
  graph: {
    states: ["Check", "Recheck"],
    replay: { Check: "safe" as const, Recheck: "safe" as const },
    rows: { Observing: { Continue: "Check" }, Check: { Fine: "Recheck" }, Recheck: { Fine: "Planning" } },
    terminals: [],
  },
};

const handedOver = {
  graph: {
    states: ["Triage", "HandedOver"],
    replay: { Triage: "safe" as const },
    rows: { Observing: { Continue: "Triage" }, Triage: { Human: "HandedOver", Go: "Planning" } },
    terminals: ["HandedOver"],
  },
};

/** Custom states, rows and terminal states. */
export const ownStates: readonly Transcript[] = [
  inLoops("an answer that is reviewed", [[answersOnce("A first draft."), answersOnce("A second draft.")]], {
    config: reviewed,
    extras: {
      states: {
        Review: ({ reActContext: { step } }) =>
          step < 2 ? { event: "Bad", note: "Write it again." } : { event: "Good" },
      },
    },
  }),
  inLoops("two states in a row", [[[call("look")], [call("pay")]]], {
    config: twice,
    extras: { states: { Check: () => "Fine", Recheck: () => ({ event: "Fine", note: "Twice." }) } },
  }),
  inLoops("an end of its own", [[[call("look")]]], {
    says: ["Help.", "Still there?"],
    config: handedOver,
    extras: { states: { Triage: () => "Human" } },
  }),
  inLoops("a state that leads on", [[[call("look")], [call("pay")]]], {
    config: handedOver,
    extras: { states: { Triage: () => ({ event: "Go", note: "" }) } },
  }),
  inLoops("a state that throws", [[[call("look")]]], {
    says: ["Help.", "Again."],
    config: twice,
    extras: {
      states: {
        Check: () => {
          throw new Error("The check broke.");
        },
        Recheck: () => "Fine",
      },
    },
  }),
  inLoops("a state that names no event that there is", [[[call("look")]]], {
    says: ["Help.", "Again."],
    config: twice,
    extras: { states: { Check: () => "Nowhere", Recheck: () => "Fine" } },
  }),
  inLoops("a state after an approval", [[[call("pay")]]], {
    config: { ...twice, ...asks("pay") },
    extras: { states: { Check: () => "Fine", Recheck: () => "Fine" } },
  }),
];
