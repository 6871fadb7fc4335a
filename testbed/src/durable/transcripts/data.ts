import { call } from "../counting-agent.ts";
import { tallyOf } from "../tally.ts";
import { inLoops, type Deed, type Transcript } from "./transcript.ts";

const many = Array.from({ length: 8 }, (_, index) => call("put", index + 1));

const applicationPuts: Deed = {
  name: "the application puts 100",
  when: ({ reActContext: { control } }) => control.type === "ParallelActing",
  act: ({ session }) =>
    session.update((data) => {
      const draft = tallyOf(data);
      draft.items["application"] = 100;
      draft.total += 100;
    }),
  isDone: ({ data }) => tallyOf(data).items["application"] !== undefined,
};

const counts = {
  graph: {
    states: ["Count"],
    replay: { Count: "safe" as const },
    rows: { Planning: { LlmFinalAnswer: "Count" }, Count: { Counted: "Done" } },
    terminals: [],
  },
};

/** Application data, changed by tools, handlers and the application. */
export const data: readonly Transcript[] = [
  inLoops("data of one call", [[[call("put")]]]),
  inLoops("data of eight calls at once", [[many]]),
  inLoops("data of one call at a time", [[many.slice(0, 3)]], { config: { toolCalls: { parallel: false } } }),
  inLoops("data of a call that fails", [[[call("put", 2)], [call("put", -9)], [call("put", 3)]]]),
  inLoops("data that the model sees", [[[call("put", 2)], [call("look")]]], {
    says: ["Please.", "And again."],
    config: { showData: "changed" },
  }),
  inLoops("data that the application changes meanwhile", [[many.slice(0, 4)]], { deeds: [applicationPuts] }),
  inLoops("data that a call commits before its result", [[[call("announce", 2)], [call("announce", 3)]]]),
  inLoops("data that calls commit at once", [[[call("announce"), call("put", 2), call("announce", 3)]]], {
    config: { showData: "changed" },
  }),
  inLoops("data of a state", [[[call("put")]]], {
    says: ["Please.", "And again."],
    config: counts,
    extras: {
      states: {
        Count(_, { update }) {
          update((given) => {
            tallyOf(given).total += 1_000;
          });
          return "Counted";
        },
      },
    },
  }),
  inLoops("data that a state commits at once", [[[call("put")]]], {
    config: counts,
    extras: {
      states: {
        async Count(_, { update }) {
          await update.now((given) => {
            tallyOf(given).items["state"] ??= 0;
          });
          update((given) => {
            tallyOf(given).items["state"] = 1_000;
            tallyOf(given).total += 1_000;
          });
          return "Counted";
        },
      },
    },
  }),
];
