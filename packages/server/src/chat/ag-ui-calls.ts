import { failureText, type AgentState } from "@moora/agent";
import type { LiveSession } from "../sessions/live-session.ts";
import type { AgUiClient } from "./ag-ui-client.ts";
import { contentWithFiles } from "./ag-ui-files.ts";
import type { AgUiEvent } from "./ag-ui-event.ts";
import { callsMessageId, resultMessageId } from "./ag-ui-ids.ts";
import { textOf, type UiChunk } from "./ui-chunk.ts";

/** A chunk of a call, or of its result. */
type CallChunk = Extract<
  UiChunk,
  { readonly type: `tool-input-${"start" | "delta" | "available"}` | `tool-output-${string}` }
>;

/** Translates calls and their results to events of AG-UI. A question of a sub-agent is an interrupt, and not a call. */
export class AgUiCalls {
  readonly #live: LiveSession;
  readonly #client: AgUiClient;
  readonly #snapshot: () => AgUiEvent;
  /** The calls that the client sees while the model writes them: their names, and their arguments so far. */
  readonly #drafts = new Map<string, { readonly name: string; readonly text: string }>();
  /** The message that the calls of the step belong to. */
  #parentId: string | undefined;
  /** How many files of the last result follow. The result contains them. */
  #filesOfResult = 0;

  /** `snapshot` returns the conversation as the log has it. */
  constructor(live: LiveSession, client: AgUiClient, snapshot: () => AgUiEvent) {
    this.#live = live;
    this.#client = client;
    this.#snapshot = snapshot;
  }

  /** Calls belong to a message of their own from here on, until there is a text. */
  beginStep(): void {
    this.#parentId = undefined;
  }

  /** The next calls belong to the message with this text. */
  belongTo(messageId: string): void {
    this.#parentId = messageId;
  }

  /** The events that end the calls which the model has not completed. */
  endDrafts(): readonly AgUiEvent[] {
    const ids = [...this.#drafts.keys()];
    this.#drafts.clear();
    return ids.map((toolCallId) => ({ type: "TOOL_CALL_END", toolCallId }));
  }

  /** Whether the next file is one of the last result, which contains it. */
  takeFile(): boolean {
    if (this.#filesOfResult === 0) return false;
    this.#filesOfResult -= 1;
    return true;
  }

  eventsOf(chunk: CallChunk): readonly AgUiEvent[] {
    switch (chunk.type) {
      case "tool-input-start":
        this.#drafts.set(chunk.toolCallId, { name: chunk.toolName, text: "" });
        return [this.#start(chunk)];
      case "tool-input-delta":
        this.#grow(chunk.toolCallId, chunk.inputTextDelta);
        return this.#arguments(chunk.toolCallId, chunk.inputTextDelta);
      case "tool-input-available":
        return this.#call(chunk);
      case "tool-output-available":
        return this.#result(chunk.toolCallId, textOf(chunk.output));
      case "tool-output-error":
        return this.#result(chunk.toolCallId, chunk.errorText);
      case "tool-output-denied":
        return this.#result(chunk.toolCallId, this.#denialOf(chunk.toolCallId));
    }
  }

  #start(call: { readonly toolCallId: string; readonly toolName: string }): AgUiEvent {
    const { toolCallId, toolName: toolCallName } = call;
    this.#parentId ??= callsMessageId(toolCallId);
    return { type: "TOOL_CALL_START", toolCallId, toolCallName, parentMessageId: this.#parentId };
  }

  #grow(toolCallId: string, delta: string): void {
    const draft = this.#drafts.get(toolCallId);
    if (draft !== undefined) this.#drafts.set(toolCallId, { ...draft, text: draft.text + delta });
  }

  #arguments(toolCallId: string, delta: string): readonly AgUiEvent[] {
    const added = this.#client.newOf(toolCallId, delta);
    return added === "" ? [] : [{ type: "TOOL_CALL_ARGS", toolCallId, delta: added }];
  }

  /** A complete call. Its draft is completed; one that differs is replaced by the conversation of the log. */
  #call(chunk: Extract<CallChunk, { type: "tool-input-available" }>): readonly AgUiEvent[] {
    const { toolCallId, input } = chunk;
    const call = this.#recordOf(toolCallId);
    if (call === undefined) return [];
    const draft = this.#drafts.get(toolCallId);
    this.#drafts.delete(toolCallId);
    const end = { type: "TOOL_CALL_END", toolCallId };
    if (draft === undefined) return [this.#start(chunk), ...this.#arguments(toolCallId, textOf(input)), end];
    const { name, text } = draft;
    if (name !== call.name || !call.parameters.startsWith(text)) return [end, this.#snapshot()];
    return [...this.#arguments(toolCallId, call.parameters.slice(text.length)), end];
  }

  /** A result with its files; none that the client has. */
  #result(toolCallId: string, text: string): readonly AgUiEvent[] {
    const call = this.#recordOf(toolCallId);
    const messageId = resultMessageId(toolCallId);
    if (call === undefined || this.#client.has(messageId)) return [];
    const files = call.result?.isSuccess === true ? call.result.files : undefined;
    this.#filesOfResult = files?.length ?? 0;
    const content = contentWithFiles({ text, files }, (url) => this.#live.viewerUrl(url));
    return [{ type: "TOOL_CALL_RESULT", messageId, toolCallId, role: "tool", content }];
  }

  /** Why a call was rejected, as the model reads it. */
  #denialOf(toolCallId: string): string {
    const result = this.#recordOf(toolCallId)?.result;
    return result?.isSuccess === false ? failureText(result) : "The call was rejected.";
  }

  #recordOf(toolCallId: string): AgentState["toolCalls"][string] | undefined {
    return this.#live.session.current().toolCalls[toolCallId];
  }
}
