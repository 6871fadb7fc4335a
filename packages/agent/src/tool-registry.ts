import { AgentError, type Tool, type ToolContext, type ToolOutcome } from "@moora/agent-core-effects";
import {
  checkToolName,
  didYouMean,
  fieldProblem,
  internalTools,
  refuse,
  shownValue,
  toolNamed,
} from "@moora/agent-core-effects/internal";
import { toolDefinitionSchema, type ToolDefinition } from "@moora/agent-core-state-machine";

/**
 * A set of tools with unique names. A name must be one that every provider accepts, and not a property that every
 * object has.
 */
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
   * Adds a tool. Throws `BuildError` for a value that `defineTool` did not return, a name that a provider refuses, a
   * duplicate or reserved name, and an invalid definition. `place` names the tool in the message.
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
    this.#checkFormerNames(tool, place);
    this.#tools.set(name, tool);
    return this;
  }

  /** A former name must lead to one tool: no other tool may have it as its name or as a former one. */
  #checkFormerNames({ name, definition }: Tool, place: string): void {
    const other = toolNamed(this.#tools, name);
    if (other !== undefined) {
      refuse(
        `${place}: the tool name "${name}" is a former name of the tool ${other.name}. Remove it from its formerNames, or choose another name.`,
      );
    }
    for (const former of definition.formerNames ?? []) {
      checkToolName(former);
      const taken = former === name ? name : toolNamed(this.#tools, former)?.name;
      if (taken !== undefined) {
        refuse(
          `${place}: formerNames of the tool ${name} has "${former}", which names the tool ${taken}. Remove it.`,
        );
      }
      if (internalTools.some((internal) => internal.name === former)) {
        refuse(
          `${place}: formerNames of the tool ${name} has "${former}", which is reserved for an internal tool. Remove it.`,
        );
      }
    }
  }

  has(name: string): boolean {
    return this.#tools.has(name);
  }

  /** The part of each tool that the model reads: its name, its description and the JSON Schema of its input. */
  schemas(): readonly { readonly name: string; readonly description: string; readonly schema: string }[] {
    return [...this.#tools.values()].map(({ name, definition: { description, schema } }) => ({
      name,
      description,
      schema,
    }));
  }

  /**
   * Runs a tool without an agent and returns its result. Rejects with `AgentError`, kind `ToolError`, for an unknown
   * name and a failed call.
   */
  async execute(name: string, parameters: string, context: Partial<ToolContext> = {}): Promise<string> {
    const tool = this.#tools.get(name);
    if (tool === undefined) {
      throw new AgentError(
        "ToolError",
        `Unknown tool ${shownValue(name)}.${didYouMean(name, [...this.#tools.keys()])}`,
        { reason: "unknown-tool" },
      );
    }
    const outcome: ToolOutcome = await tool.run(parameters, { ...defaultContext(), ...context });
    if (outcome.isSuccess) return outcome.content;
    throw new AgentError("ToolError", outcome.error, { reason: outcome.code });
  }
}

/** Registers a list of tools. Throws `BuildError`, with the position in the list, for an invalid tool. */
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
  const isTool =
    "definition" in tool &&
    "check" in tool &&
    typeof tool.check === "function" &&
    "run" in tool &&
    typeof tool.run === "function";
  if (!isTool) refuse(`${place} was not created by defineTool. ${fix}`);
}

const defaultContext = (): ToolContext => ({
  toolCallId: "call_1",
  idempotencyKey: "call_1",
  attempt: 1,
  signal: new AbortController().signal,
  progress: () => undefined,
});
