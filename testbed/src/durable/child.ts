import { join } from "node:path";
import { Child } from "../child.ts";

const path = (name: string): string => join(import.meta.dirname, "..", "children", name);

/** A process that runs `children/host.ts`. It reports messages as lines of JSON. */
export class HostChild extends Child {
  constructor(manner: string, ...args: readonly string[]) {
    // Who aborts has nothing to say but where.
    super({ path: path("host.ts"), stderr: manner === "abort" ? "ignore" : "inherit" }, manner, ...args);
  }

  /** Resolves with the message that the process reports under a name. Rejects if the process ends without it. */
  async said(name: string): Promise<unknown> {
    const [line] = await this.printed(new RegExp(`^\\["${name}".*\\n`, "m"));
    const message: unknown = JSON.parse(line);
    return Array.isArray(message) ? message[1] : undefined;
  }
}

/** A process that runs `children/script.ts`. */
export const script = (...args: readonly string[]): Child =>
  new Child({ path: path("script.ts"), stderr: "pipe" }, ...args);
