import { typesOf } from "@moora/testbed/durable/remote-log";
import { failureText, type AgentState, type ToolCallResult } from "@moora/agent-core-state-machine";
import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, MockLlmCaller, type ScriptedToolCall } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import {
  openSession,
  SessionError,
  type Agent,
  type DurableSession,
  type ErrorReport,
  type OpenOptions,
  type Question,
} from "../../src/index.ts";

/** Lets everything that is ready have its turn. */
export async function turns(count = 8): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Work that never ends. */
export const never = (): Promise<never> => new Promise(() => undefined);

/** A model that makes these calls in its first turn and answers after them. */
export const callsThenAnswers = (...calls: readonly ScriptedToolCall[]): MockLlmCaller =>
  new MockLlmCaller(({ messages }) =>
    messages.some(({ role }) => role === "assistant") ? answers("done") : callsTools(calls),
  );

/** Prints an error, unless it is that of a process left behind which notices the next one. */
function reportUnlessTakenOver({ error }: ErrorReport): void {
  const isTakenOver = error instanceof SessionError && error.code === "StaleWriter";
  if (!isTakenOver) console.error(error);
}

/**
 * One session through several processes: each `open` is the next process, and the one before it is left as a crash leaves
 * it.
 */
export class Restarts {
  readonly clock: TestClock = new TestClock(1_000);
  readonly log: EventLog = memoryLog();

  async open(agent: Agent, options: Partial<OpenOptions> = {}): Promise<DurableSession> {
    const session = await openSession(agent, {
      log: this.log,
      id: "ada",
      clock: this.clock,
      owner: "host",
      leaseMs: 1e9,
      onError: reportUnlessTakenOver,
      ...options,
    });
    // A listener shows the questions that the test answers.
    session.onEvent(() => undefined);
    await turns();
    return session;
  }

  /** Opens the session, sends a message, and leaves the process in the middle of what follows. */
  async crash(agent: Agent, message = "go"): Promise<void> {
    const session = await this.open(agent);
    session.ask(message).then(undefined, () => undefined);
    await turns();
  }

  /** The number of the first record of an input of this type, or with which work of this type begins. */
  async seqOf(type: string): Promise<number> {
    const records = (await (await this.log.open("ada"))?.read()) ?? [];
    return 1 + records.findIndex((record) => typesOf([record]).includes(type));
  }

  async types(): Promise<readonly string[]> {
    const session = await this.log.open("ada");
    const records = (await session?.read()) ?? [];
    return records.map(({ body }) => String(JSON.parse(body).type));
  }
}

export function questionOf(session: DurableSession): Question {
  const [question] = session.questions();
  if (question === undefined) throw new Error("No question is open.");
  return question;
}

export const textOf = (result: ToolCallResult | null | undefined): string => {
  if (result === null || result === undefined) return "(open)";
  return result.isSuccess ? result.content : failureText(result);
};

export const resultOf = ({ toolCalls }: AgentState, id = "call_1"): ToolCallResult | null | undefined =>
  toolCalls[id]?.result;
