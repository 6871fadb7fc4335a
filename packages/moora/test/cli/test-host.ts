import { PassThrough } from "node:stream";
import { systemClock } from "@moora/agent";
import type { CliHost } from "../../src/cli/cli-host.ts";
import { runCli } from "../../src/cli/run-cli.ts";
import { terminalLines } from "./virtual-terminal.ts";

/** Collects what is written, and reports when a text was. */
export class Output extends PassThrough {
  text = "";
  isTTY: boolean | undefined;
  readonly #looks = new Set<() => void>();

  constructor(isTTY: boolean | undefined) {
    super();
    this.isTTY = isTTY;
    this.on("data", (chunk: Buffer) => {
      this.text += chunk.toString();
      for (const look of this.#looks) look();
    });
  }

  /** Resolves when this text has been written. */
  async shows(wanted: string): Promise<void> {
    await this.#until(() => this.text.includes(wanted));
  }

  /** Resolves when this is the last line on the terminal, with what is typed there. */
  async showsPrompt(line: string): Promise<void> {
    await this.#until(() => terminalLines(this.text).at(-1) === line);
  }

  async #until(isShown: () => boolean): Promise<void> {
    if (isShown()) return;
    const shown = Promise.withResolvers<void>();
    const look = (): void => {
      if (isShown()) shown.resolve();
    };
    this.#looks.add(look);
    await shown.promise;
    this.#looks.delete(look);
  }

  get lines(): readonly string[] {
    return this.text.split("\n").filter((line) => line !== "");
  }
}

class Input extends PassThrough {
  isTTY: boolean | undefined;
}

let hosts = 0;

/** A host whose streams a test reads and writes. */
export class TestHost implements CliHost {
  readonly stdin = new Input();
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Record<string, string>;
  readonly cwd: string;
  clock: CliHost["clock"] = systemClock;
  readonly user: string = "ada";
  /** Unique for each host, as for each process. */
  readonly owner: string = `host ${(hosts += 1)}`;
  readonly #listeners = new Set<() => void>();
  readonly #terminations = new Set<() => void>();

  constructor({
    isTTY,
    env = {},
    cwd = import.meta.dirname,
  }: { isTTY?: boolean; env?: Record<string, string>; cwd?: string } = {}) {
    this.stdin.isTTY = isTTY;
    this.stdout = new Output(isTTY);
    this.stderr = new Output(isTTY);
    this.env = env;
    this.cwd = cwd;
  }

  readonly onInterrupt = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  readonly onTerminate = (listener: () => void): (() => void) => {
    this.#terminations.add(listener);
    return () => void this.#terminations.delete(listener);
  };

  /** The addresses that were opened in a browser. */
  readonly opened: string[] = [];
  readonly openBrowser = (url: string): void => void this.opened.push(url);

  readonly isOwnerGone = (): boolean => false;

  /** SIGTERM. */
  terminate(): void {
    for (const listener of this.#terminations) listener();
  }

  /** Ctrl-C, as a signal. */
  interrupt(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Runs a command; `input` is all that standard input has. A terminal stays open. */
  async run(args: readonly string[], input?: string): Promise<number> {
    if (input !== undefined || this.stdin.isTTY !== true) this.stdin.end(input ?? "");
    return await this.start(args);
  }

  /** Runs a command and leaves its standard input open. */
  async start(args: readonly string[]): Promise<number> {
    return await runCli(args, this);
  }
}
