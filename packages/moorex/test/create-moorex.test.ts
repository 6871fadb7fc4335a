import { untilPasses } from "@moora/testbed/test-clock";
import { describe, expect, it, vi } from "vitest";
import {
  createMoorex,
  type CommitResult,
  type Dispatch,
  type MoorexDefinition,
  type MoorexNotice,
} from "../src/index.ts";

/** A machine whose state says which keys it wants and what was said to it; effects settle by hand. */
interface State {
  readonly wanted: readonly string[];
  readonly said: readonly string[];
}
type Input =
  | { readonly want: readonly string[] }
  | { readonly say: string; readonly drop?: string }
  | { readonly no: 1 };

interface ManualRun {
  readonly key: string;
  readonly dispatch: Dispatch<State, Input>;
  readonly signal: AbortSignal;
  readonly canceled: () => boolean;
  end(error?: unknown): Promise<void>;
}

const transition =
  (input: Input) =>
  (state: State): State => {
    if ("no" in input) return state;
    if ("want" in input) return { ...state, wanted: input.want };
    if (input.say === "throw") throw new Error("a bad transition");
    return { said: [...state.said, input.say], wanted: state.wanted.filter((key) => key !== input.drop) };
  };

function machine(
  options: {
    readonly wanted?: readonly string[];
    readonly commit?: MoorexDefinition<State, Input, string>["commit"];
    readonly effectsAt?: (state: State) => Record<string, string>;
    readonly throwOnRun?: string;
  } = {},
) {
  const runs: ManualRun[] = [];
  const moorex = createMoorex<State, Input, string>({
    initial: () => ({ wanted: options.wanted ?? [], said: [] }),
    transition,
    effectsAt: options.effectsAt ?? ((state) => Object.fromEntries(state.wanted.map((key) => [key, key]))),
    runEffect: (_effect, _state, key) => {
      if (options.throwOnRun === key) throw new Error("cannot run");
      let canceled = false;
      return {
        start: (dispatch, context) =>
          new Promise<void>((resolve, reject) => {
            runs.push({
              key,
              dispatch,
              signal: context.signal,
              canceled: () => canceled,
              end: async (error) => {
                if (error === undefined) resolve();
                else reject(error);
                await Promise.resolve();
                await Promise.resolve();
              },
            });
          }),
        cancel: () => {
          canceled = true;
        },
      };
    },
    ...(options.commit === undefined ? {} : { commit: options.commit }),
  });
  const notices: MoorexNotice<State, Input, string>[] = [];
  moorex.subscribe((notice) => notices.push(notice));
  const keys = (): string[] => runs.map((run) => run.key);
  return { moorex, runs, notices, keys };
}

const at = <T>(items: readonly T[], index: number): T => {
  const item = items.at(index);
  if (item === undefined) throw new Error(`nothing at ${index}`);
  return item;
};

describe("I1: the running keys are the wanted keys less the finished ones", () => {
  it("starts what the initial state wants without any dispatch", () => {
    expect(machine({ wanted: ["a", "b"] }).keys()).toEqual(["a", "b"]);
  });

  it("starts and cancels by the difference of keys", () => {
    const { moorex, runs, keys } = machine({ wanted: ["a"] });
    void moorex.dispatch({ want: ["a", "b"] });
    expect(keys()).toEqual(["a", "b"]);
    void moorex.dispatch({ want: ["b"] });
    expect(at(runs, 0).signal.aborted).toBe(true);
    expect(at(runs, 0).canceled()).toBe(true);
    expect(at(runs, 1).signal.aborted).toBe(false);
  });

  it("says to a run why it ends: the state wants it no more, or the machine stops", () => {
    const { moorex, runs } = machine({ wanted: ["a", "b"] });
    void moorex.dispatch({ want: ["b"] });
    moorex.stop();
    expect(at(runs, 0).signal.reason).toMatchObject({ name: "AbortError" });
    expect(at(runs, 1).signal.reason).toMatchObject({ name: "ShutdownError" });
  });

  it("reconciles a batch once, after its last input", () => {
    const { moorex, keys } = machine();
    void moorex.dispatch({ want: ["a"] }, { want: ["b"] });
    expect(keys()).toEqual(["b"]);
  });
});

