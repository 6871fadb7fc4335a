import { describe, expect, it } from "vitest";
import { createMoorex, type CommitResult, type MoorexNotice, type Step } from "../src/index.ts";

/** A sum whose detail is the difference that an input made, in a ledger that numbers what it stores. */
type Notice = MoorexNotice<number, number, "add", { readonly difference: number }, string>;
type SumStep = Step<number, number, { readonly difference: number }>;

function sum({
  commit,
  wanted = () => ({}),
}: {
  readonly commit?: (steps: readonly SumStep[]) => MaybePromise<CommitResult<number, string>>;
  readonly wanted?: (state: number) => Readonly<Record<string, "add">>;
} = {}) {
  const transcript: string[] = [];
  const onNotice = (notice: Notice): void => {
    if (notice.type === "state-updated") {
      const { input, before, state, detail, position } = notice;
      transcript.push(`${input}: ${before} -> ${state}, by ${detail.difference}, at ${position}`);
    } else if (notice.type === "input-ignored") transcript.push(`${notice.input}: ignored`);
  };
  const moorex = createMoorex<number, number, "add", { readonly difference: number }, string>({
    initial: () => 0,
    detailedTransition: (input) => (state) => ({ state: state + input, detail: { difference: input } }),
    effectsAt: wanted,
    runEffect: () => ({ start: async (dispatch) => void (await dispatch(5)) }),
    onNotice,
    ...(commit === undefined ? {} : { commit }),
  });
  return { moorex, transcript };
}
type MaybePromise<Value> = Value | Promise<Value>;

/** Numbers the steps that it stores. */
function ledger(): (steps: readonly SumStep[]) => { readonly positions: readonly string[] } {
  let last = 0;
  return (steps) => ({ positions: steps.map(() => `#${(last += 1)}`) });
}

describe("I5: the detail of a transition", () => {
  it("is part of the notice of its step, and an input that changed nothing has none", async () => {
    const { moorex, transcript } = sum();
    await moorex.dispatch(1, 0, 2);
    expect(transcript).toEqual([
      "1: 0 -> 1, by 1, at undefined",
      "0: ignored",
      "2: 1 -> 3, by 2, at undefined",
    ]);
  });

  it("is passed to commit with its step", () => {
    const stored: SumStep[] = [];
    const { moorex } = sum({ commit: (steps) => void stored.push(...steps) });
    void moorex.dispatch(1, 0, 2);
    expect(stored).toEqual([
      { input: 1, before: 0, after: 1, detail: { difference: 1 } },
      { input: 2, before: 1, after: 3, detail: { difference: 2 } },
    ]);
  });

  it("is undefined for a plain transition", () => {
    const details: undefined[] = [];
    const moorex = createMoorex<number, number, never>({
      initial: () => 0,
      transition: (input) => (state) => state + input,
      effectsAt: () => ({}),
      runEffect: () => ({ start: () => Promise.resolve() }),
      onNotice: (notice) => notice.type === "state-updated" && details.push(notice.detail),
    });
    void moorex.dispatch(1);
    expect(details).toEqual([undefined]);
  });
});

describe("I5: the positions that commit returns", () => {
  it.each(["at once", "later"])(
    "%s are those of the steps, in order, whatever was ignored between them",
    async (when) => {
      const log = ledger();
      const { moorex, transcript } = sum({
        commit: (steps) => (when === "later" ? Promise.resolve(log(steps)) : log(steps)),
      });
      await moorex.dispatch(1, 0, 2);
      await moorex.dispatch(0, 3);
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
    const commits: PromiseWithResolvers<CommitResult<number, string>>[] = [];
    const { moorex, transcript } = sum({
      commit: () => {
        const commit = Promise.withResolvers<CommitResult<number, string>>();
        commits.push(commit);
        return commit.promise;
      },
    });
    const first = moorex.dispatch(1);
    const later = [moorex.dispatch(0, 2), moorex.dispatch(3)];
    commits[0]?.resolve({ positions: ["#1"] });
    await first;
    await Promise.resolve();
    commits[1]?.resolve({ positions: ["#2", "#3"] });
    await Promise.all(later);
    expect(transcript).toEqual([
      "1: 0 -> 1, by 1, at #1",
      "0: ignored",
      "2: 1 -> 3, by 2, at #2",
      "3: 3 -> 6, by 3, at #3",
    ]);
  });

  it("come with the inputs that were committed first", () => {
    const foreign = [
      { input: 10, position: "#1" },
      { input: 0, position: "#2" },
      { input: 20, position: "#3" },
    ];
    const { moorex, transcript } = sum({
      commit: ([step]) => (step?.before === 0 ? { before: foreign } : { positions: ["#4"] }),
    });
    void moorex.dispatch(1);
    expect(transcript).toEqual([
      "10: 0 -> 10, by 10, at #1",
      "0: ignored",
      "20: 10 -> 30, by 20, at #3",
      "1: 30 -> 31, by 1, at #4",
    ]);
  });

  it("come with the other inputs that were committed first, where the transition throws for one", async () => {
    const transcript: string[] = [];
    const foreign = [
      { input: 100, position: "#1" },
      { input: 13, position: "#2" },
      { input: 200, position: "#3" },
    ];
    const moorex = createMoorex<number, number, never, undefined, string>({
      initial: () => 0,
      transition: (input) => (state) => {
        if (input === 13) throw new Error("Thirteen is not allowed.");
        return state + input;
      },
      effectsAt: () => ({}),
      runEffect: () => ({ start: () => Promise.resolve() }),
      commit: ([step]) => (step?.before === 0 ? { before: foreign } : { positions: ["#4"] }),
      onNotice(notice) {
        if (notice.type === "state-updated") transcript.push(`${notice.state} at ${notice.position}`);
        if (notice.type === "error-caught") transcript.push(`${notice.source}: ${String(notice.error)}`);
      },
    });
    expect(await moorex.dispatch(1)).toEqual({ applied: 1, state: 301 });
    expect(transcript).toEqual([
      "100 at #1",
      "foreign: Error: Thirteen is not allowed.",
      "300 at #3",
      "301 at #4",
    ]);
  });

  it("are heard with an input that an effect dispatches while the machine is created", () => {
    const { transcript } = sum({
      commit: ledger(),
      wanted: (state) => (state === 0 ? { first: "add" } : {}),
    });
    expect(transcript).toEqual(["5: 0 -> 5, by 5, at #1"]);
  });
});
