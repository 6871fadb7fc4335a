import type { AgentState, AgentUsage, Trace } from "@moora/agent-core-state-machine";
import type { AgentEvent } from "./agent-event.ts";

/** The answer to a message. `steps` and `usage` are those of its loop so far, `state` is the whole conversation. */
export interface RunResult<Answer = string> {
  readonly answer: Answer;
  /** The text of the answer, as the model gave it. */
  readonly text: string;
  readonly steps: number;
  readonly usage: AgentUsage;
  readonly state: AgentState;
  readonly trace: Trace;
}

/**
 * A message on its way to its answer: a promise of the result, and its events as an async iterable. Use either, both, or
 * neither: the message is worked on in any case, and a rejection that nothing handles is not reported as unhandled.
 * Rejects with `AgentError`.
 *
 * Events are buffered until the first iterator is created, and an iterator buffers those that it has not read: up to a
 * thousand as they came; beyond that tokens of a message are joined and the oldest events are dropped, but never a question
 * or the end. If `then`, `catch`, `finally` or `await` is used and no iterator was created by then, the buffer is dropped,
 * and a later iterator receives new events only. Every iterator first receives the questions that are open when it is
 * created.
 */
export interface AgentRun<Answer = string>
  extends Promise<RunResult<Answer>>, AsyncIterable<AgentEvent<Answer>> {
  /** Cancels the loop that the message is in; the run then rejects with kind `Cancelled`. Does nothing after the end. */
  readonly cancel: (reason?: string) => void;
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent<Answer>, undefined>;
}
