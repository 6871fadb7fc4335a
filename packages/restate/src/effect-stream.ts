import type { AgentEvent, Progress } from "@moora/agent";
import { Draft, type StreamedSession } from "@moora/agent/internal";

type EventListener = (event: AgentEvent<unknown>) => void;
type RecordListener = (seq: number) => void;

/** What one effect streams. */
export class EffectStream implements StreamedSession {
  readonly #seq: number;
  readonly #listeners = new Set<EventListener>();
  readonly #reports = new Set<RecordListener>();
  readonly #draft = new Draft();

  /** `seq`: the last record of the session from which the effect began. */
  constructor(seq: number) {
    this.#seq = seq;
  }

  notify(progress: Progress): void {
    if ("messageId" in progress) this.#draft.add(progress);
    for (const listener of this.#listeners) listener(progress);
  }

  seq(): number {
    return this.#seq;
  }

  draft(): Draft | undefined {
    return this.#draft.messageId === "" ? undefined : this.#draft;
  }

  /** Questions are in the records: sub-agents on Restate cannot ask. */
  questions(): [] {
    return [];
  }

  /** Calls the listener before the effect reports, so that what was streamed is sent first. Its state stays the first one. */
  onRecord(listener: RecordListener): () => void {
    this.#reports.add(listener);
    return () => void this.#reports.delete(listener);
  }

  /** Called before the effect reports. */
  reporting(): void {
    for (const listener of this.#reports) listener(this.#seq);
  }

  onEvent(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
