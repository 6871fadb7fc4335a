import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A Restate server for one test file: on loopback, on free ports, in a temporary directory. */
export class RestateServer implements AsyncDisposable {
  readonly ingressUrl: string;
  readonly #adminUrl: string;
  readonly #directory: string;
  readonly #process: ChildProcess;

  private constructor(directory: string, [ingress, admin, node]: readonly [number, number, number]) {
    this.#directory = directory;
    this.ingressUrl = `http://127.0.0.1:${ingress}`;
    this.#adminUrl = `http://127.0.0.1:${admin}`;
    this.#process = spawn(binary(), ["--no-logo"], {
      stdio: "ignore",
      env: {
        ...process.env,
        RESTATE_BASE_DIR: directory,
        RESTATE_NODE_NAME: "test",
        RESTATE_LISTEN_MODE: "tcp",
        RESTATE_BIND_IP: "127.0.0.1",
        RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
        RESTATE_DISABLE_TELEMETRY: "true",
        RESTATE_DEFAULT_NUM_PARTITIONS: "1",
        RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: "128MB",
        RESTATE_LOG_FILTER: "warn,octocrab=off",
      },
    });
    // An aborted test run leaves no server.
    process.once("exit", () => this.#process.kill("SIGKILL"));
  }

  static async start(): Promise<RestateServer> {
    const directory = mkdtempSync(join(tmpdir(), "moora-restate-"));
    const server = new RestateServer(directory, [await freePort(), await freePort(), await freePort()]);
    await isUp(`${server.#adminUrl}/health`);
    await isUp(`${server.ingressUrl}/restate/health`);
    return server;
  }

  /** Registers the services at an address. */
  async register(uri: string): Promise<void> {
    const response = await fetch(`${this.#adminUrl}/deployments`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri, force: true }),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await once(this.#process, "exit");
    rmSync(this.#directory, { recursive: true, force: true });
  }
}

/** The binary that the npm package of the server has for this platform. */
function binary(): string {
  const own = createRequire(import.meta.url);
  const server = createRequire(own.resolve("@restatedev/restate-server/lib/index.js"));
  return server.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
}

async function isUp(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok === true) return;
    await pause(20);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port was free");
  return address.port;
}
