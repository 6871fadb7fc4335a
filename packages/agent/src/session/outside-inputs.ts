import type { AgentError } from "@moora/agent-core-effects";
import { isPromise } from "@moora/agent-core-effects/internal";
import {
  ignoredReason,
  inputTraits,
  isLoopRunning,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import { deciderOf, recordOf } from "@moora/agent-core-state-machine/internal";
import type { SessionBase } from "./create-session.ts";
import type { AgentMachine } from "./agent-machine.ts";
import { checkStarts, parseOrRefuse } from "./parse-or-refuse.ts";
import { PendingInput } from "./pending-input.ts";
import { SerialQueue } from "./serial-queue.ts";
import { InputRefused, type Receipt, type Session } from "./session.ts";

type OutsideBase = Pick<SessionBase, "refuses" | "refusesHost" | "files" | "isUnattended">;

/** Dispatches inputs from outside the session and returns their receipts. */
export class OutsideInputs {
  readonly #base: OutsideBase;
  readonly #dispatch: AgentMachine["dispatch"];
  #stopped: AgentError | undefined;
  /** Creates `#stopped` when it is needed: an error with its stack costs more than a step. */
  #createStopped: (() => AgentError) | undefined;

  /** Resolves when the files of the inputs before are stored; undefined if none are being stored. */
  #storing: Promise<unknown> | undefined;

  /** The cancels and pauses on their way, by promises that resolve when they have been stored or have failed. */
  readonly #holding = new Map<Promise<void>, HoldingType>();

  /** The posts to the session of a sub-agent. */
  readonly #posts = new SerialQueue(() => undefined);

  constructor(base: OutsideBase, dispatch: AgentMachine["dispatch"]) {
    this.#base = base;
    this.#dispatch = dispatch;
  }

  /** The error with which every call rejects; undefined while the session accepts inputs. */
  get stopped(): AgentError | undefined {
    return (this.#stopped ??= this.#createStopped?.());
  }

  /**
   * Resolves when a cancel or a pause has been stored or has failed; undefined if none is on its way. Nothing begins until then, but
   * a pause does not hold what is recorded as started.
   */
  holding(isStarted: boolean): Promise<void> | undefined {
    for (const [ended, type] of this.#holding) if (!isStarted || type === "re-act-cancelled") return ended;
    return undefined;
  }

  /** Makes every later call reject with this error, which is created when it is needed. The first one counts. */
  stop(createError: () => AgentError): void {
    this.#createStopped ??= createError;
  }

  /** Throws if the session takes no inputs from outside, because it was closed or lost, or only reads. */
  check(): void {
    const refusal = this.#base.refuses?.() ?? this.stopped;
    if (refusal !== undefined) throw refusal;
  }

  /** Dispatches inputs as one batch; the receipt is that of the last one. */
  async dispatch(...given: readonly AgentInput[]): Promise<Receipt> {
    this.check();
    if (this.#base.isUnattended !== undefined) return await this.#post(() => this.#dispatchBatch(given));
    const release = this.#hold(given.map(({ type }) => type).find(isHolding));
    try {
      return await this.#dispatchBatch(given);
    } finally {
      release();
    }
  }

  /** Holds work until the returned function is called. */
  #hold(type: HoldingType | undefined): () => void {
    if (type === undefined) return () => undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#holding.set(promise, type);
    return () => {
      this.#holding.delete(promise);
      resolve();
    };
  }

  async #dispatchBatch(given: readonly AgentInput[]): Promise<Receipt> {
    const stored = this.#stored(given);
    const inputs = isPromise(stored) ? await stored : stored;
    if (isPromise(stored)) this.check();
    const [first] = inputs;
    // The batches of several inputs that a poster dispatches start no loop.
    if (this.#base.isUnattended !== undefined && inputs.length === 1 && first !== undefined)
      return await this.#dispatchBound(() => first);
    const pending = inputs.map((input) => new PendingInput(input));
    const last = pending.at(-1);
    if (last === undefined) return { status: "ignored", reason: "nothing-new" };
    const { state: after } = await this.#dispatch(...pending);
    return last.seq === undefined ? ignored(last.input, after.state) : { status: "accepted", seq: last.seq };
  }

  /** Makes a post to the session of a sub-agent. Later ones wait for its end: it may have to read the lease. */
  async #post(make: () => Promise<Receipt>): Promise<Receipt> {
    const { promise, resolve, reject } = Promise.withResolvers<Receipt>();
    const checked = async (): Promise<Receipt> => {
      this.check();
      return await make();
    };
    this.#posts.add(() => checked().then(resolve, reject));
    return await promise;
  }

  /** Inputs whose files are stored. They stay in their order: later ones wait. */
  #stored(inputs: readonly AgentInput[]): readonly AgentInput[] | Promise<readonly AgentInput[]> {
    const stored = this.#base.files?.inputsToStore(inputs) ?? inputs;
    const before = this.#storing;
    if (before === undefined && !isPromise(stored)) return inputs;
    const inOrder = Promise.allSettled([before, stored]).then(() => stored);
    const ended = (): void => {
      if (this.#storing === inOrder) this.#storing = undefined;
    };
    inOrder.then(ended, ended);
    this.#storing = inOrder;
    return inOrder;
  }

  /**
   * Dispatches a late-bound input, which is computed for the state before it. Rejects with what `bind` throws, and nothing is
   * dispatched then, nor if it returns undefined. A change of data without patches is ignored.
   */
  async dispatchLate(bind: Bind): Promise<Receipt> {
    this.check();
    if (this.#base.isUnattended !== undefined) return await this.#post(() => this.#dispatchBound(bind));
    return await this.#bind(bind, true);
  }

  /** The same for the session of a sub-agent, whose lease is read only for an input that starts a loop. */
  async #dispatchBound(bind: Bind): Promise<Receipt> {
    const receipt = await this.#bind(bind, false);
    if (receipt.status === "accepted" || receipt.reason !== "call-ended") return receipt;
    const isUnattended = await this.#base.isUnattended?.();
    this.check();
    return isUnattended === true ? receipt : await this.#bind(bind, true);
  }

  /** Without `mayStartLoop` an input that starts a loop is ignored as `call-ended`. */
  async #bind(bind: Bind, mayStartLoop: boolean): Promise<Receipt> {
    let bound: Bound | undefined;
    // It may be a cancel, which is known when it is computed.
    let release = this.#hold("re-act-cancelled");
    const dispatched = this.#dispatch(({ state: before }) => {
      // Its append was reported as failed, and the log has it: computing it again would apply it twice.
      if (bound !== undefined && "pending" in bound && bound.pending.seq !== undefined) return bound.pending;
      try {
        const input = bind(before);
        if (input !== undefined && !mayStartLoop && startsLoop(input, before)) {
          bound = { reason: "call-ended" };
          return undefined;
        }
        release();
        release = this.#hold([input?.type].find(isHolding));
        const pending = input === undefined ? undefined : new PendingInput(input);
        bound = pending && { pending };
        return pending;
      } catch (error) {
        bound = { error };
        return undefined;
      }
    });
    const { state: after } = await dispatched.finally(() => release());
    return lateReceipt(bound, after.state);
  }

  /** Dispatches an input of `configure` or `note`, which only the process that runs the session may call. */
  async dispatchOfHost(value: unknown): Promise<Receipt> {
    const input = parseOrRefuse(value);
    const refusal = this.#base.refusesHost?.();
    if (refusal !== undefined) throw refusal;
    return await this.dispatch(input);
  }
}

