import type { AgentInput } from "@moora/agent-core-state-machine";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { Gates, remoteLog, type Gate } from "@moora/testbed/durable/remote-log";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  agentTool,
  defineAgent,
  openSession,
  type Agent,
  type DurableSession,
  type Receipt,
  type Tool,
} from "../../src/index.ts";
import { turns } from "../restarts/restarts.ts";
import { failureOf, toolOf } from "../support.ts";
import { graphOf } from "@moora/testbed/graph-of";

/** A caller whose log has gates, and what begins in its sub-agents and in the handlers of its states. */
class Family {
  readonly begun: string[] = [];
  readonly gates = new Gates();
  readonly clock = new TestClock(1_000);
  readonly log: EventLog = remoteLog(memoryLog(), this.gates.pass);

  /** A tool that ends in a later turn of the event loop. */
  pay(): Tool {
    return toolOf("pay", async () => {
      this.begun.push("pay");
      await turns(1);
      return "paid";
    });
  }

  /** An agent that pays in each turn, without an end. */
  payer(): Agent {
    const llm = new MockLlmCaller(() => {
      this.begun.push("model");
      return callsTools([{ name: "pay" }]);
    });
    return defineAgent({ llm, tools: [this.pay()], config: { limits: { maxSteps: 1_000 } } });
  }

  /** An agent that leaves the work to another one. */
  lead(worker: Agent, log?: EventLog): Agent {
    const { clock } = this;
    const sub = { name: "sub", description: "Works.", clock, ...(log === undefined ? {} : { log }) };
    const llm = new MockLlmCaller([
      callsTools([{ name: "sub", arguments: { task: "Work." } }]),
      answers("done"),
    ]);
    return defineAgent({ llm, tools: [agentTool(worker, sub)] });
  }

  /** An agent whose state pays again and again. */
  handler(): Agent {
    return defineAgent({
      llm: new MockLlmCaller([answers("done")]),
      tools: [this.pay()],
      config: {
        graph: graphOf({ Planning: { LlmFinalAnswer: "Check" }, Check: { Checked: "Done" } }),
      },
      states: {
        async Check(_, { callTool, signal }) {
          while (!signal.aborted) await callTool("pay", {});
          return "Checked";
        },
      },
    });
  }

  /** Opens a session of an agent, and lets it work for some turns. */
  async work(agent: Agent): Promise<DurableSession> {
    const { log, clock } = this;
    const session = await openSession(agent, { log, id: "ada", clock, onError: () => undefined });
    onTestFinished(() => session.close());
    session.ask("go").then(undefined, () => undefined);
    await turns(24);
    if (!this.begun.includes("pay")) throw new Error("Nothing was paid.");
    return session;
  }
}

const workers: Readonly<Record<string, (family: Family) => Agent>> = {
  "a sub-agent in memory": (family) => family.lead(family.payer()),
  "a sub-agent in a log of its own": (family) => family.lead(family.payer(), memoryLog()),
  "a sub-agent in the log of its caller": (family) => family.lead(family.payer(), family.log),
  "a sub-agent of a sub-agent": (family) => family.lead(family.lead(family.payer()), family.log),
  "a handler": (family) => family.handler(),
  "a handler of a sub-agent": (family) => family.lead(family.handler()),
};

interface Stop {
  readonly type: AgentInput["type"];
  readonly call: (session: DurableSession) => Promise<Receipt>;
}

const timestamp = 1_000;

/** Servers dispatch functions, which are called at their turn. */
const stops: Readonly<Record<string, Stop>> = {
  "a cancel": { type: "re-act-cancelled", call: (session) => session.cancel() },
  "a pause": { type: "session-paused", call: (session) => session.pause() },
  "a cancel of a server": {
    type: "re-act-cancelled",
    call: (session) => session.dispatch(() => ({ type: "re-act-cancelled", timestamp })),
  },
  "a pause of a server": {
    type: "session-paused",
    call: (session) => session.dispatch(() => ({ type: "session-paused", timestamp })),
  },
};

const cases = Object.entries(stops).flatMap(([stop, how]) =>
  Object.entries(workers).map(([worker, agentOf]) => ({ stop, worker, how, agentOf })),
);

/** A session that works, with a stop whose append waits at a gate, and how much has begun until the stop. */
interface Stopping {
  readonly family: Family;
  readonly session: DurableSession;
  readonly receipt: Promise<Receipt>;
  readonly gate: Gate;
  readonly before: number;
}

async function stopping({ type, call }: Stop, agentOf: (family: Family) => Agent): Promise<Stopping> {
  const family = new Family();
  const session = await family.work(agentOf(family));
  const gate = family.gates.hold("append", "there", type);
  const before = family.begun.length;
  const receipt = call(session);
  receipt.catch(() => undefined);
  await gate.reached;
  await turns(24);
  return { family, session, receipt, gate, before };
}

describe("while a cancel or a pause is being stored", () => {
  it.each(cases)("$stop: nothing of $worker begins, nor after it", async ({ how, agentOf }) => {
    const { family, session, receipt, gate, before } = await stopping(how, agentOf);
    expect(family.begun.slice(before)).toEqual([]);
    gate.open();
    expect(await receipt).toMatchObject({ status: "accepted" });
    await turns(24);
    expect(family.begun.slice(before)).toEqual([]);
    if (how.type === "session-paused") {
      await session.resume();
      await turns(24);
      expect(family.begun.slice(before)).toContain("pay");
    }
  });

  it.each(cases)("$stop that cannot be stored: the work of $worker continues", async ({ how, agentOf }) => {
    const { family, session, receipt, gate, before } = await stopping(how, agentOf);
    family.gates.isDown = true;
    gate.break();
    expect(await failureOf(receipt)).toMatchObject({ code: "LogWrite" });
    await turns(24);
    family.gates.isDown = false;
    await family.clock.advanceAsync(1_000);
    await turns(24);
    expect(family.begun.slice(before)).toContain("pay");
    expect(session.current().paused ?? null).toBeNull();
  });

  it("nothing of a sub-agent begins while a cancel of a server waits for another append", async () => {
    const family = new Family();
    const session = await family.work(family.lead(family.payer()));
    const gate = family.gates.hold("append", "there", "context-note-added");
    const note = session.note("Prices have changed.");
    await gate.reached;
    const before = family.begun.length;
    const receipt = session.dispatch(() => ({ type: "re-act-cancelled", timestamp }));
    await turns(24);
    expect(family.begun.slice(before)).toEqual([]);
    gate.open();
    expect(await note).toMatchObject({ status: "accepted" });
    expect(await receipt).toMatchObject({ status: "accepted" });
    await turns(24);
    expect(family.begun.slice(before)).toEqual([]);
  });
});
