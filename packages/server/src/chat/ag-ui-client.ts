import { isSameJson } from "@moora/agent/internal";
import * as z from "zod/mini";
import type { AnswerDraft } from "@moora/agent-webui-protocol";
import { draftContents, writtenIn, type AgUiMessage } from "./ag-ui-contents.ts";
import { callsMessageId } from "./ag-ui-ids.ts";
import { placeOf } from "./cut-answer.ts";
import { reasoningId } from "./loop-turns.ts";
import { valueOf } from "./ui-chunk.ts";

const messageSchema: z.ZodMiniType<AgUiMessage> = z.looseObject({
  id: z.string(),
  role: z.string(),
  toolCalls: z.optional(
    z.array(z.looseObject({ id: z.string(), function: z.looseObject({ arguments: z.string() }) })),
  ),
});

/** Whether an id is one that this server gives messages of the assistant. */
const isOfServer = (id: string): boolean => placeOf(id) !== undefined || id.startsWith(callsMessageId(""));

/** What a client of AG-UI has of a conversation: what it has posted, and what snapshots have replaced that with. */
export class AgUiClient {
  /** Messages for the model, which only the client has. */
  readonly own: readonly AgUiMessage[];
  /** The message of the user that the run ends with, as a list. */
  readonly newest: readonly AgUiMessage[];
  #messages: readonly AgUiMessage[];
  readonly #reasonings = new Set<string>();
  /** What the client has beyond what this run has sent, by the id of the message or of the call. */
  readonly #known = new Map<string, string>();

  constructor(posted: readonly unknown[]) {
    this.#messages = posted.flatMap((message) => messageSchema.safeParse(message).data ?? []);
    this.own = this.#messages.filter(({ role }) => role === "system" || role === "developer");
    this.newest = this.#messages.slice(-1).filter(({ role }) => role === "user");
    this.#read();
  }

  /** Takes the messages of a snapshot. */
  replace(messages: readonly AgUiMessage[]): void {
    this.#messages = messages;
    this.#known.clear();
    this.#read();
  }

  has(messageId: string): boolean {
    return this.#messages.some(({ id }) => id === messageId);
  }

  /** Whether the client has a call: it has posted it, or this run has sent it. */
  hasCall(toolCallId: string): boolean {
    return this.#known.has(toolCallId);
  }

  /** Takes reasoning that this run begins to send. */
  addReasoning(id: string): void {
    this.#reasonings.add(id);
  }

  hasReasoning(id: string): boolean {
    return this.#reasonings.has(id);
  }

  /** The ids of the reasoning of a turn that the client has. */
  reasoningsOf(turnId: string): readonly string[] {
    return [...this.#reasonings].filter((id) => id.startsWith(reasoningId(turnId, "")));
  }

  /** The part of a delta that the client does not have. It has been sent everything before. */
  newOf(id: string, delta: string): string {
    const known = this.#known.get(id) ?? "";
    this.#known.set(id, known.slice(delta.length));
    return delta.slice(known.length);
  }

  /**
   * Whether the client shows what a snapshot must replace: what was taken back, or a message that it was cut off from. `logged` are
   * the messages of the log, `draft` is what the model has written of the turn `turnId`.
   */
  isOutdated(logged: readonly AgUiMessage[], draft: AnswerDraft | undefined, turnId: string): boolean {
    const log = new Map(writtenIn(logged).map(({ id, text }) => [id, text]));
    const drafted = draftContents(draft, turnId);
    return writtenIn(this.#messages).some(({ kind, id, messageId, text }) => {
      const written = drafted.get(id);
      if (written !== undefined) return !written.startsWith(text);
      const recorded = log.get(id);
      if (recorded === undefined)
        return kind === "reasoning" ? this.reasoningsOf(turnId).includes(id) : isOfServer(messageId);
      // A client may have arguments in another form.
      const differs =
        kind === "call" ? !isSameJson(valueOf(text), valueOf(recorded)) : recorded.startsWith(text);
      return text !== recorded && differs;
    });
  }

  #read(): void {
    for (const { id, text } of writtenIn(this.#messages)) this.#known.set(id, text);
    for (const { id, role } of this.#messages) if (role === "reasoning") this.#reasonings.add(id);
  }
}
