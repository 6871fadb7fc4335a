import type { AgentEvent, Question } from "@moora/agent";
import type { PostedCall } from "./posted-message.ts";
import { askChunks, isOfSubAgent, questionPartId } from "./question-text.ts";
import { resultChunk, type UiChunk } from "./ui-chunk.ts";

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
  /** Those that the client has, by their digests; undefined for one that has ended. */
  readonly #shown = new Map<string, Question | undefined>();

  constructor(write: (chunk: UiChunk) => void) {
    this.#write = write;
  }

  /** Marks questions as written: the client has them. */
  skip(questions: readonly Question[]): void {
    for (const question of questions) if (isOfSubAgent(question)) this.#shown.set(question.digest, question);
  }

  /**
   * Writes the questions that the client does not have. `openStep` is called before: a page sends its answers when the last step is
   * complete, and the step before contains the call of the sub-agent, which is not.
   */
  update(questions: readonly Question[], openStep: () => void): void {
    for (const question of questions) {
      if (!isOfSubAgent(question) || this.#shown.has(question.digest)) continue;
      openStep();
      this.#shown.set(question.digest, question);
      for (const chunk of askChunks(question)) this.#write(chunk);
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
    this.#end(event.result, (question) => {
      const isAbout = question.toolCallId === event.toolCallId && question.path?.join("/") === path.join("/");
      return isAbout && !open.has(question.digest);
    });
  }

  /** Ends the questions of sub-agents of a call of the session that has a result. What became of them is not known here. */
  callEnded(toolCallId: string): void {
    this.#end(unknownResult, ({ path }) => path?.[0] === toolCallId);
  }

  #end(result: Parameters<typeof resultChunk>[1], hasEnded: (question: Question) => boolean): void {
    for (const [digest, question] of this.#shown) {
      if (question === undefined || !hasEnded(question)) continue;
      this.#shown.set(digest, undefined);
      this.#write(resultChunk(questionPartId(question), result));
    }
  }
}

const closed = "This question is no longer open. The answer of the sub-agent shows what became of it.";

const unknownResult = { isSuccess: true, content: "null", receivedAt: 0 } as const;
