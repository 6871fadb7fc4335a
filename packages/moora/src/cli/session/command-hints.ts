import type { Question } from "@moora/agent";
import type { Options, OptionName } from "../options.ts";
import { shellCommand } from "../shell-command.ts";
import type { LogTarget } from "./log-target.ts";

/** Options of a run that its session does not store: they must be passed again to resume it. */
const optionsOfRun = [
  "tools",
  "mcp",
  "exclude",
  "agent",
  "provider",
  "model",
  "base-url",
  "timeout",
  "root",
  "allow-fetch",
  "mcp-config",
] as const satisfies readonly OptionName[];

interface HintParts {
  readonly options: Options;
  readonly target: LogTarget;
}

/** Complete commands for the same log, for users to copy. */
export class CommandHints {
  readonly #options: Options;
  readonly #logOption: readonly string[];

  constructor({ options, target }: HintParts) {
    this.#options = options;
    this.#logOption = options.log === undefined ? [] : ["--log", target.shown];
  }

  /** A command that reads a session or posts to it. */
  command(...args: readonly string[]): string {
    return shellCommand([...args, ...this.#logOption]);
  }

  /** A command that runs a session: with the model and the tools of this command line. */
  runCommand(...args: readonly string[]): string {
    const given = optionsOfRun.flatMap((name) => {
      const value = this.#options[name] ?? [];
      return value === true ? [`--${name}`] : [value].flat().flatMap((text) => [`--${name}`, String(text)]);
    });
    return shellCommand([...args, ...this.#logOption, ...given]);
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
