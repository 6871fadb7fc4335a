import { traceOf, type AgentState, type AgentUsage, type Trace } from "@moora/agent-core-state-machine";
import { causeOf, MooraError } from "./moora-error.ts";

/**
 * What kind of end it was. `AgentFailed`: a limit, a refusal of the graph's own or an answer that never fitted, with the
 * exact word in `reason`. `LlmError`: the model, with its failure kind in `reason`. The others say it themselves.
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

/** What the agent was doing when it ended: nothing that was done is lost with the error. */
export interface AgentErrorDetails {
  readonly reason?: string;
  readonly state?: AgentState;
  readonly trace?: Trace;
  readonly cause?: unknown;
  /**
   * The message in JSON and in what `console.log` shows, where `message` quotes the conversation. Default: the message.
   */
  readonly publicMessage?: string;
}

/**
 * How a run ended that has no answer. `state` and `trace` hold the whole conversation: they can be read, but are left
 * out of JSON and of what `console.log` shows, so that logging an error, or sending an `Error` event to a browser, gives
 * nothing of it away. The `message` of the reason `AnswerInvalid` quotes the last answer; the message in JSON does not.
 */
export class AgentError extends MooraError {
  override readonly name: string = "AgentError";
  readonly kind: AgentErrorKind;
  /** The exact word: `MaxSteps`, `rate-limit`, an input's problem. */
  readonly reason: string;
  /** What the session had used by then; undefined where the error came before there was a state. */
  readonly usage: AgentUsage | undefined;
  readonly #state: AgentState | undefined;
  readonly #trace: Trace;
  readonly #publicMessage: string;

  constructor(kind: AgentErrorKind, message: string, details: AgentErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.kind = kind;
    this.reason = details.reason ?? kind;
    this.usage = details.state?.usage;
    this.#state = details.state;
    this.#trace = details.trace ?? traceOf([]);
    this.#publicMessage = details.publicMessage ?? message;
  }

  /** The same as `kind`. */
  get code(): AgentErrorKind {
    return this.kind;
  }

  /** The session when it ended; undefined where the error came before there was a state. */
  get state(): AgentState | undefined {
    return this.#state;
  }

  /** The control moves of the loop that ended. */
  get trace(): Trace {
    return this.#trace;
  }

  override toJSON(): Readonly<Record<string, unknown>> {
    const { name, kind, reason, usage } = this;
    const message = this.#publicMessage;
    return { name, kind, reason, message, ...(usage === undefined ? {} : { usage }), ...causeOf(this) };
  }

  // The method that Node's console.log and util.inspect call; other platforms ignore it.
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
