import type { Question } from "@moora/agent";
import type { GivenOptions, OptionName } from "../options.ts";
import { shellCommand } from "../shell-command.ts";
import type { LogTarget } from "./log-target.ts";

/** Options of a run that its session does not store: they must be passed again to resume it. */
const optionsOfRun: readonly OptionName[] = [
  "agent",
  "provider",
  "model",
  "base-url",
  "timeout",
  "root",
  "allow-fetch",
  "mcp-config",
];

interface HintParts {
  readonly options: GivenOptions;
  readonly target: LogTarget;
  /** The module that the tools of the session come from. */
  readonly tools?: string | undefined;
}

/** Complete commands for the same log, for users to copy. */
export class CommandHints {
  readonly #options: GivenOptions;
  readonly #logOption: readonly string[];
  readonly #tools: string | undefined;

  constructor({ options, target, tools }: HintParts) {
    this.#options = options;
    this.#logOption = options.has("log") ? ["--log", target.shown] : [];
    this.#tools = tools;
  }

  /** A command that reads a session or posts to it. */
  command(...args: readonly string[]): string {
    return shellCommand([...args, ...this.#logOption]);
  }

  /** A command that runs a session: with its tools, and with the model of this command line. */
  runCommand(...args: readonly string[]): string {
    const given = optionsOfRun.flatMap((name) => {
      if (!this.#options.has(name)) return [];
      const value = this.#options.text(name);
      return value === undefined ? [`--${name}`] : [`--${name}`, value];
    });
    const repeated = (["mcp", "exclude"] as const).flatMap((name) =>
      this.#options.texts(name).flatMap((value) => [`--${name}`, value]),
    );
    const tools = this.#tools === undefined ? [] : ["--tools", this.#tools];
    return shellCommand([...args, ...this.#logOption, ...tools, ...repeated, ...given]);
  }

  /** The command that runs the sessions of agents in a module of the user. */
  workerCommand(): string {
    return this.command("worker", "--agent", "FILE");
  }

  /** The commands that settle a question of a session. */
  decisionCommands(
    id: string,
    { about, toolCallId: call }: Pick<Question, "about" | "toolCallId">,
  ): readonly string[] {
    switch (about) {
      case "approval":
        return [this.command("approve", id, call), this.command("reject", id, call, "--reason", "...")];
      case "outcome":
        return [
          this.command("settle", id, call, "run-again"),
          this.command("settle", id, call, "worked", "--result", "..."),
          this.command("settle", id, call, "failed", "--reason", "..."),
          this.command("settle", id, call, "unknown"),
        ];
      case "answer":
        return [this.command("answer", id, call, "...")];
    }
  }
}
