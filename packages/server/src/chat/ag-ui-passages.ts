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
  /** The chunk that ends what is open. */
  #end: PassageChunk | undefined;

  constructor(client: AgUiClient) {
    this.#client = client;
  }

  /** The events that end what is open. */
  close(): readonly AgUiEvent[] {
    return this.#end === undefined ? [] : this.eventsOf(this.#end);
  }

  eventsOf(chunk: PassageChunk): readonly AgUiEvent[] {
    const { id: messageId } = chunk;
    switch (chunk.type) {
      case "text-start":
        this.#end = { type: "text-end", id: messageId };
        return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
      case "reasoning-start":
        this.#end = { type: "reasoning-end", id: messageId };
        this.#client.addReasoning(messageId);
        return [
          { type: "REASONING_START", messageId },
          { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
        ];
      case "text-delta":
      case "reasoning-delta": {
        const delta = this.#client.newOf(messageId, chunk.delta);
        const kind = chunk.type === "text-delta" ? "TEXT" : "REASONING";
        return delta === "" ? [] : [{ type: `${kind}_MESSAGE_CONTENT`, messageId, delta }];
      }
      case "text-end":
        this.#end = undefined;
        return [{ type: "TEXT_MESSAGE_END", messageId }];
      case "reasoning-end":
        this.#end = undefined;
        return [
          { type: "REASONING_MESSAGE_END", messageId },
          { type: "REASONING_END", messageId },
        ];
    }
  }
}
