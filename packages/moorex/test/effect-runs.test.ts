import { describe, expect, it, vi } from "vitest";
import {
  createMoorex,
  type BatchResult,
  type Dispatch,
  type EffectRun,
  type MoorexDefinition,
  type MoorexNotice,
  type RunContext,
} from "../src/index.ts";

/** A state that wants keys, and the words that were said. A word can end a key. */
interface State {
  readonly wanted: readonly string[];
  readonly said: readonly string[];
}
type Input = { readonly want: readonly string[] } | { readonly say: string; readonly drop?: string };
type Notice = MoorexNotice<State, Input, string>;

/** A run of an effect whose `start` ends by hand. */
interface OpenRun {
  readonly dispatch: Dispatch<State, Input>;
  readonly context: RunContext<State, Input>;
  readonly end: () => void;
  readonly fail: (error: unknown) => void;
}

function machine(
  wanted: readonly string[],
  options: Partial<MoorexDefinition<State, Input, string>> & Pick<EffectRun<State, Input>, "cancel"> = {},
) {
  const { cancel, ...definition } = options;
  const runs: OpenRun[] = [];
  const notices: Notice[] = [];
  const moorex = createMoorex<State, Input, string>({
    initial: () => ({ wanted, said: [] }),
    transition: (input) => (state) =>
      "want" in input
        ? { ...state, wanted: input.want }
        : { wanted: state.wanted.filter((key) => key !== input.drop), said: [...state.said, input.say] },
    effectsAt: (state) => Object.fromEntries(state.wanted.map((key) => [key, key])),
    runEffect: () => ({
      start: (dispatch, context) => new Promise((end, fail) => runs.push({ dispatch, context, end, fail })),
      ...(cancel === undefined ? {} : { cancel }),
    }),
    onNotice: (notice) => void notices.push(notice),
    ...definition,
  });
  const run = (index: number): OpenRun => {
    const found = runs.at(index);
    if (found === undefined) throw new Error(`no run at ${index}`);
    return found;
  };
  const dropped = () =>
    notices.flatMap((notice) => (notice.type === "input-dropped" ? [[notice.key, notice.input]] : []));
  const errors = () =>
    notices.flatMap((notice) =>
      notice.type === "error-caught" ? [[notice.source, notice.key, notice.error]] : [],
    );
  return { moorex, run, notices, dropped, errors };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** When the inputs of the first effect are processed, among two that run; `flush` lets everything that waits be processed. */
const timings = {
  "without a commit": () => ({ definition: {}, wanted: ["a"], flush: turn }),
  "with a commit that returns at once": () => ({
    definition: { commit: () => undefined },
    wanted: ["a"],
    flush: turn,
  }),
  "with a commit that ends later": () => ({
    definition: { commit: async () => await turn() },
    wanted: ["a"],
    flush: async () => {
      for (let turns = 0; turns < 6; turns += 1) await turn();
    },
  }),
  "in a microtask, beside another effect": () => ({ definition: {}, wanted: ["a", "b"], flush: turn }),
  "with `defer`, beside another effect": () => {
    const deferred: (() => void)[] = [];
    const flush = async (): Promise<void> => {
      await turn();
      for (const process of deferred.splice(0)) process();
      await turn();
    };
    const defer = (process: () => void): void => void deferred.push(process);
    return { definition: { defer }, wanted: ["a", "b"], flush };
  },
} as const;
const names = Object.keys(timings) as readonly (keyof typeof timings)[];

describe.each(names)("I3: an input that an effect dispatches without waiting for it, %s", (name) => {
  const say = (word: string, drop?: string): Input =>
    drop === undefined ? { say: word } : { say: word, drop };

  it.each(["returns", "throws"])("applies although `start` then %s", async (how) => {
    const { definition, wanted, flush } = timings[name]();
    const { moorex, run, dropped, notices } = machine(wanted, definition);
    // During a commit, if there is one.
    void moorex.dispatch(say("outside"));
    const result = run(0).dispatch(say("result", "a"));
    if (how === "returns") run(0).end();
    else run(0).fail(new Error("broken"));
    await flush();
    expect(moorex.current()).toMatchObject({ wanted: wanted.slice(1), said: ["outside", "result"] });
    expect(await result).toMatchObject({ applied: 1 });
    expect(dropped()).toEqual([]);
    expect(notices.filter((notice) => "effect" in notice && notice.key === "a")).toHaveLength(2);
  });

  it("applies although `start` returns within its call", async () => {
    const { definition, wanted, flush } = timings[name]();
    const { moorex, dropped } = machine(wanted, {
      ...definition,
      runEffect: (_effect, _state, key) => ({
        start: async (dispatch) => {
          if (key !== "a") return await new Promise(() => undefined);
          void dispatch(say("one"));
          void dispatch(say("two", "a"));
        },
      }),
    });
    await flush();
    expect(moorex.current().said).toEqual(["one", "two"]);
    expect(dropped()).toEqual([]);
  });

  it("is dropped with a notice if an earlier input has retired the key", async () => {
    const { definition, wanted, flush } = timings[name]();
    const { moorex, run, dropped } = machine(wanted, definition);
    void moorex.dispatch({ want: wanted.slice(1) });
    const result = run(0).dispatch(say("late"));
    run(0).end();
    await flush();
    expect(await result).toMatchObject({ applied: 0 });
    expect(moorex.current().said).toEqual([]);
    expect(dropped()).toEqual([["a", say("late")]]);
  });

  it("is dropped with a notice if `start` had ended before it", async () => {
    const { definition, wanted, flush } = timings[name]();
    const { moorex, run, dropped, notices } = machine(wanted, definition);
    const [late, settled] = [vi.fn(() => say("late")), vi.fn<(result: BatchResult<State>) => void>()];
    run(0).end();
    await turn();
    const result = run(0).dispatch(late, say("later"));
    run(0).context.post([say("last")], settled);
    await flush();
    expect(await result).toEqual({ applied: 0, state: moorex.current() });
    expect(settled.mock.calls).toEqual([[{ applied: 0, state: moorex.current() }]]);
    expect(moorex.current().said).toEqual([]);
    expect(dropped()).toEqual([
      ["a", late],
      ["a", say("later")],
      ["a", say("last")],
    ]);
    expect(late).not.toHaveBeenCalled();
    expect(notices.map(({ type }) => type)).not.toContain("input-received");
  });
});

describe("I3: the waiting input of a run that has ended", () => {
  const committing = (wanted: readonly string[]) => {
    const commits: PromiseWithResolvers<undefined>[] = [];
    const world = machine(wanted, {
      commit: () => {
        const commit = Promise.withResolvers<undefined>();
        commits.push(commit);
        return commit.promise;
      },
    });
    const finishCommit = async (error?: Error): Promise<void> => {
      const commit = commits.shift();
      if (error === undefined) commit?.resolve(undefined);
      else commit?.reject(error);
      await turn();
    };
    return { ...world, finishCommit };
  };

  it("is dropped where its key was retired, also if the key has started anew since", async () => {
    const { moorex, run, dropped, finishCommit, notices } = committing(["a"]);
    void moorex.dispatch({ want: [] });
    void moorex.dispatch({ want: ["a"] });
    const late = run(0).dispatch({ say: "late" });
    run(0).end();
    await turn();
    await finishCommit();
    await finishCommit();
    expect(await late).toMatchObject({ applied: 0 });
    expect(moorex.current()).toEqual({ wanted: ["a"], said: [] });
    expect(dropped()).toEqual([["a", { say: "late" }]]);
    expect(notices.filter(({ type }) => type === "effect-started")).toHaveLength(2);
  });

  it("is kept where its commit fails, and keeps the machine from being settled", async () => {
    const { moorex, run, dropped, finishCommit } = committing(["a"]);
    const settled = vi.fn();
    const result = run(0).dispatch({ say: "result" });
    run(0).end();
    await turn();
    await finishCommit(new Error("disk full"));
    void moorex.settled().then(settled);
    await turn();
    expect(settled).not.toHaveBeenCalled();
    void moorex.dispatch();
    await finishCommit();
    expect(await result).toMatchObject({ applied: 1 });
    expect(moorex.current().said).toEqual(["result"]);
    expect(settled).toHaveBeenCalled();
    expect(dropped()).toEqual([]);
  });

  it.each(["fails", "succeeds"])(
    "is dropped with a notice by `stop`, if the commit before it %s",
    async (how) => {
      const { moorex, run, dropped, finishCommit } = committing(["a", "b"]);
      void moorex.dispatch({ say: "outside" }).catch(() => undefined);
      const results = [run(0).dispatch({ say: "waits" }), run(1).dispatch({ say: "waits too" })];
      run(0).end();
      await turn();
      moorex.stop();
      await finishCommit(how === "fails" ? new Error("disk full") : undefined);
      for (const result of results) expect(await result).toMatchObject({ applied: 0 });
      expect(dropped()).toEqual([
        ["a", { say: "waits" }],
        ["b", { say: "waits too" }],
      ]);
      await moorex.settled();
    },
  );

  it("that a failed commit has kept is dropped with a notice by `stop`", async () => {
    const { moorex, run, dropped, finishCommit } = committing(["a"]);
    const result = run(0).dispatch({ say: "kept" });
    run(0).end();
    await finishCommit(new Error("disk full"));
    moorex.stop();
    expect(await result).toMatchObject({ applied: 0 });
    expect(dropped()).toEqual([["a", { say: "kept" }]]);
    await moorex.settled();
  });

  it("is dropped with a notice where a foreign input has retired its key and the next commit fails", async () => {
    const results = [{ before: [{ input: { want: [] } }] }, new Error("disk full")];
    const { moorex, run, dropped } = machine(["a", "b"], {
      commit: () => {
        const result = results.shift();
        if (result instanceof Error) throw result;
        return result;
      },
    });
    const late = run(0).dispatch({ say: "late" });
    await expect(moorex.dispatch({ say: "outside" })).rejects.toThrow("disk full");
    expect(await late).toMatchObject({ applied: 0 });
    expect(dropped()).toEqual([["a", { say: "late" }]]);
    await moorex.settled();
  });
});

describe("I6: an error of a run", () => {
  const error = new Error("broken");

  it("that its own input has retired is reported", async () => {
    const { run, errors, notices } = machine(["a"]);
    await run(0).dispatch({ say: "result", drop: "a" });
    run(0).fail(error);
    await turn();
    expect(errors()).toEqual([["effect", "a", error]]);
    expect(notices.filter(({ type }) => type === "effect-completed")).toHaveLength(1);
    expect(notices.filter(({ type }) => type === "effect-failed")).toHaveLength(0);
  });

  it.each(["another input", "stop"])(
    "that %s has retired is reported, unless it is that of the abort",
    async (by) => {
      const { moorex, run, errors } = machine(["a", "b", "c"]);
      const { signal } = run(1).context;
      if (by === "stop") moorex.stop();
      else await moorex.dispatch({ want: [] });
      run(0).fail(error);
      run(1).fail(signal.reason);
      run(2).fail(Object.assign(new Error("The operation was aborted"), { name: "AbortError" }));
      await turn();
      expect(errors()).toEqual([["effect", "a", error]]);
    },
  );

  it("of the name AbortError is reported where nothing has aborted the run", async () => {
    const { run, errors } = machine(["a"]);
    await run(0).dispatch({ say: "result", drop: "a" });
    const aborted = new DOMException("A request of its own was aborted.", "AbortError");
    run(0).fail(aborted);
    await turn();
    expect(errors()).toEqual([["effect", "a", aborted]]);
  });

  it("that `cancel` throws is reported, and the run has been canceled once", async () => {
    const { moorex, errors, notices } = machine(["a"], {
      cancel() {
        throw error;
      },
    });
    expect(await moorex.dispatch({ want: [] })).toMatchObject({ applied: 1 });
    expect(errors()).toEqual([["effect", "a", error]]);
    expect(notices.filter((notice) => "effect" in notice).map(({ type }) => type)).toEqual([
      "effect-started",
      "effect-canceled",
    ]);
  });

  it("that the callback of `post` throws is reported, and the machine continues", async () => {
    const { moorex, run, errors } = machine(["a"]);
    run(0).context.post([{ say: "one" }], () => {
      throw error;
    });
    expect(errors()).toEqual([["effect", "a", error]]);
    expect(await moorex.dispatch({ say: "two" })).toMatchObject({ applied: 1 });
    expect(moorex.current().said).toEqual(["one", "two"]);
  });
});

describe("settled", () => {
  const watched = (wanted: readonly string[], definition: Parameters<typeof machine>[1] = {}) => {
    const world = machine(wanted, definition);
    const settled = vi.fn();
    void world.moorex.settled().then(settled);
    const isSettled = async (): Promise<boolean> => {
      await turn();
      return settled.mock.calls.length > 0;
    };
    return { ...world, isSettled };
  };

  it.each(["returns", "throws"])(
    "waits for a `start` whose own input retired its key, until it %s",
    async (how) => {
      const { moorex, run, isSettled, notices } = watched(["a"]);
      await run(0).dispatch({ say: "result", drop: "a" });
      expect(await isSettled()).toBe(false);
      if (how === "returns") run(0).end();
      else run(0).fail(new Error("broken"));
      expect(await isSettled()).toBe(true);
      await moorex.settled();
      expect(notices.some(({ type }) => type === "error-caught")).toBe(how === "throws");
    },
  );

  it("waits for it also where its key has started anew and has been aborted", async () => {
    const { moorex, run, isSettled } = watched(["a"]);
    await run(0).dispatch({ say: "result", drop: "a" });
    await moorex.dispatch({ want: ["a"] });
    await moorex.dispatch({ want: [] });
    expect(run(1).context.signal.aborted).toBe(true);
    expect(run(0).context.signal.aborted).toBe(false);
    expect(await isSettled()).toBe(false);
    run(0).end();
    expect(await isSettled()).toBe(true);
  });

  it("does not wait for a `start` that was aborted", async () => {
    const { moorex, isSettled } = watched(["a"]);
    await moorex.dispatch({ want: [] });
    expect(await isSettled()).toBe(true);
  });

  it("does not wait for a background effect whose own input retired its key", async () => {
    const { run, isSettled } = watched(["a"], { isBackground: () => true });
    await run(0).dispatch({ say: "result", drop: "a" });
    expect(await isSettled()).toBe(true);
  });

  it("resolves after `stop`, which also aborts a `start` whose own input retired its key", async () => {
    const reasons: string[] = [];
    const { moorex, run, isSettled, notices } = watched(["a"], {
      cancel: ({ name }) => void reasons.push(name),
    });
    await run(0).dispatch({ say: "result", drop: "a" });
    const { length } = notices;
    moorex.stop();
    expect(run(0).context.signal.reason).toMatchObject({ name: "ShutdownError" });
    expect(reasons).toEqual(["ShutdownError"]);
    expect(await isSettled()).toBe(true);
    expect(notices).toHaveLength(length);
  });
});
