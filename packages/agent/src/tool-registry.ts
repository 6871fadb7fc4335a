import { internalTools, type Tool, type ToolContext, type ToolOutcome } from "@moora/agent-core-effects";
import { toolDefinitionSchema, type ToolDefinition } from "@moora/agent-core-state-machine";
import { AgentError } from "./agent-error.ts";

/** Tools by name. Names are those that every provider takes, none twice, none of an object's own. */
export class ToolRegistry {
  private readonly tools = new Map<string, Tool>();

  get size(): number {
    return this.tools.size;
  }

  get byName(): ReadonlyMap<string, Tool> {
    return this.tools;
  }

  get definitions(): Readonly<Record<string, ToolDefinition>> {
    return Object.fromEntries([...this.tools].map(([name, { definition }]) => [name, definition]));
  }

  /** Throws `BuildError` for a name that is hostile, taken, or one of the internal tools', and for a bad definition. */
  register(tool: Tool): this {
    const { name } = tool;
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name in {})
      throw new AgentError("BuildError", `"${name}" is no tool name: 1 to 64 letters, digits, _ or -.`);
    if (this.tools.has(name)) throw new AgentError("BuildError", `The tool ${name} is registered twice.`);
    if (internalTools.some((internal) => internal.name === name))
      throw new AgentError("BuildError", `The name ${name} belongs to an internal tool.`);
    const parsed = toolDefinitionSchema.safeParse(tool.definition);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new AgentError(
        "BuildError",
        `The tool ${name} is none: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "wrong"}`,
      );
    }
    this.tools.set(name, tool);
    return this;
  }

  has(name: string): boolean {
    return this.tools.has(name);
  }

  /** What the model is told: by name, description and the JSON Schema of the input. */
  schemas(): readonly { readonly name: string; readonly description: string; readonly schema: string }[] {
    return [...this.tools.values()].map(({ name, definition: { description, schema } }) => ({
      name,
      description,
      schema,
    }));
  }

  /** Runs a tool outside of any agent. Rejects with `ToolError` for an unknown name or a failed call. */
  async execute(name: string, parameters: string, context: Partial<ToolContext> = {}): Promise<string> {
    const tool = this.tools.get(name);
    if (tool === undefined)
      throw new AgentError("ToolError", `There is no tool ${name}.`, { reason: "unknown-tool" });
    const outcome: ToolOutcome = await tool.run(parameters, { ...aloneContext(), ...context });
    if (outcome.isSuccess) return outcome.content;
    throw new AgentError("ToolError", outcome.error, { reason: outcome.code });
  }
}

export function toolRegistry(tools: readonly Tool[]): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}

const aloneContext = (): ToolContext => ({
  toolCallId: "1",
  idempotencyKey: "1",
  attempt: 1,
  signal: new AbortController().signal,
  progress: () => undefined,
});
