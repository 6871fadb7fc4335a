import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  createMoorex,
  type CommitResult,
  type Dispatch,
  type DispatchedInput,
  type Moorex,
  type MoorexDefinition,
  type MoorexNotice,
  type Step,
} from "../src/index.ts";

/** A state that wants keys, and records which of them have been intended. An intent applies once, while its key is wanted. */
interface State {
  readonly wanted: readonly string[];
  readonly intended: readonly string[];
  readonly said: readonly string[];
}
type Input =
  | { readonly want: readonly string[] }
  | { readonly intend: string; readonly wants?: string }
  | { readonly say: string; readonly drop?: string };

const transition =
  (input: Input) =>
  (state: State): State => {
    if ("want" in input) return { ...state, wanted: input.want };
    if ("say" in input) {
      const wanted = state.wanted.filter((key) => key !== input.drop);
      return { ...state, wanted, said: [...state.said, input.say] };
    }
    const { intend, wants } = input;
    if (intend === "throws") throw new Error("a bad intent");
    if (!state.wanted.includes(intend) || state.intended.includes(intend)) return state;
    const wanted = wants === undefined ? state.wanted : [...state.wanted, wants];
    return { ...state, wanted, intended: [...state.intended, intend] };
  };

type Definition = MoorexDefinition<State, Input, string>;

/** A machine that writes down what is committed, started and reported, in order. */
function machine(options: Partial<Definition> & { readonly from?: Partial<State> } = {}) {
  const transcript: string[] = [];
  const dispatchOf = new Map<string, Dispatch<State, Input>>();
  const { from, ...definition } = options;
  const moorex: Moorex<State, Input, string> = createMoorex<State, Input, string>({
    initial: () => ({ wanted: [], intended: [], said: [], ...from }),
    transition,
    effectsAt: ({ wanted }) => Object.fromEntries(wanted.map((key) => [key, key])),
    intentOf: (_effect, key) => (key.startsWith("free") ? undefined : { intend: key }),
    runEffect: (_effect, { intended }, key) => ({
      start(dispatch) {
        transcript.push(`start ${key}${intended.includes(key) ? "" : " without an intent"}`);
        dispatchOf.set(key, dispatch);
        return new Promise(() => undefined);
      },
    }),
    onNotice(notice: MoorexNotice<State, Input, string>) {
      if (notice.type === "effect-failed") transcript.push(`failed ${notice.key}`);
      if (notice.type === "error-caught") transcript.push(`error ${notice.source} ${notice.key}`);
    },
    ...definition,
    ...(definition.commit === undefined
      ? {}
      : {
          commit(steps) {
            transcript.push(`commit ${steps.map(({ input }) => inWords(input)).join(", ")}`);
            return definition.commit?.(steps);
          },
        }),
  });
  const say = (key: string, ...inputs: readonly DispatchedInput<State, Input>[]) =>
    dispatchOf.get(key)?.(...inputs);
  return { moorex, transcript, say };
}

const inWords = (input: Input): string => {
  if ("want" in input) return `want ${input.want.join("+")}`;
  return "intend" in input ? `intend ${input.intend}` : `say ${input.say}`;
};

/** A commit whose results a test gives by hand. */
function heldCommits() {
  const held: PromiseWithResolvers<CommitResult<Input>>[] = [];
  const commit = (_steps: readonly Step<State, Input>[]): Promise<CommitResult<Input>> => {
    const next = Promise.withResolvers<CommitResult<Input>>();
    held.push(next);
    return next.promise;
  };
  const last = (): PromiseWithResolvers<CommitResult<Input>> => {
    const newest = held.at(-1);
    if (newest === undefined) throw new Error("Nothing is being committed.");
    return newest;
  };
  return { commit, held, last };
}

describe("I1: the intent of an effect", () => {
  it("is committed with the input that makes the effect wanted, and the effect starts after that", async () => {
    const { commit, last } = heldCommits();
    const { moorex, transcript } = machine({ commit });
    const done = moorex.dispatch({ want: ["a", "b"] });
    expect(transcript).toEqual(["commit want a+b, intend a, intend b"]);
    last().resolve(undefined);
    await done;
    expect(transcript.slice(1)).toEqual(["start a", "start b"]);
    expect(moorex.current().intended).toEqual(["a", "b"]);
  });

  it("is not needed by every effect: one without an intent starts without one", async () => {
    const { moorex, transcript } = machine({ commit: () => undefined });
    await moorex.dispatch({ want: ["free"] });
    expect(transcript).toEqual(["commit want free", "start free without an intent"]);
  });

  it("may make another effect wanted, whose intent is part of the same commit", async () => {
    const { moorex, transcript } = machine({
      commit: () => undefined,
      intentOf: (_effect, key) => (key === "a" ? { intend: key, wants: "b" } : { intend: key }),
    });
    await moorex.dispatch({ want: ["a"] });
    expect(transcript).toEqual(["commit want a, intend a, intend b", "start a", "start b"]);
  });

  it("that does not apply keeps its effect from running", async () => {
    const { moorex, transcript } = machine({ from: { intended: ["a"] } });
    await moorex.dispatch({ want: ["a", "b"] });
    await moorex.dispatch({ say: "x" });
    expect(transcript).toEqual(["start b"]);
    expect(moorex.current().wanted).toEqual(["a", "b"]);
  });

  it("is not made again for an effect that runs or has finished", async () => {
    const made: string[] = [];
    const { moorex } = machine({
      intentOf(_effect, key) {
        made.push(key);
        return { intend: key };
      },
      runEffect: () => ({ start: () => Promise.resolve() }),
    });
    await moorex.dispatch({ want: ["a"] });
    await moorex.settled();
    await moorex.dispatch({ want: ["a", "b"] });
    expect(made).toEqual(["a", "b"]);
  });

  it("of the initial state is committed at creation, and delays its effect", async () => {
    const { commit, last } = heldCommits();
    const { moorex, transcript } = machine({ commit, from: { wanted: ["a"] } });
    expect(transcript).toEqual(["commit intend a"]);
    const said = moorex.dispatch({ say: "x" });
    last().resolve(undefined);
    await untilPasses(() => expect(transcript.slice(1)).toEqual(["start a", "commit say x"]));
    last().resolve(undefined);
    expect(await said).toMatchObject({ applied: 1 });
  });

  it("is reported to subscribers like any other input, after those that made its effect wanted", async () => {
    const { moorex } = machine();
    const inputs: string[] = [];
    moorex.subscribe((notice) => notice.type === "state-updated" && inputs.push(inWords(notice.input)));
    await moorex.dispatch({ want: ["a"] });
    expect(inputs).toEqual(["want a", "intend a"]);
  });
});

