import type { PriceList, Spending, ToolDefinition } from "@moora/agent-core-state-machine";
import type { JsonObject } from "@moora/llm";
import { objectSchemaOf, shownValue } from "@moora/llm/internal";
import type { DataContext } from "../data/data-updates.ts";
import type { AnyData, DataDefinition } from "../data/define-data.ts";
import { refuse } from "../errors/build-error.ts";
import { after, isPromise } from "../is-promise.ts";
import { argumentsOf } from "./validate-arguments.ts";
import type { ContextDefinition, HostContext, WithNeed } from "./define-context.ts";
import { schemaCheckOf, type SchemaCheck } from "./schema-check.ts";
import type { ArgumentsOf, OutputOf, StandardSchema } from "./standard-schema.ts";
import { checkToolOptions, toolDefinitionOf } from "./tool-definition.ts";
import type { AskedByTool } from "./tool-asks.ts";
import { outputToOutcome, thrownToOutcome, type ToolOutcome } from "./tool-reply.ts";

/** The context of a call, which `execute` receives. */
export interface ToolContext {
  /** The id of the call in its session, numbered from `call_1`. */
  readonly toolCallId: string;
  /** The same for every attempt of this call. Pass it to a service, so that the work is done once. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** The number of the loop of the session that the call belongs to, from 1. */
  readonly loop?: number;
  /**
   * Aborted on cancel (`reason.name` is `AbortError`), on timeout (`TimeoutError`) and when the host shuts down
   * (`ShutdownError`). After a shutdown, the next owner of the session still wants the call.
   */
  readonly signal: AbortSignal;
  /** The reviewer who approved the call; undefined if no approval was needed. */
  readonly approvedBy?: string;
  /**
   * What this call may spend: for a tool with `spends` its reservation, for any other tool the remaining budget of the agent
   * when the call started. Undefined without a limit.
   */
  readonly budgetLeft?: Spending;
  /** The price list of the agent, for model calls of the tool. Empty if the agent has none. */
  readonly prices?: PriceList;
  /** The question that an earlier attempt of this call asked with `toolAsks`, and its reply; undefined without one. */
  readonly asked?: AskedByTool;
  /** Reports progress to viewers. */
  readonly progress: (text: string) => void;
}

/** The context of a tool: with application data if it has some, and with what the host gives if it needs that. */
export type ToolContextOf<Data, Context = unknown> = ([Data] extends [never]
  ? ToolContext
  : ToolContext & DataContext<Data>) &
  (unknown extends Context ? unknown : HostContext<Context>);

/** The result of a probe: the call did not run, its outcome cannot be known, or its output. */
export type ProbeOutcome = "not-run" | "unknown" | { readonly output: unknown };

/**
 * What `defineTool` makes a tool of: its schema, its `execute`, and what may happen around a call.
 * `ToolOptions<typeof schema>` are the options of a tool with this input schema.
 */
export interface ToolOptions<
  Schema extends StandardSchema | JsonObject = StandardSchema | JsonObject,
  Input = OutputOf<Schema>,
  Output = unknown,
  Data = never,
  Context = unknown,
> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string;
  /** The description for the model: what the tool does, and when to call it. */
  readonly description: string;
  /** The schema of the arguments, an object schema: a Standard Schema or a JSON Schema. */
  readonly input: Schema;
  /** The JSON Schema of `input`, for libraries that do not provide it: for zod/mini, `z.toJSONSchema(input)`. */
  readonly schema?: Readonly<Record<string, unknown>>;
  /**
   * Runs a call. Returns text, JSON or `toolReply(...)`, or a promise for it. An exception is an error for the model. The type
   * does not require JSON: a `Map`, a function or a class instance without `toJSON` fails the call with the code `not-json`.
   */
  readonly execute: (input: Input, context: ToolContextOf<Data, Context>) => Output;
  /**
   * The application data that `execute` reads as `context.data` and changes with `context.update`. The agent must have the same
   * data. Default: none.
   */
  readonly data?: DataDefinition<Data>;
  /**
   * What the host of the session has to give, defined by `defineContext`: `execute` and `probe` read it as `context.context`.
   * Default: nothing.
   */
  readonly context?: ContextDefinition<Context>;
  /** For `replay: "once"`: finds out the outcome of a call that a crash interrupted. */
  readonly probe?: (
    input: Input,
    context: ToolContextOf<never, Context>,
  ) => ProbeOutcome | Promise<ProbeOutcome>;
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
   * `config.retries.maxToolAttempts`. Default: the runner's `toolTimeoutMs`, 120,000.
   */
  readonly timeoutMs?: number;
  /**
   * How often an attempt that ended with an exception or a timeout is repeated, after a growing delay (`config.retries`).
   * Needs `replay: "safe"` or `"keyed"`. An error that `execute` returns with `toolReply` is not repeated. Default: not at all.
   */
  readonly retries?: number;
  /**
   * Whether an attempt after an interruption continues the work of the one before, such as a job that the `idempotencyKey` names.
   * Then a call may be interrupted any number of times; else `config.retries.maxToolAttempts` counts. Needs `replay: "keyed"`.
   * Default: false.
   */
  readonly resumable?: boolean;
  /** Calls of this tool that run at once. Default: the agent's `toolCalls.maxParallel`. */
  readonly maxParallel?: number;
  /**
   * For a tool that calls models: the most that one call may spend. A kind of spending without an amount is not limited.
   * Under a budget, a call reserves this amount, or the remaining budget if that is less, before it runs. Default: the tool
   * spends nothing.
   */
  readonly spends?: Spending;
  /**
   * The names that the tool had in earlier releases: an open call that was recorded with one of them runs this tool, and so does a
   * call with such a name that a model repeats. Default: none.
   */
  readonly formerNames?: readonly string[];
  /**
   * Converts the arguments of a recorded call that do not fit `input`, because an earlier release accepted them. It must be pure. If it
   * cannot convert the arguments, it throws or returns them unchanged. The result is checked against `input`. New calls of a model and
   * changes of a reviewer must fit `input` as they are. Default: a recorded call that does not fit fails.
   */
  readonly upcast?: (former: JsonObject) => JsonObject;
}

/**
 * A tool, as `defineTool` returns it. Arguments and results are text. `Input` and `Output` are the types of `execute`,
 * `Arguments` is that of the arguments before the schema converts them, `Answer` that of what a person answers (`askHuman`); a list of
 * tools of any types is a `Tool[]`.
 */
export interface Tool<
  Input = unknown,
  Output = unknown,
  Name extends string = string,
  Arguments = unknown,
  Answer = unknown,
> {
  readonly name: Name;
  readonly definition: ToolDefinition;
  /** The application data that the tool uses. */
  readonly data?: AnyData;
  /** What the tool needs of the host of its session. */
  readonly context?: ContextDefinition;
  /** Returns why arguments are invalid; undefined if they are valid. */
  check(parameters: string): string | undefined | Promise<string | undefined>;
  /** Runs a call. Must not throw or reject. */
  run(parameters: string, context: ToolContext): ToolOutcome | Promise<ToolOutcome>;
  probe?(parameters: string, context: ToolContext): Promise<ProbeResult>;
  /** Exists only for types; not set. */
  readonly "~types"?: {
    readonly input: Input;
    readonly output: Output;
    readonly arguments: Arguments;
    readonly answer: Answer;
  };
}

/** The type of the input of a tool's `execute`: `ToolInput<typeof weather>`. */
export type ToolInput<Of extends Tool> = NonNullable<Of["~types"]>["input"];

/** The type of the output of a tool's `execute`, or of its promise: `ToolOutput<typeof weather>`. */
export type ToolOutput<Of extends Tool> = NonNullable<Of["~types"]>["output"];

type ProbeResult = "not-run" | "unknown" | ToolOutcome;

/**
 * Defines a tool. The schema determines the type of the input of `execute`. Throws `BuildError` for an invalid name, a
 * missing or invalid schema, an input that is not an object, a missing `execute`, an unknown option and a limit that is not
 * a positive integer. The message names the tool, the option and the fix.
 */
export function defineTool<
  // Without `input` nothing is inferred: then any `execute` fits, and the error is at what stands in place of `input`.
  // oxlint-disable-next-line typescript/no-explicit-any
  const Schema extends StandardSchema | JsonObject = StandardSchema<any>,
  Output = unknown,
  Data = never,
  Context = unknown,
  const Name extends string = string,
  const Retries extends number = 0,
