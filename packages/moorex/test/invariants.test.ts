import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createMoorex,
  type CommitResult,
  type Dispatch,
  type DispatchResult,
  type Step,
} from "../src/index.ts";

/**
 * A state that wants numbered keys. `add` wants a new key, `drop` ends one, `intend` records that one is about to start, and
 * `say` counts a word. Keys never come back.
 */
interface State {
  readonly next: number;
  readonly wanted: readonly string[];
  readonly intended: readonly string[];
  readonly said: readonly string[];
}
type Input =
  | { readonly add: 1 }
  | { readonly drop: string; readonly word: string }
  | { readonly intend: string }
  | { readonly say: string };

const initial: State = { next: 1, wanted: [], intended: [], said: [] };

const transition =
  (input: Input) =>
  (state: State): State => {
    if ("add" in input)
      return { ...state, next: state.next + 1, wanted: [...state.wanted, `k${state.next}`] };
    if ("say" in input) return { ...state, said: [...state.said, input.say] };
    if ("intend" in input) {
      if (!state.wanted.includes(input.intend) || state.intended.includes(input.intend)) return state;
      return { ...state, intended: [...state.intended, input.intend] };
    }
    if (!state.wanted.includes(input.drop)) return state;
    const wanted = state.wanted.filter((key) => key !== input.drop);
    return { ...state, wanted, said: [...state.said, input.word] };
  };

/** How a commit ends: at once or later, and with what. `before`: another writer has added a key or ended one. */
interface Ending {
  readonly isLater: boolean;
  readonly result: "stored" | "failed" | "before-add" | "before-drop";
}

type Action =
  | { readonly type: "add" | "say" | "late" | "empty" | "turn" | "commit-ends" }
  | { readonly type: "answer" | "talk" | "finish"; readonly nth: number };

const endings = fc.infiniteStream(
  fc.record<Ending>({
    isLater: fc.boolean(),
    result: fc.constantFrom("stored", "stored", "stored", "failed", "before-add", "before-drop"),
  }),
);
const actions = fc.array(
  fc.oneof<fc.Arbitrary<Action>[]>(
    fc.record({ type: fc.constantFrom("add", "say", "late", "empty", "turn", "commit-ends") }),
    fc.record({ type: fc.constantFrom("answer", "talk", "finish"), nth: fc.nat(5) }),
  ),
  { maxLength: 40 },
);

interface OpenRun {
  readonly key: string;
  readonly dispatch: Dispatch<State, Input>;
  readonly end: () => void;
}

/** A machine with a log, commits that end as a script says, and effects that are ended by hand. */
class World {
  readonly log: Input[] = [];
  readonly runs = new Map<string, OpenRun>();
  readonly started: string[] = [];
  /** The words of the inputs that were dropped with a notice. */
  readonly dropped: unknown[] = [];
  /** What broke an invariant. It is not thrown, because a machine continues after an exception of a listener (I6). */
  readonly problems: string[] = [];
  readonly published: State[] = [initial];
  readonly results: {
    readonly word: string;
    readonly isOfRun: boolean;
    readonly result: Promise<DispatchResult<State>>;
  }[] = [];
  readonly #endings: Iterator<Ending>;
  #open: (() => void)[] = [];
  #words = 0;
  readonly moorex;

  constructor(next: Iterator<Ending>) {
    this.#endings = next;
    this.moorex = createMoorex<State, Input, string>({
      initial: () => initial,
      transition,
      effectsAt: ({ wanted }) => Object.fromEntries(wanted.map((key) => [key, key])),
      isWanted: (key, { wanted }) => wanted.includes(key),
      // A host that finds the intent in its log, from a commit that was reported as failed, has to start the effect.
      intentOf: (_effect, key) => ({ intend: key }),
      runEffect: (_effect, state, key) => ({
        start: (dispatch) => {
          // I1 and I5: the intent is part of the log and of the state before the effect starts.
          const isLogged = this.log.some((input) => "intend" in input && input.intend === key);
          if (!isLogged || !state.intended.includes(key)) this.problems.push(`${key} has no intent`);
          this.started.push(key);
          return new Promise((end) => this.runs.set(key, { key, dispatch, end }));
        },
        cancel: () => void this.runs.delete(key),
      }),
      commit: (steps) => this.#commit(steps),
      onNotice: (notice) => {
        if (notice.type === "state-updated") {
          // I5: states are published one by one, and each is in the log.
          if (notice.before !== this.published.at(-1)) this.problems.push("a state was left out");
          if (this.log[this.published.length - 1] !== notice.input)
            this.problems.push(`not the next input of the log: ${JSON.stringify(notice.input)}`);
          this.published.push(notice.state);
        }
        if (notice.type === "input-dropped")
          this.dropped.push("word" in notice.input ? notice.input.word : Object.values(notice.input)[0]);
        if (notice.type === "effect-completed") this.runs.delete(notice.key);
        if (notice.type === "effect-failed") this.problems.push(`${notice.key} failed`);
        if (notice.type === "error-caught" && notice.source !== "commit")
          this.problems.push(`${notice.source}: ${String(notice.error)}`);
      },
    });
  }

