import type { AgentState, Decision, Question } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";
import * as z from "zod/mini";
import { HttpProblem } from "../problem.ts";
import type { AnsweredQuestion, ChatMessage } from "./chat-request.ts";
import type { Turn } from "./loop-turns.ts";
import { isQuestionPart, partIdOf, questionPartId, rejectionOf } from "./question-text.ts";
import type { UiChunk } from "./ui-chunk.ts";

const callSchema = z.looseObject({
  toolCallId: z.string(),
  state: z.string(),
  input: z.optional(z.unknown()),
  output: z.optional(z.unknown()),
  errorText: z.optional(z.unknown()),
  approval: z.optional(
    z.looseObject({ id: z.string(), approved: z.optional(z.boolean()), reason: z.optional(z.string()) }),
  ),
  toolMetadata: z.optional(z.looseObject({ digest: z.optional(z.string()) })),
});

const textSchema = z.looseObject({ type: z.enum(["text", "reasoning"]), text: z.string() });

/** A tool part that a client has. */
export type PostedCall = z.infer<typeof callSchema>;

/** The state of a part with the answer to an approval. */
const responded = "approval-responded";

/** Whether a part has an approval that nothing has followed yet. */
const isUnsettled = ({ state }: PostedCall): boolean => state === "approval-requested" || state === responded;

const isOutput = ({ state }: PostedCall): boolean => state === "output-available" || state === "output-error";

/** A message of the assistant, as a client has it when it posts its answers. */
export class PostedMessage {
  /** The loop that it shows; undefined for a message with an id of the client. */
  readonly loop: number | undefined;
  /** The parts of calls; the last one of a call counts as what is shown of it. */
  readonly #all: PostedCall[] = [];
  readonly #calls = new Map<string, PostedCall>();
  /** The ids of the calls of the last step. */
  readonly #newestStep = new Set<string>();
  /** The texts after the last call. */
  readonly #texts = new Set<string>();

  /** Throws `refused` for an answer to an approval of another form. */
  constructor({ id, parts }: ChatMessage) {
    const [, loop] = /^loop_(\d{1,15})$/.exec(id) ?? [];
    this.loop = loop === undefined ? undefined : Number(loop);
    for (const part of parts) {
      if (part.type === "step-start") this.#newestStep.clear();
      const call = callSchema.safeParse(part);
      const text = textSchema.safeParse(part);
      if (part["state"] === responded && call.data?.approval?.approved === undefined)
        throw invalidAnswer(invalidApproval);
      if (call.success) {
        this.#all.push(call.data);
        this.#calls.set(call.data.toolCallId, call.data);
        this.#newestStep.add(call.data.toolCallId);
        this.#texts.clear();
      } else if (text.success) this.#texts.add(text.data.text);
    }
  }

  /** The digests of the questions about approvals and outcomes that it answers. */
  get approvals(): readonly string[] {
    return this.#all.flatMap(({ state, approval }) => (state === responded && approval ? [approval.id] : []));
  }

  /** The digests of the other questions of sub-agents that it answers, and of those that have a result. */
  get outputs(): readonly string[] {
    return this.#all.flatMap((call) => {
      const digest = call.toolMetadata?.digest;
      const isAsked = digest !== undefined && call.toolCallId === questionPartId({ digest });
      return isAsked && isOutput(call) ? [digest] : [];
    });
  }

  /**
   * Its answers to open questions: approvals, and outputs of tools that ask a human. Throws `refused` for an answer to an approval that
   * belongs to another call, and for an output without a value.
   */
  answers(open: readonly Question[]): readonly AnsweredQuestion[] {
    return this.#all.flatMap((call) => {
      const question = open.find((asked) => isAnsweredBy(asked, call));
      return question === undefined ? [] : [{ question, decision: decisionOf(question, call) }];
    });
  }

  call(id: string): PostedCall | undefined {
    return this.#calls.get(id);
  }

  /** Throws `refused` for an answer to a call that the session does not have. */
  checkCalls({ toolCalls }: AgentState): void {
    const isAnswered = ({ state }: PostedCall): boolean => state === responded || state.startsWith("output-");
    const answered = this.#all.filter(isAnswered).map(({ toolCallId }) => toolCallId);
    const unknown = answered.find((id) => !Object.hasOwn(toolCalls, id) && !isQuestionPart(id));
    if (unknown === undefined) return;
    throw invalidAnswer(
      `The message has an answer to the tool call ${JSON.stringify(unknown)}, which is not of this chat.`,
    );
  }

  /** Whether the client has a text after the last call. */
  hasText(text: string): boolean {
    return this.#texts.has(text);
  }

  /** Whether a client has other arguments of a call, in its last step: it finds only such a call again to replace it. */
  hasOtherInput(id: string, input: unknown): boolean {
    const shown = this.#calls.get(id)?.input;
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
    return this.#all.flatMap((call) => {
      const isOpen = isUnsettled(call) || call.state === "input-available";
      return isOpen && isQuestionPart(call.toolCallId) && !ids.has(call.toolCallId) ? [call] : [];
    });
  }
}

/** Whether a part has the answer to a question. A tool may ask several questions in one call. */
function isAnsweredBy(asked: Question, call: PostedCall): boolean {
  if (call.state === responded) return call.approval?.id === asked.digest;
  const isSame = asked.digest === (call.toolMetadata?.digest ?? asked.digest);
  return isOutput(call) && asked.about === "answer" && partIdOf(asked) === call.toolCallId && isSame;
}

/** An approved call with an unknown outcome runs again. */
function decisionOf(
  question: Question,
  { state, toolCallId, approval, output, errorText }: PostedCall,
): Decision {
  if (state === "output-error") {
    if (typeof errorText === "string") return { reject: errorText };
    if (errorText === undefined) return { reject: "The question was not answered." };
    throw invalidAnswer("The errorText of a tool that asks must be a text.");
  }
  if (state === "output-available") {
    if (output === undefined) throw invalidAnswer("A tool that asks must have an output.");
    return { answer: output };
  }
  if (partIdOf(question) !== toolCallId)
    throw invalidAnswer("An answer to an approval must have the id of the question about its call.");
  const { approved, reason } = approval ?? {};
  if (approved !== true) return rejectionOf(question, reason);
  return question.about === "outcome" ? { outcome: "run-again" } : "approve";
}

const invalidApproval =
  "An answer to an approval must have approved: true or false, and its reason must be a text.";

const invalidAnswer = (detail: string): HttpProblem =>
  new HttpProblem("refused", detail, { path: "messages" });
