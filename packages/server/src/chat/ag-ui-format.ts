import type { AgentState, DataPatch } from "@moora/agent";
import type { LiveSession } from "../sessions/live-session.ts";
import { contentWithFiles } from "./ag-ui-files.ts";
import { AgUiClient } from "./ag-ui-client.ts";
import { messagesOf } from "./ag-ui-messages.ts";
import { callsMessageId, resultMessageId } from "./ag-ui-ids.ts";
import { AgUiDrafts } from "./ag-ui-drafts.ts";
import { questionToInterrupt } from "./ag-ui-interrupts.ts";
import { AgUiSharedState } from "./ag-ui-state.ts";
import type { ChatFormat, ChatTranslator } from "./chat-format.ts";
import { turnIdOf, turnsOf } from "./loop-turns.ts";
import { textOf, type UiChunk } from "./ui-chunk.ts";

/** An event of AG-UI 1.0. Fields without a value are left out: a null is invalid. */
export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

/** One run of AG-UI, as its client names it. */
export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
}

/** The events of one run of AG-UI. `posted` are the messages that the client has. */
export const agUiFormat = (run: AgUiRun, posted: readonly unknown[]): ChatFormat => ({
  headers: {},
  endText: "",
  replacesMessages: false,
  translator: (live) => new AgUiTranslator(run, live, new AgUiClient(posted)),
});

/** Translates the chunks of a loop to events of AG-UI. */
class AgUiTranslator implements ChatTranslator {
  readonly #run: AgUiRun;
  readonly #client: AgUiClient;
  readonly #live: LiveSession;
  readonly #drafts = new AgUiDrafts();
  readonly #data = new AgUiSharedState();
  #open: { readonly kind: "text" | "reasoning"; readonly id: string } | undefined;
  /** The message that the calls of the step belong to. */
  #parentId: string | undefined;
  #steps = 0;
  /** How many files of the last result follow. The result contains them. */
  #filesOfResult = 0;

  constructor(run: AgUiRun, live: LiveSession, client: AgUiClient) {
    this.#run = run;
    this.#client = client;
    this.#live = live;
  }

