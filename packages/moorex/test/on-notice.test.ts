import { describe, expect, it, vi } from "vitest";
import { createMoorex, type Dispatch, type MoorexNotice } from "../src/index.ts";

type Notice = MoorexNotice<number, "up", string>;

/** A counter whose effects, wanted at 0, are run by `start`. */
function counter(
  start: (dispatch: Dispatch<number, "up">) => Promise<void>,
  onNotice?: (notice: Notice) => void,
  wanted: (count: number) => Readonly<Record<string, string>> = (count) => (count === 0 ? { a: "go" } : {}),
) {
  return createMoorex<number, "up", string>({
    initial: () => 0,
    transition: () => (count) => count + 1,
    effectsAt: wanted,
    runEffect: () => ({ start }),
    ...(onNotice === undefined ? {} : { onNotice }),
  });
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("I6: onNotice", () => {
  it("hears what effects of the initial state do while the machine is created", async () => {
    const heard: string[] = [];
    const moorex = counter(
      async (dispatch) => void (await dispatch("up")),
      ({ type }) => heard.push(type),
    );
    expect(moorex.current()).toBe(1);
    expect(heard).toEqual(["effect-started", "input-received", "state-updated", "effect-completed"]);
    await moorex.settled();
  });

  it("hears each notice before the subscribers", () => {
    const heard: string[] = [];
    const moorex = counter(
      () => new Promise(() => undefined),
      ({ type }) => heard.push(`first ${type}`),
    );
    moorex.subscribe(({ type }) => heard.push(`then ${type}`));
    heard.length = 0;
    void moorex.dispatch("up");
    expect(heard.slice(0, 2)).toEqual(["first input-received", "then input-received"]);
  });

  it("hears the error of an effect that fails, with its key", async () => {
    const error = new Error("broken");
    const heard: Notice[] = [];
    counter(
      () => Promise.reject(error),
      (notice) => void heard.push(notice),
    );
    await turn();
    expect(heard.at(-1)).toEqual({ type: "effect-failed", key: "a", effect: "go", error });
  });

  it("that throws does not keep subscribers from hearing, and hears of its error", () => {
    const heard: Notice[] = [];
    const moorex = counter(
      () => new Promise(() => undefined),
      (notice) => {
        heard.push(notice);
        if (notice.type === "state-updated") throw new Error("a bad listener");
      },
    );
    const subscriber = vi.fn();
    moorex.subscribe(subscriber);
    void moorex.dispatch("up");
    expect(subscriber).toHaveBeenCalledWith(expect.objectContaining({ type: "state-updated" }));
    expect(heard).toContainEqual({
      type: "error-caught",
      source: "subscriber",
      error: new Error("a bad listener"),
    });
  });

  it("that throws at every notice does not end the machine", async () => {
    const moorex = counter(
      async (dispatch) => void (await dispatch("up")),
      () => {
        throw new Error("a bad listener");
      },
    );
    expect(await moorex.dispatch("up")).toEqual({ applied: 1, state: 2 });
  });
});

describe("I6: effectsAt", () => {
  it("that returns no object is reported, and the machine takes the next input", async () => {
    const heard: Notice[] = [];
    const moorex = counter(
      () => new Promise(() => undefined),
      (notice) => void heard.push(notice),
      (count) => (count === 1 ? JSON.parse("null") : {}),
    );
    expect(await moorex.dispatch("up")).toEqual({ applied: 1, state: 1 });
    expect(heard.at(-1)).toMatchObject({ type: "error-caught", source: "effectsAt" });
    expect(await moorex.dispatch("up")).toEqual({ applied: 1, state: 2 });
  });
});

describe("stop", () => {
  it("rejects a later dispatch and reports it as a notice", async () => {
    const heard: Notice[] = [];
    const moorex = counter(
      () => new Promise(() => undefined),
      (notice) => void heard.push(notice),
    );
    moorex.stop();
    heard.length = 0;
    await expect(moorex.dispatch("up")).rejects.toThrow("stopped");
    expect(heard).toMatchObject([
      { type: "error-caught", source: "dispatch", error: { message: expect.stringContaining("stopped") } },
    ]);
  });

  it("answers the dispatch of an effect whose commit fails after that", async () => {
    const commit = Promise.withResolvers<void>();
    const answered = vi.fn();
    const moorex = createMoorex<number, "up", string>({
      initial: () => 0,
      transition: () => (count) => count + 1,
      effectsAt: (count) => (count === 0 ? { a: "go" } : {}),
      runEffect: () => ({ start: async (dispatch) => answered(await dispatch("up")) }),
      commit: () => commit.promise,
    });
    moorex.stop();
    commit.reject(new Error("disk full"));
    await turn();
    expect(answered).toHaveBeenCalledWith({ applied: 0, state: 0 });
  });

  it.each(["a listener of effect-started", "runEffect", "start"])(
    "from %s while effects start: no other effect starts, and the machine is settled",
    async (place) => {
      const transcript: string[] = [];
      const stopAt = (here: string): void => {
        if (here === place) moorex.stop();
      };
      const moorex = createMoorex<readonly string[], readonly string[], string>({
        initial: () => [],
        transition: (wanted) => () => wanted,
        effectsAt: (wanted) => Object.fromEntries(wanted.map((key) => [key, key])),
        runEffect(_effect, _state, key) {
          stopAt("runEffect");
          return {
            start: (_dispatch, { signal }) => {
              transcript.push(`start ${key}`);
              stopAt("start");
              transcript.push(`${key} is ${signal.aborted ? "aborted" : "running"}`);
              return new Promise(() => undefined);
            },
          };
        },
        onNotice({ type, ...notice }) {
          if ("key" in notice) transcript.push(`${type} ${notice.key}`);
          if (type === "effect-started") stopAt("a listener of effect-started");
        },
      });
      await moorex.dispatch(["a", "b"]);
      await moorex.settled();
      expect(transcript).toEqual([
        "effect-started a",
        ...(place === "start" ? ["start a"] : []),
        "effect-canceled a",
        ...(place === "start" ? ["a is aborted"] : []),
      ]);
    },
  );
});
