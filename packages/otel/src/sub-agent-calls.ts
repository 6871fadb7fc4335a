import type { SpanContext } from "@opentelemetry/api";
import type { SubAgents } from "./tool-span.ts";

interface Entry {
  readonly parent: SpanContext;
  count: number;
}

/** The sessions of sub-agents that run, with the spans that they belong to, by session id. */
export class SubAgentCalls implements SubAgents {
  readonly #entries = new Map<string, Entry>();

  begin(sessionId: string, parent: SpanContext): () => void {
    const entry = this.#entries.get(sessionId) ?? { parent, count: 0 };
    entry.count += 1;
    this.#entries.set(sessionId, entry);
    return () => {
      entry.count -= 1;
      if (entry.count === 0) this.#entries.delete(sessionId);
    };
  }

  /** The parent of a session, by its id or by its identity, which is the id and the incarnation. */
  readonly parentOf = (identity: string): SpanContext | undefined =>
    (
      this.#entries.get(identity) ??
      this.#entries.get(identity.slice(0, Math.max(0, identity.lastIndexOf("/"))))
    )?.parent;
}
