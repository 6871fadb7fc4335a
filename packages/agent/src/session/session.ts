import { MooraError } from "@moora/agent-core-effects";
import type {
  AgentConfigChange,
  AgentInput,
  AgentState,
  IgnoredReason,
  Trace,
} from "@moora/agent-core-state-machine";
import type { AgentEvent, Decision, Question } from "../agent-event.ts";
import type { AgentRun } from "../agent-run.ts";
import type { ErrorListener } from "../error-reports.ts";
import type { UserContent } from "../user-message.ts";
import type { Settlement } from "./settlement.ts";

/** What became of an input: taken, at this place of the log, or not, and why. An accepted input is durable. */
export type Receipt =
  | { readonly status: "accepted"; readonly seq: number }
  | { readonly status: "ignored"; readonly reason: IgnoredReason; readonly decidedBy?: string };

/** The state, and over it what is being streamed at present. The same object until something changes. */
export type SessionView = AgentState & {
  /** The text so far of the message that the model is writing, null when it writes none. */
  readonly streaming: { readonly messageId: string; readonly text: string } | null;
};

/**
 * A conversation with an agent. Methods are bound: they can be handed on by themselves. An argument of the wrong form is
 * refused with `InputRefused`: methods that return a promise reject, all others throw; the run of `ask` rejects with an
 * `AgentError` of the reason `InputRefused`.
 */
export interface Session<Answer = string> {
  readonly id: string;
  /**
   * Sends a message and runs the loop: await the result, or iterate over the events.
   *
   * The run resolves with the first answer of the model to a request that contains the message. A message that comes
   * while the model is at work waits for the next request (under `queue`): the answer under way ends the runs of the
   * messages that it was asked with, the next one those of the messages that came meanwhile. Several messages that one
   * request contains for the first time have one answer. A loop that fails or is cancelled rejects the runs of all its
   * messages; where a graph of your own ends a loop before the model has seen a message, its run rejects with the reason
   * `Unanswered`.
   */
  ask(content: UserContent): AgentRun<Answer>;
  /** The loop under way, to be awaited or followed from here on to its end; undefined where none is. */
  running(): AgentRun<Answer> | undefined;
  /** Says something and does not wait for the loop. */
  send(content: UserContent): Promise<Receipt>;
  /**
   * An input from outside: a message, a decision, a cancel, or a request for more context. Rejects with `InputRefused` for
   * a value that is not an input (`path` says where), and for one that only the runner may dispatch (`not-allowed`).
   */
  dispatch(input: unknown): Promise<Receipt>;
  /**
   * Changes fields of the agent's configuration. In a log they stay in force until the session is opened again to run: then
   * the configuration is that of the agent that opens it. Rejects with `InputRefused` for what is not an object, and with
   * `BuildError` for a change that could not work, as `defineAgent` throws it. Changes apply one after the other: each is checked
   * against the configuration that the change before it results in.
   */
  configure(config: AgentConfigChange): Promise<Receipt>;
  /** Adds a note of the application's for the model to read with its next request, while a loop runs. */
  note(text: string): Promise<Receipt>;
  /** Answers a question. Rejects for changed arguments that do not fit the tool's schema; the question stays open. */
  decide(
    question: Pick<Question, "toolCallId" | "digest">,
    decision: Decision,
    by?: string,
  ): Promise<Receipt>;
  /**
   * Hands in the result of an open tool call from outside of its tool: a service that finished the work calls back. A call
   * that runs is then over, and a question about its outcome is answered. Ignored as `not-open` for any other call. Content that JSON
   * does not keep exactly is refused. The result is cut to `runLimits.maxResultLength`.
   */
  settle(toolCallId: string, settlement: Settlement, by?: string): Promise<Receipt>;
  cancel(reason?: string): Promise<Receipt>;
  /** What is asked of a human now. */
  questions(): readonly Question[];
  current(): SessionView;
  /**
   * The number of inputs that `current()` is made of; in a log, the sequence number of the last one. Read it with
   * `current()`, without an `await` between the two, and hear the rest with `onInput`, or with `follow(seq, ...)` of a
   * session in a log: nothing is missed and nothing comes twice.
   */
  seq(): number;
  /** Calls back when `current()` has changed. Returns a function that unsubscribes. */
  subscribe(listener: () => void): () => void;
  /**
   * Calls back with `ToolCallStarted` of the calls that run, then with the questions that are open, each once, then with
   * every event of every loop. Returns a function that unsubscribes.
   */
  onEvent(listener: (event: AgentEvent<Answer>) => void): () => void;
  /** Calls back with each input that becomes part of the session, its state and its number. Returns a function that unsubscribes. */
  onInput(listener: (input: AgentInput, state: AgentState, seq: number) => void): () => void;
  /**
   * Calls back with every error that no caller waits for: of effects, listeners, the reducer and the log. Without a
   * listener each one is printed by `console.error`, once for each source and message. Returns a function that
   * unsubscribes.
   */
  onError(listener: ErrorListener): () => void;
  /** The control moves of this session in this process, the newest 10,000 at least. */
  trace(): Trace;
  /** Resolves when nothing runs and nothing is waited for but a human: an open question may still expire. */
  settled(): Promise<void>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Thrown for an invalid input, and for an argument of the wrong form that a method of a session got. `path` names the argument
 * or the field that is wrong; "" for the value as a whole.
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
