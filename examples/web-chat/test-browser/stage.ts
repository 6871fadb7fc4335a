import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@moora/testbed/ports";
import { build, preview, type PreviewServer } from "vite";
import config from "../vite.config.ts";
import { root } from "../../../scripts/workspace.ts";

/** The server of the example as a process of its own, on one port and one log. */
export class ServerProcess implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "moora-browser-"));
  readonly port: number;
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<ServerProcess> {
    const server = new ServerProcess(await freePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const file = join(root, "examples/web-chat/server.ts");
    const args = ["--conditions=@moora/source", file, String(this.port), join(this.#folder, "log.db")];
    const { OPENAI_API_KEY: _, ...env } = process.env;
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
    this.#process = child;
    await once(child.stdout, "data");
  }

  /** Ends the process without a chance to finish anything. */
  async kill(): Promise<void> {
    if (this.#process === undefined) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    this.#process = undefined;
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** The page of the example, as it is built for users, but with the names of its components. */
export class ServedPage implements AsyncDisposable {
  readonly url: string;
  readonly #preview: PreviewServer;
  readonly #folder: string;

  private constructor(server: PreviewServer, folder: string) {
    this.#preview = server;
    this.#folder = folder;
    this.url = server.resolvedUrls?.local[0] ?? "";
  }

  static async of(server: ServerProcess): Promise<ServedPage> {
    const options = config(server.url);
    const outDir = mkdtempSync(join(tmpdir(), "moora-page-"));
    const built = { ...options.build, outDir, emptyOutDir: true, minify: false };
    await build({ ...options, build: built });
    // The proxy reports each lost connection.
    return new ServedPage(
      await preview({
        ...options,
        build: built,
        logLevel: "silent",
        preview: { ...options.preview, port: 0 },
      }),
      outDir,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#preview.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
