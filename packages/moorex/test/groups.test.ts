import { describe, expect, it } from "vitest";
import { createMoorex, type Dispatch, type MoorexDefinition, type Step } from "../src/index.ts";

/** A list of entries, which wants an effect for each key of `wanted` until the entry of this key is there. */
interface State {
  readonly wanted: readonly string[];
  readonly entries: readonly string[];
}
type Definition = MoorexDefinition<State, string, string>;

const isMissing =
  ({ entries }: State) =>
  (key: string): boolean =>
    !entries.includes(key);

function machine(wanted: readonly string[], definition: Partial<Definition> = {}) {
  const dispatches = new Map<string, Dispatch<State, string>>();
  const end = new Map<string, () => void>();
  const groups: string[] = [];
  const ends: string[] = [];
  let reconciliations = 0;
  const moorex = createMoorex<State, string, string>({
    initial: () => ({ wanted, entries: [] }),
    transition: (entry) => (state) => ({ ...state, entries: [...state.entries, entry] }),
    effectsAt(state) {
      reconciliations += 1;
      return Object.fromEntries(state.wanted.filter(isMissing(state)).map((key) => [key, key]));
    },
    isWanted: (key, state) => state.wanted.includes(key) && isMissing(state)(key),
    runEffect: (_effect, _state, key) => ({
      start(dispatch) {
        dispatches.set(key, dispatch);
        return new Promise((resolve) => end.set(key, resolve));
      },
    }),
    commit: (steps: readonly Step<State, string>[]) =>
      void groups.push(steps.map(({ input }) => input).join("+")),
    onNotice({ type, ...notice }) {
      if ((type === "effect-completed" || type === "effect-canceled") && "key" in notice)
        ends.push(`${type} ${notice.key}`);
    },
    ...definition,
  });
  const say = async (key: string, entry = key) => await dispatches.get(key)?.(entry);
  return { moorex, say, end, groups, ends, reconciliations: () => reconciliations };
}

