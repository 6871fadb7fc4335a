import { traceOf, type AgentState, type AgentUsage, type Trace } from "@moora/agent-core-state-machine";
import { frozenState } from "@moora/agent-core-state-machine/internal";
import { causeOf, MooraError } from "./moora-error.ts";

/**
 * The kind of an `AgentError`. `AgentFailed`: a limit, a failure of the control graph, or an answer that stayed invalid;
 * `reason` is the exact one. `LlmError`: a failure of the model; `reason` is its kind.
 */
export type AgentErrorKind =
  | "AgentFailed"
  | "InvalidTransition"
  | "NoHandlerForState"
  | "SafetyCapExceeded"
  | "LlmError"
  | "ToolError"
  | "MemoryError"
  | "BuildError"
  | "Cancelled"
  | "LogCorrupt"
  | "Conflict";

/** The details of an `AgentError`: its exact reason, and the state and the moves of the session when it ended. */
export interface AgentErrorDetails {
  readonly reason?: string;
  readonly state?: AgentState;
  readonly trace?: Trace;
  readonly cause?: unknown;
  /**
   * The message in JSON and in what `console.log` shows, where `message` quotes the conversation. Default: the message.
   */
  readonly publicMessage?: string;
  readonly retryAt?: number | undefined;
}

/**
 * The error of a run that ends without an answer. `state` and `trace` contain the whole conversation. They are left out of
 * JSON and of the output of `console.log`, so that logging an error, or sending an `Error` event to a browser, does not
 * disclose the conversation. The `message` of the reason `AnswerInvalid` quotes the last answer; the message in JSON does not.
 */
export class AgentError extends MooraError {
  override readonly name: string = "AgentError";
  readonly kind: AgentErrorKind;
  /** The exact reason, such as `MaxSteps` or `rate-limit`. Default: the kind. */
  readonly reason: string;
  /** The usage of the session when the loop ended; undefined if the error occurred before there was a state. */
  readonly usage: AgentUsage | undefined;
  /** When the provider accepts the next request, in milliseconds since 1970, where that was too late for the run. */
  readonly retryAt: number | undefined;
  readonly #state: AgentState | undefined;
  readonly #trace: Trace;
  readonly #publicMessage: string;

  constructor(kind: AgentErrorKind, message: string, details: AgentErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.kind = kind;
    this.reason = details.reason ?? kind;
    this.usage = details.state?.usage;
    this.retryAt = details.retryAt;
    this.#state = details.state;
    this.#trace = details.trace ?? traceOf([]);
    this.#publicMessage = details.publicMessage ?? message;
  }

  /** The same as `kind`. */
  get code(): AgentErrorKind {
    return this.kind;
  }

  /** The state when the loop ended; undefined if the error occurred before there was a state. */
  get state(): AgentState | undefined {
    return this.#state && frozenState(this.#state);
  }

  /** The control moves of the loop that ended. */
  get trace(): Trace {
    return this.#trace;
  }

  override toJSON(): Readonly<Record<string, unknown>> {
    const { name, kind, reason, usage, retryAt } = this;
    const message = this.#publicMessage;
    const optional = {
      ...(usage === undefined ? {} : { usage }),
      ...(retryAt === undefined ? {} : { retryAt }),
    };
    return { name, kind, reason, message, ...optional, ...causeOf(this) };
  }

  // Node's console.log and util.inspect call this method. Other platforms ignore it.
  static {
    Object.defineProperty(this.prototype, Symbol.for("nodejs.util.inspect.custom"), { value: inspected });
  }
}

/** The text that `console.log` shows: the message, the stack, and the fields of the JSON. */
function inspected(
  this: AgentError,
  _depth: number,
  options: unknown,
  inspect: (value: unknown, options: unknown) => string,
): string {
  const { name, stack = "" } = this;
  const { name: _name, message, ...fields } = this.toJSON();
  const frames = stack.indexOf("\n    at ", this.message.length);
  return `${name}: ${String(message)}${frames < 0 ? "" : stack.slice(frames)} ${inspect(fields, options)}`;
}