describe("I2: a finished key", () => {
  it("does not start again while it is still wanted", async () => {
    const { moorex, runs, keys } = machine({ wanted: ["a"] });
    await at(runs, 0).end();
    void moorex.dispatch({ want: ["a", "b"] });
    expect(keys()).toEqual(["a", "b"]);
  });

  it("starts again after a state that did not want it", async () => {
    const { moorex, runs, keys } = machine({ wanted: ["a"] });
    await at(runs, 0).end();
    void moorex.dispatch({ want: [] });
    void moorex.dispatch({ want: ["a"] });
    expect(keys()).toEqual(["a", "a"]);
  });

  it("counts as finished when it failed, and the failure is reported", async () => {
    const { moorex, runs, notices, keys } = machine({ wanted: ["a"] });
    await at(runs, 0).end(new Error("broken"));
    void moorex.dispatch({ say: "x" });
    expect(keys()).toEqual(["a"]);
    expect(notices.filter((notice) => notice.type === "effect-failed")).toHaveLength(1);
  });
});

describe("I3: an old run", () => {
  it("can no longer dispatch, not even after its key started anew", async () => {
    const { moorex, runs } = machine({ wanted: ["a"] });
    void moorex.dispatch({ want: [] });
    void moorex.dispatch({ want: ["a"] });
    expect(await at(runs, 0).dispatch({ say: "late" })).toMatchObject({ applied: 0 });
    expect(moorex.current().said).toEqual([]);
    await at(runs, 1).dispatch({ say: "in time" });
    expect(moorex.current().said).toEqual(["in time"]);
  });

  it("does not end the newer run of its key when it settles", async () => {
    const { moorex, runs, notices } = machine({ wanted: ["a"] });
    void moorex.dispatch({ want: [] });
    void moorex.dispatch({ want: ["a"] });
    await at(runs, 0).end();
    void moorex.dispatch({ want: [] });
    expect(at(runs, 1).signal.aborted).toBe(true);
    expect(notices.filter((notice) => notice.type === "effect-completed")).toHaveLength(0);
  });

  const queued = async (...wanted: readonly (readonly string[])[]) => {
    const commits: number[] = [];
    let release = (): void => undefined;
    const { moorex, runs } = machine({
      wanted: ["a"],
      commit: (steps) => {
        commits.push(steps.length);
        return new Promise((resolve) => (release = () => resolve(undefined)));
      },
    });
    const first = moorex.dispatch({ say: "first" });
    for (const want of wanted) void moorex.dispatch({ want });
    const late = at(runs, 0).dispatch({ say: "late" });
    release();
    await first;
    await Promise.resolve();
    release();
    const { applied } = await late;
    return { commits, applied, said: moorex.current().said, isAborted: at(runs, 0).signal.aborted, runs };
  };

  it("is not heard with a queued input if the state at the turn of this input does not want its key", async () => {
    expect(await queued([])).toMatchObject({
      commits: [1, 1],
      applied: 0,
      said: ["first"],
      isAborted: true,
    });
  });

  it("continues if its key is unwanted only between two inputs of one group", async () => {
    const { runs, ...outcome } = await queued([], ["a"]);
    expect(outcome).toEqual({ commits: [1, 3], applied: 1, said: ["first", "late"], isAborted: false });
    expect(runs).toHaveLength(1);
  });

  it("that retired itself by its answer is reported as completed and not aborted", () => {
    const { runs, notices } = machine({ wanted: ["a"] });
    void at(runs, 0).dispatch({ say: "done", drop: "a" });
    expect(notices.at(-1)).toMatchObject({ type: "effect-completed", key: "a" });
    expect(at(runs, 0).signal.aborted).toBe(false);
  });
});

