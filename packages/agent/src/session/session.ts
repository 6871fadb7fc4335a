import { MooraError, type Recipe, type Tool } from "@moora/agent-core-effects";
import type {
  AgentConfigChange,
  AgentInput,
  AgentState,
  IgnoredReason,
  Immutable,
  Trace,
} from "@moora/agent-core-state-machine";
import type { AnswerDraft } from "@moora/agent-webui-protocol";
import type { AgentEvent, Question } from "../agent-event.ts";
import type { AgentRun } from "../agent-run.ts";
import type { ErrorListener } from "../error-reports.ts";
import type { DecisionOn, QuestionAbout } from "../question-of.ts";
import type { UserContent } from "../user-message.ts";
import type { ScheduleOptions } from "./schedules.ts";
import type { Settlement } from "./settlement.ts";

/**
 * The result of dispatching an input. `accepted`: the input is durable, with the sequence number `seq`. `ignored`: the
 * input did not apply, for this reason; `decidedBy` names the reviewer who had decided before.
 */
export type Receipt =
  | { readonly status: "accepted"; readonly seq: number }
  | {
      readonly status: "ignored";
      /**
       * `no-sub-agent`: no sub-agent of this path runs in this process, and none is in a log. `call-ended`: the session is that of a
       * sub-agent whose task has ended, and no process would run another loop in it.
       */
      readonly reason: IgnoredReason | "no-sub-agent" | "call-ended";
      readonly decidedBy?: string;
    };

/**
 * The state of a session, with the text that is being streamed. The same object until something changes. `data` is the
 * application data.
 */
export type SessionView<Data = unknown> = Omit<AgentState, "data"> & {
  readonly data: Immutable<Data>;
  /** The message that the model is writing and its text so far; null while the model writes none. */
  readonly streaming: { readonly messageId: string; readonly text: string } | null;
};

/**
 * A conversation with an agent. Methods are bound and can be passed as callbacks. An invalid argument results in
 * `InputRefused`: methods that return a promise reject, all others throw. The run of `ask` rejects with an `AgentError`
 * whose reason is `InputRefused`; where other methods reject with a `SessionError`, its kind is `Conflict` and its reason that
 * code. `Tools` is the union of the types of the agent's tools, `Asked` that of its questions: these have the names and
 * arguments of the tools, and `decide` takes the decisions that fit them.
 */
export interface Session<
  Answer = string,
  Data = unknown,
  Tools extends Tool = Tool,
  Asked extends Question = QuestionAbout<Tools>,
