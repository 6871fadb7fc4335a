import { agentTool, defineAgent, defineTool, openSession, type Agent } from "@moora/agent";
import { memoryLog, MemoryStorage, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { remoteLog } from "@moora/testbed/durable/remote-log";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";

/** One process: what it does at each passage of the log of its sub-agents, and how often its sub-agents have begun something. */
class Process {
  /** What sub-agents began after the cancel of the caller was accepted. */
  readonly late: string[] = [];
  readonly passed = Promise.withResolvers<void>();
  isCanceled = false;
  passages = 0;
  readonly log: EventLog;
  readonly clock: TestClock = new TestClock(1_000);
  readonly #at: number;
  readonly #hold: () => Promise<void>;

  /** `hold` runs at one passage of the log of the sub-agents. */
  constructor(storage: MemoryStorage, at: number, hold: () => Promise<void>) {
    this.#at = at;
    this.#hold = hold;
    this.log = remoteLog(memoryLog(storage), async () => {
      this.passages += 1;
      if (this.passages !== this.#at) return;
      this.passed.resolve();
      await this.#hold();
    });
  }

  begins(what: string): void {
    if (this.isCanceled) this.late.push(what);
  }

  /** An agent that calls a sub-agent, which calls another one, which pays. */
  caller(): Agent {
    const model = (name: string, calls: string): MockLlmCaller =>
      new MockLlmCaller(({ messages }) => {
        if (name !== "caller") this.begins(`a model call of the ${name}`);
        const isAnswered = messages.some(({ role }) => role === "assistant");
        return isAnswered ? answers("done") : callsTools([{ name: calls, arguments: { task: "Pay." } }]);
      });
    const pay = defineTool({
      name: "pay",
      description: "Pays.",
      replay: "keyed",
      input: { type: "object" },
      execute: () => {
        this.begins("a payment");
        return "paid";
      },
    });
    const worker = defineAgent({ name: "worker", llm: model("worker", "pay"), tools: [pay] });
    const { log, clock } = this;
    const lead = defineAgent({
      name: "lead",
      llm: model("lead", "work"),
      tools: [agentTool(worker, { name: "work", description: "Works.", log, clock })],
    });
    const tools = [agentTool(lead, { name: "lead", description: "Leads.", log, clock })];
    return defineAgent({ name: "caller", llm: model("caller", "lead"), tools });
  }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const never = (): Promise<never> => new Promise(() => undefined);

/** Opens the caller, whose log answers at once. */
const opened = (storage: MemoryStorage, { clock, caller }: { clock: TestClock; caller: Agent }) =>
  openSession(caller, {
    log: memoryLog(storage),
    id: "ada",
    owner: "host",
    clock,
    onError: () => undefined,
  });

/** Runs a first process up to a passage of the log of its sub-agents, where it ends without a word. False if it ends before. */
async function crashed(storage: MemoryStorage, at: number): Promise<boolean> {
  const first = new Process(storage, at, never);
  const session = await opened(storage, { clock: first.clock, caller: first.caller() });
  const ended = session.ask("Go.").then(
    () => "ended",
    () => "ended",
  );
  const how = await Promise.race([ended, first.passed.promise]);
  if (how === "ended") await session.close();
  return how !== "ended";
}

/**
 * A process that cancels the caller at a passage of the log of its sub-agents, before the passage ends. Returns what sub-agents began
 * after the cancel was accepted; undefined if the task ends before.
 */
async function canceledAt(at: number, storage = new MemoryStorage()): Promise<readonly string[] | undefined> {
  const process: Process = new Process(storage, at, async () => {
    // The opening of the caller itself looks at the sessions of its sub-agents: a caller that waits for this passage cannot be canceled.
    const ada = await Promise.race([session, turns(4)]);
    process.isCanceled = (await ada?.cancel("Stop."))?.status === "accepted";
  });
  const session = opened(storage, { clock: process.clock, caller: process.caller() });
  const ada = await session;
  if (ada.current().messages.length === 0) ada.ask("Go.").catch(() => undefined);
  const isPassed = await Promise.race([
    process.passed.promise.then(() => true),
    ada.settled().then(() => false),
  ]);
  await turns(12);
  await ada.close();
  return isPassed ? process.late : undefined;
}

describe("after an accepted cancel of the caller", () => {
  it("nothing of its sub-agents begins, at whatever step of their creation it comes", async () => {
    let at = 1;
    const found: string[] = [];
    for (; ; at += 1) {
      const late = await canceledAt(at);
      if (late === undefined) break;
      found.push(...late.map((what) => `${at}: ${what}`));
    }
    expect(at).toBeGreaterThan(30);
    expect(found).toEqual([]);
  });

  it("nothing of its sub-agents begins, at whatever step of their restoration it comes", async () => {
    const found: string[] = [];
    let crash = 1;
    for (; ; crash += 9) {
      const storage = new MemoryStorage();
      if (!(await crashed(storage, crash))) break;
      for (let at = 1; ; at += 1) {
        const again = new MemoryStorage();
        if (!(await crashed(again, crash))) break;
        const late = await canceledAt(at, again);
        if (late === undefined) break;
        found.push(...late.map((what) => `${crash}/${at}: ${what}`));
      }
    }
    expect(crash).toBeGreaterThan(30);
    expect(found).toEqual([]);
  });
});