describe("I3: a run whose progress and whose retirement by another input are in one group", () => {
  const groupOf = async (last: { readonly want: readonly string[] } | { readonly no: 1 }) => {
    let release = (): void => undefined;
    const { moorex, runs, notices } = machine({
      wanted: ["a", "b"],
      commit: () => new Promise((resolve) => (release = () => resolve(undefined))),
    });
    const first = moorex.dispatch({ say: "first" });
    void at(runs, 0).dispatch({ say: "half" });
    void at(runs, 1).dispatch({ say: "done", drop: "b" });
    void moorex.dispatch(last);
    release();
    await first;
    await Promise.resolve();
    release();
    await untilPasses(() => expect(moorex.current().said).toHaveLength(3));
    return { runs, notices };
  };

  it("is canceled and aborted, and one that answered beside it is reported as completed", async () => {
    const { runs, notices } = await groupOf({ want: [] });
    expect(at(runs, 0).signal.aborted).toBe(true);
    expect(at(runs, 1).signal.aborted).toBe(false);
    expect(notices.slice(-2)).toMatchObject([
      { type: "effect-canceled", key: "a" },
      { type: "effect-completed", key: "b" },
    ]);
  });

  it("continues where nothing retired it", async () => {
    const { runs, notices } = await groupOf({ no: 1 });
    expect(at(runs, 0).signal.aborted).toBe(false);
    expect(notices.at(-1)).toMatchObject({ type: "effect-completed", key: "b" });
  });
});

describe("I4: inputs", () => {
  it("are applied and published before dispatch returns", () => {
    const { moorex } = machine();
    void moorex.dispatch({ say: "a" });
    expect(moorex.current().said).toEqual(["a"]);
  });

  it("that change nothing are reported as ignored and keep the reference", async () => {
    const { moorex, notices } = machine();
    const before = moorex.current();
    expect(await moorex.dispatch({ no: 1 })).toEqual({ applied: 0, state: before });
    expect(moorex.current()).toBe(before);
    expect(notices.map((notice) => notice.type)).toEqual(["input-received", "input-ignored"]);
  });

  it("from a subscriber queue behind the present one", () => {
    const { moorex } = machine();
    const seen: string[] = [];
    moorex.subscribe((notice) => {
      if (notice.type !== "state-updated") return;
      seen.push(notice.state.said.join());
      if (notice.state.said.length === 1) void moorex.dispatch({ say: "c" });
    });
    void moorex.dispatch({ say: "a" }, { say: "b" });
    expect(seen).toEqual(["a", "a,b", "a,b,c"]);
  });

  it("chain 100,000 times without growing the stack (D07)", () => {
    let count = 0;
    const moorex = createMoorex<number, 1, never>({
      initial: () => 0,
      transition: () => (state) => state + 1,
      effectsAt: () => ({}),
      runEffect: () => ({ start: () => Promise.resolve() }),
    });
    moorex.subscribe((notice) => {
      if (notice.type === "state-updated" && ++count < 100_000) void moorex.dispatch(1);
    });
    void moorex.dispatch(1);
    expect(moorex.current()).toBe(100_000);
  });

  it("dispatched by a transition are refused", async () => {
    const moorex = createMoorex<number, "again" | "fine", never>({
      initial: () => 0,
      transition: (input) => (state) => {
        if (input === "again") void moorex.dispatch("fine");
        return state + 1;
      },
      effectsAt: () => ({}),
      runEffect: () => ({ start: () => Promise.resolve() }),
    });
    await expect(moorex.dispatch("again")).rejects.toThrow("A transition must not dispatch");
    expect(moorex.current()).toBe(0);
    expect(await moorex.dispatch("fine")).toMatchObject({ applied: 1 });
  });
});

