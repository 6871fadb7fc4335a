import { join } from "node:path";
import { Child } from "@moora/testbed/child";
import type { ServerMemory } from "./child.ts";

const file = { path: join(import.meta.dirname, "child.ts"), execArgv: ["--expose-gc"] };

/** A server in a process of its own. It is killed at the end. */
export class ServerProcess extends Child {
  url = "";

  static async start(...args: readonly string[]): Promise<ServerProcess> {
    const server = new ServerProcess(file, ...args);
    server.url = String(await server.message());
    return server;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  async memory(): Promise<ServerMemory> {
    return (await this.ask("memory")) as ServerMemory;
  }

  /** The CPU time that the process has taken so far, in microseconds. */
  async cpu(): Promise<number> {
    return Number(await this.ask("cpu"));
  }

  /** Runs loops of a new session without the server, in its process. */
  async directLoops(loops: number): Promise<void> {
    await this.ask({ loops });
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
}
