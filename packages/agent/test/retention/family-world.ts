import { memoryLog, type EventLog } from "@moora/event-log";
import { TestClock, untilPasses } from "@moora/testbed/test-clock";
import {
  agentTool,
  defineAgent,
  LogError,
  openSession,
  SessionError,
  type Agent,
  type AgentState,
  type DurableSession,
  type Tool,
} from "../../src/index.ts";
import { callsThenAnswers } from "../restarts/restarts.ts";
import { toolOf } from "@moora/testbed/tool-of";

/** A log, an archive, and the tools that have begun. */
export class World {
  readonly log: EventLog = memoryLog();
  readonly archive: EventLog = memoryLog();
  readonly clock: TestClock = new TestClock();
  readonly begun: string[] = [];
  readonly #isAlone: boolean;

  /** With `isAlone`, the agent has no sub-agents: it mails and pays itself. */
  constructor({ isAlone = false }: { readonly isAlone?: boolean } = {}) {
    this.#isAlone = isAlone;
  }

  /** An agent, its sub-agent, and the sub-agent of that, which mails, and then pays when that is approved. */
  agentsOn(log: EventLog): Readonly<Record<"ada" | "lead" | "worker", Agent>> {
    const tool = (name: string, approval: "always" | "never"): Tool =>
      toolOf(
        name,
        () => {
          this.begun.push(name);
          return "done";
        },
        { approval },
      );
    const worker = defineAgent({
      name: "worker",
      llm: callsThenAnswers({ name: "mail", arguments: {} }, { name: "pay", arguments: {} }),
      tools: [tool("mail", "never"), tool("pay", "always")],
    });
    if (this.#isAlone) return { ada: worker, lead: worker, worker };
    const { clock } = this;
    const lead = defineAgent({
      name: "lead",
      llm: callsThenAnswers({ name: "worker", arguments: { task: "Do it." } }),
      tools: [agentTool(worker, { name: "worker", description: "Works.", log, clock })],
    });
    const ada = defineAgent({
      name: "boss",
      llm: callsThenAnswers({ name: "lead", arguments: { task: "Do it." } }),
      tools: [agentTool(lead, { name: "lead", description: "Leads.", log, clock })],
    });
    return { ada, lead, worker };
  }

  /** Opens the session in a log, as a process of its own. Its sub-agents have their sessions in `logOfTools`. */
  async open(
    log: EventLog = this.log,
    { id = "ada", logOfTools = log }: { readonly id?: string; readonly logOfTools?: EventLog } = {},
  ): Promise<DurableSession> {
    const session = await openSession(this.agentsOn(logOfTools).ada, {
      log,
      id,
      clock: this.clock,
      isOwnerGone: () => true,
    });
    session.onEvent(() => undefined);
    return session;
  }

  /** Runs the session until its sub-agent's sub-agent asks. */
  async begin(): Promise<void> {
    const session = await this.open(this.log);
    await session.send("Go.");
    await until(() => session.questions().length === 1);
    await session.close();
    // The leases of the processes so far have ended.
    this.clock.advance(60_000);
  }

  /** Opens the session in a log, answers its question and runs it to its end. */
  async finish(log: EventLog, id = "ada"): Promise<void> {
    const session = await this.open(log, { id });
    await until(() => session.questions().length > 0 || isDone(session.current()));
    for (const question of session.questions()) await session.decide(question, "approve");
    await until(() => isDone(session.current()));
    await session.close();
    this.clock.advance(60_000);
  }
}

/** Returns undefined for work that is refused. */
export async function unlessRefused<Value>(work: Promise<Value>): Promise<Value | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SessionError || error instanceof LogError) return undefined;
    throw error;
  }
}

/** The logs in which the session can be opened. Looks without taking a lease. */
export async function readableIn(world: World, logs: readonly EventLog[]): Promise<readonly EventLog[]> {
  const { clock } = world;
  const readable: EventLog[] = [];
  for (const log of logs) {
    if ((await log.open("ada")) === undefined) continue;
    const { ada } = world.agentsOn(log);
    const session = await unlessRefused(openSession(ada, { log, id: "ada", clock, access: "read" }));
    if (session !== undefined) readable.push(log);
    await session?.close();
  }
  return readable;
}

const isDone = ({ reActContext }: AgentState): boolean => reActContext.control.type === "Done";

const until = (condition: () => boolean): Promise<void> =>
  untilPasses(() => {
    if (!condition()) throw new Error("The session has not got that far.");
  });
