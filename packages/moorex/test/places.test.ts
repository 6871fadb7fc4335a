import { describe, expect, it } from "vitest";
import { createMoorex, type CommitResult, type MoorexNotice, type Step } from "../src/index.ts";

/** An input that carries its place in a ledger. */
interface Entry {
  readonly add: number;
  place?: string;
}
/** A sum, and how the last input has changed it. */
interface Sum {
  readonly sum: number;
  readonly difference: number;
}
type SumStep = Step<Sum, Entry>;
type MaybePromise<Value> = Value | Promise<Value>;

const transition =
  ({ add }: Entry) =>
  (before: Sum): Sum => {
    if (add === 13) throw new Error("Thirteen is not allowed.");
    return add === 0 ? before : { sum: before.sum + add, difference: add };
  };

function sum({
  commit,
  wanted = () => ({}),
}: {
  readonly commit?: (steps: readonly SumStep[]) => MaybePromise<CommitResult<Entry>>;
  readonly wanted?: (state: Sum) => Readonly<Record<string, "add">>;
} = {}) {
  const transcript: string[] = [];
  const onNotice = (notice: MoorexNotice<Sum, Entry, "add">): void => {
    if (notice.type === "state-updated") {
      const { input, before, state } = notice;
      transcript.push(
        `${input.add}: ${before.sum} -> ${state.sum}, by ${state.difference}, at ${input.place}`,
      );
    } else if (notice.type === "input-ignored") transcript.push(`${notice.input.add}: ignored`);
    else if (notice.type === "error-caught") transcript.push(`${notice.source}: ${String(notice.error)}`);
  };
  const moorex = createMoorex<Sum, Entry, "add">({
    initial: () => ({ sum: 0, difference: 0 }),
    transition,
    effectsAt: wanted,
    runEffect: () => ({ start: async (dispatch) => void (await dispatch({ add: 5 })) }),
    onNotice,
    ...(commit === undefined ? {} : { commit }),
  });
  return { moorex, transcript };
}

/** Numbers the inputs of the steps that it stores. */
function ledger(): (steps: readonly SumStep[]) => undefined {
  let last = 0;
  return (steps) => {
    for (const { input } of steps) input.place = `#${(last += 1)}`;
  };
}

describe("I5: what a transition knows besides its result is a part of the state", () => {
  it("is in the notice of its step, and an input that changed nothing has none", async () => {
    const { moorex, transcript } = sum();
    await moorex.dispatch({ add: 1 }, { add: 0 }, { add: 2 });
    expect(transcript).toEqual([
      "1: 0 -> 1, by 1, at undefined",
      "0: ignored",
      "2: 1 -> 3, by 2, at undefined",
    ]);
  });

  it("is passed to commit with its step", () => {
    const stored: SumStep[] = [];
    const { moorex } = sum({ commit: (steps) => void stored.push(...steps) });
    void moorex.dispatch({ add: 1 }, { add: 0 }, { add: 2 });
    expect(stored).toEqual([
      { input: { add: 1 }, before: { sum: 0, difference: 0 }, after: { sum: 1, difference: 1 } },
      { input: { add: 2 }, before: { sum: 1, difference: 1 }, after: { sum: 3, difference: 2 } },
    ]);
  });
});

describe("I5: the places that commit gives to inputs", () => {
  it.each(["at once", "later"])(
    "%s are in the notices of the steps, in order, whatever was ignored between them",
    async (when) => {
      const log = ledger();
      const { moorex, transcript } = sum({
        commit: (steps) => (when === "later" ? Promise.resolve(log(steps)) : log(steps)),
      });
      await moorex.dispatch({ add: 1 }, { add: 0 }, { add: 2 });
      await moorex.dispatch({ add: 0 }, { add: 3 });
      expect(transcript).toEqual([
        "1: 0 -> 1, by 1, at #1",
        "0: ignored",
        "2: 1 -> 3, by 2, at #2",
        "0: ignored",
        "3: 3 -> 6, by 3, at #3",
      ]);
    },
  );

  it("are those of each batch of a group that one commit stored", async () => {
    const log = ledger();
    const commits: (() => void)[] = [];
    const { moorex, transcript } = sum({
      commit: (steps) => new Promise((resolve) => commits.push(() => resolve(log(steps)))),
    });
    const first = moorex.dispatch({ add: 1 });
    const later = [moorex.dispatch({ add: 0 }, { add: 2 }), moorex.dispatch({ add: 3 })];
    commits[0]?.();
    await first;
    await Promise.resolve();
    commits[1]?.();
    await Promise.all(later);
    expect(commits).toHaveLength(2);
    expect(transcript).toEqual([
      "1: 0 -> 1, by 1, at #1",
      "0: ignored",
      "2: 1 -> 3, by 2, at #2",
      "3: 3 -> 6, by 3, at #3",
    ]);
  });

  it("come with the inputs that were committed first, where the transition throws for one", async () => {
    const foreign = [
      { input: { add: 10, place: "#1" } },
      { input: { add: 0, place: "#2" } },
      { input: { add: 13, place: "#3" } },
      { input: { add: 20, place: "#4" } },
    ];
    const { moorex, transcript } = sum({
      commit([step]) {
        if (step?.before.sum === 0) return { before: foreign };
        if (step !== undefined) step.input.place = "#5";
        return undefined;
      },
    });
    expect(await moorex.dispatch({ add: 1 })).toMatchObject({ applied: 1, state: { sum: 31 } });
    expect(transcript).toEqual([
      "10: 0 -> 10, by 10, at #1",
      "0: ignored",
      "foreign: Error: Thirteen is not allowed.",
      "20: 10 -> 30, by 20, at #4",
      "1: 30 -> 31, by 1, at #5",
    ]);
  });

  it("are heard with an input that an effect dispatches while the machine is created", () => {
    const { transcript } = sum({
      commit: ledger(),
      wanted: (state) => (state.sum === 0 ? { first: "add" } : {}),
    });
    expect(transcript).toEqual(["5: 0 -> 5, by 5, at #1"]);
  });
});
