import { toolDefinitionSchema, type ToolDefinition } from "@moora/agent-core-state-machine";
import {
  isObject,
  optionForms,
  optionHint,
  required,
  shownValue,
  withMethods,
  type OptionForm,
  type OptionForms,
} from "@moora/llm/internal";
import { checkOptions } from "../check-options.ts";
import { refuse } from "../errors/build-error.ts";
import { fieldProblem } from "../field-problem.ts";
import { isContextDefinition } from "./define-context.ts";
import type { ToolOptions } from "./tool-options.ts";

/** Application data, as an option. */
export const dataForm: OptionForm = {
  ...withMethods("data", "change"),
  expectation: "what defineData returned",
};
/** The need for a context of the process, as an option. */
export const contextForm: OptionForm = {
  expectation: "what defineContext returned",
  fits: isContextDefinition,
};

/** Values of the definition are checked by its schema. */
const forms: OptionForms<ToolOptions> = {
  name: "any",
  description: required({
    expectation: "a text that is not blank",
    fits: (value) => typeof value === "string" && value.trim() !== "",
  }),
  input: "any",
  schema: "any",
  execute: required({ ...optionForms.function, expectation: "a function, (input) => result" }),
  probe: "function",
  risk: "any",
  approval: "any",
  replay: "any",
  onUnknown: "any",
  timeoutMs: "any",
  retries: "any",
  resumable: "any",
  maxParallel: "any",
  spends: { ...optionForms.object, fields: { tokens: "amount", cost: "amount" } },
  data: dataForm,
  context: contextForm,
  formerNames: {
    expectation: "a list of tool names",
    fits: (value) => Array.isArray(value) && value.every(isToolName),
  },
  upcast: "function",
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
  if (!isObject(options)) return refuse(`defineTool needs an object of options, got ${shownValue(options)}.`);
  const { name, input, schema } = options;
  checkToolName(name);
  checkOptions(`the tool ${name}`, options, forms, {
    placeOf: (path) => `${path} of the tool ${name}`,
    hintOf: (option, known) => optionHint(option, known, aliases),
  });
  if (input === undefined && schema !== undefined)
    refuse(`The tool ${name} has schema, but no input. Did you mean "input"?`);
}

const isToolName = (name: unknown): name is string =>
  typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name) && !(name in {});

/** Throws `BuildError` for a name that providers refuse, and for a property name of `Object.prototype`. */
export function checkToolName(name: unknown): asserts name is string {
  if (!isToolName(name)) {
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
