import { join } from "node:path";
import { Child } from "@moora/testbed/child";
import { Place } from "@moora/testbed/durable/places";
import type { Orders } from "./child.ts";

/** The compiled code of the processes, so that they start in a fraction of the time. */
const compiled = new Place();
process.once("exit", () => compiled[Symbol.dispose]());

const path = join(import.meta.dirname, "child.ts");

/** A process of a cluster. It is killed when it is disposed of. */
export class ClusterProcess extends Child {
  /** Its address; undefined until it listens, and after its end. */
  url: string | undefined;

  constructor(orders: Orders) {
    super({ path, env: { NODE_COMPILE_CACHE: compiled.path } }, JSON.stringify(orders));
    void this.ended().then(() => (this.url = undefined));
  }

  /** The errors that it has reported. */
  get reported(): readonly string[] {
    return this.lines.filter((line) => line.startsWith("error "));
  }

  async ready(): Promise<void> {
    await this.printed(/^ready$/m);
  }

  /** Lets a process begin that is ready, and resolves when it listens. */
  async begin(): Promise<void> {
    await this.ready();
    this.write("go");
    const [, url] = await this.printed(/^listening (\S+)$/m);
    this.url = url;
  }

  override async kill(): Promise<void> {
    this.url = undefined;
    await super.kill();
  }

  /** Ends the process as an operator does: its sessions are closed before. */
  async stop(): Promise<void> {
    this.url = undefined;
    this.signal("SIGTERM");
    await this.ended();
  }
}
