import type { AgUiClient } from "./ag-ui-client.ts";
import type { AgUiEvent } from "./ag-ui-event.ts";
import type { UiChunk } from "./ui-chunk.ts";

/** A chunk of a text or of reasoning. */
type PassageChunk = Extract<
  UiChunk,
  { readonly type: `${"text" | "reasoning"}-${"start" | "delta" | "end"}` }
>;

/** Translates texts and reasoning to events of AG-UI: one of them is open at a time. */
export class AgUiPassages {
  readonly #client: AgUiClient;
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined;

  constructor(client: AgUiClient) {
    this.#client = client;
  }

  eventsOf(chunk: PassageChunk): readonly AgUiEvent[] {
    switch (chunk.type) {
      case "text-start":
        return this.#startText(chunk.id);
      case "reasoning-start":
        return this.#startReasoning(chunk.id);
      case "text-delta":
        return this.#content("TEXT_MESSAGE_CONTENT", chunk);
      case "reasoning-delta":
        return this.#content("REASONING_MESSAGE_CONTENT", chunk);
      case "text-end":
      case "reasoning-end":
        return this.close();
    }
  }

  /** The events that end what is open. */
  close(): readonly AgUiEvent[] {
    if (this.#open === undefined) return [];
    const { kind, id: messageId } = this.#open;
    this.#open = undefined;
    if (kind === "text") return [{ type: "TEXT_MESSAGE_END", messageId }];
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  #startText(messageId: string): readonly AgUiEvent[] {
    this.#open = { kind: "text", id: messageId };
    return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
  }

  #startReasoning(messageId: string): readonly AgUiEvent[] {
    this.#open = { kind: "reasoning", id: messageId };
    this.#client.addReasoning(messageId);
    return [
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    ];
  }

  #content(
    type: string,
    { id, delta }: { readonly id: string; readonly delta: string },
  ): readonly AgUiEvent[] {
    const added = this.#client.newOf(id, delta);
    return added === "" ? [] : [{ type, messageId: id, delta: added }];
  }
}