> {
  readonly id: string;
  /** Exists only for types; not set. */
  readonly "~tools"?: Tools;
  /**
   * Sends a message and runs the loop. Await the run for its result, or iterate over its events.
   *
   * The run resolves with the first answer of the model to a request that contains the message. Under `queue`, a message
   * that arrives during a model call waits for the next request: the current answer ends the runs of the messages that
   * its request contained, the next answer those of the messages that arrived meanwhile. Several messages that one
   * request contains for the first time have one answer. If the loop fails or is canceled, the runs of all its messages
   * reject. If a custom control graph ends the loop before the model has seen a message, its run rejects with the reason
   * `Unanswered`.
   */
  ask(content: UserContent): AgentRun<Answer>;
  /** A run of the current loop, with its result and its events from now on; undefined while no loop runs. */
  running(): AgentRun<Answer> | undefined;
  /** Sends a message without waiting for the loop. Resolves when the message is durable or ignored. */
  send(content: UserContent): Promise<Receipt>;
  /**
   * Dispatches an input from outside: a message, a decision, a cancel, or a request for more context. Rejects with
   * `InputRefused` for an invalid input (`path` names the field), and for one that only the runner may dispatch, or a method of the
   * session, which the message names (`not-allowed`). A function of the state before the input may take its place, for all but
   * decisions: it is called when its turn comes, and again if other inputs were first. It returns the input, or undefined to dispatch
   * none (`nothing-new`).
   */
  dispatch(input: unknown): Promise<Receipt>;
  /**
   * Changes fields of the agent's configuration. In a log, the change applies until the session is opened again to run;
   * then the configuration is that of the agent that opens it. Changes apply one after the other: each is checked against
   * the configuration that the change before it results in. Rejects with `InputRefused` for a value that is not an object,
   * and with the `BuildError` that `defineAgent` throws for an invalid configuration.
   */
  configure(config: AgentConfigChange): Promise<Receipt>;
  /** Adds a note from the application to the next request of the running loop. Ignored while no loop runs. */
  note(text: string): Promise<Receipt>;
  /**
   * Changes the application data with a recipe, which runs when its turn comes, and again if others were first. `by` names who
   * changes it (default: "application"). Rejects with `DataRefused` for a result that does not fit the schema, and with what
   * the recipe throws; nothing is changed then. Rejects with `InputRefused` if the agent has no data. `requestId` is recorded
   * with the change, for callers that recognize repeated requests by it.
   */
  update(recipe: Recipe<Data>, by?: string, requestId?: string): Promise<Receipt>;
  /**
   * Answers a question. `by` names the reviewer (default: "user"). Rejects with `InputRefused` for changed arguments that
   * do not match the tool's schema; the question stays open. A question of a sub-agent, which has a `path`, is answered in the
   * session of the sub-agent, also from another process if that has a log, and the receipt has the number of its record
   * there. `requestId` is recorded with the decision, for callers that recognize repeated requests by it.
   */
  decide<Asked extends Pick<Question, "toolCallId" | "digest" | "path">>(
    question: Asked,
    decision: DecisionOn<Asked>,
    by?: string,
    requestId?: string,
  ): Promise<Receipt>;
  /**
   * Settles an open tool call with a result from outside its tool, such as the callback of a service that finished the
   * work. A running call, and one whose tool asks, ends with this result; an open question about the call's outcome is
   * answered by it. Ignored as `not-open` for any other call. `by` names who settles it (default: "application"). Content
   * that JSON does not keep exactly is refused. The result is truncated to `runLimits.maxResultLength`.
   */
  settle(toolCallId: string, settlement: Settlement, by?: string): Promise<Receipt>;
  /**
   * Cancels the running loop; its runs reject. `requestId` is recorded with the cancel, for callers that recognize repeated
   * requests by it.
   */
  cancel(reason?: string, requestId?: string): Promise<Receipt>;
  /**
   * Pauses the session: no model call, tool, probe or handler starts until `resume`. What runs ends, and its result is recorded.
   * Messages are accepted and wait; questions can be answered, and their calls wait; deadlines pass without starting work; a
   * cancel works. The pause is recorded: it also holds after a restart, and for a new owner. Sub-agents in the process of the owner
   * pause with it. Where another process pauses, they, and the tools that a running handler calls, stop when the owner has read the
   * record. Ignored as `already-paused` in a paused session. `requestId` is recorded with the pause, for callers that recognize
   * repeated requests by it.
   */
  pause(reason?: string, requestId?: string): Promise<Receipt>;
  /** Continues a paused session. Ignored as `not-paused` in any other. `requestId` is recorded with it. */
  resume(requestId?: string): Promise<Receipt>;
  /**
   * Continues a failed or canceled loop, after a fix of a key, or with a higher limit. The next loop has the same task, all that was
   * done so far, and the steps, tokens and cost that were spent; `running()` returns its run, or undefined where the loop has
   * failed at once, at a limit that was not raised. Ignored as `not-failed` without a failed loop, and after a refusal of the
   * provider, which withholds the task. `requestId` is recorded with the retry, for callers that recognize repeated requests by it.
   */
  retry(requestId?: string): Promise<Receipt>;
  /**
   * Sets a schedule: a message that the session receives at a time, or again and again. Returns its id. One with the `id` of an open
   * schedule takes its place; if they are equal, the open one continues. `current().schedules` has the open ones. `by` names who sets it
   * (default: "application"); its messages have it. Rejects with `InputRefused` for an invalid time, expression or zone, for more than
   * 100 open schedules (`too-many-schedules`), and in a session that ends with its task (`sub-agent`, `call-ended`).
   */
  schedule(options: ScheduleOptions, by?: string): Promise<string>;
  /** Removes a schedule. Ignored as `unknown-schedule` if none is open with this id. `by` names who removes it (default: "application"). */
  unschedule(id: string, by?: string): Promise<Receipt>;
  /** The open questions to a human, with those of the sub-agents that run in this process. */
  questions(): readonly Asked[];
  /** The current state, with the text that is being streamed. The same object until something changes. */
  current(): SessionView<Data>;
  /**
   * What the model has written so far of its answer, with reasoning and calls: the pieces of the events of this answer, folded.
   * Undefined while it writes none. The same object grows until the answer ends. Without a listener of events it has text only.
   */
  draft(): AnswerDraft | undefined;
  /**
   * The number of inputs that `current()` contains; in a log, the sequence number of the last one. Read both without an
   * `await` between them, and receive every later input exactly once with `onInput`, or with `follow(seq, ...)` of a
   * session in a log.
   */
  seq(): number;
  /** Calls the listener when `current()` has changed. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
  /** Calls the listener with the open questions, then with every event of every loop. Returns a function that unsubscribes. */
  onEvent(listener: (event: AgentEvent<Answer>) => void): () => void;
  /**
   * Calls the listener with each accepted input, the state after it and its sequence number. Returns a function that
   * unsubscribes.
   */
  onInput(listener: (input: AgentInput, state: AgentState, seq: number) => void): () => void;
  /**
   * Calls the listener with every error that does not reject a call: of effects, listeners, the reducer and the log.
   * Without a listener, `console.error` prints each error, once for each source and message. Returns a function that
   * unsubscribes.
   */
  onError(listener: ErrorListener): () => void;
  /** The control moves of this session in this process: at least the newest 10,000. */
  trace(): Trace;
  /** Resolves when no work runs and the session waits for nothing but a human, after the events of what has happened. */
  settled(): Promise<void>;
  /**
   * Closes the session: starts no more effects, waits up to `graceMs` milliseconds (default: 0) for running model calls and tools, and
   * aborts the rest. A second call ends the wait. A session in a log also releases its lease, and the next owner resumes interrupted work.
   */
  close(options?: { readonly graceMs?: number }): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * The error of a session for an invalid input or argument. `code` is the kind of problem. `path` names the invalid
 * argument or field; "" for the value as a whole.
 */
export class InputRefused extends MooraError {
  override readonly name = "InputRefused";
  readonly code: string;
  readonly path: string;

  constructor(problem: { readonly code: string; readonly path: string; readonly message: string }) {
    super(problem.path === "" ? problem.message : `${problem.path}: ${problem.message}`);
    this.code = problem.code;
    this.path = problem.path;
  }

  protected override about(): Readonly<Record<string, unknown>> {
    return { path: this.path };
  }
}
