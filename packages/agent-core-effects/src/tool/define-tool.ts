import type { ToolDefinition } from "@moora/agent-core-state-machine";
import type { JsonObject } from "@moora/llm";
import { objectSchemaOf, shownValue } from "@moora/llm/internal";
import type { AnyData } from "../data/define-data.ts";
import { refuse } from "../errors/build-error.ts";
import { after, isPromise } from "../is-promise.ts";
import { argumentsOf } from "./validate-arguments.ts";
import type { ContextDefinition, WithNeed } from "./define-context.ts";
import { schemaCheckOf, type SchemaCheck } from "./schema-check.ts";
import type { ArgumentsOf, OutputOf, StandardSchema } from "./standard-schema.ts";
import { checkToolOptions, toolDefinitionOf } from "./tool-definition.ts";
import type { ProbeOutcome, ToolContext, ToolOptions } from "./tool-options.ts";
import { outputToOutcome, thrownToOutcome, type ToolOutcome } from "./tool-reply.ts";

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
