import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import type { LogEntry } from "@moora/agent";
import { worldHandler, type HostSetup, type HostWorld, type PreparedHost } from "@moora/agent-testing/hosts";
import { freePort } from "@moora/testbed/ports";
import { RestateCase } from "./restate-case.ts";
import { RestateServer } from "./restate-server.ts";
import { killProcess, startServiceProcess } from "./service-process.ts";

/** A registered process, which is killed at the end. */
export type Deployment = AsyncDisposable;

/** What the kill of a case ends: the process that serves the agent, or the server of Restate, which keeps its data. */
export type Victim = "service" | "server";

export interface RestateHostOptions {
  /** Default: the process. */
  readonly victim: Victim;
  /** How much of its sessions a process keeps. Default: that of `restateServices`. */
  readonly cacheBytes?: number;
  /** Whether services and effects suspend at each await, and replay their journals after it. Default: false. */
  readonly alwaysReplays?: boolean;
}

/** What a process that serves the agent is started with. */
interface ServiceOrders {
  readonly port: number;
  readonly release: number;
  readonly ingressUrl: string;
}

/** What a process that serves the agent sends: a piece of text that the model streams, or a log entry. */
type ChildMessage = { readonly sessionId: string; readonly text: string } | { readonly entry: LogEntry };

/** Restate with a process that serves the agent of the suite. Cases share them, and have sessions of their own. */
export class RestateHost implements AsyncDisposable {
  readonly #victim: Victim;
  readonly #cacheBytes: number | undefined;
  readonly #server: RestateServer;
  readonly #world: Server;
  readonly #port: number;
  readonly #worlds = new Map<string, HostWorld>();
  readonly #listeners = new Map<string, (text: string) => void>();
  /** The log entries of all processes. */
  readonly entries: LogEntry[] = [];
  #child:
    | { readonly process: ChildProcess; readonly release: number; readonly ingressUrl: string }
    | undefined;
  #cases = 0;

  private constructor(server: RestateServer, port: number, { victim, cacheBytes }: RestateHostOptions) {
    this.#victim = victim;
    this.#cacheBytes = cacheBytes;
    this.#server = server;
    this.#port = port;
    this.#world = createServer((request, response) => {
      void text(request).then(async (body) => {
        const moment: { readonly key: string } = JSON.parse(body);
        const answer = await worldHandler(this.#worldOf(moment.key))(
          new Request("http://world", { method: "POST", body }),
        );
        response.statusCode = answer.status;
        response.end(await answer.text());
      });
    });
  }

  static async start(options: Partial<RestateHostOptions> = {}): Promise<RestateHost> {
    const given = { victim: "service", ...options } as const;
    const { alwaysReplays: suspendsAtOnce = false } = options;
    const host = new RestateHost(await RestateServer.start({ suspendsAtOnce }), await freePort(), given);
    host.#world.listen(0, "127.0.0.1");
    await once(host.#world, "listening");
    await host.serve(1);
    await host.#server.register(`http://127.0.0.1:${host.#port}`);
    if (suspendsAtOnce) await host.#server.suspendAtOnce("conformance-effects");
    return host;
  }

  async prepare({ world }: HostSetup): Promise<PreparedHost> {
    this.#cases += 1;
    const id = `case-${this.#cases}`;
    this.#worlds.set(id, world);
    // One world has the sessions of a case: their ids begin with that of the case.
    const sessionIdOf = (name: string): string => `${id}-${name}`;
    return new RestateCase(this, sessionIdOf, {
      listen: (name, listener) => void this.#listeners.set(`${id}-${name}`, listener),
      end: () => {
        this.#worlds.delete(id);
        for (const key of this.#listeners.keys()) if (key.startsWith(`${id}-`)) this.#listeners.delete(key);
      },
    });
  }

  get ingressUrl(): string {
    return this.#server.ingressUrl;
  }

  /** Starts the server and the process, unless the server and one of this release, with this ingress, run. */
  async serve(release: number, ingressUrl: string = this.ingressUrl): Promise<void> {
    await this.#server.start();
    if (this.#child?.release === release && this.#child.ingressUrl === ingressUrl) return;
    await this.killService();
    const child = await this.#fork({ port: this.#port, release, ingressUrl });
    this.#child = { process: child, release, ingressUrl };
  }

  /** Registers another process with a release as a deployment of its own. The ones before continue to serve what they began. */
  async deploy(release: number): Promise<Deployment> {
    const port = await freePort();
    const child = await this.#fork({ port, release, ingressUrl: this.ingressUrl });
    await this.#server.register(`http://127.0.0.1:${port}`);
    return { [Symbol.asyncDispose]: () => killProcess(child) };
  }

  /** Lets the newest deployment continue the invocations of the effects that others have begun. */
  async resumeOnNewest(): Promise<void> {
    await this.#server.resumeOnNewest("conformance-effects");
  }

  async kill(): Promise<void> {
    if (this.#victim === "server") await this.#server.kill();
    else await this.killService();
  }

  /** Kills the process with the agent. */
  async killService(): Promise<void> {
    const child = this.#child?.process;
    this.#child = undefined;
    if (child !== undefined) await killProcess(child);
  }

  async #fork({ port, release, ingressUrl }: ServiceOrders): Promise<ChildProcess> {
    const address = this.#world.address();
    const world = typeof address === "object" ? `http://127.0.0.1:${address?.port}` : "";
    const args = [port, ingressUrl, world, release, this.#cacheBytes ?? ""];
    const child = await startServiceProcess("service.ts", args);
    child.on("message", (message: ChildMessage) => {
      if ("entry" in message) this.entries.push(message.entry);
      else this.#listeners.get(message.sessionId)?.(message.text);
    });
    return child;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.killService();
    this.#world.closeAllConnections();
    this.#world.close();
    await this.#server[Symbol.asyncDispose]();
  }

  /** The world of the case to whose session an idempotency key belongs; a silent one if that has ended. */
  #worldOf(key: string): HostWorld {
    const parts = key.split(/[^a-z0-9-]/);
    const isOf = (id: string): boolean => parts.some((part) => part.startsWith(`${id}-`));
    const [, world] = [...this.#worlds].find(([id]) => isOf(id)) ?? [];
    return world ?? { reach: () => new Promise(() => undefined) };
  }
}
