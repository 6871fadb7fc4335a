import type { AgentEvent } from "@moora/agent";
import { isProgress, type AnswerDraft } from "@moora/agent-webui-protocol";
import type { ChatMessage, ChatPart } from "./chat.ts";

/** The beginning of the ids of turns without text, which have no message in the state. */
export const turnPrefix = "turn_";

/** What a model and tools stream: no record has it. */
export class Streamed {
  readonly #draft: () => AnswerDraft | undefined;
  readonly #progress = new Map<string, string>();
  #progressCount = 0;

  /** `draft` returns what the model has written of its answer. */
  constructor(draft: () => AnswerDraft | undefined) {
    this.#draft = draft;
  }

  /** Another one after each change. */
  get version(): string {
    const { messageId, length } = this.#draft() ?? { messageId: "", length: 0 };
    return `${messageId} ${length} ${this.#progressCount}`;
  }

  /** Takes an event of a session. Returns whether it changed something. */
  add(event: AgentEvent<unknown>): boolean {
    if (event.type === "ToolCallProgress") this.#progress.set(event.toolCallId, event.text);
    else if (event.type !== "ToolCallFinished" || !this.#progress.delete(event.toolCallId))
      return isProgress(event);
    this.#progressCount += 1;
    return true;
  }

  /** Whether the model has begun to write something else than text. */
  get hasDrafts(): boolean {
    return this.#draft()?.parts.some(({ kind }) => kind !== "text") === true;
  }

  /** A message with what is streamed. The same object if that is nothing. */
  with(message: ChatMessage): ChatMessage {
    const draft = this.#draft();
    const isOwn = message.id === draft?.messageId || message.id.startsWith(turnPrefix);
    const added = message.streaming && isOwn && draft !== undefined ? partsOf(draft) : [];
    const parts = message.parts.map((part) => this.#withProgress(part));
    const isSame = added.length === 0 && parts.every((part, index) => part === message.parts[index]);
    return isSame ? message : { ...message, parts: [...parts, ...added] };
  }

  #withProgress(part: ChatPart): ChatPart {
    if (part.type !== "tool-call" || part.result !== null) return part;
    const progress = this.#progress.get(part.toolCallId);
    return progress === undefined ? part : { ...part, progress };
  }
}

/**
 * The parts of a draft in the order in which they begin. The pieces of parts that are open together alternate in it; a model that does
 * not count its parts has one text and one reasoning.
 */
function partsOf({ parts }: AnswerDraft): readonly ChatPart[] {
  const shown = new Map<string, ChatPart>();
  for (const part of parts) {
    const text = part.pieces.join("");
    if (part.kind === "call") {
      const { toolCallId, name } = part;
      const draft = { toolCallId, name, status: "drafting", parameters: text, input: undefined } as const;
      shown.set(toolCallId, { type: "tool-call", ...draft, result: null, output: undefined });
    } else {
      const key = `${part.kind} ${part.part}`;
      const before = shown.get(key);
      const begun = before !== undefined && "text" in before ? before.text : "";
      shown.set(key, { type: part.kind, text: begun + text });
    }
  }
  return [...shown.values()];
}
