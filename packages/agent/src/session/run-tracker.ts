import { AgentError } from "@moora/agent-core-effects";
import { isPromise } from "@moora/agent-core-effects/internal";
import type { AgentInput, AgentState, AgentStep, ControlMove, Trace } from "@moora/agent-core-state-machine";
import type { AgentEvent } from "../agent-event.ts";
import type { Agent } from "../define-agent.ts";
import type { Listeners } from "../listeners.ts";
import type { RunControl } from "../run-control.ts";
import { startsAt, type ToolCallStarted } from "../started-calls.ts";
import { moveToEvent, startsOf } from "./events.ts";
import { SerialQueue } from "./serial-queue.ts";
import { answerGuard } from "../guardrails/with-guardrails.ts";
import { earlyAnswerOf, loopEndOf, type LoopEnd } from "./loop-end.ts";
import { recentMoves } from "./recent-moves.ts";

export interface RunTrackerHost<Answer> {
  /** The listeners of the session. */
  readonly events: Listeners<[AgentEvent<Answer>]>;
  /** The state at the beginning; undefined if its running calls are started anew here. */
  readonly initial: AgentState | undefined;
  /** Called with an exception that occurs while events are emitted. */
  readonly onError: (error: unknown) => void;
  /** Called with whether there are unfinished runs, whenever that may have changed. */
  readonly onOpen?: ((isOpen: boolean) => void) | undefined;
}

/**
 * The progress of a run. `queued`: its message arrived during a model call, and no request contains it yet. `seen`: the
 * next answer is the answer to its message. `joined`: it has no message of its own and ends with the loop.
 */
type Progress = "queued" | "seen" | "joined";

/** The unfinished runs of a session. */
export class RunTracker<Answer> {
  readonly #agent: Pick<Agent<Answer>, "answerOf">;
  readonly #host: RunTrackerHost<Answer>;
  readonly #waiting = new Map<RunControl<Answer>, string>();
  readonly #active = new Map<RunControl<Answer>, Progress>();
  readonly #moves = recentMoves();
  /** Emits events in order: the check of an answer may be asynchronous, and later events wait for it. */
  readonly #queue: SerialQueue;
  /** The state after the newest input whose events were all emitted. */
  #emitted: AgentState | undefined;

  constructor(agent: Pick<Agent<Answer>, "answerOf">, host: RunTrackerHost<Answer>) {
    this.#agent = agent;
    this.#host = host;
    this.#queue = new SerialQueue(host.onError);
    this.#emitted = host.initial;
  }

  /** The `ToolCallStarted` of each call that runs according to the events so far. */
  started(): readonly ToolCallStarted[] {
    return this.#emitted === undefined ? [] : startsAt(this.#emitted);
  }

