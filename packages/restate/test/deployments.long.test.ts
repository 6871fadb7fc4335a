import { decisionToInput, effectsAt, effectToQuestion, userMessage, type AgentState } from "@moora/agent";
import type { HostWorld, PreparedHost, WorkMoment } from "@moora/agent-testing/hosts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RestateHost } from "./restate-host.ts";

let host: RestateHost;

beforeAll(async () => {
  host = await RestateHost.start();
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

const isDone = ({ reActContext: { control } }: AgentState): boolean => control.type === "Done";

const resultOf = ({ toolCalls }: AgentState, tool: string): unknown =>
  Object.values(toolCalls).find(({ name }) => name === tool)?.result;

const questionAt = (state: AgentState) =>
  Object.values(effectsAt(state)).find((effect) => effect.type === "ask-human");

async function approve(session: PreparedHost): Promise<void> {
  const state = await session.waitFor("", (reached) => questionAt(reached) !== undefined);
  const effect = questionAt(state);
  if (effect === undefined) throw new Error("The session asks no question.");
  const about = { by: "reviewer", timestamp: Date.now(), digestOfChange: () => "", maxResultLength: 1_000 };
  expect(await session.post("", decisionToInput(effectToQuestion(effect, state), "approve", about))).toBe(
    true,
  );
}

/** A world in which the tools of these names do not continue from their beginning until `release`. */
class HoldingWorld implements HostWorld {
  readonly release: () => void;
  readonly begun: string[] = [];
  readonly #released: Promise<void>;
  readonly #held: readonly string[];
  readonly #areHeld = Promise.withResolvers<void>();

  constructor(...held: readonly string[]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#released = promise;
    this.release = resolve;
    this.#held = held;
  }

  /** Resolves when all of these tools have begun. */
  get reached(): Promise<void> {
    return this.#areHeld.promise;
  }

  async reach({ work, moment }: WorkMoment): Promise<void> {
    if (moment !== "begin") return;
    this.begun.push(work);
    if (!this.#held.includes(work)) return;
    if (this.#held.every((name) => this.begun.includes(name))) this.#areHeld.resolve();
    await this.#released;
  }

  timesOf(tool: string): number {
    return this.begun.filter((work) => work === tool).length;
  }
}

/** The release that converts the data of the others: it adds 100. */
const converting = 100;

describe("several deployments at once", () => {
  it("a newer one takes over the open sessions, and the older one ends what it has begun", async () => {
    const world = new HoldingWorld("read");
    const session = await host.prepare({ world });
    await session.post("", userMessage("call read pay transfer"));
    await world.reached;
    const before = await session.waitFor("", (state) => questionAt(state) !== undefined);
    expect(before.config?.systemPrompt).toBe("Release 1.");

    await using _ = await host.deploy(2);
    await approve(session);
    world.release();
    const state = await session.waitFor("", isDone);
    expect(state.config?.systemPrompt).toBe("Release 2.");
    for (const tool of ["read", "pay", "transfer"]) {
      expect(resultOf(state, tool)).toMatchObject({ isSuccess: true });
      expect(world.timesOf(tool)).toBe(1);
    }
    await session.dispose();
  });

  it("a newer one continues the effects of one that is gone, and a tool that runs once does not begin again", async () => {
    const world = new HoldingWorld("read", "pay");
    const session = await host.prepare({ world });
    const gone = await host.deploy(3);
    await session.post("", userMessage("call read pay"));
    await world.reached;

    await using _ = await host.deploy(4);
    await gone[Symbol.asyncDispose]();
    world.release();
    await host.resumeOnNewest();
    const state = await session.waitFor("", isDone);
    expect(resultOf(state, "read")).toMatchObject({ isSuccess: true });
    expect(resultOf(state, "pay")).toMatchObject({ code: "outcome-unknown" });
    expect(world.timesOf("pay")).toBe(1);
    expect(state.config?.systemPrompt).toBe("Release 4.");
    await session.dispose();
  });
  it("a tool of an older one does not change data that a newer one has converted, also where its result is the first input", async () => {
    const world = new HoldingWorld("count");
    const session = await host.prepare({ world });
    const older = await host.deploy(5);
    await session.post("", userMessage("call count"));
    await world.reached;

    await using _ = await host.deploy(converting);
    world.release();
    const state = await session.waitFor("", isDone);
    expect(resultOf(state, "count")).toMatchObject({ code: "data-refused" });
    // The failure leads to a handler, which runs in the newer deployment and adds 1.
    expect(state.data).toEqual({ count: 101 });
    await older[Symbol.asyncDispose]();
    await session.dispose();
  });
});
