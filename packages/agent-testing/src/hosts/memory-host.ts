import { startSession, type AgentState, type Session } from "@moora/agent";
import { conformanceAgent } from "./agent.ts";
import type { ConformanceHost, HostSetup, PreparedHost } from "./host.ts";
import { onText, waitForState } from "./session-states.ts";
import { SkippingClock } from "./skipping-clock.ts";

const inMemory = "A session in memory ends with its process.";

/** Sessions in memory, as `startSession` starts them. */
export const memoryHost: ConformanceHost = {
  name: "in memory",
  cannot: {
    records: "A session in memory has no log.",
    kill: inMemory,
    "death-at-commit": inMemory,
    "take-over": inMemory,
    release: inMemory,
    remove: "A session in memory has no log to remove it from.",
    "second-poster": "Only the process of a session in memory can post to it.",
  },
  prepare: async (setup) => new MemorySessions(setup),
};

class MemorySessions implements PreparedHost {
  readonly clock: SkippingClock = new SkippingClock();
  readonly #setup: HostSetup;
  readonly #sessions = new Map<string, Session>();

  constructor(setup: HostSetup) {
    this.#setup = setup;
  }

  async start(): Promise<void> {
    this.#sessions.clear();
  }

  async post(id: string, input: Parameters<PreparedHost["post"]>[1]): Promise<boolean> {
    const { status } = await this.#session(id).dispatch(input);
    return status === "accepted";
  }

  async waitFor(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState> {
    return await waitForState(this.#session(id), isReached);
  }

  async watch(id: string, listener: (text: string) => void): Promise<() => void> {
    return onText(this.#session(id), listener);
  }

  async dispose(): Promise<void> {
    for (const session of this.#sessions.values()) await session.close();
  }

  #session(id: string): Session {
    const open = this.#sessions.get(id);
    if (open !== undefined) return open;
    const { clock } = this;
    const session = startSession(conformanceAgent(this.#setup.world), {
      id,
      clock,
      onError: () => undefined,
    });
    this.#sessions.set(id, session);
    return session;
  }
}