/** The types of the inputs that hold work while they are being stored. */
type HoldingType = "re-act-cancelled" | "session-paused";

const isHolding = (type: AgentInput["type"] | undefined): type is HoldingType =>
  type === "re-act-cancelled" || type === "session-paused";

/** The methods of a session for inputs that `dispatch` does not accept. */
const methods: { readonly [Type in AgentInput["type"]]?: keyof Session & string } = {
  "agent-configured": "configure",
  "context-note-added": "note",
  "data-changed": "update",
  "tool-call-completed": "settle",
};

/** Throws `InputRefused` for an input that only the runner of a session may dispatch, or only a method of it. */
export function checkAccess(input: AgentInput): void {
  checkStarts(input);
  const { type } = input;
  if (inputTraits[type].access === "anyone") return;
  const method = methods[type];
  const message =
    method === undefined
      ? `Only the runner of the session may dispatch ${type}.`
      : `dispatch does not accept ${type}. Call ${method}.`;
  throw new InputRefused({ code: "not-allowed", path: "type", message });
}

/** Computes an input for the state before it; undefined for none. */
type Bind = (state: AgentState) => AgentInput | undefined;

/** What became of a late-bound input: it is dispatched, its computation threw, or it is ignored. */
type Bound =
  | { readonly pending: PendingInput }
  | { readonly error: unknown }
  | { readonly reason: "call-ended" };

/** Whether an input starts a loop in the session of a sub-agent that has ended its task, or is to start one later. */
function startsLoop(input: AgentInput, state: AgentState): boolean {
  if (ignoredReason(input)(state) !== undefined) return false;
  if (input.type === "schedule-changed") return input.schedule !== null;
  return (
    (input.type === "user-message-received" || input.type === "loop-retried") &&
    !isLoopRunning(state) &&
    state.messages.some(({ role }) => role === "user")
  );
}

function lateReceipt(bound: Bound | undefined, state: AgentState): Receipt {
  if (bound === undefined) return { status: "ignored", reason: "nothing-new" };
  if ("error" in bound) throw bound.error;
  if ("reason" in bound) return { status: "ignored", reason: bound.reason };
  const { seq, input } = bound.pending;
  return seq === undefined ? ignored(input, state) : { status: "accepted", seq };
}

function ignored(input: AgentInput, state: AgentState): Receipt {
  const reason = ignoredReason(input)(state) ?? "nothing-new";
  // The open question, which the decision does not fit, has no decision yet.
  const decidedBy = reason === "wrong-decision" ? undefined : deciderAt(state, input);
  return { status: "ignored", reason, ...(decidedBy === undefined ? {} : { decidedBy }) };
}

/** Who has decided the question before that an ignored decision is about. */
function deciderAt(state: AgentState, input: AgentInput): string | undefined {
  if (input.type !== "tool-call-decided") return undefined;
  const record = recordOf(state, input.toolCallId);
  return record === undefined ? undefined : deciderOf(record, input.digest);
}
