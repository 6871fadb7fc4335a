import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Order, Report } from "./child.ts";

/** A server in a process of its own. It is killed at the end. */
export class ServerProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  url = "";

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static async start(...args: readonly string[]): Promise<ServerProcess> {
    const child = fork(join(import.meta.dirname, "child.ts"), args, {
      execArgv: ["--conditions=@moora/source", "--expose-gc"],
    });
    const server = new ServerProcess(child);
    const { url } = await server.#next("listening");
    server.url = url;
    return server;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async memory(): Promise<Extract<Report, { type: "memory" }>> {
    this.#order("memory");
    return await this.#next("memory");
  }

  /** The CPU time that the process has taken so far, in microseconds. */
  async cpu(): Promise<number> {
    this.#order("cpu");
    return (await this.#next("cpu")).microseconds;
  }

  /** Runs loops of a new session without the server, in its process. */
  async directLoops(loops: number): Promise<void> {
    this.#order({ loops });
    await this.#next("looped");
  }

  async post(path: string, body: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const answer: unknown = JSON.parse(await this.postForText(path, body));
    return { ...Object(answer) };
  }

  /** Posts, and reads the response to its end. */
  async postForText(path: string, body: object): Promise<string> {
    const response = await fetch(`${this.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  }

  async createSession(): Promise<string> {
    return String((await this.post("/agents/helper/sessions"))["id"]);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "close");
    this.kill();
    await ended;
  }

  #order(order: Order): void {
    this.#child.send(order);
  }

  async #next<Type extends Report["type"]>(type: Type): Promise<Extract<Report, { type: Type }>> {
    for (;;) {
      const [report]: readonly Report[] = await once(this.#child, "message");
      if (report !== undefined && isOf(report, type)) return report;
    }
  }
}

const isOf = <Type extends Report["type"]>(
  report: Report,
  type: Type,
): report is Extract<Report, { type: Type }> => report.type === type;
