import {
  AgentError,
  agentTransition,
  answerTextAt,
  effectsAt,
  failureToError,
  initialStateOf,
  systemClock,
  userMessage,
  type Agent,
  type AgentEffect,
  type AgentErrorKind,
  type AgentInput,
  type AgentState,
  type Clock,
  type ControlMove,
  type OnApproval,
  type Trace,
} from "@moora/agent";
import {
  NotSynchronous,
  inputAt,
  programOf,
  runProgramSync,
  type EffectHost,
} from "@moora/agent-core-effects";
import { isLoopRunning, parseInput, step, traceOf, ignoredReason } from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import { syncDecisions } from "./sync-decisions.ts";

/** The clock, ids and reviewer of a synchronous run. */
export interface SyncRunnerHost {
  readonly clock: Clock | undefined;
  readonly newId: (prefix: string) => string;
  readonly onApproval: OnApproval;
  readonly context: object | undefined;
}

/** Runs one task without waiting. */
export class SyncRunner {
  readonly #abort = new AbortController();
  readonly #clock: Clock;
  readonly #newId: (prefix: string) => string;
  readonly #onApproval: OnApproval;
  readonly #host: EffectHost;
  readonly #moves: ControlMove[] = [];
  #state: AgentState;

  /** Throws `LlmError` for a model without `callSync`. */
  constructor(agent: Agent, { clock = systemClock, newId, onApproval, context }: SyncRunnerHost) {
    const { parts, runLimits: limits } = agent;
    if (parts.llm.callSync === undefined) {
      throw new AgentError("LlmError", `The model ${parts.llm.name} has no callSync: use run().`, {
        reason: "NotSynchronous",
      });
    }
    this.#clock = clock;
    this.#newId = newId;
    this.#onApproval = onApproval;
    this.#state = initialStateOf(agent);
    this.#host = {
      parts,
      limits,
      context,
      sessionId: newId("task"),
      clock,
      digestOf,
      signal: this.#abort.signal,
      synchronous: true,
      notify: () => undefined,
    };
  }

  current(): AgentState {
    return this.#state;
  }

  trace(): Trace {
    return traceOf([...this.#moves]);
  }

  /** Called during the run: by a tool, a handler, or `onApproval`. */
  cancel(reason?: string): void {
    this.#abort.abort();
    this.#apply({
      type: "re-act-cancelled",
      ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
      timestamp: this.#clock.now(),
    });
  }

  /** Runs the task and returns the text of the answer. Throws the `AgentError` that the loop ended in. */
  run(task: string): string {
    this.#begin(task);
    while (isLoopRunning(this.#state)) {
      const before = this.#state;
      const effect = this.#nextAt(before);
      if (effect !== undefined) this.#perform(effect);
      if (this.#state === before)
        throw this.#error("AgentFailed", "No effect can change the state.", "Stuck");
    }
    const { control } = this.#state.reActContext;
    if (control.type === "Error") throw failureToError(control.failure, this.#state, this.trace());
    return answerTextAt(this.#state);
  }

  /** The next effect that is due. Questions come last, as in `run`, where other calls finish while a reviewer decides. */
  #nextAt(state: AgentState): AgentEffect | undefined {
    const due = Object.values(effectsAt(state)).filter(this.#isDue);
    return due.find(({ type }) => type !== "ask-human") ?? due[0];
  }

  #begin(task: string): void {
    const message = userMessage(task, { messageId: this.#newId("user"), timestamp: this.#clock.now() });
    const parsed = parseInput(message);
    if (!parsed.ok) throw this.#error("AgentFailed", parsed.problem.message, "InputRefused");
    const reason = ignoredReason(parsed.input)(this.#state);
    if (reason !== undefined) throw this.#error("AgentFailed", `The message was ignored: ${reason}.`, reason);
    this.#apply(parsed.input);
  }

  #perform(effect: AgentEffect): void {
    if (effect.type === "ask-human") {
      syncDecisions(effect, this.#state, this.#host, this.#onApproval).some(this.#apply);
      return;
    }
    try {
      const run = programOf(effect, this.#state, this.#host);
      runProgramSync(
        run,
        (...inputs) =>
          inputs.filter((input) => this.#apply(this.#withoutWait(inputAt(input, this.#state)))).length > 0,
      );
    } catch (cause) {
      throw cause instanceof NotSynchronous ? this.#endNotSynchronous(effect) : cause;
    }
  }

  #endNotSynchronous(effect: AgentEffect): AgentError {
    const isTool = effect.type === "call-tool";
    const who = isTool ? `The tool ${effect.name}` : `The effect ${effect.key}`;
    const message = `${who} returned a promise, and a synchronous run cannot wait: use run().`;
    this.cancel(message);
    return this.#error(isTool ? "ToolError" : "AgentFailed", message, "NotSynchronous");
  }

  /** A failed model call is final here if its retry is due later. */
  #withoutWait(input: AgentInput): AgentInput {
    if (input.type !== "llm-call-failed") return input;
    const next = Object.values(effectsAt(agentTransition(input)(this.#state)));
    if (next.length === 0 || next.some(this.#isDue)) return input;
    const message = `${input.failure.message} A synchronous run cannot wait for a retry.`;
    return { ...input, failure: { ...input.failure, retryable: false, message } };
  }

  readonly #apply = (input: AgentInput): boolean => {
    const { state, moves } = step(input)(this.#state);
    if (state === this.#state) return false;
    this.#state = state;
    this.#moves.push(...moves);
    return true;
  };

  readonly #isDue = (effect: AgentEffect): boolean =>
    effect.type !== "wait-until" || effect.due <= this.#clock.now();

  #error(kind: AgentErrorKind, message: string, reason: string): AgentError {
    return new AgentError(kind, message, { reason, state: this.#state, trace: this.trace() });
  }
}
