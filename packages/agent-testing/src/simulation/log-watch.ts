import {
  controlName,
  inputsIn,
  isLoopRunning,
  isPaused,
  type AgentInput,
  type AgentState,
  type InputType,
} from "@moora/agent-core-state-machine";
import { isIntent } from "@moora/agent-core-state-machine/internal";
import type { EventLog, LogRecord } from "@moora/event-log";
import type { LlmRequest } from "@moora/llm";
import { keepLaws, type LawKeeper, type LawsOptions } from "../laws/keep-laws.ts";
import { CallLedger } from "./call-ledger.ts";
import { check, InvariantBroken } from "./invariant-broken.ts";

/** What hosts other than the owner may write. Listed here and not imported from the session, which is held to it. */
export const publicInputs: ReadonlySet<string> = new Set<InputType>([
  "user-message-received",
  "tool-call-decided",
  "re-act-cancelled",
  "context-window-expanded",
  "history-tool-calls-added",
  "session-paused",
  "session-resumed",
  "schedule-changed",
]);

/** Follows the log of a simulated session and holds every input to the laws and to the invariants of the log. */
export class LogWatch {
  readonly keeper: LawKeeper;
  readonly calls: CallLedger = new CallLedger();
  /** The host whose `session-opened` is the last in the log. */
  #writer = "";
  /** Calls whose results the application has handed in. */
  readonly outsideResults: Set<string> = new Set();
  /** The updates of data that the application has made, and those that are in the log. */
  updatesMade = 0;
  #updatesInLog = 0;
  /** The step whose model call was started last, and how many attempts of it were. */
  #startedCall = { loop: 0, step: 0 };
  #startedAttempts = 0;
  readonly #requests = new Map<string, LlmRequest>();
  readonly #store: EventLog;
  readonly #id: string;

  constructor(store: EventLog, id: string, laws: LawsOptions) {
    this.#store = store;
    this.#id = id;
    this.keeper = keepLaws({ ...laws, replays: false });
  }

  get length(): number {
    return this.keeper.inputs.length;
  }

  /**
   * V8: what only the owner may write is written by the host that opened the session last. Others may hand in results
   * through the application, and report a deadline while no owner is there to do so.
   */
  wrote(host: string, records: readonly LogRecord[], isOwned: boolean): void {
    for (const { seq, body } of records) {
      const type = typeOf(body);
      if (type === "session-opened") this.#writer = host;
      else {
        check(
          host === this.#writer ||
            publicInputs.has(type) ||
            // Posters change data with recipes, which the reducer does not need to trust: a patch fits or is ignored.
            type === "data-changed" ||
            (type === "deadline-passed" && !isOwned) ||
            (type === "tool-call-completed" && this.outsideResults.has(callIdOf(body))),
          "V8",
          () => `${host} writes ${type} at ${seq}, and ${this.#writer} is the owner`,
        );
      }
    }
  }

  /** V1, V2, V7: every published input is the next one, is in the log, and leads every host to the same state. */
  published(host: string, input: AgentInput, state: AgentState, seq: number): void {
    const known = this.length;
    if (seq <= known) return;
    check(seq === known + 1, "V1", () => `${host} publishes ${seq} after ${known}`);
    check(seq <= this.#durableHead(), "V7", () => `${host} publishes ${seq} before it is in the log`);
    const next = this.#apply(input);
    check(
      next.updatedAt === state.updatedAt &&
        controlName(next.reActContext.control) === controlName(state.reActContext.control),
      "V2",
      () => `${host} has a state that differs from its log at ${seq}`,
    );
  }

  /** Applies what the log has and no host has published yet. */
  catchUp(): void {
    const log = this.#store.open(this.#id);
    if (log === undefined || log instanceof Promise) return;
    const records = log.read(this.length);
    if (records instanceof Promise) return;
    for (const record of records) this.#apply(JSON.parse(record.body));
  }

  /** V17: model calls with one idempotency key ask the same. */
  asked(request: LlmRequest, idempotencyKey: string | undefined): void {
    if (idempotencyKey === undefined) return;
    const known = this.#requests.get(idempotencyKey);
    this.#requests.set(idempotencyKey, request);
    check(
      known === undefined || JSON.stringify(known) === JSON.stringify(request),
      "V17",
      () => `two different requests share an idempotency key: ${idempotencyKey}`,
    );
  }

  #apply(input: AgentInput): AgentState {
    const before = this.keeper.state;
    const next = this.keeper.apply(input);
    if (next === before) return next;
    this.calls.follow(input, before, next);
    checkPause(input, before, next);
    this.#checkUpdates(input);
    for (const part of inputsIn(input)) this.#countAttempts(part, next);
    this.#checkAttempts(before, next);
    return next;
  }