  #commit(steps: readonly Step<State, Input>[]): CommitResult<Input> | Promise<CommitResult<Input>> {
    const { isLater, result }: Ending = this.#endings.next().value ?? { isLater: false, result: "stored" };
    const end = (): CommitResult<Input> => {
      if (result === "failed") throw new Error("disk full");
      const [first] = steps;
      const foreign = result === "before-add" ? ({ add: 1 } as const) : this.#foreignDrop(first?.before);
      if (result === "stored" || foreign === undefined) {
        this.log.push(...steps.map(({ input }) => input));
        return undefined;
      }
      this.log.push(foreign);
      return { before: [{ input: foreign }] };
    };
    if (!isLater) return end();
    return new Promise<void>((resolve) => this.#open.push(resolve)).then(end);
  }

  #foreignDrop(state: State | undefined): Input | undefined {
    const key = state?.wanted[0];
    return key === undefined ? undefined : { drop: key, word: "foreign" };
  }

  act(action: Action): void {
    const word = `w${(this.#words += 1)}`;
    const run = "nth" in action ? [...this.runs.values()].at(action.nth) : undefined;
    const keep = (result: Promise<DispatchResult<State>>): void =>
      void this.results.push({ word, isOfRun: run !== undefined, result });
    switch (action.type) {
      case "add":
        return void this.moorex.dispatch({ add: 1 });
      case "say":
        return keep(this.moorex.dispatch({ say: word }));
      case "late":
        return keep(this.moorex.dispatch(({ said }) => (said.length % 2 === 0 ? { say: word } : undefined)));
      case "empty":
        return void this.moorex.dispatch();
      case "answer":
        return run && keep(run.dispatch({ drop: run.key, word }));
      case "talk":
        return run && keep(run.dispatch({ say: word }));
      case "finish":
        return run?.end();
      case "commit-ends":
        return this.endCommit();
      case "turn":
        return undefined;
    }
  }

  endCommit(): void {
    this.#open.shift()?.();
  }

  get isCommitting(): boolean {
    return this.#open.length > 0;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function lived(next: Iterator<Ending>, script: readonly Action[]): Promise<World> {
  const world = new World(next);
  for (const action of script) {
    world.act(action);
    if (action.type === "turn" || action.type === "commit-ends") await turn();
  }
  // An empty dispatch commits kept inputs and intents again, until a commit succeeds.
  for (let rounds = 0; rounds < 60; rounds += 1) {
    await turn();
    if (world.isCommitting) world.endCommit();
    else if (rounds % 2 === 0) void world.moorex.dispatch();
  }
  return world;
}

describe("I1 to I5: whatever commits do, and however inputs and results arrive", () => {
  it("the log leads to the state, every wanted effect has run once and after its intent, and no word is lost or doubled", async () => {
    await fc.assert(
      fc.asyncProperty(endings, actions, async (stream, script) => {
        let left = 60;
        const next: Iterator<Ending> = {
          // After a while everything is stored.
          next: () => ((left -= 1) > 0 ? stream.next() : { done: true, value: undefined }),
        };
        const { log, moorex, published, started, dropped, results, isCommitting, problems } = await lived(
          next,
          script,
        );
        expect(problems).toEqual([]);
        expect(isCommitting).toBe(false);
        const { said, wanted, intended } = moorex.current();
        // I5: nothing is published that is not in the log, and nothing in the log is missing.
        expect(log.reduce((state, input) => transition(input)(state), initial)).toEqual(moorex.current());
        expect(published.at(-1)).toBe(moorex.current());
        // I1, I2: each key that is wanted has been started exactly once; none without its intent.
        expect(new Set(started).size).toBe(started.length);
        expect(started).toEqual(expect.arrayContaining([...wanted]));
        expect(intended).toEqual(expect.arrayContaining(started));
        // I3, I4: a word counts once if its batch applied, and not at all if it did not.
        for (const { word, isOfRun, result } of results) {
          const applied = await result.then(
            (settled) => settled.applied,
            () => 0,
          );
          expect(said.filter((other) => other === word)).toHaveLength(applied);
          // I3: an input of a run is dropped with a notice, or it is applied.
          if (isOfRun) expect(dropped.filter((other) => other === word)).toHaveLength(1 - applied);
        }
      }),
      { numRuns: 300 },
    );
  });
});
