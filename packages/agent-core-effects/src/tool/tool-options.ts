import type { PriceList, Spending, ToolDefinition } from "@moora/agent-core-state-machine";
import type { JsonObject } from "@moora/llm";
import type { DataContext } from "../data/data-updates.ts";
import type { DataDefinition } from "../data/define-data.ts";
import type { ContextDefinition, HostContext } from "./define-context.ts";
import type { OutputOf, StandardSchema } from "./standard-schema.ts";
import type { AskedByTool } from "./tool-asks.ts";

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
