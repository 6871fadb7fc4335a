import { createServer, type Server } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { removeSession, stateAt, type AgentInput, type AgentState } from "@moora/agent";
import {
  worldHandler,
  type ConformanceHost,
  type HostSetup,
  type PreparedHost,
  type ProcessOptions,
} from "@moora/agent-testing/hosts";
import type { EventLog } from "@moora/event-log";
import { postgresLog } from "@moora/event-log-postgres";
import { dbosCannot } from "@moora/testbed/hosts";
import type { ConformanceOrders } from "./children/conformance.ts";
import { createPreparedDatabase } from "./databases.ts";
import { HostProcess } from "./host-process.ts";

/** Sessions on DBOS, each process a real one. Each case has a database of its own. */
export const dbosConformanceHost = (serverUrl: string): ConformanceHost => ({
  name: "DBOS",
  cannot: dbosCannot,
  prepare: async ({ world }) => await DbosProcesses.prepare(world, await createPreparedDatabase(serverUrl)),
});

/** The world of a case behind a server, for the processes. */
async function serveWorld(
  world: HostSetup["world"],
): Promise<{ readonly url: string; readonly server: Server }> {
  const handle = worldHandler(world);
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
      const body = Buffer.concat(chunks);
      const response = await handle(new Request("http://world", { method: "POST", body }));
      outgoing.writeHead(response.status).end(await response.text());
    })();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

class DbosProcesses implements PreparedHost {
  readonly #url: string;
  readonly #world: { readonly url: string; readonly server: Server };
  readonly #log: EventLog;
  readonly #processes: HostProcess[] = [];

  private constructor(url: string, world: { readonly url: string; readonly server: Server }) {
    this.#url = url;
    this.#world = world;
    this.#log = postgresLog(url);
  }

  static async prepare(world: HostSetup["world"], url: string): Promise<DbosProcesses> {
    return new DbosProcesses(url, await serveWorld(world));
  }

  async start({ release = 1, death, onDeath }: ProcessOptions = {}): Promise<void> {
    // Each process is another executor, so that it continues the work of one that was killed by taking it over.
    const orders: ConformanceOrders = {
      url: this.#url,
      executor: `executor ${this.#processes.length + 1}`,
      world: this.#world.url,
      release,
      ...(death === undefined ? {} : { death }),
    };
    const started = new HostProcess("conformance.ts", orders);
    this.#processes.push(started);
    if (onDeath !== undefined) void started.ended.then(onDeath);
    await started.launched();
  }

  async kill(): Promise<void> {
    await this.#last().kill();
  }

  async takeOver(): Promise<void> {
    await this.start();
    await this.#last().resume();
  }

  async post(id: string, input: AgentInput, from?: "elsewhere"): Promise<boolean> {
    const poster = this.#last();
    if (from === "elsewhere") await this.start();
    return await (from === "elsewhere" ? this.#last() : poster).post(id, input);
  }

  async waitFor(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState> {
    for (;;) {
      if ((await this.#log.open(id)) !== undefined) {
        const { state } = await stateAt(this.#log, id);
        if (isReached(state)) return state;
      }
      await delay(10);
    }
  }

  async remove(id: string): Promise<void> {
    await removeSession(this.#log, id);
  }

  async watch(id: string, listener: (text: string) => void): Promise<() => void> {
    const watched = this.#last();
    let seen = 0;
    return watched.onOutput(() => {
      const texts = [...watched.output.matchAll(new RegExp(`^text ${id} (.*)$`, "gm"))];
      for (const [, text] of texts.slice(seen)) listener(String(JSON.parse(text ?? "")));
      seen = texts.length;
    });
  }

  async log(): Promise<EventLog> {
    return this.#log;
  }

  async dispose(): Promise<void> {
    for (const started of this.#processes) await started[Symbol.asyncDispose]();
    await this.#log.close();
    this.#world.server.closeAllConnections();
    this.#world.server.close();
  }

  #last(): HostProcess {
    const last = this.#processes.at(-1);
    if (last === undefined) throw new Error("No process runs.");
    return last;
  }
}
