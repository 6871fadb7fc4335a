import type { AgentState, Question } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";
import * as z from "zod/mini";
import type { ChatMessage } from "./chat-request.ts";
import type { Turn } from "./loop-turns.ts";
import { isQuestionPart, questionPartId } from "./question-text.ts";
import type { UiChunk } from "./ui-chunk.ts";

const callSchema = z.looseObject({
  toolCallId: z.string(),
  state: z.string(),
  output: z.optional(z.unknown()),
  errorText: z.optional(z.string()),
  approval: z.optional(
    z.looseObject({ id: z.string(), approved: z.optional(z.boolean()), reason: z.optional(z.string()) }),
  ),
  toolMetadata: z.optional(z.looseObject({ digest: z.optional(z.string()) })),
});

const textSchema = z.looseObject({ type: z.enum(["text", "reasoning"]), text: z.string() });

/** A tool part that a client has. */
export type PostedCall = z.infer<typeof callSchema>;

/** Whether a part has the answer to an approval that nothing has followed yet. */
const isUnsettled = ({ state }: PostedCall): boolean =>
  state === "approval-requested" || state === "approval-responded";

/** A message of the assistant, as a client has it when it posts its answers. */
export class PostedMessage {
  /** The loop that it shows; undefined for a message with an id of the client. */
  readonly loop: number | undefined;
  readonly #calls = new Map<string, PostedCall>();
  /** The ids of the calls of the last step. */
  readonly #newestStep = new Set<string>();
  /** The texts after the last call. */
  readonly #texts = new Set<string>();

  constructor({ id, parts }: ChatMessage) {
    const [, loop] = /^loop_(\d{1,15})$/.exec(id) ?? [];
    this.loop = loop === undefined ? undefined : Number(loop);
    for (const part of parts) {
      if (part.type === "step-start") this.#newestStep.clear();
      const call = callSchema.safeParse(part);
      const text = textSchema.safeParse(part);
      if (call.success) {
        this.#calls.set(call.data.toolCallId, call.data);
        this.#newestStep.add(call.data.toolCallId);
        this.#texts.clear();
      } else if (text.success) this.#texts.add(text.data.text);
    }
  }

  call(id: string): PostedCall | undefined {
    return this.#calls.get(id);
  }

  /** The id of a call with an answer of the client that the session does not have; undefined if there is none. */
  unknownCall({ toolCalls }: AgentState): string | undefined {
    const isAnswered = ({ state }: PostedCall): boolean =>
      state === "approval-responded" || state.startsWith("output-");
    const answered = [...this.#calls.values()].filter(isAnswered).map(({ toolCallId }) => toolCallId);
    return answered.find((id) => !Object.hasOwn(toolCalls, id) && !isQuestionPart(id));
  }

  /** Whether the client has a text after the last call. */
  hasText(text: string): boolean {
    return this.#texts.has(text);
  }

  /** Whether a client has other arguments of a call, in its last step: it finds only such a call again to replace it. */
  hasOtherInput(id: string, input: unknown): boolean {
    const shown = this.#calls.get(id)?.["input"];
    return shown !== undefined && this.#newestStep.has(id) && !isSameJson(shown, input);
  }

  /** How many turns of its loop the client has, from the first one on. */
  countTurns(turns: readonly Turn[]): number {
    let count = turns.findLastIndex(({ parts }) => parts.some((part) => this.#hasCall(part))) + 1;
    while (count < turns.length && this.#hasTexts(turns[count]?.parts ?? [])) count += 1;
    return count;
  }

  #hasCall(part: Turn["parts"][number]): boolean {
    return part.type === "call" && this.#calls.has(part.toolCallId);
  }

  #hasTexts(parts: Turn["parts"]): boolean {
    const texts = parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []));
    return texts.length > 0 && texts.every((text) => this.#texts.has(text));
  }

  /** Whether the client has a result as this chunk would write it. */
  hasResult(chunk: UiChunk): boolean {
    if (!("toolCallId" in chunk)) return false;
    const { state, output, errorText } = this.#calls.get(chunk.toolCallId) ?? {};
    if (chunk.type === "tool-output-denied") return state === "output-denied";
    if (chunk.type === "tool-output-error") return state === "output-error" && errorText === chunk.errorText;
    if (chunk.type !== "tool-output-available") return false;
    return state === "output-available" && JSON.stringify(output) === JSON.stringify(chunk.output);
  }

  /** Whether the client shows an open question, or answers it with this message. */
  hasQuestion({ id, digest, about }: { id: string; digest: string; about: Question["about"] }): boolean {
    const call = this.#calls.get(id);
    if (call === undefined) return false;
    if (about !== "answer") return isUnsettled(call) && call.approval?.id === digest;
    return digest === (call.toolMetadata?.digest ?? digest);
  }

  /** The parts that show a question of a sub-agent which is not one of these, and no result. */
  closedQuestions(open: readonly Question[]): readonly PostedCall[] {
    const ids = new Set(open.map(questionPartId));
    return [...this.#calls.values()].flatMap((call) => {
      const isOpen = isUnsettled(call) || call.state === "input-available";
      return isOpen && isQuestionPart(call.toolCallId) && !ids.has(call.toolCallId) ? [call] : [];
    });
  }
}
