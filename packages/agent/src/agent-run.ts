import type { AgentState, AgentUsage, Trace } from "@moora/agent-core-state-machine";
import type { AgentEvent } from "./agent-event.ts";

/**
 * The result of a run. `steps` and `usage` count the loop of its message up to the answer; `state` is the whole
 * conversation.
 */
export interface RunResult<Answer = string> {
  readonly answer: Answer;
  /** The text of the answer, as the model wrote it. */
  readonly text: string;
  readonly steps: number;
  readonly usage: AgentUsage;
  readonly state: AgentState;
  readonly trace: Trace;
}

/**
 * The run of one message: a promise of the result and an async iterable of its events. Use either, both, or neither:
 * the run continues in any case, and its rejection is never reported as unhandled. Rejects with `AgentError`.
 *
 * Events are buffered until the first iterator is created, and each iterator buffers its unread events. A buffer keeps
 * 1,000 events; beyond that it joins the tokens of a message and drops the oldest events, but never a question or the
 * last event. If `then`, `catch`, `finally` or `await` is used before an iterator is created, the buffer is dropped,
 * and a later iterator receives new events only. Every iterator first receives `ToolCallStarted` of the calls that run
 * and the questions that are open when it is created, each once.
 */
export interface AgentRun<Answer = string>
  extends Promise<RunResult<Answer>>, AsyncIterable<AgentEvent<Answer>> {
  /**
   * Cancels the loop of the message; the run then rejects with kind `Cancelled`. Has no effect after the run has ended.
   */
  readonly cancel: (reason?: string) => void;
  /**
   * What the model writes, as pieces of text to be shown one after the other. A message after another one begins on a new line, and the
   * last one is the answer: what was cut off or precedes a tool call stays above it. A reader that begins late, such as a second one,
   * gets the rest and the whole answer. Ends with the run and does not throw. Its reader counts as an iterator over the events, but
   * not as a reviewer.
   */
  readonly textStream: AsyncIterable<string>;
  [Symbol.asyncIterator](): AsyncIterator<AgentEvent<Answer>, undefined>;
}
