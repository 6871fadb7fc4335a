import { toolDefinitionSchema, type ToolDefinition } from "@moora/agent-core-state-machine";
import { refuse } from "../errors/build-error.ts";
import { fieldProblem, shownValue } from "../field-problem.ts";
import { optionHint } from "@moora/llm/internal";
import { isContextDefinition } from "./define-context.ts";
import type { ToolOptions } from "./define-tool.ts";

/** The options that `defineTool` knows; a row that is missing here does not compile. */
const optionNames: Readonly<Record<keyof ToolOptions, true>> = {
  name: true,
  description: true,
  input: true,
  schema: true,
  execute: true,
  probe: true,
  risk: true,
  approval: true,
  replay: true,
  onUnknown: true,
  timeoutMs: true,
  retries: true,
  resumable: true,
  maxParallel: true,
  spends: true,
  data: true,
  context: true,
  formerNames: true,
  upcast: true,
};

/** What other libraries call the options. */
const aliases: Readonly<Record<string, string>> = {
  parameters: "input",
  inputSchema: "input",
  handler: "execute",
  run: "execute",
  func: "execute",
};

/** Throws `BuildError` for options that cannot make a tool. The input schema is checked where it is used. */
export function checkToolOptions(options: unknown): void {
  if (typeof options !== "object" || options === null)
    return refuse(`defineTool needs an object of options, got ${shownValue(options)}.`);
  const { name, input, schema, execute, probe, data, context, upcast } = readOptions(options);
  checkToolName(name);
  const known = Object.keys(optionNames);
  for (const option of Object.keys(options)) {
    if (!known.includes(option))
      refuse(`Unknown option "${option}" of the tool ${name}.${optionHint(option, known, aliases)}`);
  }
  if (input === undefined && schema !== undefined)
    refuse(`The tool ${name} has schema, but no input. Did you mean "input"?`);
  if (typeof execute !== "function")
    refuse(`The tool ${name} has no execute function. Give execute: (input) => result.`);
  if (data !== undefined && typeof Reflect.get(Object(data), "change") !== "function")
    refuse(`data of the tool ${name} was not created by defineData, got ${shownValue(data)}.`);
  if (context !== undefined && !isContextDefinition(context))
    refuse(`context of the tool ${name} was not created by defineContext, got ${shownValue(context)}.`);
  if (upcast !== undefined && typeof upcast !== "function")
    refuse(`upcast of the tool ${name} must be a function, got ${shownValue(upcast)}.`);
  if (probe !== undefined && typeof probe !== "function")
    refuse(`probe of the tool ${name} must be a function, got ${shownValue(probe)}.`);
}

const readOptions = (options: object): { readonly [Name in keyof ToolOptions]?: unknown } => options;

/** Throws `BuildError` for a name that providers refuse, and for a property name of `Object.prototype`. */
export function checkToolName(name: unknown): asserts name is string {
  if (typeof name !== "string" || !/^[A-Za-z0-9_-]{1,64}$/.test(name) || name in {}) {
    refuse(
      `Invalid tool name ${shownValue(name)}. Use 1 to 64 letters, digits, "_" or "-"; names of Object.prototype are reserved.`,
    );
  }
}

/** The definition of a tool for the state. Throws `BuildError` for the first invalid field. */
export function toolDefinitionOf(name: string, fields: object): ToolDefinition {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const parsed = toolDefinitionSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return refuse(
    issue === undefined ? `Invalid tool ${name}.` : `Invalid tool: ${fieldProblem(name, given, issue)}`,
  );
}
