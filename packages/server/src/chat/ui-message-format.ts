import type { ChatFormat, ChatTranslator } from "./chat-stream.ts";
import type { UiChunk } from "./ui-chunk.ts";

/** A chunk of the AI SDK. */
export type UiStreamChunk = Exclude<UiChunk, { readonly type: "tool-question" }>;

/**
 * Translates a loop to the chunks of the AI SDK. A page posts again by itself when the last step of a message consists of calls with
 * results; a loop that ends with such a step, as a canceled one may, ends with an empty step, so that the page does not.
 */
export class UiMessageTranslator implements ChatTranslator {
  /** Whether the last step has calls. A client that continues has the step before. */
  #hasCalls: boolean;

  constructor({ continues = false }: { readonly continues?: boolean } = {}) {
    this.#hasCalls = continues;
  }

  eventsOf(chunk: UiChunk): readonly UiStreamChunk[] {
    if (chunk.type === "start-step") this.#hasCalls = false;
    else if (chunk.type === "tool-input-available") this.#hasCalls = true;
    else if (chunk.type === "tool-question") {
      const { type: _, digest, question, ...call } = chunk;
      const toolMetadata = { digest, ...(question === undefined ? {} : { question }) };
      return [{ type: "tool-input-available", ...call, toolMetadata }];
    } else if (this.#hasCalls && endsLoop(chunk)) {
      this.#hasCalls = false;
      return [{ type: "start-step" }, { type: "finish-step" }, chunk];
    }
    return [chunk];
  }
}

const endsLoop = (chunk: UiStreamChunk): boolean =>
  chunk.type === "abort" || (chunk.type === "finish" && chunk.finishReason === "stop");

/** The UI message stream of the AI SDK. */
export const uiMessageFormat: ChatFormat = {
  headers: { "x-vercel-ai-ui-message-stream": "v1" },
  endText: "data: [DONE]\n\n",
  replacesMessages: true,
  translator: () => new UiMessageTranslator({ continues: true }),
};
