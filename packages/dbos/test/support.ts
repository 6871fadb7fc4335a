import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { stateAt, type AgentInput, type AgentState } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { Place } from "@moora/testbed/durable/places";
import { inject } from "vitest";
import type { Orders } from "./children/host.ts";
import { createPreparedDatabase } from "./databases.ts";
import { HostProcess } from "./host-process.ts";

/** A database, and what the tools of all processes have done. */
export class Scene implements AsyncDisposable {
  /** The address of the database. */
  readonly url: string;
  readonly #place = new Place();
  readonly #processes: HostProcess[] = [];
  readonly log;

  private constructor(url: string) {
    this.url = url;
    this.log = postgresLog(url);
    writeFileSync(this.#file, "");
  }

  /** `create`: creates the database. Default: one with the tables of DBOS. */
  static async start(create: typeof createPreparedDatabase = createPreparedDatabase): Promise<Scene> {
    return new Scene(await create(inject("postgresUrl")));
  }

  async launch(orders: Partial<Orders> = {}): Promise<HostProcess> {
    const base = { url: this.url, file: this.#file };
    const all: Orders = { executor: "one", takesOver: false, holds: false, ...base, ...orders };
    const launched = new HostProcess("host.ts", all);
    this.#processes.push(launched);
    await launched.launched();
    return launched;
  }

  /** The lines of the tools' runs in a session. */
  runs(id: string): readonly string[] {
    return readFileSync(this.#file, "utf8")
      .split("\n")
      .filter((line) => line.includes(` ${id}/`));
  }

  /** The first state of a session that is as `isReached` says. */
  async until(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState> {
    for (;;) {
      const { state } = await stateAt(this.log, id);
      if (isReached(state)) return state;
      await delay(20);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const launched of this.#processes) await launched[Symbol.asyncDispose]();
    await this.log.close();
    this.#place[Symbol.dispose]();
  }

  get #file(): string {
    return this.#place.file("runs");
  }
}

export const message = (content: string, messageId = "message-1"): AgentInput => ({
  type: "user-message-received",
  messageId,
  content,
  timestamp: Date.now(),
});

/** Whether the loop of a session has ended with an answer. */
export const isDone = ({ reActContext: { control } }: AgentState): boolean => control.type === "Done";
