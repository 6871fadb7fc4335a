import type { Progress } from "@moora/agent-core-effects";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { frozen } from "@moora/agent-core-state-machine/internal";
import type { AgentEvent } from "../agent-event.ts";
import type { Agent } from "../define-agent.ts";
import { errorReports, type ErrorReports } from "../error-reports.ts";
import { keepAlive } from "../keep-alive.ts";
import { Logger } from "../logger.ts";
import { Listeners } from "../listeners.ts";
import type { SessionBase } from "./create-session.ts";
import { transitionToEvents } from "./events.ts";
import { logApplied } from "./log-inputs.ts";
import type { MachineHooks } from "./machine.ts";
import { openQuestions, type OpenQuestions, type QuestionsHost } from "./open-questions.ts";
import { RunTracker } from "./run-tracker.ts";
import { StreamingOverlay } from "./streaming.ts";

/** The open questions of a session, and the function that answers them. */
export interface Reviews {
  readonly questions: QuestionsHost["current"];
  readonly decide: QuestionsHost["decide"];
}

type OutputBase = Pick<
  SessionBase,
  "id" | "initial" | "ledger" | "onError" | "onLog" | "onPublished" | "runsEffects"
>;

/** The output of a session: events, changes, inputs and errors for its listeners and its runs. */
export class SessionOutput<Answer> {
  readonly logger: Logger;
  readonly errors: ErrorReports;
  readonly events: Listeners<[AgentEvent<Answer>]>;
  readonly changes: Listeners<[]>;
  readonly inputs: Listeners<[AgentInput, AgentState, number]>;
  readonly overlay: StreamingOverlay = new StreamingOverlay();
  readonly runs: RunTracker<Answer>;
  readonly questions: OpenQuestions<Answer>;
  /** Whether effects run here. If so, the effect of a question emits the question. */
  readonly #runsEffects: boolean;
  readonly #onPublished: SessionBase["onPublished"];

  constructor(agent: Pick<Agent<Answer>, "answerOf">, base: OutputBase, reviews: Reviews) {
    const { id, onError, onLog, runsEffects, ledger, initial } = base;
    this.logger = new Logger(id, onLog);
    this.errors = errorReports(id, onError, this.logger);
    const listenerFailed = (error: unknown): void => this.errors.report({ source: "listener", error });
    this.events = new Listeners(listenerFailed);
    this.changes = new Listeners(listenerFailed);
    this.inputs = new Listeners(listenerFailed);
    this.runs = new RunTracker(agent, {
      events: this.events,
      // A session that runs effects starts the interrupted calls anew; for one that only reads they run in another process.
      initial: runsEffects ? undefined : initial,
      onError: (error) => this.errors.report({ source: "projection", error }),
      // In a log, the answer to a question may come from another process.
      onOpen: ledger === undefined ? undefined : keepAlive(),
    });
    this.questions = openQuestions({
      initial,
      started: () => this.runs.started(),
      current: reviews.questions,
      decide: reviews.decide,
      emit: (event) => this.runs.emit(event),
      isShown: () => this.events.size > 0 || this.changes.size > 0 || this.runs.isWatched,
      report: this.errors.report,
    });
    this.#runsEffects = runsEffects;
    this.#onPublished = base.onPublished;
  }

  /** Reports the progress of an effect. */
  progress(notice: Progress): void {
    this.#report(notice, this.overlay.add(notice));
  }

  /** Reports progress that another process has sent, as far as it is new and follows what is known. */
  received(notice: Progress): void {
    const added = this.overlay.add(notice);
    if (added !== undefined) this.#report(added, added);
  }

  #report(notice: Progress, added: Progress | undefined): void {
    if (added?.type === "LlmToken") this.changes.emit();
    if (this.runs.isObserved) this.runs.emit(notice);
  }

  /** Reports an input that has become part of the session. */
  readonly published: MachineHooks["published"] = (stored, step, seq) => {
    const { input } = stored;
    this.overlay.follow(step.state);
    this.#onPublished?.(stored, step, seq);
    if (this.inputs.size > 0) this.inputs.emit(frozen(input), step.state, seq);
    if (this.logger.isRead) logApplied(this.logger, input, step.state);
    if (this.runs.isObserved) for (const event of transitionToEvents(input, step)) this.runs.emit(event);
    this.runs.follow(input, step);
    if (!this.#runsEffects) this.questions.announce(step.state);
    this.changes.emit();
  };
}
