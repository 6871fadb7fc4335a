import { failureText, type AgentState } from "@moora/agent";
import type { AgentMessage } from "@moora/agent-webui-protocol";
import { contentWithFiles } from "./ag-ui-files.ts";
import { callsMessageId, resultMessageId } from "./ag-ui-ids.ts";
import type { AgUiMessage } from "./ag-ui-contents.ts";
import { conversationOf } from "./conversation.ts";
import { callsOf, partsOfTurn, type Turn } from "./loop-turns.ts";

interface MessagesOptions {
  readonly toUrl: (url: string) => string;
  /** Whether the reasoning with this id is among the messages. */
  readonly hasReasoning: (id: string) => boolean;
}

/** The conversation as the log has it, as messages of AG-UI, with those of users that the model has not read yet. */
export const messagesOf = (state: AgentState, options: MessagesOptions): readonly AgUiMessage[] =>
  new Conversation(state, options).messages();

class Conversation {
  readonly #state: AgentState;
  readonly #options: MessagesOptions;
  readonly #messages: AgUiMessage[] = [];

  constructor(state: AgentState, options: MessagesOptions) {
    this.#state = state;
    this.#options = options;
  }

  messages(): readonly AgUiMessage[] {
    for (const entry of conversationOf(this.#state)) {
      if (entry.type === "turn") this.#turn(entry.turn, entry.turnId);
      else if (entry.type === "user") this.#user(entry.message);
      else this.#messages.push({ id: entry.cut.id, role: "assistant", content: entry.cut.text });
    }
    return this.#messages;
  }

  #user({ id, content: text, attachments: files }: AgentMessage): void {
    const content = contentWithFiles({ text, files }, this.#options.toUrl);
    this.#messages.push({ id, role: "user", content });
  }

  #turn(turn: Turn, turnId: string): void {
    for (const { kind, id, text } of partsOfTurn(turn, turnId)) {
      if (kind === "reasoning" && this.#options.hasReasoning(id))
        this.#messages.push({ id, role: "reasoning", content: text });
    }
    this.#answer(turn);
    for (const id of callsOf(turn)) this.#result(id);
  }

  /** The text and the calls of a turn are one message; a turn of calls alone has one that is named after its first call. */
  #answer(turn: Turn): void {
    const content = turn.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
    const toolCalls = callsOf(turn).flatMap((id) => {
      const call = this.#state.toolCalls[id];
      if (call === undefined) return [];
      return [{ id, type: "function", function: { name: call.name, arguments: call.parameters } }];
    });
    const [first] = toolCalls;
    const id = content === "" || turn.messageId === null ? first && callsMessageId(first.id) : turn.messageId;
    if (id === undefined) return;
    this.#messages.push({ id, role: "assistant", content, ...(first === undefined ? {} : { toolCalls }) });
  }

  #result(toolCallId: string): void {
    const result = this.#state.toolCalls[toolCallId]?.result ?? null;
    if (result === null) return;
    const content = result.isSuccess
      ? contentWithFiles({ text: result.content, files: result.files }, this.#options.toUrl)
      : failureText(result);
    const message = { id: resultMessageId(toolCallId), role: "tool", toolCallId, content };
    this.#messages.push(message);
  }
}
