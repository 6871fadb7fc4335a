import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Agent, AgentState } from "@moora/agent";
import { isLoopRunning } from "@moora/agent-core-state-machine";
import { openCallsOf, recordOf, toolOf } from "@moora/agent-core-state-machine/internal";
import type { EventLog } from "@moora/event-log";
import type { GivenOptions } from "../options.ts";
import type { Screen } from "../terminal/screen.ts";
import { UsageError } from "../usage-error.ts";
import type { CommandHints } from "./command-hints.ts";
import type { LogTarget } from "./log-target.ts";
import { readToolsModule, saveToolsModule, toolsModuleAt, type ToolsModule } from "./tools-module.ts";

interface SessionToolsParts {
  readonly log: EventLog;
  readonly target: LogTarget;
  readonly id: string;
  readonly options: GivenOptions;
  readonly cwd: string;
}

interface NamedCall {
  readonly id: string;
  readonly name: string;
}

/**
 * The module that the tools of a session come from: the one that `--tools` names, or the one that the session used last. The
 * latter is only named in messages and never loaded: a stored file must not decide which code runs.
 */
export class SessionTools {
  readonly #parts: SessionToolsParts;
  readonly #given: string | undefined;
  readonly #last: ToolsModule | undefined;

  private constructor(parts: SessionToolsParts, last: ToolsModule | undefined) {
    this.#parts = parts;
    const given = parts.options.text("tools");
    this.#given = given === undefined ? undefined : resolve(parts.cwd, given);
    this.#last = last;
  }

  static async of(parts: SessionToolsParts): Promise<SessionTools> {
    return new SessionTools(parts, await readToolsModule(parts.log, parts.target, parts.id));
  }

  /** The module, undefined for a session that has none. */
  get path(): string | undefined {
    return this.#given ?? this.#last?.path;
  }

  /**
   * The open calls whose tools the agent does not have. It must not run the session: without their tools these calls
   * would be recorded as not run, permanently.
   */
  missingIn(state: AgentState, { tools }: Pick<Agent, "tools">): readonly NamedCall[] {
    return openCallsOf(state.reActContext.control).flatMap(({ id }) => {
      const name = recordOf(state, id)?.name ?? "";
      return toolOf(state, name) === undefined || Object.hasOwn(tools, name) ? [] : [{ id, name }];
    });
  }

  /** The error for such calls, with the way to load their tools. */
  notLoadedError(missing: readonly NamedCall[], hints: CommandHints): UsageError {
    const { id } = this.#parts;
    const calls = missing.map((call) => `${call.id} ${call.name}`).join(", ");
    return new UsageError(
      `Session "${id}" has open calls of tools that are not loaded: ${calls}.`,
      `${this.#loadHint(
        missing.map(({ name }) => name),
        hints,
      )}\nTo cancel the calls instead: ${hints.command("cancel", id)}`,
    );
  }

  /** Stores the module for later commands, and reports if the agent runs with other tools than last time. */
  async save(screen: Screen, state: AgentState | undefined): Promise<void> {
    const { log, target, id } = this.#parts;
    if (this.#given === undefined) {
      if (this.#last !== undefined)
        screen.dim(`Without the tools that this session used last. To load them: --tools ${this.#last.path}`);
      return;
    }
    const now = toolsModuleAt(this.#given);
    const isInProgress = state !== undefined && isLoopRunning(state);
    if (isInProgress && this.#last?.path === now.path && this.#last.digest !== now.digest)
      screen.dim(`${now.path} has changed since this session used it last.`);
    const problem = await saveToolsModule(log, target, id, now);
    if (problem !== undefined) screen.dim(`The session does not remember --tools: ${problem}`);
  }

  #loadHint(names: readonly string[], hints: CommandHints): string {
    const { id } = this.#parts;
    if (names.every((name) => name === "fetch_url")) return "Load it with --allow-fetch.";
    if (this.#given !== undefined)
      return `${this.#given} does not export them. Use --tools with the module that does.`;
    if (this.#last === undefined)
      return "Use --tools FILE with the module that exports them, or --mcp with the server that has them.";
    if (existsSync(this.#last.path)) return `Load them with ${hints.runCommand("run", "--session", id)}`;
    return `They were last loaded from ${this.#last.path}, which does not exist anymore. Use --tools FILE.`;
  }
}