describe("I4: results of effects that settle together", () => {
  it("are one group, with one commit and one reconciliation", async () => {
    const keys = Array.from({ length: 100 }, (_, index) => `k${index}`);
    const { moorex, say, groups, ends, reconciliations } = machine(keys);
    const before = reconciliations();
    await Promise.all(keys.map((key) => Promise.resolve().then(() => say(key))));
    expect(groups).toEqual([keys.join("+")]);
    expect(reconciliations() - before).toBe(1);
    expect(ends).toEqual(keys.map((key) => `effect-completed ${key}`));
    expect(moorex.current().entries).toEqual(keys);
  });

  it("are one group without a commit, too", async () => {
    const { moorex, say } = machine(["a", "b", "c"]);
    const states = new Set<State>();
    moorex.subscribe((notice) => notice.type === "effect-completed" && states.add(moorex.current()));
    await Promise.all(["a", "b", "c"].map((key) => say(key)));
    expect([...states]).toEqual([moorex.current()]);
  });

  it("are processed at once if only one effect runs, and before a dispatch from outside", async () => {
    const { moorex, say, groups } = machine(["a", "b"]);
    const first = say("a");
    expect(groups).toEqual([]);
    void moorex.dispatch("outside");
    expect(groups).toEqual(["a+outside"]);
    void say("b");
    expect(groups).toEqual(["a+outside", "b"]);
    expect(await first).toMatchObject({ applied: 1 });
  });

  it("are processed at once beside effects in the background", () => {
    const { say, groups } = machine(["a", "timer"], { isBackground: (effect) => effect === "timer" });
    void say("a");
    expect(groups).toEqual(["a"]);
  });

  it("wait for `defer`, which is asked once for a group", async () => {
    const deferred: (() => void)[] = [];
    const { say, groups } = machine(["a", "b"], { defer: (process) => void deferred.push(process) });
    const both = [say("a"), say("b")];
    await Promise.resolve();
    expect([deferred.length, groups]).toEqual([1, []]);
    deferred[0]?.();
    await Promise.all(both);
    expect(groups).toEqual(["a+b"]);
  });

  it("that wait for `defer` keep the machine from being settled", async () => {
    const deferred: (() => void)[] = [];
    const { moorex, say, end } = machine(["a", "b", "c"], {
      defer: (process) => void deferred.push(process),
      transition: () => () => ({ wanted: [], entries: [] }),
    });
    void say("a");
    end.get("a")?.();
    let isSettled = false;
    const settled = moorex.settled().then(() => (isSettled = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(isSettled).toBe(false);
    deferred[0]?.();
    await settled;
  });

  it("of a run that an earlier batch of the group retired are dropped", async () => {
    const { moorex, say, groups } = machine(["a", "b"]);
    const results = [say("a", "b"), say("b", "late"), say("a")];
    await Promise.all(results);
    expect(groups).toEqual(["b+a"]);
    expect(await results[1]).toMatchObject({ applied: 0 });
    expect(moorex.current().entries).toEqual(["b", "a"]);
  });
});

describe("I6: isWanted that throws", () => {
  it("is reported, and the batch counts", async () => {
    const errors: string[] = [];
    const { say, moorex } = machine(["a", "b"], {
      isWanted() {
        throw new Error("unknown");
      },
      onNotice: (notice) => notice.type === "error-caught" && errors.push(`${notice.source} ${notice.key}`),
    });
    await Promise.all([say("a"), say("b")]);
    expect(moorex.current().entries).toEqual(["a", "b"]);
    expect(errors).toEqual(["effectsAt b", "effectsAt a"]);
  });
});

describe("I4: a late-bound input", () => {
  const counted = (definition: Partial<Definition> = {}) => {
    const seen: number[] = [];
    const next = ({ entries }: State): string | undefined => {
      seen.push(entries.length);
      return entries.length < 3 ? `entry ${entries.length}` : undefined;
    };
    return { ...machine([], definition), next, seen };
  };

  it("is evaluated at its turn, for the state before it; an undefined one is skipped", async () => {
    const { moorex, next } = counted();
    expect(await moorex.dispatch(next, "mine", next, next)).toMatchObject({ applied: 3 });
    expect(moorex.current().entries).toEqual(["entry 0", "mine", "entry 2"]);
  });

  it("is evaluated again after inputs that were committed first", async () => {
    let isFirst = true;
    const { moorex, next, seen } = counted({
      commit() {
        if (!isFirst) return undefined;
        isFirst = false;
        return { before: [{ input: "foreign" }] };
      },
    });
    await moorex.dispatch(next);
    expect(seen).toEqual([0, 1]);
    expect(moorex.current().entries).toEqual(["foreign", "entry 1"]);
  });

  it("of an effect is evaluated again after a failed commit", async () => {
    let isBroken = true;
    const seen: number[] = [];
    const late = ({ entries }: State): string => {
      seen.push(entries.length);
      return `entry ${entries.length}`;
    };
    const { moorex } = machine(["a"], {
      commit() {
        if (isBroken) throw new Error("disk full");
      },
      runEffect: () => ({ start: (dispatch) => dispatch(late).then(() => undefined) }),
    });
    isBroken = false;
    await moorex.dispatch("other");
    expect(seen).toEqual([0, 0]);
    expect(moorex.current().entries).toEqual(["entry 0", "other"]);
  });

  it("that throws rejects its batch as a whole", async () => {
    const { moorex } = counted();
    const bad = (): string => {
      throw new Error("no input");
    };
    await expect(moorex.dispatch("mine", bad)).rejects.toThrow("no input");
    expect(moorex.current().entries).toEqual([]);
  });
});

describe("the context of a run", () => {
  it("has a signal that is aborted even if it is read only after the abort", async () => {
    let read = (): AbortSignal | undefined => undefined;
    const reasons: string[] = [];
    const moorex = createMoorex<boolean, boolean, string>({
      initial: () => true,
      transition: (wanted) => () => wanted,
      effectsAt: (wanted) => (wanted ? { a: "go" } : {}),
      runEffect: () => ({
        start(_dispatch, context) {
          read = () => context.signal;
          return new Promise(() => undefined);
        },
        cancel: (reason) => void reasons.push(reason.name),
      }),
    });
    await moorex.dispatch(false);
    expect(read()?.reason).toMatchObject({ name: "AbortError" });
    expect(reasons).toEqual(["AbortError"]);
  });

  it("posts a batch without a promise, and calls back when the effects are reconciled", () => {
    const transcript: string[] = [];
    const moorex = createMoorex<number, number, string>({
      initial: () => 0,
      transition: (input) => (state) => {
        if (input < 0) throw new Error("below zero");
        return state + input;
      },
      effectsAt: (sum) => (sum < 5 ? { a: "go" } : { b: "go" }),
      runEffect: (_effect, _state, key) => ({
        start(_dispatch, context) {
          transcript.push(`start ${key}`);
          const report = (result: object): void => void transcript.push(`${key} ${JSON.stringify(result)}`);
          if (key === "a") {
            context.post([-1], (result) => transcript.push("error" in result ? "refused" : "taken"));
            context.post([5, 0], report);
          }
          return new Promise(() => undefined);
        },
      }),
    });
    expect(moorex.current()).toBe(5);
    expect(transcript).toEqual(["start a", "start b", "refused", 'a {"applied":1,"state":5}']);
  });
});
