import type { AgentEvent, AgentRun, SessionView } from "@moora/agent";

/** A loop in progress, and the part of its answer that was streamed before it was joined. */
export interface RunningLoop {
  readonly run: AgentRun<unknown>;
  readonly streaming: SessionView["streaming"];
}

/** Collects the events of a session until its run can be joined: work that resumes may end before. */
export class OpeningEvents {
  #events: AgentEvent<unknown>[] = [];
  #isCollecting = true;

  /** The listener of the session that is opened. Marks questions as seen (no `QuestionUnseen`). */
  readonly listener = (event: AgentEvent<unknown>): void => {
    if (this.#isCollecting) this.#events.push(event);
  };

  /** The events so far, without those that the joined run and its end show. Call it once, when the run is joined. */
  end(joined: RunningLoop | undefined): readonly AgentEvent<unknown>[] {
    this.#isCollecting = false;
    const events = this.#events;
    this.#events = [];
    return events.filter((event, index) => !isShownLater(event, events.slice(index + 1), joined));
  }
}

/** Whether the run begins with an event: with a question, a call that runs, the message that streams, or how it has ended. */
function isShownLater(
  event: AgentEvent<unknown>,
  later: readonly AgentEvent<unknown>[],
  joined: RunningLoop | undefined,
): boolean {
  if (event.type === "FinalAnswer" || event.type === "Error") return true;
  if (event.type === "ToolCallStarted") return !later.some((next) => endsCall(next, event.toolCallId));
  if (event.type === "LlmToken") return event.messageId === joined?.streaming?.messageId;
  const asked = event.type === "SubAgentEvent" ? event.event : event;
  return asked.type === "ApprovalRequested";
}

const endsCall = (event: AgentEvent<unknown>, toolCallId: string): boolean =>
  (event.type === "ToolCallFinished" || event.type === "ToolCallRetryScheduled") &&
  event.toolCallId === toolCallId;
