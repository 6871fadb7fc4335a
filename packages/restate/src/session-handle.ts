import type { AgentInput, AgentRun, AgentState, Decision, Question, UserContent } from "@moora/agent";
import type { EventLog } from "@moora/event-log";

/** The state of a session, and the sequence number of its last record. */
export interface CurrentSession {
  readonly state: AgentState;
  readonly seq: number;
}

/**
 * A session on Restate, from any process. Its methods reject with `RestateFailure`, but for the run of `ask`. `Answer` is the type of the
 * answers of the agent: a text, or with a schema the JSON value that fits it.
 */
export interface RestateSession<Answer = string> {
  /**
   * Sends a message and runs the loop. Await the run for its result, or iterate over its events: it resolves with the answer to its message,
   * and rejects with `AgentError`, as that of `ask` in a `Session`. A message that could not be posted, or that Restate has refused, rejects with the
   * kind `MemoryError`, whose `cause` is the `RestateFailure`, and a session that is removed meanwhile with the reason `LogRemoved`. While Restate does not
   * answer, the run waits. Its events are those of records: without the text that the model streams, and without those of sub-agents.
   */
  ask(content: UserContent): AgentRun<Answer>;
  /**
   * Resolves with the first state, from the newest on, that is as `isReached` says; of a session that has received nothing, from its first
   * input on. Rejects with `LogError`, code `LogRemoved`, if the session is removed meanwhile, with what `isReached` throws, and with `BuildError` for
   * a value that is not a function. While Restate does not answer, but for the first read, it waits.
   */
  waitFor(isReached: (state: AgentState) => boolean): Promise<AgentState>;
  /** Sends a message. Resolves with whether it applied, when it is durable. */
  send(content: UserContent): Promise<boolean>;
  /**
   * Answers a question. `by` names the reviewer (default: "user"). Resolves with whether the decision applied. Rejects with
   * `RestateFailure`, status 400, for one that does not fit the question or the schema of the tool.
   */
  decide(
    question: Pick<Question, "toolCallId" | "digest">,
    decision: Decision,
    by?: string,
  ): Promise<boolean>;
  /** Cancels the running loop. Resolves with whether one ran. */
  cancel(reason?: string): Promise<boolean>;
  /** Posts an input that any caller may dispatch. Resolves with whether it applied. */
  post(input: AgentInput): Promise<boolean>;
  /**
   * Resolves with the session; undefined if it has received nothing. The handle keeps it: at the next call, it reads only what is new,
   * which this process folds.
   */
  current(): Promise<CurrentSession | undefined>;
  /** Copies the session to a log in memory, where it can be verified, replayed and exported. */
  toLog(): Promise<EventLog>;
}
