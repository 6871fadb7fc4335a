import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** Servers in processes of their own, on one PostgreSQL. A killed one is replaced. */
export class Cluster implements AsyncDisposable {
  readonly #postgresUrl: string;
  readonly #children: { readonly process: ChildProcess; readonly url: string }[] = [];
  #turns = 0;
  kills = 0;

  private constructor(postgresUrl: string) {
    this.#postgresUrl = postgresUrl;
  }

  static async start(postgresUrl: string, size: number): Promise<Cluster> {
    const cluster = new Cluster(postgresUrl);
    for (let index = 0; index < size; index += 1) await cluster.#add();
    return cluster;
  }

  /** The address of one server after the other. */
  url(): string {
    this.#turns += 1;
    return this.#children[this.#turns % this.#children.length]?.url ?? "";
  }

  /** Kills the oldest server, and starts another one. */
  async replace(): Promise<void> {
    this.kills += 1;
    const oldest = this.#children.shift();
    oldest?.process.kill("SIGKILL");
    await this.#add();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { process: child } of this.#children.splice(0)) {
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    }
  }

  async #add(): Promise<void> {
    const file = join(import.meta.dirname, "child.ts");
    const child = spawn(process.execPath, ["--conditions=@moora/source", file, this.#postgresUrl], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line = ""]: readonly string[] = await once(createInterface({ input: child.stdout }), "line");
    this.#children.push({ process: child, url: line.replace("listening ", "") });
  }
}
