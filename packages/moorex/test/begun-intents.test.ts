import { describe, expect, it } from "vitest";
import {
  createMoorex,
  type CommitResult,
  type ContinuedStep,
  type MoorexDefinition,
  type Step,
} from "../src/index.ts";

interface State {
  readonly wanted: readonly string[];
  readonly intended: readonly string[];
}
/** Wants keys, or intends one, which may make another one wanted. `begins`: the intents that are part of it. */
interface Input {
  readonly want?: readonly string[];
  readonly intend?: string;
  readonly wants?: string;
  readonly begins?: readonly Input[];
}
type Definition = MoorexDefinition<State, Input, string>;

const transition =
  (input: Input) =>
  (state: State): State => {
    const after = (input.begins ?? []).reduce((before, intent) => own(intent)(before), own(input)(state));
    return after.wanted === state.wanted && after.intended === state.intended ? state : after;
  };

const own =
  ({ want, intend, wants }: Input) =>
  (state: State): State => {
    if (want !== undefined) return { ...state, wanted: want };
    if (intend === undefined || !state.wanted.includes(intend) || state.intended.includes(intend))
      return state;
    const wanted = wants === undefined ? state.wanted : [...state.wanted, wants];
    return { wanted, intended: [...state.intended, intend] };
  };

const toText = ({ want, intend, begins = [] }: Input): string => {
  const text = want === undefined ? `intend ${intend}` : `want ${want.join("+")}`;
  return begins.length === 0 ? text : `${text} (${begins.map(toText).join(", ")})`;
};

/** Makes intents a part of an input, and leaves out those that do not apply. */
const joined = (
  { input, after }: Step<State, Input>,
  intents: readonly Input[],
): ContinuedStep<State, Input> => {
  const refused = intents.filter((intent) => own(intent)(after) === after);
  const begins = [...(input.begins ?? []), ...intents.filter((intent) => !refused.includes(intent))];
  return {
    input: { ...input, begins },
    after: begins.reduce((at, intent) => own(intent)(at), after),
    refused,
  };
};

function machine(definition: Partial<Definition> & { readonly from?: Partial<State> } = {}) {
  const transcript: string[] = [];
  const { from, commit, ...others } = definition;
  const moorex = createMoorex<State, Input, string>({
    initial: () => ({ wanted: [], intended: [], ...from }),
    transition,
    effectsAt: ({ wanted }) => Object.fromEntries(wanted.map((key) => [key, key])),
    intentOf: (_effect, key) => ({ intend: key }),
    withIntents: joined,
    runEffect: (_effect, _state, key) => ({
      start() {
        transcript.push(`start ${key}`);
        return new Promise(() => undefined);
      },
    }),
    onNotice(notice) {
      if (notice.type === "state-updated") transcript.push(toText(notice.input));
      if (notice.type === "effect-failed") transcript.push(`failed ${notice.key}`);
    },
    commit(steps) {
      transcript.push(`commit ${steps.map(({ input }) => toText(input)).join(", ")}`);
      return commit?.(steps);
    },
    ...others,
  });
  return { moorex, transcript };
}

describe("with withIntents, the intents of a group", () => {
  it("are part of its last input, which is committed and published once, before their effects start", async () => {
    const { moorex, transcript } = machine();
    const { state, applied } = await moorex.dispatch({ want: ["a"] }, { want: ["a", "b"] });
    expect(transcript).toEqual([
      "commit want a, want a+b (intend a, intend b)",
      "want a",
      "want a+b (intend a, intend b)",
      "start a",
      "start b",
    ]);
    expect({ state, applied }).toEqual({
      state: { wanted: ["a", "b"], intended: ["a", "b"] },
      applied: 2,
    });
  });

  it("contain those of the effects that they make wanted", async () => {
    const { moorex, transcript } = machine({
      intentOf: (_effect, key) => (key === "a" ? { intend: key, wants: "b" } : { intend: key }),
    });
    await moorex.dispatch({ want: ["a"] });
    expect(transcript[0]).toBe("commit want a (intend a, intend b)");
    expect(transcript.slice(2)).toEqual(["start a", "start b"]);
  });

  it.each([
    [true, 1],
    [false, 2],
  ])(
    "that change no effect, wantsSame: %s, ask for the effects so many times: %i",
    async (wantsSame, times) => {
      let asked = 0;
      const { moorex, transcript } = machine({
        effectsAt({ wanted }) {
          asked += 1;
          return Object.fromEntries(wanted.map((key) => [key, key]));
        },
        withIntents: (cause, intents) => ({ ...joined(cause, intents), wantsSame }),
      });
      asked = 0;
      await moorex.dispatch({ want: ["a"] });
      expect(asked).toBe(times);
      expect(transcript).toEqual(["commit want a (intend a)", "want a (intend a)", "start a"]);
    },
  );

  it("are inputs of their own where no input precedes them, as at creation", () => {
    const { transcript } = machine({ from: { wanted: ["a"] } });
    expect(transcript).toEqual(["commit intend a", "intend a", "start a"]);
  });

  it.each([
    ["returns undefined", () => undefined],
    [
      "throws",
      () => {
        throw new Error("too long");
      },
    ],
  ])("are inputs of their own if it %s", async (_what, declined) => {
    const { moorex, transcript } = machine({ withIntents: declined });
    await moorex.dispatch({ want: ["a"] });
    expect(transcript[0]).toBe("commit want a, intend a");
    expect(transcript.at(-1)).toBe("start a");
  });

  it("that do not apply are left out, and their effects do not run", async () => {
    const { moorex, transcript } = machine({ from: { intended: ["a"] } });
    await moorex.dispatch({ want: ["a", "b"] });
    await moorex.dispatch({ want: ["a", "b"] });
    expect(transcript).toEqual([
      "commit want a+b (intend b)",
      "want a+b (intend b)",
      "start b",
      "commit want a+b",
      "want a+b",
    ]);
  });

  it("are made again for the state after inputs that were committed first", async () => {
    const results: CommitResult<Input>[] = [{ before: [{ input: { want: ["b"] } }] }];
    const { moorex, transcript } = machine({
      from: { wanted: ["old"], intended: ["a"] },
      commit: ([step]) => (step?.input.want === undefined ? undefined : results.shift()),
    });
    await moorex.dispatch({ want: ["a", "c"] });
    expect(transcript.filter((text) => text.startsWith("commit"))).toEqual([
      "commit intend old",
      "commit want a+c (intend c)",
      "commit want a+c (intend c)",
    ]);
    expect(transcript.filter((text) => text.startsWith("start"))).toEqual(["start old", "start c"]);
  });

  it("are dropped with an input from outside whose commit fails", async () => {
    let isBroken = true;
    const { moorex, transcript } = machine({
      commit() {
        if (isBroken) throw new Error("disk full");
      },
    });
    await expect(moorex.dispatch({ want: ["a"] })).rejects.toThrow("disk full");
    expect(moorex.current()).toEqual({ wanted: [], intended: [] });
    isBroken = false;
    await moorex.dispatch({ want: ["a"] });
    expect(transcript).toEqual([
      "commit want a (intend a)",
      "commit want a (intend a)",
      "want a (intend a)",
      "start a",
    ]);
  });
});