describe("I5: commit", () => {
  it("sees only inputs that changed something, with the state before and after", () => {
    const commit = vi.fn(() => undefined);
    const { moorex } = machine({ commit });
    void moorex.dispatch({ no: 1 });
    void moorex.dispatch({ say: "a" }, { no: 1 });
    expect(commit.mock.calls).toEqual([
      [[{ input: { say: "a" }, before: { wanted: [], said: [] }, after: { wanted: [], said: ["a"] } }]],
    ]);
  });

  it("keeps the state from being seen before it is durable, and starts nothing before", async () => {
    let release = (): void => undefined;
    const { moorex, keys } = machine({
      commit: () => new Promise((resolve) => (release = () => resolve(undefined))),
    });
    const done = moorex.dispatch({ want: ["a"] });
    expect(moorex.current().wanted).toEqual([]);
    expect(keys()).toEqual([]);
    release();
    await done;
    expect(keys()).toEqual(["a"]);
  });

  it("commits what gathered meanwhile as one group", async () => {
    const groups: number[] = [];
    let release = (): void => undefined;
    const { moorex } = machine({
      commit: (steps) => {
        groups.push(steps.length);
        return new Promise((resolve) => (release = () => resolve(undefined)));
      },
    });
    const all = [moorex.dispatch({ say: "a" }), moorex.dispatch({ say: "b" }), moorex.dispatch({ say: "c" })];
    release();
    await all[0];
    await Promise.resolve();
    release();
    await Promise.all(all);
    expect(groups).toEqual([1, 2]);
    expect(moorex.current().said).toEqual(["a", "b", "c"]);
  });

  it("applies and publishes what others appended first, then transitions the batch again", () => {
    const commit = vi
      .fn<() => CommitResult<Input>>()
      .mockReturnValueOnce({ before: [{ input: { say: "foreign" } }] })
      .mockReturnValueOnce(undefined);
    const { moorex, notices } = machine({ commit });
    void moorex.dispatch({ say: "mine" });
    expect(moorex.current().said).toEqual(["foreign", "mine"]);
    expect(
      notices.filter((notice) => notice.type === "state-updated").map((notice) => notice.state.said),
    ).toEqual([["foreign"], ["foreign", "mine"]]);
  });

  it("drops the answer of a run that a foreign input retired, and reconciles all the same", async () => {
    const commit = vi
      .fn<() => Promise<CommitResult<Input>>>()
      .mockResolvedValueOnce({ before: [{ input: { want: ["b"] } }] })
      .mockResolvedValue(undefined);
    const { moorex, runs, keys } = machine({ wanted: ["a"], commit });
    expect(await at(runs, 0).dispatch({ say: "answer" })).toMatchObject({ applied: 0 });
    expect(moorex.current()).toEqual({ wanted: ["b"], said: [] });
    expect(at(runs, 0).signal.aborted).toBe(true);
    expect(keys()).toEqual(["a", "b"]);
  });

  it.each(["at once", "later"])(
    "that fails %s rejects outside dispatches and starts nothing",
    async (when) => {
      const failure = new Error("disk full");
      let broken = true;
      const { moorex, notices, keys } = machine({
        commit: () => {
          if (!broken) return undefined;
          if (when === "later") return Promise.reject(failure);
          throw failure;
        },
      });
      await expect(moorex.dispatch({ want: ["a"] })).rejects.toBe(failure);
      expect(moorex.current().wanted).toEqual([]);
      expect(keys()).toEqual([]);
      expect(notices).toContainEqual({ type: "error-caught", source: "commit", error: failure });
      broken = false;
      await moorex.dispatch({ want: ["a"] });
      expect(keys()).toEqual(["a"]);
    },
  );

  it("that fails keeps an effect's own input and offers it again, in front, at the next dispatch", async () => {
    let broken = true;
    const { moorex, runs } = machine({
      wanted: ["a"],
      commit: () => {
        if (broken) throw new Error("disk full");
      },
    });
    const answer = at(runs, 0).dispatch({ say: "answer" });
    broken = false;
    await moorex.dispatch({ say: "next" });
    expect(await answer).toMatchObject({ applied: 1 });
    expect(moorex.current().said).toEqual(["answer", "next"]);
  });

  it("that fails offers an effect's own input again with what came while it ran, and does not leave it behind", async () => {
    const commits: PromiseWithResolvers<void>[] = [];
    const { moorex, runs } = machine({
      wanted: ["a"],
      commit: () => {
        const commit = Promise.withResolvers<void>();
        commits.push(commit);
        return commit.promise;
      },
    });
    const answer = at(runs, 0).dispatch({ say: "answer" });
    const next = moorex.dispatch({ say: "next" });
    commits[0]?.reject(new Error("disk full"));
    await untilPasses(() => expect(commits).toHaveLength(2));
    commits[1]?.resolve();
    expect(await answer).toMatchObject({ applied: 1 });
    expect(await next).toMatchObject({ applied: 1 });
    expect(moorex.current().said).toEqual(["answer", "next"]);
  });
});

