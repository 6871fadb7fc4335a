import { failureText, type AgentEvent, type Question, type ToolCallResult } from "@moora/agent";
import type { PostedCall } from "./posted-message.ts";
import { questionFields, questionPartId } from "./question-text.ts";
import { valueOf, type UiChunk } from "./ui-chunk.ts";

/** A question of a sub-agent. */
type SubAgentQuestion = Question & Required<Pick<Question, "path">>;

const isOfSubAgent = (question: Question): question is SubAgentQuestion =>
  question.path !== undefined && question.path.length > 0;

/** The events of a sub-agent after which other questions may be open. */
export const showsQuestions: ReadonlySet<AgentEvent["type"]> = new Set([
  "ApprovalRequested",
  "ToolCallStarted",
  "ToolCallFinished",
  "FinalAnswer",
  "Error",
]);

/**
 * The questions of sub-agents in one message: each is shown as a call of its own, which ends with the call of the sub-agent, or
 * with the call of the session that leads to it.
 */
export class SubAgentQuestions {
  readonly #write: (chunk: UiChunk) => void;
  readonly #open = new Map<string, SubAgentQuestion>();
  readonly #ended = new Set<string>();

  constructor(write: (chunk: UiChunk) => void) {
    this.#write = write;
  }

  /** Marks questions as written: the client has them. */
  skip(questions: readonly Question[]): void {
    for (const question of questions.filter(isOfSubAgent)) this.#open.set(question.digest, question);
  }

  /**
   * Writes the questions that the client does not have. `openStep` is called before: a page sends its answers when the last step is
   * complete, and the step before contains the call of the sub-agent, which is not.
   */
  update(questions: readonly Question[], openStep: () => void): void {
    for (const question of questions.filter(isOfSubAgent)) {
      const { digest, about } = question;
      if (this.#open.has(digest) || this.#ended.has(digest)) continue;
      openStep();
      this.#open.set(digest, question);
      const call = callOf(question);
      if (about === "approval") this.#write({ type: "tool-input-available", ...call });
      else this.#write({ type: "tool-question", ...call, ...questionFields(question), digest });
      if (about !== "answer")
        this.#write({ type: "tool-approval-request", toolCallId: call.toolCallId, approvalId: digest });
    }
  }

  /** Ends parts whose questions are not open: the client has not seen what became of them, and this session does not show it either. */
  close(parts: readonly PostedCall[]): void {
    for (const { toolCallId, approval } of parts) {
      // Nor is it known whether the answer of the client was taken.
      if (approval?.approved !== undefined)
        this.#write({ type: "tool-approval-request", toolCallId, approvalId: approval.id });
      this.#write({ type: "tool-output-error", toolCallId, errorText: closed });
    }
  }

  /**
   * Writes the result of a call of a sub-agent that was asked about. `questions` are all that are open: another sub-agent of the same call
   * may ask about a call with the same id.
   */
  event(
    { path, event }: Extract<AgentEvent<unknown>, { type: "SubAgentEvent" }>,
    questions: readonly Question[],
  ): void {
    if (event.type !== "ToolCallFinished") return;
    const open = new Set(questions.map(({ digest }) => digest));
    for (const question of this.#open.values()) {
      if (open.has(question.digest)) continue;
      const isAbout = question.toolCallId === event.toolCallId && question.path.join("/") === path.join("/");
      if (isAbout) this.#end(question, event.result);
    }
  }

  /** Ends the questions of sub-agents of a call of the session that has a result. What became of them is not known here. */
  callEnded(toolCallId: string): void {
    for (const question of this.#open.values()) if (question.path[0] === toolCallId) this.#end(question);
  }

  #end(question: SubAgentQuestion, result?: ToolCallResult): void {
    this.#open.delete(question.digest);
    this.#ended.add(question.digest);
    this.#write(resultChunk(questionPartId(question), result ?? unknownResult));
  }
}

/** The call that shows a question. */
const callOf = (question: SubAgentQuestion) => ({
  toolCallId: questionPartId(question),
  toolName: question.name,
  input: question.parameters,
  dynamic: true as const,
});

const closed = "This question is no longer open. The answer of the sub-agent shows what became of it.";

const unknownResult = { isSuccess: true, content: "null", receivedAt: 0 } as const;

/** The chunk of a result of a call. */
export function resultChunk(toolCallId: string, result: ToolCallResult): UiChunk {
  if (result.isSuccess) return { type: "tool-output-available", toolCallId, output: valueOf(result.content) };
  if (result.code === "rejected") return { type: "tool-output-denied", toolCallId };
  return { type: "tool-output-error", toolCallId, errorText: failureText(result) };
}