describe("I5: intents and a commit", () => {
  it("that finds other inputs first are made again, for the state after them", async () => {
    let isFirst = true;
    const { moorex, transcript } = machine({
      commit() {
        if (!isFirst) return undefined;
        isFirst = false;
        return { before: [{ input: { want: ["b"] } }] };
      },
    });
    await moorex.dispatch({ say: "mine" });
    expect(transcript).toEqual(["commit say mine", "commit say mine, intend b", "start b"]);
  });

  it("that fails are dropped with an input from outside, and made again with the next attempt", async () => {
    let isBroken = true;
    const { moorex, transcript } = machine({
      commit() {
        if (isBroken) throw new Error("disk full");
      },
    });
    await expect(moorex.dispatch({ want: ["a"] })).rejects.toThrow("disk full");
    expect(moorex.current()).toEqual({ wanted: [], intended: [], said: [] });
    isBroken = false;
    await moorex.dispatch({ want: ["a"] });
    expect(transcript).toEqual([
      "commit want a, intend a",
      "error commit undefined",
      "commit want a, intend a",
      "start a",
    ]);
  });

  it("that fails are committed again with the kept input of an effect", async () => {
    let isBroken = false;
    const { moorex, transcript, say } = machine({
      from: { wanted: ["free"] },
      commit() {
        if (isBroken) throw new Error("disk full");
      },
    });
    isBroken = true;
    const answer = say("free", { want: ["a"] });
    isBroken = false;
    await moorex.dispatch();
    expect(await answer).toMatchObject({ applied: 1 });
    expect(transcript).toEqual([
      "start free without an intent",
      "commit want a, intend a",
      "error commit free",
      "commit want a, intend a",
      "start a",
    ]);
  });

  it("that fails after foreign inputs is reported with the key of an effect that they make wanted, which an empty dispatch starts", async () => {
    const results: (() => CommitResult<Input>)[] = [
      () => ({ before: [{ input: { want: ["free"] } }] }),
      () => {
        throw new Error("disk full");
      },
    ];
    const { moorex, transcript } = machine({ commit: () => results.shift()?.() });
    await expect(moorex.dispatch({ want: [] })).rejects.toThrow("disk full");
    expect(transcript).toEqual(["commit want ", "commit want ", "error commit free"]);
    await moorex.dispatch();
    expect(transcript.slice(3)).toEqual(["start free without an intent"]);
  });

  it("that fails for the committed state are reported with the key of their effect, and made again by an empty dispatch", async () => {
    let isBroken = true;
    const { moorex, transcript } = machine({
      from: { wanted: ["a"] },
      commit() {
        if (isBroken) throw new Error("disk full");
      },
    });
    isBroken = false;
    await moorex.dispatch();
    expect(transcript).toEqual(["commit intend a", "error commit a", "commit intend a", "start a"]);
  });

  it("that ends after a stop are published, and their effects do not start", async () => {
    const { commit, last } = heldCommits();
    const { moorex, transcript } = machine({ commit });
    const done = moorex.dispatch({ want: ["a"] });
    moorex.stop();
    last().resolve(undefined);
    await done;
    expect(moorex.current().intended).toEqual(["a"]);
    expect(transcript).toEqual(["commit want a, intend a"]);
    // What a restart finds: an effect that has been intended, and may have started.
    const next = machine({ from: moorex.current() });
    expect(next.transcript).toEqual([]);
  });
});

describe("I6: an intent that throws", () => {
  it.each(["intentOf", "transition"])(
    "in %s fails its effect, and the inputs and other effects are as without it",
    async (place) => {
      const { moorex, transcript } = machine({
        commit: () => undefined,
        intentOf(_effect, key) {
          if (key === "bad" && place === "intentOf") throw new Error("no intent");
          return { intend: key === "bad" ? "throws" : key };
        },
      });
      await moorex.dispatch({ want: ["bad", "a"] });
      await moorex.dispatch({ say: "x" });
      expect(transcript).toEqual(["commit want bad+a, intend a", "failed bad", "start a", "commit say x"]);
    },
  );
});
