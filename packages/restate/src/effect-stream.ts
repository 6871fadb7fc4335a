import type { AgentEvent, Progress } from "@moora/agent";
import { noticeToEvent, type StreamedSession } from "@moora/agent/internal";

type EventListener = (event: AgentEvent<unknown>) => void;
type RecordListener = (seq: number) => void;

/** What one effect streams. */
export class EffectStream implements StreamedSession {
  readonly #seq: number;
  readonly #listeners = new Set<EventListener>();
  readonly #reports = new Set<RecordListener>();
  #streaming: ReturnType<StreamedSession["streaming"]> = null;
  #startedMessage: string | undefined;

  /** `seq`: the last record of the session from which the effect began. */
  constructor(seq: number) {
    this.#seq = seq;
  }

  notify(progress: Progress): void {
    if ("messageId" in progress) this.#startedMessage = progress.messageId;
    if (progress.type === "llm-text") {
      const { messageId, text, offset } = progress;
      const before = this.#streaming?.messageId === messageId && offset > 0 ? this.#streaming.text : "";
      this.#streaming = { messageId, text: before + text };
    }
    const event = noticeToEvent(progress);
    for (const listener of this.#listeners) listener(event);
  }

  seq(): number {
    return this.#seq;
  }

  streaming(): ReturnType<StreamedSession["streaming"]> {
    return this.#streaming;
  }

  /** What was streamed before a server asked is not kept. */
  reasoning(): undefined {
    return undefined;
  }

  startedMessage(): string | undefined {
    return this.#startedMessage;
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
