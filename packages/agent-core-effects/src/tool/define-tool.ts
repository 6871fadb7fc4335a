import {
  toolDefinitionSchema,
  type PriceList,
  type Spending,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import type { JsonObject } from "@moora/llm";
import { errorText } from "../error-text.ts";
import { after, isPromise } from "../is-promise.ts";
import { shortenedToBytes } from "../shortened.ts";
import { parseArguments } from "./parse-arguments.ts";
import { schemaCheckOf, type CheckedValue, type SchemaCheck } from "./schema-check.ts";
import type { OutputOf, StandardSchema } from "./standard-schema.ts";
import { outputToOutcome, thrownToOutcome, type ToolOutcome } from "./tool-reply.ts";

/** What a tool may know of its call. */
export interface ToolContext {
  readonly toolCallId: string;
  /** The same for every attempt of this call: whoever takes it twice does the work once. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /**
   * Aborted on cancel, on time-out and when the host shuts down. `reason.name` says which: `AbortError`, `TimeoutError`,
   * or `ShutdownError`, after which the call is still wanted by whoever takes the session up.
   */
  readonly signal: AbortSignal;
  /** Who approved the call, where a human had to. */
  readonly approvedBy?: string;
  /**
   * What this call may spend: for a tool with `spends` the amount that it has reserved, for any other what the agent's
   * limits left when the call began. Undefined without a limit.
   */
  readonly budgetLeft?: Spending;
  /** The agent's price list: what model calls that the tool makes cost. Empty where the agent has none. */
  readonly prices?: PriceList;
  /** Tells viewers how far it is. */
  readonly progress: (text: string) => void;
}

/** What a probe found: it did not run, nobody can tell, or this is what it gave. */
export type ProbeOutcome = "not-run" | "unknown" | { readonly output: unknown };

/** Defaults: low risk, the agent's approval policy, `replay: "once"`, the runner's time-out. */
export interface ToolOptions<Schema, Input> extends Pick<
  ToolDefinition,
  "risk" | "approval" | "replay" | "onUnknown" | "timeoutMs" | "maxParallel" | "spends"
> {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  /** The JSON Schema of `input`, where it cannot give it itself. */
  readonly schema?: JsonObject;
  /** Returns text, JSON or `toolReply(...)`. What it throws is an error that the model reads. */
  readonly execute: (input: Input, context: ToolContext) => unknown;
  /** For `replay: "once"`: what became of a call that a crash broke off. */
  readonly probe?: (input: Input, context: ToolContext) => ProbeOutcome | Promise<ProbeOutcome>;
}

/** A tool in the form that hosts use: text in, text out. */
export interface Tool {
  readonly name: string;
  readonly definition: ToolDefinition;
  /** What is wrong with these arguments, undefined when they can be used. */
  check(parameters: string): string | undefined | Promise<string | undefined>;
  /** Never throws and never rejects. */
  run(parameters: string, context: ToolContext): ToolOutcome | Promise<ToolOutcome>;
  probe?(parameters: string, context: ToolContext): Promise<"not-run" | "unknown" | ToolOutcome>;
}

/**
 * Defines a tool; the input of `execute` has the type that the schema gives. Throws for a name no provider takes, for an
 * input that is no object, and for limits that are none.
 */
export function defineTool<const Schema extends StandardSchema | JsonObject>(
  options: ToolOptions<Schema, OutputOf<Schema>>,
): Tool {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(options.name) || isHostile(options.name))
    throw new TypeError(
      `"${options.name}" is no tool name: 1 to 64 letters, digits, _ or -, and no name of Object.prototype.`,
    );
  const { name, execute, probe } = options;
  const schema = schemaCheckOf(options.input, options.schema);
  if ("type" in schema.json && schema.json["type"] !== "object")
    throw new TypeError(`The input of the tool ${name} has to be an object.`);
  const given = argumentsOf<OutputOf<Schema>>(schema);
  return {
    name,
    definition: definitionOf(options, schema),
    check: (parameters) => after(given.checked(parameters), (it) => (it.ok ? undefined : it.problem)),
    run: (parameters, context) =>
      after(given.taken(parameters), (it) =>
        it.ok ? outcomeOf(() => execute(it.value, context)) : invalid(it.problem),
      ),
    ...(probe === undefined
      ? {}
      : {
          async probe(parameters: string, context: ToolContext) {
            const it = await given.taken(parameters);
            if (!it.ok) return "not-run";
            const found = await probe(it.value, context);
            if (found === "not-run") return found;
            return typeof found === "object" && "output" in found ? outputToOutcome(found.output) : "unknown";
          },
        }),
  };
}

const isHostile = (name: string): boolean => name in {};

/** The outcome of a call whose arguments cannot be used. */
export const invalid = (problem: string): ToolOutcome => ({
  isSuccess: false,
  error: problem,
  code: "invalid-arguments",
});

function definitionOf<Schema, Input>(
  {
    description,
    risk,
    approval,
    replay,
    onUnknown,
    timeoutMs,
    maxParallel,
    spends,
    probe,
  }: ToolOptions<Schema, Input>,
  schema: SchemaCheck<unknown>,
): ToolDefinition {
  const optional = {
    risk,
    approval,
    replay,
    onUnknown,
    timeoutMs,
    maxParallel,
    spends,
    probe: probe === undefined ? undefined : true,
  };
  const optionalGiven = Object.fromEntries(
    Object.entries(optional).filter(([, value]) => value !== undefined),
  );
  const parsed = toolDefinitionSchema.safeParse({
    description,
    schema: JSON.stringify(schema.json),
    ...optionalGiven,
  });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new TypeError(`This is no tool: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "wrong"}.`);
}

type MaybeChecked<Input> = CheckedValue<Input> | Promise<CheckedValue<Input>>;

/**
 * Checks arguments, and keeps what came of it at once for the one who runs them next: a call is looked at when the model
 * makes it, and mostly run right after. What is taken is given to nobody else.
 */
function argumentsOf<Input>(schema: SchemaCheck<unknown>): {
  checked(parameters: string): MaybeChecked<Input>;
  taken(parameters: string): MaybeChecked<Input>;
} {
  let kept: { readonly parameters: string; readonly it: CheckedValue<Input> } | undefined;
  return {
    checked(parameters) {
      const it = checked<Input>(schema, parameters);
      kept = isPromise(it) ? undefined : { parameters, it };
      return it;
    },
    taken(parameters) {
      const known = kept;
      kept = undefined;
      return known?.parameters === parameters ? known.it : checked<Input>(schema, parameters);
    },
  };
}

/** Arguments that parse and fit. The schema's own output type stands for what it checked. A schema that throws refuses. */
function checked<Input>(
  schema: SchemaCheck<unknown>,
  parameters: string,
): CheckedValue<Input> | Promise<CheckedValue<Input>> {
  const parsed = parseArguments(parameters);
  if (!parsed.ok) return parsed;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const found = schema.check(parsed.value) as CheckedValue<Input> | Promise<CheckedValue<Input>>;
    return isPromise(found) ? found.catch(unchecked) : found;
  } catch (error) {
    return unchecked(error);
  }
}

const unchecked = (error: unknown): { readonly ok: false; readonly problem: string } => ({
  ok: false,
  problem: `The arguments could not be checked: ${shortenedToBytes(errorText(error), 1_000)}`,
});

function outcomeOf(run: () => unknown): ToolOutcome | Promise<ToolOutcome> {
  try {
    const output = run();
    return isPromise(output) ? output.then(outputToOutcome).catch(thrownToOutcome) : outputToOutcome(output);
  } catch (error) {
    return thrownToOutcome(error);
  }
}
