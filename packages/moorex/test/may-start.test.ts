import { describe, expect, it } from "vitest";
import { createMoorex, type MoorexDefinition } from "../src/index.ts";

/** A machine that wants the keys of its state, and starts what `isOpen` lets start. Effects run until they are stopped. */
interface State {
  readonly wanted: readonly string[];
  readonly intended: readonly string[];
}
type Input = { readonly want: readonly string[] } | { readonly intended: string };

function held(options: Partial<MoorexDefinition<State, Input, string>> = {}) {
  const gate = { isOpen: false };
  const transcript: string[] = [];
  const moorex = createMoorex<State, Input, string>({
    initial: () => ({ wanted: ["a"], intended: [] }),
    transition: (input) => (state) =>
      "want" in input
        ? { ...state, wanted: input.want }
        : { ...state, intended: [...state.intended, input.intended] },
    effectsAt: ({ wanted }) => Object.fromEntries(wanted.map((key) => [key, key])),
    mayStart: () => gate.isOpen,
    runEffect: () => ({ start: () => new Promise(() => undefined) }),
    onNotice(notice) {
      if ("key" in notice) transcript.push(`${notice.type} ${notice.key}`);
      if (notice.type === "state-updated" && "intended" in notice.input)
        transcript.push(`intended ${notice.input.intended}`);
    },
    ...options,
  });
  return { moorex, gate, transcript };
}

describe("I1: an effect that may not start", () => {
  it("waits, and starts when the effects are reconciled and it may", () => {
    const { moorex, gate, transcript } = held();
    gate.isOpen = true;
    expect(transcript).toEqual([]);
    void moorex.dispatch();
    expect(transcript).toEqual(["effect-started a"]);
  });

  it("has no intent before it may start", () => {
    const { moorex, gate, transcript } = held({ intentOf: (key) => ({ intended: key }) });
    void moorex.dispatch({ want: ["a", "b"] });
    expect(transcript).toEqual([]);
    gate.isOpen = true;
    void moorex.dispatch();
    expect(transcript).toEqual(["intended a", "intended b", "effect-started a", "effect-started b"]);
  });

  it("does not keep a running one from running, nor from being canceled", () => {
    const { moorex, gate, transcript } = held();
    gate.isOpen = true;
    void moorex.dispatch();
    gate.isOpen = false;
    void moorex.dispatch({ want: ["a", "b"] });
    expect(moorex.running()).toEqual(["a"]);
    void moorex.dispatch({ want: ["b"] });
    expect(transcript).toEqual(["effect-started a", "effect-canceled a"]);
    expect(moorex.running()).toEqual([]);
  });

  it("does not start if it may not anymore when the commit has ended, and starts all the same if its intent was committed", async () => {
    const commits: (() => void)[] = [];
    const { moorex, gate, transcript } = held({
      intentOf: (key) => (key === "b" ? { intended: key } : undefined),
      commit: () => new Promise((resolve) => commits.push(() => resolve(undefined))),
    });
    gate.isOpen = true;
    const dispatched = moorex.dispatch({ want: ["a", "b"] });
    gate.isOpen = false;
    commits[0]?.();
    await dispatched;
    expect(transcript).toEqual(["intended b", "effect-started b"]);
    gate.isOpen = true;
    void moorex.dispatch();
    expect(transcript).toEqual(["intended b", "effect-started b", "effect-started a"]);
  });

  it("is reported with the exception of a mayStart that throws, and does not start", () => {
    const { transcript } = held({
      mayStart() {
        throw new Error("unknown");
      },
    });
    expect(transcript).toContain("error-caught a");
    expect(transcript).not.toContain("effect-started a");
  });
});
