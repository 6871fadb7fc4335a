import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { agentTransition, type AgentInput, type AgentState } from "@moora/agent";
import {
  worldHandler,
  type ConformanceHost,
  type HostClock,
  type HostSetup,
  type PreparedHost,
  type ProcessOptions,
} from "@moora/agent-testing/hosts";
import { memoryLog, type EventLog, type LogRecord } from "@moora/event-log";
import type { ViewerMessage } from "@moora/cloudflare";
import { cloudflareCannot } from "@moora/testbed/hosts";
import type { Miniflare } from "miniflare";
import { bundleWorker, startWorkerd, StorageFolder } from "./workerd.ts";

/** Cloudflare's runtime, with a Durable Object for each session. `kill` kills its process. */
export const workerdHost: ConformanceHost = {
  name: "Cloudflare Durable Objects",
  cannot: cloudflareCannot,
  async prepare(setup) {
    return new WorkerdSessions(await bundleWorker("conformance-worker"), await WorldServer.start(setup));
  },
};

/** The server at which the agent in the runtime reaches the world of the case. */
class WorldServer {
  readonly url: string;
  readonly #server: Server;
  /** Called when the runtime asks for its death. */
  onDeath: () => void = () => undefined;

  private constructor(server: Server) {
    this.#server = server;
    // A server on a port always has an address with a port.
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  static async start({ world }: HostSetup): Promise<WorldServer> {
    const handle = worldHandler(world);
    const server = createServer((request, response) => {
      if (request.url === "/death") {
        started.onDeath();
        return;
      }
      const answer = async (): Promise<void> => {
        const body = (await request.toArray()).join("");
        const { status } = await handle(new Request("http://world/", { method: "POST", body }));
        response.writeHead(status).end();
      };
      void answer();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const started = new WorldServer(server);
    return started;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

/** The processes of the runtime that this process has started. */
const runtimePids = (): readonly number[] =>
  execFileSync("ps", ["-A", "-o", "pid=,ppid=,args="], { encoding: "utf8" })
    .split("\n")
    .flatMap((line) => {
      const [, pid, parent, command = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
      return Number(parent) === process.pid && command.includes("workerd") ? [Number(pid)] : [];
    });

class WorkerdSessions implements PreparedHost {
  readonly clock: HostClock = {
    now: () => Date.now() + this.#skipped,
    pass: async (ms) => {
      this.#skipped += ms;
      if (this.#runtime !== undefined) await this.#fetch(`case/pass/${ms}`);
    },
  };
  readonly #code: string;
  readonly #world: WorldServer;
  readonly #folder = new StorageFolder();
  #runtime: Miniflare | undefined;
  #skipped = 0;
  /** Whether the runtime ends at a record. */
  #isDying = false;

  constructor(code: string, world: WorldServer) {
    this.#code = code;
    this.#world = world;
  }

  async start({ release = 1, death, onDeath }: ProcessOptions = {}): Promise<void> {
    this.#isDying = death !== undefined;
    if (onDeath !== undefined) this.#dieOnce(onDeath);
    this.#runtime = startWorkerd({
      code: this.#code,
      objects: { SESSIONS: "Sessions" },
      bindings: {
        WORLD: this.#world.url,
        RELEASE: String(release),
        SKIPPED: String(this.#skipped),
        DEATH: JSON.stringify(death ?? null),
      },
      folder: this.#folder.path,
    });
    await this.#runtime.ready;
    // The alarms of the platform do not follow the clock of the case: one that is due by that is fired.
    if (this.#skipped > 0) await this.#fetch("case/pass/0");
  }

  /** Kills the runtime when it asks for that. */
  #dieOnce(onDeath: () => void): void {
    this.#world.onDeath = () => {
      this.#world.onDeath = () => undefined;
      void this.kill().then(onDeath);
    };
  }

  async kill(): Promise<void> {
    for (const pid of runtimePids()) process.kill(pid, "SIGKILL");
    await this.#runtime?.dispose().catch(() => undefined);
    this.#runtime = undefined;
  }

  async post(id: string, input: AgentInput): Promise<boolean> {
    const body = JSON.stringify(input);
    const receipt = (await (await this.#fetch(`${id}/inputs`, { method: "POST", body })).json()) as {
      status: string;
    };
    return receipt.status === "accepted";
  }

  async waitFor(id: string, isReached: (state: AgentState) => boolean): Promise<AgentState> {
    const { promise, resolve } = Promise.withResolvers<AgentState>();
    let state: AgentState | undefined;
    const stop = await this.#view(id, (message) => {
      if (message.type === "state") state = message.state;
      if (message.type === "input" && state !== undefined) state = agentTransition(message.input)(state);
      if (state !== undefined && isReached(state)) resolve(state);
    });
    const reached = await promise;
    stop();
    return reached;
  }

  async remove(id: string): Promise<void> {
    const { status } = await this.#fetch(id, { method: "DELETE" });
    if (status !== 204) throw new Error(`The removal was answered with ${status}.`);
  }

  async watch(id: string, listener: (text: string) => void): Promise<() => void> {
    return await this.#view(id, (message) => {
      if (message.type === "event" && message.event.type === "LlmToken") listener(message.event.text);
    });
  }

  async log(id: string): Promise<EventLog> {
    const { header, records } = (await (await this.#fetch(`${id}/records`)).json()) as {
      header: string;
      records: readonly LogRecord[];
    };
    const log = memoryLog();
    const session = await log.create(id, header);
    await session.append(0, records);
    return log;
  }

  async dispose(): Promise<void> {
    await this.kill();
    await this.#world.close();
    this.#folder[Symbol.dispose]();
  }

  async #view(id: string, listener: (message: ViewerMessage) => void): Promise<() => void> {
    const { webSocket } = await this.#fetch(`${id}/events`, { headers: { upgrade: "websocket" } });
    if (webSocket === null) throw new Error("The object accepts no socket.");
    webSocket.addEventListener("message", ({ data }) =>
      listener(JSON.parse(data as string) as ViewerMessage),
    );
    webSocket.accept();
    return () => webSocket.close();
  }

  async #fetch(
    path: string,
    init?: Parameters<Miniflare["dispatchFetch"]>[1],
  ): Promise<Awaited<ReturnType<Miniflare["dispatchFetch"]>>> {
    if (this.#runtime === undefined) throw new Error("The runtime is not started.");
    const answer = this.#runtime.dispatchFetch(`http://localhost/sessions/${path}`, init);
    if (!this.#isDying) return await answer;
    // What fails because the process dies has no answer.
    const hasFailed = await answer.then(
      ({ status }) => status >= 500,
      () => true,
    );
    return hasFailed ? await Promise.race([]) : await answer;
  }
}
