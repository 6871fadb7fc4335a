import type { AgentState, DataPatch } from "@moora/agent";
import type { LiveSession } from "../sessions/live-session.ts";
import { AgUiCalls } from "./ag-ui-calls.ts";
import { AgUiClient } from "./ag-ui-client.ts";
import type { AgUiMessage } from "./ag-ui-contents.ts";
import { messagesOf } from "./ag-ui-messages.ts";
import { questionToInterrupt } from "./ag-ui-interrupts.ts";
import { AgUiSharedState } from "./ag-ui-state.ts";
import type { ChatFormat, ChatTranslator } from "./chat-format.ts";
import { turnIdOf, turnsOf } from "./loop-turns.ts";
import type { UiChunk } from "./ui-chunk.ts";
import type { AgUiEvent } from "./ag-ui-event.ts";

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
  readonly #data = new AgUiSharedState();
  readonly #calls: AgUiCalls;
  /** The text or the reasoning that is open. */
  #passage: { readonly kind: "TEXT" | "REASONING"; readonly messageId: string } | undefined;
  #steps = 0;

  constructor(run: AgUiRun, live: LiveSession, client: AgUiClient) {
    this.#run = run;
    this.#client = client;
    this.#live = live;
    this.#calls = new AgUiCalls(live, client, () => this.#snapshot());
  }

  eventsOf(chunk: UiChunk): readonly AgUiEvent[] {
    switch (chunk.type) {
      case "start":
        return this.#started();
      case "start-step":
      case "finish-step":
      case "reset-step":
        return this.#step(chunk.type);
      case "text-start":
        this.#calls.belongTo(chunk.id);
        return this.#begin("TEXT", chunk.id);
      case "reasoning-start":
        return this.#begin("REASONING", chunk.id);
      case "text-delta":
      case "reasoning-delta":
        return this.#continue(chunk);
      case "text-end":
      case "reasoning-end":
        return this.#end();
      case "tool-input-start":
      case "tool-input-delta":
      case "tool-input-available":
      case "tool-output-available":
      case "tool-output-error":
      case "tool-output-denied":
        return this.#calls.eventsOf(chunk);
      case "tool-input-changed":
        return this.#client.hasCall(chunk.toolCallId) ? [this.#snapshot()] : [];
      case "tool-question":
      case "tool-approval-request":
      case "tool-approval-response":
        return [];
      case "data-progress":
        return [custom("moora.tool-progress", { toolCallId: chunk.id, text: chunk.data })];
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
    const isLogged = (id: string): boolean => this.#state.messages.some((message) => message.id === id);
    const unsent = this.#client.newest.filter(({ id }) => !isLogged(id));
    // A message that is kept keeps its place in the client, before those that the client lacks. To be the last one, it is added again.
    return [this.#snapshot(), ...(unsent.length === 0 ? [] : [this.#snapshot(unsent)])];
  }

  correction(): readonly AgUiEvent[] {
    const turnId = this.#turnId;
    const isOutdated = this.#client.isOutdated(this.#messages, this.#live.stream.draft, turnId);
    return isOutdated ? [this.#snapshot()] : [];
  }

  readonly #toUrl = (url: string): string => this.#live.viewerUrl(url);

  #started(): readonly AgUiEvent[] {
    return [{ type: "RUN_STARTED", ...this.#run, protocolVersion: "1.0" }, ...this.#data.begin(this.#state)];
  }

  #step(type: "start-step" | "finish-step" | "reset-step"): readonly AgUiEvent[] {
    switch (type) {
      case "start-step":
        this.#steps += 1;
        this.#calls.beginStep();
        return [{ type: "STEP_STARTED", stepName: this.#stepName }];
      case "finish-step":
        // A step that is canceled may leave a call that the model has not completed.
        return [...this.#calls.endDrafts(), { type: "STEP_FINISHED", stepName: this.#stepName }];
      case "reset-step":
        // Streamed text cannot be taken back: the client gets the conversation without it.
        this.#calls.beginStep();
        return [...this.#end(), ...this.#calls.endDrafts(), this.#snapshot()];
    }
  }

  #begin(kind: "TEXT" | "REASONING", messageId: string): readonly AgUiEvent[] {
    this.#passage = { kind, messageId };
    if (kind === "TEXT") return [{ type: "TEXT_MESSAGE_START", messageId, role: "assistant" }];
    this.#client.addReasoning(messageId);
    return [
      { type: "REASONING_START", messageId },
      { type: "REASONING_MESSAGE_START", messageId, role: "reasoning" },
    ];
  }

  #continue({
    type,
    id: messageId,
    delta: whole,
  }: Extract<UiChunk, { readonly delta: string }>): readonly AgUiEvent[] {
    const delta = this.#client.newOf(messageId, whole);
    const kind = type === "text-delta" ? "TEXT" : "REASONING";
    return delta === "" ? [] : [{ type: `${kind}_MESSAGE_CONTENT`, messageId, delta }];
  }

  /** Ends what is open. */
  #end(): readonly AgUiEvent[] {
    if (this.#passage === undefined) return [];
    const { kind, messageId } = this.#passage;
    this.#passage = undefined;
    const end = { type: `${kind}_MESSAGE_END`, messageId };
    return kind === "TEXT" ? [end] : [end, { type: "REASONING_END", messageId }];
  }

  /** A file that the model made. Messages of the assistant have no files in AG-UI, so it is an event of our own. */
  #file({ mediaType, url }: Extract<UiChunk, { type: "file" }>): readonly AgUiEvent[] {
    return this.#calls.takeFile() ? [] : [custom("moora.file", { mediaType, url })];
  }

  /** The conversation, and after it `more` messages, which only the client has. */
  #snapshot(more: readonly AgUiMessage[] = []): AgUiEvent {
    // Reasoning that was taken back is written again under the same id.
    const emptied = this.#client
      .reasoningsOf(this.#turnId)
      .map((id) => ({ id, role: "reasoning", content: "" }));
    const messages = [...this.#client.own, ...this.#messages, ...emptied, ...more];
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

/** An event of our own, for what AG-UI has none for. */
const custom = (name: string, value: object): AgUiEvent => ({ type: "CUSTOM", name, value });
