import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { afterEach } from "vitest";

/** Where the command line is. */
export const source = join(import.meta.dirname, "../../src/cli");

/** A command in a process of its own. */
export class Child {
  stdout = "";
  stderr = "";
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #seen = new Set<() => void>();

  constructor(
    args: readonly string[],
    cwd: string = import.meta.dirname,
    script: readonly string[] = [join(source, "main.ts")],
    program: string = process.execPath,
  ) {
    const flags = script[0]?.endsWith(".ts") === true ? ["--conditions=@moora/source"] : [];
    this.process = spawn(program, [...flags, ...script, ...args], {
      cwd,
      env: { PATH: process.env["PATH"], NODE_NO_WARNINGS: "1" },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.process.stdout.on("data", (chunk: Buffer) => this.#take("stdout", chunk));
    this.process.stderr.on("data", (chunk: Buffer) => this.#take("stderr", chunk));
    children.add(this);
  }

  /** Resolves when this text has come out. */
  async shows(where: "stdout" | "stderr", text: string): Promise<void> {
    while (!this[where].includes(text)) await new Promise<void>((resolve) => this.#seen.add(resolve));
  }

  /** The exit code, or the name of the signal that ended it. */
  async ended(): Promise<number | string> {
    const { exitCode, signalCode } = this.process;
    if (exitCode !== null || signalCode !== null) return exitCode ?? signalCode ?? "";
    const [code, signal] = (await once(this.process, "close")) as [number | null, string | null];
    return code ?? signal ?? "";
  }

  #take(where: "stdout" | "stderr", chunk: Buffer): void {
    this[where] += chunk.toString();
    for (const resolve of this.#seen) resolve();
    this.#seen.clear();
  }
}

const children = new Set<Child>();
afterEach(() => {
  for (const child of children) child.process.kill("SIGKILL");
  children.clear();
});
