import { AgentError, type Tool, type ToolContext, type ToolOutcome } from "@moora/agent-core-effects";
import {
  checkToolName,
  didYouMean,
  fieldProblem,
  internalTools,
  refuse,
  shownValue,
} from "@moora/agent-core-effects/internal";
import { toolDefinitionSchema, type ToolDefinition } from "@moora/agent-core-state-machine";

/** Tools by name. Names are those that every provider takes, each of them once, and none that every object has. */
export class ToolRegistry {
  readonly #tools = new Map<string, Tool>();

  get size(): number {
    return this.#tools.size;
  }

  get byName(): ReadonlyMap<string, Tool> {
    return this.#tools;
  }

  get definitions(): Readonly<Record<string, ToolDefinition>> {
    return Object.fromEntries([...this.#tools].map(([name, { definition }]) => [name, definition]));
  }

  /**
   * Throws `BuildError` for what `defineTool` did not make, for a name that a provider refuses, that is taken or reserved for
   * an internal tool, and for an invalid definition. `place` names the tool in the message.
   */
  register(tool: Tool, place: string = "The tool"): this {
    checkTool(tool, place);
    const { name } = tool;
    checkToolName(name);
    if (this.#tools.has(name)) refuse(`${place}: the tool name "${name}" is taken. Register each tool once.`);
    if (internalTools.some((internal) => internal.name === name))
      refuse(`${place}: the tool name "${name}" is reserved for an internal tool. Choose another name.`);
    const parsed = toolDefinitionSchema.safeParse(tool.definition);
    const issue = parsed.error?.issues[0];
    if (issue !== undefined)
      refuse(`${place}: ${fieldProblem(`${name}.definition`, tool.definition, issue)}`);
    this.#tools.set(name, tool);
    return this;
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** What the model reads: the name, the description and the JSON Schema of the input of each tool. */
  schemas(): readonly { readonly name: string; readonly description: string; readonly schema: string }[] {
    return [...this.#tools.values()].map(({ name, definition: { description, schema } }) => ({
      name,
      description,
      schema,
    }));
  }

  /** Runs a tool outside of any agent. Rejects with `ToolError` for an unknown name or a failed call. */
  async execute(name: string, parameters: string, context: Partial<ToolContext> = {}): Promise<string> {
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      throw new AgentError(
        "ToolError",
        `Unknown tool ${shownValue(name)}.${didYouMean(name, [...this.#tools.keys()])}`,
        { reason: "unknown-tool" },
      );
    }
    const outcome: ToolOutcome = await tool.run(parameters, { ...aloneContext(), ...context });
    if (outcome.isSuccess) return outcome.content;
    throw new AgentError("ToolError", outcome.error, { reason: outcome.code });
  }
}

/** Throws `BuildError`, with the place in the list, for an invalid list of tools. */
export function toolRegistry(tools: readonly Tool[]): ToolRegistry {
  if (!Array.isArray(tools)) refuse(`tools must be an array of tools, got ${shownValue(tools)}.`);
  const registry = new ToolRegistry();
  for (const [index, tool] of tools.entries()) registry.register(tool, `tools[${index}]`);
  return registry;
}

function checkTool(tool: unknown, place: string): void {
  const fix = "Define it with defineTool({ name, description, input, execute }).";
  if (typeof tool !== "object" || tool === null)
    return refuse(`${place} must be a tool, got ${shownValue(tool)}. ${fix}`);
  const isMade =
    "definition" in tool &&
    "check" in tool &&
    typeof tool.check === "function" &&
    "run" in tool &&
    typeof tool.run === "function";
  if (!isMade) refuse(`${place} was not made by defineTool. ${fix}`);
}

const aloneContext = (): ToolContext => ({
  toolCallId: "1",
  idempotencyKey: "1",
  attempt: 1,
  signal: new AbortController().signal,
  progress: () => undefined,
});
