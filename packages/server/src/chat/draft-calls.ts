import type { AgentEvent } from "@moora/agent";
import type { UiChunk } from "./ui-chunk.ts";

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent<unknown>, { readonly type: Type }>;

/** The calls that the model is writing, as far as the client of a message has them. They are all of one attempt. */
export class DraftCalls {
  readonly #write: (chunk: UiChunk) => void;
  readonly #drafted = new Set<string>();
  #messageId = "";

  constructor(write: (chunk: UiChunk) => void) {
    this.#write = write;
  }

  get isEmpty(): boolean {
    return this.#drafted.size === 0;
  }

  /** Whether the drafts belong to an earlier attempt than this one. */
  areBefore(messageId: string): boolean {
    return !this.isEmpty && this.#messageId !== messageId;
  }

  start(messageId: string, toolCallId: string, toolName: string): void {
    this.#messageId = messageId;
    this.#drafted.add(toolCallId);
    this.#write({ type: "tool-input-start", toolCallId, toolName, dynamic: true });
  }

  /** Writes arguments. A client that came after the beginning of a call gets the call when it is complete. */
  grow({ toolCallId, text }: EventOf<"LlmToolCallDelta">): void {
    if (this.#drafted.has(toolCallId))
      this.#write({ type: "tool-input-delta", toolCallId, inputTextDelta: text });
  }

  /** Whether any of the drafts is not one of these calls, so that its call was never made. */
  hasOtherThan(toolCallIds: readonly string[]): boolean {
    return [...this.#drafted].some((id) => !toolCallIds.includes(id));
  }

  clear(): void {
    this.#drafted.clear();
  }
}
