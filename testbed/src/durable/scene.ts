import { memoryLog, MemoryStorage, type EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { expect } from "vitest";
import {
  openSession,
  stateAt,
  verifySession,
  type Agent,
  type AgentConfigChange,
  type DurableSession,
  type OpenOptions,
} from "@moora/agent";
import { Counter } from "./counter.ts";
import { countingAgent, scripted, type Script } from "./counting-agent.ts";
import { Life } from "./mortal-log.ts";
import { TestClock } from "../test-clock.ts";

/** A session, "ada", which a test can open any number of times. */
export interface Scene {
  readonly counter: Counter;
  readonly clock: TestClock;
  readonly agent: Agent;
  /** A log over the storage of this scene, as one more process would have it. */
  log(): EventLog;
  /** Opens the session, by a log of its own. */
  open(options?: Partial<OpenOptions>): Promise<DurableSession>;
  post(options?: Partial<OpenOptions>): Promise<DurableSession>;
}

export interface SceneOptions {
  readonly log?: () => EventLog;
  readonly llm?: LlmCaller;
}

export function sceneOf(
  script: Script = [],
  config: AgentConfigChange = {},
  { log, llm = scripted(script) }: SceneOptions = {},
): Scene {
  const storage = new MemoryStorage();
  const counter = new Counter();
  const clock = new TestClock();
  const agent = countingAgent({ counter, life: new Life(), deeds: new Set() }, llm, config);
  const openLog = log ?? (() => memoryLog(storage));
  const open = async (options: Partial<OpenOptions> = {}): Promise<DurableSession> => {
    const session = await openSession(agent, { log: openLog(), id: "ada", clock, ...options });
    // A listener shows the questions that the test answers.
    session.onEvent(() => undefined);
    return session;
  };
  return {
    counter,
    clock,
    agent,
    log: openLog,
    open,
    post: (options) => open({ access: "post", ...options }),
  };
}

/** Asserts that the state of a session is the fold of its log, and that the log is valid. */
export async function checkSound(session: DurableSession, log: EventLog): Promise<void> {
  const { streaming: _, ...state } = session.current();
  expect(await verifySession(log, session.id)).toMatchObject({ ok: true, seq: session.info().seq });
  expect((await stateAt(log, session.id)).state).toEqual(state);
}
