import { joinPieces } from "@moora/agent-core-state-machine/internal";
import { questionOf, type AgentEvent, type SubAgentEvent } from "./agent-event.ts";

/** The number of unread events that are kept unchanged. */
const maxUnread = 1_000;

/**
 * A buffer of unread events. Up to 1,000 events are kept unchanged. Beyond that, consecutive pieces of one part are
 * joined into one event, progress of a call is replaced by later progress, and if that is not enough, the oldest events
 * are dropped. Questions and the end of the run are always kept.
 */
export class EventBuffer<Answer> {
  #events: AgentEvent<Answer>[] = [];
  #position = 0;

  push(event: AgentEvent<Answer>): void {
    this.#events.push(event);
    if (this.#events.length - this.#position > maxUnread) this.#compact();
  }

  /** Removes and returns the next event; undefined if all are read. */
  shift(): AgentEvent<Answer> | undefined {
    const event = this.#events[this.#position];
    if (event === undefined) return undefined;
    this.#position += 1;
    if (this.#position === this.#events.length) this.clear();
    return event;
  }

  /** The unread events, oldest first. */
  get unread(): readonly AgentEvent<Answer>[] {
    return this.#events.slice(this.#position);
  }

  clear(): void {
    this.#events = [];
    this.#position = 0;
  }

  #compact(): void {
    const joined: AgentEvent<Answer>[] = [];
    for (const event of this.unread) {
      const merged = merge(joined.at(-1), event);
      if (merged === undefined) joined.push(event);
      else joined[joined.length - 1] = merged;
    }
    // Down to half, so that a reader that never reads does not compact at every event.
    let surplus = joined.length - maxUnread / 2;
    this.#events = joined.filter((event) => mustKeep(event) || (surplus -= 1) < 0);
    this.#position = 0;
  }
}

const mustKeep = (event: AgentEvent<unknown>): boolean =>
  event.type === "FinalAnswer" || event.type === "Error" || questionOf(event) !== undefined;

/** Two consecutive events as one, if the second continues the first; otherwise undefined. */
function merge<Answer>(
  last: AgentEvent<Answer> | undefined,
  event: AgentEvent<Answer>,
): AgentEvent<Answer> | undefined {
  const joined = last && joinPieces(last, event);
  if (joined !== undefined) return joined;
  if (last?.type === "ToolCallProgress" && event.type === last.type && event.toolCallId === last.toolCallId)
    return event;
  return last?.type === "SubAgentEvent" && event.type === last.type ? mergeBelow(last, event) : undefined;
}

function mergeBelow(last: SubAgentEvent, event: SubAgentEvent): SubAgentEvent | undefined {
  if (last.path.join("/") !== event.path.join("/")) return undefined;
  const merged = merge<unknown>(last.event, event.event);
  return merged === undefined || merged.type === "SubAgentEvent" ? undefined : { ...event, event: merged };
}
