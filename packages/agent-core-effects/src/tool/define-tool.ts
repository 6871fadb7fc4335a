import type { PriceList, Spending, ToolDefinition } from "@moora/agent-core-state-machine";
import type { JsonObject } from "@moora/llm";
import { refuse } from "../errors/build-error.ts";
import { after, isPromise } from "../is-promise.ts";
import { argumentsOf } from "./validate-arguments.ts";
import { schemaCheckOf, type SchemaCheck } from "./schema-check.ts";
import type { OutputOf, StandardSchema } from "./standard-schema.ts";
import { checkToolOptions, toolDefinitionOf } from "./tool-definition.ts";
import { outputToOutcome, thrownToOutcome, type ToolOutcome } from "./tool-reply.ts";

/** What a tool knows of the call that it executes. */
export interface ToolContext {
  readonly toolCallId: string;
  /** The same for every attempt of this call: a service that gets it twice does the work once. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /**
   * Aborted on cancel, on time-out and when the host shuts down. `reason.name` says which: `AbortError`, `TimeoutError`,
   * or `ShutdownError`, after which the next owner of the session still wants the call.
   */
  readonly signal: AbortSignal;
  /** Who approved the call, where a person had to. */
  readonly approvedBy?: string;
  /**
   * What this call may spend: for a tool with `spends` the amount that it has reserved, for any other what the agent's
   * limits left when the call began. Undefined without a limit.
   */
  readonly budgetLeft?: Spending;
  /** The agent's price list: what model calls that the tool makes cost. Empty where the agent has none. */
  readonly prices?: PriceList;
  /** Reports progress to viewers. */
  readonly progress: (text: string) => void;
}

/** What a probe found: the call did not run, its outcome cannot be known, or what it returned. */
export type ProbeOutcome = "not-run" | "unknown" | { readonly output: unknown };

/**
 * What `defineTool` makes a tool of: its schema, its `execute`, and what may happen around a call.
 * `ToolOptions<typeof schema>` are the options of a tool with this input schema.
 */
export interface ToolOptions<
  Schema extends StandardSchema | JsonObject = StandardSchema | JsonObject,
  Input = OutputOf<Schema>,
  Output = unknown,
> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string;
  /** What the model reads: what the tool does, and when to call it. */
  readonly description: string;
  /** The schema of the arguments, an object schema: a Standard Schema or a JSON Schema. */
  readonly input: Schema;
  /** The JSON Schema of `input`, for libraries that do not give it. */
  readonly schema?: JsonObject;
  /** Returns text, JSON or `toolReply(...)`, now or as a promise. The model reads what it throws as an error. */
  readonly execute: (input: Input, context: ToolContext) => Output;
  /** For `replay: "once"`: finds out what became of a call that a crash interrupted. */
  readonly probe?: (input: Input, context: ToolContext) => ProbeOutcome | Promise<ProbeOutcome>;
  /** How much harm a call can do, for approval policies of the form `{ above }`. Default: "low". */
  readonly risk?: NonNullable<ToolDefinition["risk"]>;
  /**
   * Whether a person is asked before a call runs: the tool's own rule. It takes precedence over the agent's approval
   * policy, except that "never" does not weaken the policy "always". Default: the policy decides.
   */
  readonly approval?: NonNullable<ToolDefinition["approval"]>;
  /**
   * What may happen to a call that a crash interrupted. "safe": it runs again. "keyed": it runs again with the same
   * `idempotencyKey`. "once": it never runs again; its `probe` or `onUnknown` settles it. Default: "once".
   */
  readonly replay?: NonNullable<ToolDefinition["replay"]>;
  /** For `replay: "once"` without an answer of `probe`: report it to the model, or ask a person. Default: "report". */
  readonly onUnknown?: NonNullable<ToolDefinition["onUnknown"]>;
  /**
   * Milliseconds that one attempt of a call may take. An attempt after a crash has the whole time again; there are at most
   * `config.maxToolAttempts`. Default: the runner's `toolTimeoutMs`, 120,000.
   */
  readonly timeoutMs?: number;
  /** Calls of this tool that run at once. Default: the agent's `maxParallelTools`. */
  readonly maxParallel?: number;
  /**
   * For a tool that calls models itself: the most that one call may spend, without an amount where it has no limit of its
   * own. Under a budget a call reserves that much, or what is left, before it runs. Default: the tool spends nothing.
   */
  readonly spends?: Spending;
}

/**
 * A tool in the form that hosts use: text in, text out. `defineTool` makes them. `Input` and `Output` are those of `execute`;
 * a list of tools is a `Tool[]`, whatever they are.
 */