  /** Whether a listener, an iterator or the buffer of a run receives events now. */
  get isObserved(): boolean {
    if (this.#host.events.size > 0) return true;
    for (const run of this.#active.keys()) if (run.isObserved) return true;
    return false;
  }

  /** Whether an iterator reads the events of an active run. */
  get isWatched(): boolean {
    return [...this.#active.keys()].some((run) => run.isWatched);
  }

  /** Adds a run that ends with the answer to this message. */
  add(messageId: string, run: RunControl<Answer>): void {
    this.#waiting.set(run, messageId);
    this.#reportOpen();
  }

  /** Adds a run that ends with the current loop. */
  join(run: RunControl<Answer>): void {
    this.#begin(run, "joined");
    this.#reportOpen();
  }

  /** Processes one transition: emits its moves and the calls that begin with it, and ends the runs that it answers. */
  follow(input: AgentInput, step: AgentStep): void {
    const messageId = input.type === "user-message-received" ? input.messageId : undefined;
    for (const move of step.moves) {
      if (move.event === "Start" && messageId !== undefined) this.#activate(messageId);
      this.#followMove(move, input, step);
    }
    if (messageId !== undefined) this.#activate(messageId);
    if (this.isObserved) for (const event of startsOf(input, step.state)) this.emit(event);
    this.#reportOpen();
    if (this.#queue.isIdle) this.#emitted = step.state;
    else this.#queue.add(() => void (this.#emitted = step.state));
  }

  /** Emits an event to the active runs and to the listeners of the session. */
  emit(event: AgentEvent<Answer>): void {
    // All listeners get one event: none of them may change what the next one shows.
    Object.freeze(event);
    const runs = [...this.#active.keys()];
    this.#queue.add(() => {
      this.#host.events.emit(event);
      for (const run of runs) run.emit(event);
    });
  }

  /** Resolves when the listeners have had the events of everything that was followed so far. */
  emitted(): Promise<void> {
    return new Promise((resolve) => this.#queue.add(resolve));
  }

  failAll(error: AgentError): void {
    for (const run of [...this.#active.keys(), ...this.#waiting.keys()]) run.fail(error);
    this.#active.clear();
    this.#waiting.clear();
    this.#reportOpen();
  }

  fail(run: RunControl<Answer>, error: AgentError, thrown: Error = error): void {
    this.#waiting.delete(run);
    this.#active.delete(run);
    run.fail(error, thrown);
    this.#reportOpen();
  }

  /** The recent moves of the session. */
  trace(): Trace {
    return this.#moves.all();
  }

  /** Whether there are unfinished runs. */
  get isOpen(): boolean {
    return this.#active.size > 0 || this.#waiting.size > 0;
  }

  #reportOpen(): void {
    this.#host.onOpen?.(this.isOpen);
  }

  #activate(messageId: string): void {
    for (const [run, id] of this.#waiting) {
      if (id !== messageId) continue;
      this.#waiting.delete(run);
      this.#begin(run, "queued");
    }
  }

  #begin(run: RunControl<Answer>, progress: Progress): void {
    this.#active.set(run, progress);
    for (const started of this.started()) run.emit(started);
  }

  #followMove(move: ControlMove, input: AgentInput, { state, moves }: AgentStep): void {
    this.#moves.add(move);
    if (this.isObserved) this.emit(moveToEvent(move));
    if (isEnd(move, state)) return this.#endLoop(state, move === moves.at(-1));
    if (isAnswer(move, input)) {
      this.#endRuns(
        this.#take((progress) => progress === "seen"),
        earlyAnswerOf(this.#agent, move, state, this.#moves.ofLoop()),
      );
    }
    if (includesQueued(move)) this.#markSeen();
  }

  /** Marks queued runs as seen: the next request contains their messages. */
  #markSeen(): void {
    for (const [run, progress] of this.#active) if (progress === "queued") this.#active.set(run, "seen");
  }

  /** Removes and returns the active runs whose progress matches. */
  #take(isTaken: (progress: Progress) => boolean): readonly RunControl<Answer>[] {
    const runs = [...this.#active].flatMap(([run, progress]) => (isTaken(progress) ? [run] : []));
    for (const run of runs) this.#active.delete(run);
    return runs;
  }

  /** Ends the runs of a finished loop. If another loop follows, messages that no request contained move on to it. */
  #endLoop(state: AgentState, isLast: boolean): void {
    const trace = this.#moves.ofLoop();
    if (!isLast) {
      const error = new AgentError("Cancelled", "The user wrote again.", { state, trace });
      return this.#endRuns(
        this.#take((progress) => progress !== "queued"),
        error,
      );
    }
    if (state.reActContext.control.type !== "Error") this.#failUnseen(state, trace);
    this.#endRuns(
      this.#take(() => true),
      loopEndOf(this.#agent, state, trace),
    );
  }

  #failUnseen(state: AgentState, trace: Trace): void {
    const unseen = this.#take((progress) => progress === "queued");
    if (unseen.length === 0) return;
    this.#queue.add(() => {
      for (const run of unseen) run.fail(unansweredError(state, trace));
    });
  }

  #endRuns(runs: readonly RunControl<Answer>[], end: LoopEnd<Answer> | Promise<LoopEnd<Answer>>): void {
    const emitEnd = (result: LoopEnd<Answer>): void => this.#emitEnd(runs, result);
    this.#queue.add(() => (isPromise(end) ? end.then(emitEnd) : emitEnd(end)));
  }

  #emitEnd(runs: readonly RunControl<Answer>[], result: LoopEnd<Answer>): void {
    if (result instanceof AgentError) {
      this.#host.events.emit({ type: "Error", error: result });
      for (const run of runs) run.fail(result);
    } else {
      this.#host.events.emit({ type: "FinalAnswer", answer: result.answer, text: result.text });
      for (const run of runs) run.succeed(result);
    }
  }
}

const isEnd = ({ to }: ControlMove, { config }: AgentState): boolean =>
  to === "Done" || to === "Error" || config.graph.terminals.includes(to);

/** Whether the model has answered the messages that it has seen, the answer is checked, and the loop continues with the queued ones. */
const isAnswer = ({ from, event, to }: ControlMove, input: AgentInput): boolean =>
  event === "UserInterjected" && to !== answerGuard && (from === answerGuard || isComplete(input));

const isComplete = (input: AgentInput): boolean =>
  input.type === "re-act-observed" &&
  input.observation.type === "complete-re-act" &&
  input.observation.problem === undefined;

/** Whether the next request contains the queued messages. A retry sends the previous request again, without them. */
const includesQueued = ({ to, event }: ControlMove): boolean => to === "Planning" && event !== "LlmRetry";

const unansweredError = (state: AgentState, trace: Trace): AgentError =>
  new AgentError(
    "AgentFailed",
    "The loop ended before the model had seen this message. The next loop contains it.",
    { reason: "Unanswered", state, trace },
  );
