import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "@moora/testbed/ports";

export interface RestateServerOptions {
  /** Default: 1. */
  readonly partitions: number;
  /** The longest message of a service that it accepts. Default: 32 MiB, as the server has it. */
  readonly messageBytes: number;
  /** Whether services without a time of their own suspend at each await, and replay their journal after it. Default: false. */
  readonly suspendsAtOnce: boolean;
}

const defaults: RestateServerOptions = { partitions: 1, messageBytes: 33_554_432, suspendsAtOnce: false };

/** A Restate server for one test file: on loopback, on free ports, in a temporary directory. */
export class RestateServer implements AsyncDisposable {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly #directory = mkdtempSync(join(tmpdir(), "moora-restate-"));
  readonly #nodePort: number;
  #process: ChildProcess | undefined;

  readonly #options: RestateServerOptions;

  private constructor(
    [ingress, admin, node]: readonly [number, number, number],
    options: RestateServerOptions,
  ) {
    this.#options = options;
    this.ingressUrl = `http://127.0.0.1:${ingress}`;
    this.adminUrl = `http://127.0.0.1:${admin}`;
    this.#nodePort = node;
    // An aborted test run leaves no server.
    process.once("exit", () => this.#process?.kill("SIGKILL"));
  }

  static async start(options: Partial<RestateServerOptions> = {}): Promise<RestateServer> {
    const ports = [await freePort(), await freePort(), await freePort()] as const;
    const server = new RestateServer(ports, { ...defaults, ...options });
    await server.start();
    return server;
  }

  /** The id of its process; undefined while it is killed. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Starts it, unless it runs, with all that it has stored. */
  async start(): Promise<void> {
    if (this.#process !== undefined) return;
    const { partitions, messageBytes, suspendsAtOnce } = this.#options;
    this.#process = spawn(binary(), ["--no-logo"], {
      stdio: "ignore",
      env: {
        ...process.env,
        RESTATE_BASE_DIR: this.#directory,
        RESTATE_NODE_NAME: "test",
        RESTATE_LISTEN_MODE: "tcp",
        RESTATE_BIND_IP: "127.0.0.1",
        RESTATE_BIND_ADDRESS: `127.0.0.1:${this.#nodePort}`,
        RESTATE_INGRESS__BIND_ADDRESS: this.ingressUrl.slice("http://".length),
        RESTATE_ADMIN__BIND_ADDRESS: this.adminUrl.slice("http://".length),
        RESTATE_DISABLE_TELEMETRY: "true",
        RESTATE_DEFAULT_NUM_PARTITIONS: String(partitions),
        RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "128MB",
        RESTATE_WORKER__INVOKER__MESSAGE_SIZE_LIMIT: `${messageBytes}B`,
        ...(suspendsAtOnce ? { RESTATE_WORKER__INVOKER__INACTIVITY_TIMEOUT: "0s" } : {}),
        RESTATE_LOG_FILTER: "warn,octocrab=off",
      },
    });
    await isUp(`${this.adminUrl}/health`, this.#process);
    await isUp(`${this.ingressUrl}/restate/health`, this.#process);
  }

  /** Kills it with SIGKILL. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    if (running === undefined) return;
    running.kill("SIGKILL");
    if (running.exitCode === null && running.signalCode === null) await once(running, "exit");
  }

  /** Registers the services at an address. */
  async register(uri: string): Promise<void> {
    const response = await fetch(`${this.adminUrl}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri, force: true }),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  /** Lets a service suspend at each await, whatever time it has of its own. */
  async suspendAtOnce(service: string): Promise<void> {
    const response = await fetch(`${this.adminUrl}/services/${service}`, {
      method: "PATCH",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ inactivity_timeout: "0s" }),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  /** Lets the newest deployment of a service continue its invocations. */
  async resumeOnNewest(service: string): Promise<void> {
    const open = `SELECT id FROM sys_invocation WHERE target_service_name = '${service}' AND status <> 'completed'`;
    for (const { id = "" } of await this.query<{ readonly id?: string }>(open)) {
      await this.#order(id, "pause");
      // It is paused when its next attempt has failed.
      while (!(await this.#order(id, "resume?deployment=latest"))) await pause(20);
    }
  }

  /** The rows of a query about what the server has stored. */
  async query<Row>(query: string): Promise<readonly Row[]> {
    const found = await fetch(`${this.adminUrl}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query }),
    });
    if (!found.ok) throw new Error(await found.text());
    const { rows } = (await found.json()) as { readonly rows: readonly Row[] };
    return rows;
  }

  /** The sum of a metric of the server, such as "restate_bifrost_sequencer_committed_records_total". */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${this.#nodePort}/metrics`)).text();
    const values = text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "gm"));
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  }

  /** Replaces the whole state of an object: the JSON of each value. Resolves before that is done. */
  async setState(service: string, id: string, state: Readonly<Record<string, unknown>>): Promise<void> {
    const bytesOf = (value: unknown): readonly number[] => [...Buffer.from(JSON.stringify(value))];
    const entries = Object.entries(state).map(([key, value]) => [key, bytesOf(value)]);
    const response = await fetch(`${this.adminUrl}/services/${service}/state`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ object_key: id, new_state: Object.fromEntries(entries) }),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  async #order(id: string, order: string): Promise<boolean> {
    const response = await fetch(`${this.adminUrl}/invocations/${id}/${order}`, { method: "PATCH" });
    return response.ok;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** The binary that the npm package of the server has for this platform. */
function binary(): string {
  const own = createRequire(import.meta.url);
  const server = createRequire(own.resolve("@restatedev/restate-server/lib/index.js"));
  return server.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
}

async function isUp(url: string, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`Restate has ended with exit code ${server.exitCode}.`);
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok === true) return;
    await pause(20);
  }
}
