import type { ChatFormat, ChatTranslator } from "./chat-format.ts";
import { isQuestionPart } from "./question-text.ts";
import type { UiChunk, ToolParts } from "./ui-chunk.ts";

/** What a message of the assistant says about itself: the id of its session. */
export interface UiMetadata {
  readonly session: string;
}

/** A chunk of the AI SDK. */
export type UiStreamChunk =
  | Exclude<UiChunk, { readonly type: "tool-question" | "tool-input-changed" | "start" | "error" }>
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "start"; readonly messageId: string; readonly messageMetadata: UiMetadata }
  | { readonly type: "message-metadata"; readonly messageMetadata: UiMetadata };

/**
 * Translates a loop to the chunks of the AI SDK. A page posts again by itself when the last step of a message consists of calls with
 * results; a loop that ends with such a step, as a canceled one may, ends with an empty step, so that the page does not.
 */
export class UiMessageTranslator implements ChatTranslator {
  readonly #messageMetadata: UiMetadata;
  readonly #toolParts: ToolParts;
  /** Whether the last step may have calls. A client that continues has steps already. */
  #hasCalls = true;
  /** Whether the last step has the questions of sub-agents. */
  #isOfSubAgent = false;

  constructor(session: string, toolParts: ToolParts) {
    this.#messageMetadata = { session };
    this.#toolParts = toolParts;
  }

  eventsOf(given: UiChunk): readonly UiStreamChunk[] {
    const chunk = this.#toolParts === "dynamic" ? withDynamicTool(given) : given;
    const messageMetadata = this.#messageMetadata;
    if (chunk.type === "start") return [{ ...chunk, messageMetadata }];
    // A page replaces the call if it is in its last step, and otherwise adds another one.
    if (chunk.type === "tool-input-changed")
      return this.#isOfSubAgent ? [] : [{ ...chunk, type: "tool-input-available" }];
    if ("toolCallId" in chunk) this.#isOfSubAgent ||= isQuestionPart(chunk.toolCallId);
    if (chunk.type === "start-step") this.#isOfSubAgent = this.#hasCalls = false;
    else if (chunk.type === "tool-input-available") this.#hasCalls = true;
    else if (chunk.type === "tool-question") {
      const { type: _, toolCallId, toolName, input, dynamic, ...toolMetadata } = chunk;
      const call = { toolCallId, toolName, input, ...(dynamic === undefined ? {} : { dynamic }) };
      return [{ type: "tool-input-available", ...call, toolMetadata }];
    } else if (this.#hasCalls && endsLoop(chunk)) {
      this.#hasCalls = false;
      // A page does not show an empty step before the next chunk that changes the message.
      const shown = { type: "message-metadata", messageMetadata } as const;
      return [{ type: "start-step" }, shown, { type: "finish-step" }, chunk];
    } else if (chunk.type === "error") return [{ type: "error", errorText: chunk.errorText }];
    return [chunk];
  }
}

/** The chunk with the mark of a dynamic tool, if it is one that can have it. */
const withDynamicTool = (chunk: UiChunk): UiChunk =>
  "toolName" in chunk || chunk.type === "tool-output-available" || chunk.type === "tool-output-error"
    ? { ...chunk, dynamic: true }
    : chunk;

const endsLoop = (chunk: UiChunk): boolean =>
  chunk.type === "abort" || (chunk.type === "finish" && chunk.finishReason === "stop");

/** The UI message stream of the AI SDK. */
export const uiMessageFormat: ChatFormat = {
  headers: { "x-vercel-ai-ui-message-stream": "v1" },
  endText: "data: [DONE]\n\n",
  replacesMessages: true,
  translator: ({ ref, toolParts }) => new UiMessageTranslator(ref.id, toolParts),
};
