import { spawn, type ChildProcess, type Serializable } from "node:child_process";
import { once } from "node:events";

/** A program, and how Node runs it. */
export interface ChildFile {
  readonly path: string;
  /** Options of Node, beside the one that selects the sources. */
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** `pipe`: it is kept in `errors`. Default: that of this process. */
  readonly stderr?: "inherit" | "ignore" | "pipe";
}

/** A process that runs a file against the sources. It is killed at the end. */
export class Child implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #ended: Promise<unknown>;
  output = "";
  errors = "";

  /** `file` is a program, or the path of one. */
  constructor(file: string | ChildFile, ...args: readonly string[]) {
    const {
      path,
      execArgv = [],
      env = {},
      stderr = "inherit",
    } = typeof file === "string" ? { path: file } : file;
    this.#process = spawn(process.execPath, [...execArgv, "--conditions=@moora/source", path, ...args], {
      stdio: ["pipe", "pipe", stderr, "ipc"],
      env: { ...process.env, ...env },
    });
    this.#process.stdin?.on("error", () => undefined);
    this.#process.stdout?.on("data", (text) => (this.output += String(text)));
    this.#process.stderr?.on("data", (text) => (this.errors += String(text)));
    this.#ended = once(this.#process, "close");
  }

  /** The lines that it has printed. */
  get lines(): readonly string[] {
    return this.output.split("\n").slice(0, -1);
  }

  /** Resolves with the match when the process has printed it. Rejects if it ends without it. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    return await this.#wrote("stdout", pattern);
  }

  /** The same for its errors. */
  async complained(pattern: RegExp): Promise<RegExpExecArray> {
    return await this.#wrote("stderr", pattern);
  }

  async #wrote(stream: "stdout" | "stderr", pattern: RegExp): Promise<RegExpExecArray> {
    const over = new AbortController();
    void this.#ended.then(() => over.abort(new Error(`It ended: ${this.output}${this.errors}`)));
    for (;;) {
      const found = pattern.exec(stream === "stdout" ? this.output : this.errors);
      if (found !== null) return found;
      const source = this.#process[stream];
      if (source === null) throw new Error(`The process has no ${stream} to read.`);
      await once(source, "data", { signal: over.signal });
    }
  }

  /** Sends a line on its standard input. */
  write(line: string): void {
    this.#process.stdin?.write(`${line}\n`);
  }

  /** Sends a message, and resolves with the next one that comes back. */
  async ask(order: Serializable): Promise<unknown> {
    const answer = this.message();
    this.#process.send(order);
    return await answer;
  }

  /** Resolves with the next message of the process. */
  async message(): Promise<unknown> {
    const [message]: readonly unknown[] = await once(this.#process, "message");
    return message;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  /** Resolves with its exit code, or the signal that ended it. */
  async ended(): Promise<number | string | null> {
    await this.#ended;
    return this.#process.exitCode ?? this.#process.signalCode;
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.hasEnded) await this.#ended;
    else await this.kill();
  }
}
