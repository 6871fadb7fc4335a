import { spawn, type ChildProcessByStdio } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Orders } from "./child.ts";

/** What a shell says of a process that was ended by SIGKILL. */
const killedCode = 128 + 9;

const script = `while IFS= read -r orders; do "$0" "$1" "$orders" >/dev/null 2>"$2"; echo $?; done`;

/**
 * Starts one process after the other. A shell does it: to start a process from a small one costs a tenth of what it costs
 * from one that has folded thousands of sessions.
 */
export class Lane implements Disposable {
  readonly #shell: ChildProcessByStdio<Writable, Readable, null>;
  readonly #answers: Interface;
  readonly #errors: string;

  /** `bundle` is a folder with the bundled child; its compiled code is kept there. */
  constructor(bundle: string, number: number) {
    this.#errors = join(bundle, `errors-${process.pid}-${number}`);
    const child = join(bundle, "child.mjs");
    this.#shell = spawn("/bin/sh", ["-c", script, process.execPath, child, this.#errors], {
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(bundle, "compiled") },
    });
    this.#answers = createInterface(this.#shell.stdout);
  }

  /** Runs a child to its end. Rejects when it ended by a fault of its own. */
  async run(orders: Orders): Promise<"killed" | "survived"> {
    this.#shell.stdin.write(`${JSON.stringify(orders)}\n`);
    const code = Number(await new Promise<string>((resolve) => this.#answers.once("line", resolve)));
    if (code === killedCode) return "killed";
    if (code === 0) return "survived";
    throw new Error(
      `The process ended with code ${code}: ${readFileSync(this.#errors, "utf8").slice(0, 2_000)}`,
    );
  }

  [Symbol.dispose](): void {
    this.#shell.stdin.end();
  }
}