  eventsOf(chunk: UiChunk): readonly AgUiEvent[] {
    switch (chunk.type) {
      case "start":
        return [
          { type: "RUN_STARTED", ...this.#run, protocolVersion: "1.0" },
          ...this.#data.begin(this.#state),
        ];
      case "start-step":
        this.#steps += 1;
        this.#parentId = undefined;
        return [{ type: "STEP_STARTED", stepName: this.#stepName }];
      case "finish-step":
        // A step that is canceled may leave a call that the model has not completed.
        return [...this.#drafts.endAll(), { type: "STEP_FINISHED", stepName: this.#stepName }];
      case "reset-step":
        // Streamed text cannot be taken back: the client gets the conversation without it.
        this.#parentId = undefined;
        return [...this.#close(), ...this.#drafts.endAll(), this.#snapshot()];
      case "text-start":
        return this.#start("text", chunk.id);
      case "reasoning-start":
        return this.#start("reasoning", chunk.id);
      case "text-delta":
        return this.#content("TEXT_MESSAGE_CONTENT", chunk);
      case "reasoning-delta":
        return this.#content("REASONING_MESSAGE_CONTENT", chunk);
      case "text-end":
      case "reasoning-end":
        return this.#close();
      case "tool-input-start":
        this.#drafts.start(chunk.toolCallId, chunk.toolName);
        return [this.#callStart(chunk)];
      case "tool-input-delta":
        this.#drafts.grow(chunk.toolCallId, chunk.inputTextDelta);
        return this.#arguments(chunk.toolCallId, chunk.inputTextDelta);
      case "tool-input-available":
        return this.#call(chunk);
      case "tool-output-available":
        return this.#result(chunk.toolCallId, textOf(chunk.output));
      case "tool-output-error":
        return this.#result(chunk.toolCallId, chunk.errorText);
      case "tool-output-denied":
        return this.#result(chunk.toolCallId, this.#denialOf(chunk.toolCallId));
      case "data-progress": {
        const value = { toolCallId: chunk.id, text: chunk.data };
        return [{ type: "CUSTOM", name: "moora.tool-progress", value }];
      }
      case "tool-question":
      case "tool-approval-request":
      case "tool-approval-response":
        return [];
      case "file":
        return this.#file(chunk);
      case "finish":
        return [this.#finished(this.#outcome(chunk.finishReason))];
      case "abort":
        return [this.#finished({ type: "cancelled" })];
      case "error":
        return [runError(chunk)];
    }
  }

  dataEvents(state: AgentState, patches: readonly DataPatch[] | undefined): readonly AgUiEvent[] {
    return this.#data.update(state, patches);
  }

  conversation(): readonly AgUiEvent[] {
    return [this.#snapshot()];
  }

  correction(): readonly AgUiEvent[] {
    const turnId = this.#turnId;
    const isOutdated = this.#client.isOutdated(this.#messages, this.#live.stream.draft, turnId);
    return isOutdated ? [this.#snapshot()] : [];
  }

  #content(
    type: string,
    { id, delta }: { readonly id: string; readonly delta: string },
  ): readonly AgUiEvent[] {
    const added = this.#client.newOf(id, delta);
    return added === "" ? [] : [{ type, messageId: id, delta: added }];
  }

  #arguments(toolCallId: string, delta: string): readonly AgUiEvent[] {
    const added = this.#client.newOf(toolCallId, delta);
    return added === "" ? [] : [{ type: "TOOL_CALL_ARGS", toolCallId, delta: added }];
  }

  #callStart({
    toolCallId,
    toolName,
  }: {
    readonly toolCallId: string;
    readonly toolName: string;
  }): AgUiEvent {
    this.#parentId ??= callsMessageId(toolCallId);
    const parentMessageId = this.#parentId;
    return { type: "TOOL_CALL_START", toolCallId, toolCallName: toolName, parentMessageId };
  }

  /** A complete call. Its draft is completed; one that differs is replaced by the conversation of the log. */
  #call(chunk: Extract<UiChunk, { type: "tool-input-available" }>): readonly AgUiEvent[] {
    const { toolCallId, input } = chunk;
    const call = this.#state.toolCalls[toolCallId];
    // A question of a sub-agent is an interrupt, not a call.
    if (call === undefined) return [];
    const drafted = this.#drafts.complete(toolCallId, call);
    const end = { type: "TOOL_CALL_END", toolCallId };
    if (drafted === undefined)
      return [this.#callStart(chunk), ...this.#arguments(toolCallId, textOf(input)), end];
    return drafted.differs ? [end, this.#snapshot()] : [...this.#arguments(toolCallId, drafted.rest), end];
  }

  /** A result with its files; none for a question of a sub-agent, which is an interrupt. */
  #result(toolCallId: string, content: string): readonly AgUiEvent[] {
    const call = this.#state.toolCalls[toolCallId];
    if (call === undefined || this.#client.has(resultMessageId(toolCallId))) return [];
    const files = call.result?.isSuccess === true ? call.result.files : undefined;
    this.#filesOfResult = files?.length ?? 0;
    return [resultEvent(toolCallId, contentWithFiles({ text: content, files }, this.#toUrl))];
  }

  /** Why a call was rejected, as the model reads it. */
  #denialOf(toolCallId: string): string {
    const result = this.#state.toolCalls[toolCallId]?.result;
    return result?.isSuccess === false ? result.error : "The call was rejected.";
  }

  readonly #toUrl = (url: string): string => this.#live.viewerUrl(url);

  /** A file that the model made. Messages of the assistant have no files in AG-UI, so it is an event of our own. */
  #file({ mediaType, url }: Extract<UiChunk, { type: "file" }>): readonly AgUiEvent[] {
    if (this.#filesOfResult === 0) return [{ type: "CUSTOM", name: "moora.file", value: { mediaType, url } }];
    this.#filesOfResult -= 1;
    return [];
  }

  #snapshot(): AgUiEvent {
    // Reasoning that was taken back is written again under the same id.
    const emptied = this.#client
      .reasoningsOf(this.#turnId)
      .map((id) => ({ id, role: "reasoning", content: "" }));
    const messages = [...this.#client.own, ...this.#messages, ...emptied];
    this.#client.replace(messages);
    return { type: "MESSAGES_SNAPSHOT", messages };
  }

  /** The conversation as the log has it, with the reasoning that the client has. */
  get #messages(): ReturnType<typeof messagesOf> {
    const hasReasoning = (id: string): boolean => this.#client.hasReasoning(id);
    return messagesOf(this.#state, { toUrl: this.#toUrl, hasReasoning });
  }

  /** What identifies the turn that the model is writing. */
  get #turnId(): string {
    const { loop } = this.#state.reActContext;
    return turnIdOf(loop, turnsOf(this.#state, loop).length);
  }

  get #state(): AgentState {
    return this.#live.session.current();
  }

  get #stepName(): string {
    return `step_${this.#steps}`;
  }

  #start(kind: "text" | "reasoning", messageId: string): readonly AgUiEvent[] {
    this.#open = { kind, id: messageId };
    if (kind === "text") {
      this.#parentId = messageId;
      return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
    }
    this.#client.addReasoning(messageId);
    return [
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    ];
  }

  #close(): readonly AgUiEvent[] {
    if (this.#open === undefined) return [];
    const { kind, id: messageId } = this.#open;
    this.#open = undefined;
    if (kind === "text") return [{ type: "TEXT_MESSAGE_END", messageId }];
    return [
      { type: "REASONING_MESSAGE_END", messageId },
      { type: "REASONING_END", messageId },
    ];
  }

  #finished(outcome: object): AgUiEvent {
    return { type: "RUN_FINISHED", ...this.#run, outcome };
  }

  #outcome(reason: "stop" | "tool-calls"): object {
    if (reason === "stop") return { type: "success" };
    return { type: "interrupt", interrupts: this.#live.stream.questions.map(questionToInterrupt) };
  }
}

const runError = ({ errorText, code }: Extract<UiChunk, { type: "error" }>): AgUiEvent => ({
  type: "RUN_ERROR",
  message: errorText,
  ...(code === undefined ? {} : { code }),
});

const resultEvent = (toolCallId: string, content: string | readonly object[]): AgUiEvent => ({
  type: "TOOL_CALL_RESULT",
  messageId: resultMessageId(toolCallId),
  toolCallId,
  role: "tool",
  content,
});