export interface Tool<Input = unknown, Output = unknown> {
  readonly name: string;
  readonly definition: ToolDefinition;
  /** What is wrong with these arguments, undefined when they can be used. */
  check(parameters: string): string | undefined | Promise<string | undefined>;
  /** Never throws and never rejects. */
  run(parameters: string, context: ToolContext): ToolOutcome | Promise<ToolOutcome>;
  probe?(parameters: string, context: ToolContext): Promise<ProbeResult>;
  /** For types only: never set. */
  readonly "~types"?: { readonly input: Input; readonly output: Output };
}

/** What `execute` of a tool takes: `ToolInput<typeof weather>`. */
export type ToolInput<Of extends Tool> = NonNullable<Of["~types"]>["input"];

/** What `execute` of a tool returns, or what its promise resolves with: `ToolOutput<typeof weather>`. */
export type ToolOutput<Of extends Tool> = NonNullable<Of["~types"]>["output"];

type ProbeResult = "not-run" | "unknown" | ToolOutcome;

/**
 * Defines a tool. The input of `execute` has the type that the schema gives. Throws `BuildError`, with the tool, the option
 * and the fix, for a name that a provider refuses, a missing or unusable schema, an input that is not an object, a missing
 * `execute`, an unknown option and a limit that is not a positive integer.
 */
export function defineTool<const Schema extends StandardSchema | JsonObject, Output = unknown>(
  options: ToolOptions<Schema, OutputOf<Schema>, Output>,
): Tool<OutputOf<Schema>, Awaited<Output>> {
  checkToolOptions(options);
  const { name, execute, probe } = options;
  const schema = inputSchemaOf(options);
  const given = argumentsOf<OutputOf<Schema>>(schema);
  const tool: Tool<OutputOf<Schema>, Awaited<Output>> = {
    name,
    definition: definitionOf(options, schema.json),
    check: (parameters) => after(given.checked(parameters), (it) => (it.ok ? undefined : it.problem)),
    run: (parameters, context) =>
      after(given.taken(parameters), (it) =>
        it.ok ? outcomeOf(name, () => execute(it.value, context)) : invalid(it.problem),
      ),
  };
  if (probe === undefined) return tool;
  return {
    ...tool,
    async probe(parameters, context) {
      const it = await given.taken(parameters);
      // The call ran with the schema of an earlier release, which these arguments fitted.
      return it.ok ? foundToOutcome(name, await probe(it.value, context)) : "unknown";
    },
  };
}

function inputSchemaOf({
  name,
  input,
  schema: beside,
}: ToolOptions<StandardSchema | JsonObject, never>): SchemaCheck<unknown> {
  const schema = schemaCheckOf(input, beside, `The input of the tool ${name}`);
  const type = schema.json["type"] ?? "object";
  if (type !== "object") {
    refuse(
      `The input of the tool ${name} must be an object, got a schema of type ${JSON.stringify(type)}. Wrap it: z.object({ value: ... }).`,
    );
  }
  return schema;
}

function definitionOf(
  { name, probe, ...options }: ToolOptions<StandardSchema | JsonObject, never>,
  json: JsonObject,
): ToolDefinition {
  const { description, risk, approval, replay, onUnknown, timeoutMs, maxParallel, spends } = options;
  const schema = JSON.stringify(json);
  const hasProbe = probe === undefined ? undefined : true;
  const fields = {
    description,
    schema,
    risk,
    approval,
    replay,
    probe: hasProbe,
    onUnknown,
    timeoutMs,
    maxParallel,
    spends,
  };
  return toolDefinitionOf(name, fields);
}

/** Hosts without types may return anything: a value of another form counts as unknown. */
const foundToOutcome = (name: string, found: ProbeOutcome): ProbeResult => {
  if (found === "not-run") return found;
  const hasOutput = typeof found === "object" && found !== null && "output" in found;
  return hasOutput ? outputToOutcome(found.output, name) : "unknown";
};

/** The outcome of a call whose arguments cannot be used. */
export const invalid = (problem: string): ToolOutcome => ({
  isSuccess: false,
  error: problem,
  code: "invalid-arguments",
});

function outcomeOf(name: string, run: () => unknown): ToolOutcome | Promise<ToolOutcome> {
  const toOutcome = (output: unknown): ToolOutcome => outputToOutcome(output, name);
  try {
    const output = run();
    return isPromise(output) ? output.then(toOutcome).catch(thrownToOutcome) : toOutcome(output);
  } catch (error) {
    return thrownToOutcome(error);
  }
}
