import { memoryLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { turn, TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  defineTool,
  openSession,
  stateAt,
  verifySession,
  type Agent,
  type DurableSession,
  type Tool,
} from "../../src/index.ts";

const used = { usage: { inputTokens: 90, outputTokens: 10 } };

/** Waits until nothing can continue without the clock. */
async function rest(): Promise<void> {
  for (let turns = 0; turns < 60; turns += 1) await turn();
}

/** A lead that calls so many researchers at once; each uses 200 tokens and then waits, itself or in an agent that it calls. */
class World {
  readonly log = memoryLog();
  readonly clock = new TestClock();
  readonly lead: Agent;

  constructor({ calls = 1, isDeep = false }: { readonly calls?: number; readonly isDeep?: boolean } = {}) {
    const step = this.#tool("step", () => "stepped");
    const wait = this.#tool("wait", () => new Promise<never>(() => undefined));
    const waits: MockScript = ({ messages }) =>
      callsTools([{ name: messages.some(({ role }) => role === "assistant") ? "wait" : "step" }], used);
    const waiting = defineAgent({ name: "waiting", llm: new MockLlmCaller(waits), tools: [step, wait] });
    const asking = defineAgent({
      name: "asking",
      llm: new MockLlmCaller(() => callsTools([{ name: "ask", arguments: { task: "Wait." } }], used)),
      tools: [this.#agentTool("ask", waiting)],
    });
    const research = { name: "research", arguments: { task: "Look." } };
    this.lead = defineAgent({
      name: "lead",
      llm: new MockLlmCaller(({ messages }) =>
        messages.some(({ role }) => role === "assistant")
          ? answers("Done.", used)
          : callsTools(
              Array.from({ length: calls }, () => research),
              used,
            ),
      ),
      tools: [this.#agentTool("research", isDeep ? asking : waiting)],
      config: { toolCalls: { maxParallel: 40, maxPerTurn: 40 } },
    });
  }

  open(access: "run" | "post" = "run"): Promise<DurableSession> {
    return openSession(this.lead, { log: this.log, id: "lead", clock: this.clock, access });
  }

  /** Has a process run the session until all wait. */
  async begin(): Promise<DurableSession> {
    const session = await this.open();
    await session.send("Look.");
    await rest();
    return session;
  }

  /** What the lead has recorded, in tokens, and how its sub-agents have ended. */
  async outcome(): Promise<{ readonly tokens: number; readonly subs: readonly string[] }> {
    const { state } = await stateAt(this.log, "lead");
    if (!(await verifySession(this.log, "lead")).ok) throw new Error("The log is damaged.");
    const subs: string[] = [];
    for (const { id } of await this.log.list()) {
      const { control } = (await stateAt(this.log, id)).state.reActContext;
      if (id !== "lead") subs.push(control.type === "Error" ? control.failure.kind : control.type);
    }
    return { tokens: state.usage.inputTokens + state.usage.outputTokens, subs };
  }

  #tool(name: string, execute: () => string | Promise<never>): Tool {
    return defineTool({
      name,
      description: `Does ${name}.`,
      replay: "safe",
      input: { type: "object" },
      execute,
    });
  }

  #agentTool(name: string, agent: Agent): Tool {
    const { log, clock } = this;
    return agentTool(agent, { name, description: "Finds out.", log, clock });
  }
}

/** Posts to the session of the lead from another process. */
async function post(world: World, work: (session: DurableSession) => Promise<unknown>): Promise<void> {
  await using poster = await world.open("post");
  expect(await work(poster)).toMatchObject({ status: "accepted" });
}

const cancel = (session: DurableSession): Promise<unknown> => session.cancel("Enough.");
const settle = (session: DurableSession): Promise<unknown> =>
  session.settle("call_1", { content: "Settled." });

describe("what a sub-agent has used whose call ends without it", () => {
  it.each([
    { name: "canceled", work: cancel, tokens: 300 },
    { name: "settled", work: settle, tokens: 400 },
  ])(
    "counts once for its caller where the call is $name, by its process, another one, or with none",
    async ({ work, tokens }) => {
      for (const by of ["owner", "poster", "none"]) {
        const world = new World();
        const session = await world.begin();
        if (by === "none") await session.close();
        if (by === "owner") expect(await work(session)).toMatchObject({ status: "accepted" });
        else await post(world, work);
        await rest();
        const next = by === "none" ? await world.open() : session;
        await rest();
        expect(next.current().unreportedUsage, by).toEqual([]);
        await next.close();
        expect(await world.outcome(), by).toEqual({ tokens, subs: ["Cancelled"] });
        await (await world.open()).close();
        expect(await world.outcome(), by).toEqual({ tokens, subs: ["Cancelled"] });
      }
    },
  );

  it("counts with what the agents below it have used", async () => {
    const world = new World({ isDeep: true });
    await (await world.begin()).close();
    await post(world, cancel);
    await (await world.open()).close();
    expect(await world.outcome()).toEqual({ tokens: 400, subs: ["Cancelled", "Cancelled"] });
  });

  it("counts at later openings for the calls beyond those that one opening reads", async () => {
    const world = new World({ calls: 40 });
    await (await world.begin()).close();
    await post(world, cancel);
    await (await world.open()).close();
    expect((await world.outcome()).tokens).toBe(100 + 32 * 200);
    await (await world.open()).close();
    const { tokens, subs } = await world.outcome();
    expect(tokens).toBe(100 + 40 * 200);
    expect(new Set(subs)).toEqual(new Set(["Cancelled"]));
  });

  it("counts for a call that was interrupted and settled before its next attempt", async () => {
    const world = new World();
    await (await world.begin()).close();
    await post(world, (session) => session.pause());
    await (await world.open()).close();
    await post(world, settle);
    await (await world.open()).close();
    expect(await world.outcome()).toEqual({ tokens: 300, subs: ["Cancelled"] });
  });
});
