import { failureText, type AgentState } from "@moora/agent";
import { contentWithFiles } from "./ag-ui-files.ts";
import { callsMessageId, resultMessageId } from "./ag-ui-ids.ts";
import type { AgUiMessage } from "./ag-ui-contents.ts";
import { cutAnswersOf } from "./cut-answer.ts";
import { endOf } from "./loop-end.ts";
import { callsOf, partsOfTurn, turnIdOf, type Turn } from "./loop-turns.ts";

interface MessagesOptions {
  readonly toUrl: (url: string) => string;
  /** Whether the reasoning with this id is among the messages. */
  readonly hasReasoning: (id: string) => boolean;
}

/** The conversation as the log has it, as messages of AG-UI, with those of users that the model has not read yet. */
export const messagesOf = (state: AgentState, options: MessagesOptions): readonly AgUiMessage[] =>
  new Conversation(state, options).messages();

/** The answers of ended loops that were cut off, in the order of their positions. That of a running loop was taken back. */
function endedCutAnswersOf(state: AgentState) {
  const hasEnded = endOf(state, []) !== undefined;
  return [...cutAnswersOf(state)]
    .filter(([loop]) => loop < state.reActContext.loop || hasEnded)
    .map(([, answer]) => answer)
    .toSorted((one, other) => one.position - other.position);
}

class Conversation {
  readonly #state: AgentState;
  readonly #options: MessagesOptions;
  readonly #messages: AgUiMessage[] = [];
  /** The turns so far of each loop. */
  readonly #counts = new Map<number, number>();
  /** The positions of the messages of the state, by their ids. */
  readonly #positions: ReadonlyMap<string, number>;
  /** The answers that were cut off, in the order of their positions, and how many of them were added. */
  readonly #cut: ReturnType<typeof endedCutAnswersOf>;
  #cutCount = 0;

  constructor(state: AgentState, options: MessagesOptions) {
    this.#state = state;
    this.#options = options;
    this.#positions = new Map(state.messages.map(({ id }, position) => [id, position]));
    this.#cut = endedCutAnswersOf(state);
  }

  messages(): readonly AgUiMessage[] {
    const { transcript, reActContext } = this.#state;
    for (const entry of [...transcript, ...reActContext.queued]) {
      if (entry.type === "turn") this.#turn(entry);
      else if (entry.type === "message") this.#user(entry.messageId);
    }
    this.#cutBefore(Infinity);
    return this.#messages;
  }

  #user(messageId: string): void {
    const position = this.#positions.get(messageId) ?? -1;
    const message = this.#state.messages[position];
    if (message?.role !== "user") return;
    this.#cutBefore(position);
    const { id, content: text, attachments: files } = message;
    this.#messages.push({
      id,
      role: "user",
      content: contentWithFiles({ text, files }, this.#options.toUrl),
    });
  }

  /** Adds the answers that were cut off before a position. */
  #cutBefore(end: number): void {
    for (;;) {
      const cut = this.#cut[this.#cutCount];
      if (cut === undefined || cut.position >= end) return;
      this.#cutCount += 1;
      this.#messages.push({ id: cut.id, role: "assistant", content: cut.text });
    }
  }

  #turn(turn: Turn): void {
    const { loop } = turn;
    const count = this.#counts.get(loop) ?? 0;
    this.#counts.set(loop, count + 1);
    for (const { kind, id, text } of partsOfTurn(turn, turnIdOf(loop, count))) {
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