describe("I6: code that throws", () => {
  it("a transition rejects its own batch as a whole and nothing else", async () => {
    const { moorex, notices } = machine();
    await expect(moorex.dispatch({ say: "a" }, { say: "throw" })).rejects.toThrow("a bad transition");
    expect(moorex.current().said).toEqual([]);
    expect(notices.at(-1)).toMatchObject({ type: "error-caught", source: "transition" });
    await moorex.dispatch({ say: "b" });
    expect(moorex.current().said).toEqual(["b"]);
  });

  it("effectsAt leaves the state published and the effects as they were", () => {
    let broken = false;
    const { moorex, notices, keys } = machine({
      effectsAt: (state) => {
        if (broken) throw new Error("cannot say");
        return Object.fromEntries(state.wanted.map((key) => [key, key]));
      },
    });
    void moorex.dispatch({ want: ["a"] });
    broken = true;
    void moorex.dispatch({ want: ["b"] });
    expect(keys()).toEqual(["a"]);
    expect(notices.at(-1)).toMatchObject({ type: "error-caught", source: "effectsAt" });
    broken = false;
    void moorex.dispatch({ say: "continue" });
    expect(keys()).toEqual(["a", "b"]);
  });

  it("runEffect fails that effect only", () => {
    const { keys, moorex, notices } = machine({ throwOnRun: "bad" });
    void moorex.dispatch({ want: ["bad", "good"] });
    expect(keys()).toEqual(["good"]);
    expect(notices).toContainEqual(expect.objectContaining({ type: "effect-failed", key: "bad" }));
  });

  it("a subscriber does not keep the others from hearing", () => {
    const { moorex, notices } = machine();
    moorex.subscribe(() => {
      throw new Error("a bad subscriber");
    });
    const after = vi.fn();
    moorex.subscribe(after);
    void moorex.dispatch({ say: "a" });
    expect(after).toHaveBeenCalledWith(expect.objectContaining({ type: "state-updated" }));
    expect(notices).toContainEqual(expect.objectContaining({ type: "error-caught", source: "subscriber" }));
  });
});

describe("settled and stop", () => {
  it("settles while a background effect runs, and not while another one does", async () => {
    const transcript: string[] = [];
    const ends = new Map<string, () => void>();
    const moorex = createMoorex<readonly string[], readonly string[], string>({
      initial: () => ["work", "timer"],
      transition: (wanted) => () => wanted,
      effectsAt: (wanted) => Object.fromEntries(wanted.map((key) => [key, key])),
      runEffect: (effect) => ({ start: () => new Promise((resolve) => ends.set(effect, resolve)) }),
      isBackground: (effect) => effect === "timer",
      onNotice: ({ type, ...notice }) => "key" in notice && transcript.push(`${type} ${notice.key}`),
    });
    const waiting = moorex.settled().then(() => transcript.push("settled"));
    ends.get("work")?.();
    await waiting;
    expect(transcript).toEqual([
      "effect-started work",
      "effect-started timer",
      "effect-completed work",
      "settled",
    ]);
  });

  it("settles when the last effect has ended", async () => {
    const { moorex, runs } = machine({ wanted: ["a"] });
    const settled = vi.fn();
    const waiting = moorex.settled().then(settled);
    await Promise.resolve();
    expect(settled).not.toHaveBeenCalled();
    await at(runs, 0).end();
    await waiting;
    expect(settled).toHaveBeenCalled();
  });

  it("stop aborts what runs, refuses inputs and lets a commit under way be published", async () => {
    let release = (): void => undefined;
    const { moorex, runs } = machine({
      wanted: ["a"],
      commit: () => new Promise((resolve) => (release = () => resolve(undefined))),
    });
    const accepted = moorex.dispatch({ say: "durable", drop: "x" });
    moorex.stop();
    expect(at(runs, 0).signal.aborted).toBe(true);
    await expect(moorex.dispatch({ say: "too late" })).rejects.toThrow("stopped");
    release();
    expect(await accepted).toMatchObject({ applied: 1 });
    expect(moorex.current().said).toEqual(["durable"]);
  });

  it("a thousand un-awaited dispatches from microtasks and timers each apply once, in order of arrival", async () => {
    const { moorex } = machine({
      commit: (steps) => (steps.length % 2 === 0 ? Promise.resolve() : undefined),
    });
    const arrived: string[] = [];
    const say = (n: number): void => {
      arrived.push(String(n));
      void moorex.dispatch({ say: String(n) });
    };
    const timers = Array.from(
      { length: 1000 },
      (_, n) =>
        new Promise<void>((resolve) => {
          const run = (): void => {
            say(n);
            resolve();
          };
          if (n % 3 === 0) queueMicrotask(run);
          else setTimeout(run, n % 5);
        }),
    );
    await Promise.all(timers);
    await moorex.settled();
    expect(moorex.current().said).toEqual(arrived);
    expect(arrived).toHaveLength(1000);
  });
});