  #countAttempts({ type }: AgentInput, { reActContext: { control, loop, step } }: AgentState): void {
    if (type !== "llm-call-started" || control.type !== "Planning") return;
    const isSameCall = loop === this.#startedCall.loop && step === this.#startedCall.step;
    this.#startedAttempts = isSameCall ? this.#startedAttempts + 1 : 1;
    this.#startedCall = { loop, step };
  }

  /** V19: an update of data by the application changes the data once, also where its append was reported as failed. */
  #checkUpdates(input: AgentInput): void {
    if (input.type !== "data-changed" || input.by !== "application") return;
    this.#updatesInLog += 1;
    check(
      this.#updatesInLog <= this.updatesMade,
      "V19",
      () => `${this.updatesMade} updates of data are ${this.#updatesInLog} in the log`,
    );
  }

  /** V18: a model call is given up as interrupted only after as many attempts as the configuration allows. */
  #checkAttempts(before: AgentState, next: AgentState): void {
    const { control } = next.reActContext;
    if (control.type !== "Error" || control.failure.kind !== "interrupted") return;
    // A provider that asks for a longer wait than the agent may take is not asked again.
    if ("retryAt" in control.failure) return;
    if (before.reActContext.control.type === "Error") return;
    const started = this.#startedAttempts;
    check(
      started >= next.config.retries.maxLlmAttempts,
      "V18",
      () => `a model call is given up after ${started} of ${next.config.retries.maxLlmAttempts} attempts`,
    );
  }

  #durableHead(): number {
    const log = this.#store.open(this.#id);
    const head = log === undefined || log instanceof Promise ? 0 : log.head();
    return head instanceof Promise ? 0 : head;
  }
}

/** V20, V21: no work starts in a pause, only a resume ends it, and a cancel ends the loop also then. */
function checkPause(input: AgentInput, before: AgentState, next: AgentState): void {
  if (!isPaused(before)) return;
  const { type } = input;
  const starts = type !== "session-resumed" && inputsIn(input).some(isIntent);
  check(!starts, "V20", () => `a paused session accepts ${type}, with which work begins`);
  check(isPaused(next) || type === "session-resumed", "V21", () => `${type} ends a pause`);
  check(
    type !== "re-act-cancelled" || !isLoopRunning(next),
    "V21",
    () => "a cancel of a paused session does not end its loop",
  );
}

/** The type of a stored input, which mostly comes first: large bodies need not be parsed for it. */
function typeOf(body: string): string {
  const first = /^\{"type":"([a-z-]+)"/.exec(body)?.[1];
  if (first !== undefined) return first;
  const { type }: AgentInput = JSON.parse(body);
  return type;
}

function callIdOf(body: string): string {
  const input: AgentInput = JSON.parse(body);
  return "toolCallId" in input ? input.toolCallId : "";
}

/** Runs a check that happens inside of a callback of the session, and keeps what it throws. */
export function runGuarded(keep: (error: unknown) => void, run: () => void): void {
  try {
    run();
  } catch (error) {
    keep(error instanceof Error ? error : new InvariantBroken("V13", String(error)));
  }
}
