import type { ChatMessage, ChatPart } from "@moora/agent-webui-protocol";
import type { UiMetadata, UiStreamChunk } from "./ui-message-format.ts";

type ChunkOf<Type extends UiStreamChunk["type"]> = Extract<UiStreamChunk, { readonly type: Type }>;

type ToolPart = Extract<ChatPart, { readonly type: "dynamic-tool" }>;

/** A call with what was asked about it. */
interface Call {
  readonly index: number;
  /** Whether the page knows the tool by its name. */
  readonly isStatic: boolean;
  readonly base: Omit<Extract<ToolPart, { readonly state: "input-available" }>, "state">;
  readonly approval?: { readonly id: string; readonly approved?: boolean; readonly reason?: string };
}

type TextPart = Extract<ChatPart, { readonly type: "text" | "reasoning" }>;

/** The parts of one message of the assistant, made of the chunks of its stream as a page makes them. */
export class UiMessage {
  readonly id: string;
  readonly #metadata: UiMetadata;
  readonly #parts: ChatPart[] = [];
  readonly #calls = new Map<string, Call>();
  readonly #texts = new Map<string, TextPart>();

  constructor(id: string, metadata: UiMetadata) {
    this.id = id;
    this.#metadata = metadata;
  }

  /** Whether there is nothing to show. */
  get isEmpty(): boolean {
    return this.#parts.every(({ type }) => type === "step-start");
  }

  /** The message. Texts that have no end are those that are being streamed. */
  toMessage(): ChatMessage {
    return { id: this.id, role: "assistant", metadata: this.#metadata, parts: [...this.#parts] };
  }

  write(chunk: UiStreamChunk): void {
    switch (chunk.type) {
      case "start-step":
        return void this.#parts.push({ type: "step-start" });
      case "reset-step":
        return this.#resetStep();
      case "text-start":
      case "reasoning-start":
        return this.#startText(chunk.type === "text-start" ? "text" : "reasoning", chunk.id);
      case "text-delta":
      case "reasoning-delta": {
        const part = this.#texts.get(chunk.id);
        if (part !== undefined) part.text += chunk.delta;
        return;
      }
      case "text-end":
      case "reasoning-end": {
        const part = this.#texts.get(chunk.id);
        if (part !== undefined) part.state = "done";
        return;
      }
      case "file":
        return void this.#parts.push({ type: "file", mediaType: chunk.mediaType, url: chunk.url });
      case "start":
      case "message-metadata":
      case "finish-step":
      case "data-progress":
      case "finish":
      case "abort":
      case "error":
        return;
      case "tool-input-start":
      case "tool-input-delta":
        // The call is complete in the log.
        return;
      case "tool-input-available":
        return this.#writeCall(chunk);
      case "tool-approval-request":
      case "tool-approval-response":
        return this.#writeApproval(chunk);
      case "tool-output-available":
      case "tool-output-error":
      case "tool-output-denied":
        return this.#writeResult(chunk);
    }
  }

  #startText(type: TextPart["type"], id: string): void {
    const part: TextPart = { type, text: "", state: "streaming" };
    this.#texts.set(id, part);
    this.#parts.push(part);
  }

  #resetStep(): void {
    const start = this.#parts.findLastIndex(({ type }) => type === "step-start");
    this.#parts.length = start + 1;
  }

  #writeCall(chunk: ChunkOf<"tool-input-available">): void {
    const { toolCallId, toolName, input, toolMetadata, dynamic } = chunk;
    const index = this.#calls.get(toolCallId)?.index ?? this.#parts.length;
    const base = {
      type: "dynamic-tool",
      toolName,
      toolCallId,
      input,
      ...(toolMetadata === undefined ? {} : { toolMetadata }),
    } as const;
    const call = { index, isStatic: dynamic !== true, base };
    this.#calls.set(toolCallId, call);
    this.#showCall(call, { ...base, state: "input-available" });
  }

  #showCall({ index, isStatic }: Call, part: ToolPart): void {
    this.#parts[index] = isStatic ? toStaticPart(part) : part;
  }

  #writeApproval(chunk: ChunkOf<"tool-approval-request" | "tool-approval-response">): void {
    const { approvalId: id } = chunk;
    const call =
      chunk.type === "tool-approval-request"
        ? this.#calls.get(chunk.toolCallId)
        : this.#calls.values().find(({ approval }) => approval?.id === id);
    if (call === undefined) return;
    const { base } = call;
    if (chunk.type === "tool-approval-request") {
      this.#calls.set(base.toolCallId, { ...call, approval: { id } });
      return this.#showCall(call, { ...base, state: "approval-requested", approval: { id } });
    }
    const { approved, reason } = chunk;
    const approval = { id, approved, ...(reason === undefined ? {} : { reason }) };
    this.#calls.set(base.toolCallId, { ...call, approval });
    this.#showCall(call, { ...base, state: "approval-responded", approval });
  }

  #writeResult(chunk: ChunkOf<"tool-output-available" | "tool-output-error" | "tool-output-denied">): void {
    const { toolCallId } = chunk;
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return;
    const { base, approval: { id = toolCallId, approved, reason } = {} } = call;
    const why = reason === undefined ? {} : { reason };
    const given = approved === true ? { approval: { id, approved, ...why } } : {};
    if (chunk.type === "tool-output-available")
      this.#showCall(call, { ...base, state: "output-available", output: chunk.output, ...given });
    else if (chunk.type === "tool-output-error")
      this.#showCall(call, { ...base, state: "output-error", errorText: chunk.errorText, ...given });
    else this.#showCall(call, { ...base, state: "output-denied", approval: { id, approved: false, ...why } });
  }
}

/** The part of a call as a page has it that knows the tool. */
function toStaticPart(call: ToolPart): ChatPart {
  const { type: _, toolName, ...part } = call;
  return { ...part, type: `tool-${toolName}` };
}