>(
  // Types are inferred from an object of their own. TypeScript infers nothing from one that both lacks a required field and has an
  // unknown one, and would then report `execute` in place of the misspelled option.
  options: ToolOptions<Schema, OutputOf<Schema>, Output, Data, Context> & {
    readonly name: Name;
    readonly input: Schema;
    readonly retries?: Retries;
    // A number that is known only at run time is checked there.
  } & (Retries extends 0
      ? unknown
      : number extends Retries
        ? unknown
        : { readonly replay: "safe" | "keyed" }),
): WithNeed<Tool<OutputOf<Schema>, Awaited<Output>, Name, ArgumentsOf<Schema>>, NoInfer<Context>> {
  checkToolOptions(options);
  // The context, the name and the arguments exist only for types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return toolOf(options) as WithNeed<
    Tool<OutputOf<Schema>, Awaited<Output>, Name, ArgumentsOf<Schema>>,
    NoInfer<Context>
  >;
}

function toolOf<const Schema extends StandardSchema | JsonObject, Output, Data, Context>(
  options: ToolOptions<Schema, OutputOf<Schema>, Output, Data, Context>,
): Tool<OutputOf<Schema>, Awaited<Output>> {
  const { name, data, context: needed } = options;
  // The runner gives a tool with data, or with a need for a context, the context of one.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { execute, probe } = options as unknown as ToolOptions<Schema, OutputOf<Schema>, Output>;
  const schema = inputSchemaOf(options);
  const given = argumentsOf<OutputOf<Schema>>(schema, options.upcast);
  const tool: Tool<OutputOf<Schema>, Awaited<Output>> = {
    name,
    definition: definitionOf(options, schema.json),
    ...(data === undefined ? {} : { data }),
    ...(needed === undefined ? {} : { context: needed }),
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
      // Arguments that are invalid now may have been valid for the schema of an earlier release.
      return it.ok ? foundToOutcome(name, await probe(it.value, context)) : "unknown";
    },
  };
}

type AnyToolOptions = Omit<
  ToolOptions<StandardSchema | JsonObject, never>,
  "execute" | "data" | "context" | "probe" | "upcast"
> & { readonly probe?: unknown; readonly upcast?: unknown };

function inputSchemaOf({ name, input, schema: beside }: AnyToolOptions): SchemaCheck<unknown> {
  const schema = schemaCheckOf(input, beside, `The input of the tool ${name}`);
  if (objectSchemaOf(schema.json) !== undefined) return schema;
  const { type = "object" } = schema.json;
  const given = type === "object" ? "that no object fits" : `of type ${JSON.stringify(type)}`;
  return refuse(
    `The input of the tool ${name} must be an object, got a schema ${given}. Wrap it: z.object({ value: ... }).`,
  );
}

function definitionOf({ name, probe, upcast, ...options }: AnyToolOptions, json: JsonObject): ToolDefinition {
  const { description, risk, approval, replay, onUnknown, timeoutMs, retries, maxParallel, spends } = options;
  const { formerNames, resumable } = options;
  if (resumable === true && replay !== "keyed") {
    refuse(
      `The tool ${name} is resumable, but its replay is ${shownValue(replay ?? "once")}. Use replay: "keyed": a call continues by its idempotency key.`,
    );
  }
  const settles = probe === undefined ? onUnknown && "onUnknown" : "probe";
  if (settles !== undefined && (replay === "safe" || replay === "keyed")) {
    refuse(
      `The tool ${name} has ${settles}, but its replay is ${shownValue(replay)}: an interrupted call runs again. Use replay: "once", or leave it out.`,
    );
  }
  if (retries !== undefined && retries !== 0 && replay !== "safe" && replay !== "keyed") {
    refuse(
      `The tool ${name} has retries, but its replay is ${shownValue(replay ?? "once")}. Use replay: "safe" or "keyed", which say that a call may run more than once.`,
    );
  }
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
    retries,
    resumable,
    maxParallel,
    spends,
    formerNames,
    upcasts: upcast === undefined ? undefined : true,
  };
  return toolDefinitionOf(name, fields);
}

/** The outcome of a probe. An invalid value, which code without types may return, counts as unknown. */
const foundToOutcome = (name: string, found: ProbeOutcome): ProbeResult => {
  if (found === "not-run") return found;
  const hasOutput = typeof found === "object" && found !== null && "output" in found;
  return hasOutput ? outputToOutcome(found.output, name) : "unknown";
};

/** The outcome of a call with invalid arguments. */
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
