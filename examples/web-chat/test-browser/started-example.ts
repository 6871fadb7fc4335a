import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { freePort } from "@moora/testbed/ports";
import { root } from "../../../scripts/workspace.ts";

/** The example as `start.ts` runs it: its server, and its page behind the proxy of Vite. */
export class StartedExample implements AsyncDisposable {
  readonly #folder: string;
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  /** The proxy reports each request that finds no server. */
  #reports = "";
  /** The address of the server. */
  readonly server: string;
  /** The address of the page. */
  url = "";
  /** The process of the server. */
  pid = 0;

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.server = `http://127.0.0.1:${port}`;
    const file = join(root, "examples/web-chat/start.ts");
    const args = ["--conditions=@moora/source", file, String(port), join(folder, "log.db")];
    const { OPENAI_API_KEY: _, ...env } = process.env;
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], env });
    this.#process = child;
    child.stderr.on("data", (chunk) => void (this.#reports += String(chunk)));
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  static async start(): Promise<StartedExample> {
    const example = new StartedExample(mkdtempSync(join(tmpdir(), "moora-example-")), await freePort());
    while (example.url === "" || example.pid === 0) await example.#readLine();
    return example;
  }

  /** Kills the server only, and waits until the example reports the next one. */
  async killServer(): Promise<void> {
    const before = this.pid;
    process.kill(before, "SIGKILL");
    while (this.pid === before) await this.#readLine();
  }

  async #readLine(): Promise<void> {
    const { done, value } = await this.#lines.next();
    if (done === true) throw new Error(`start.ts has ended. ${this.#reports}`);
    const [, pid] = /^Server: process (\d+)/.exec(value) ?? [];
    if (pid !== undefined) this.pid = Number(pid);
    const [, url] = /^Chat: (\S+)/.exec(value) ?? [];
    if (url !== undefined) this.url = url;
  }

  /** Ends the example as Ctrl+C does. Returns its exit code. */
  async stop(): Promise<number | null> {
    if (this.#process.exitCode !== null) return this.#process.exitCode;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGINT");
    await ended;
    return this.#process.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
