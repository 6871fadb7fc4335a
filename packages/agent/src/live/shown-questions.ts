import type { AgentState } from "@moora/agent-core-state-machine";
import { chunkToQuestion, questionKey } from "@moora/agent-core-state-machine/internal";
import type { ChunkEvent, SubAgentQuestion } from "@moora/agent-webui-protocol";
import type { ApprovalRequested, Question, SubAgentEvent } from "../agent-event.ts";

/** The open questions of sub-agents that another process has sent: the records of a session do not contain them. */
export class ShownQuestions {
  #open: readonly SubAgentQuestion[] = [];

  constructor(questions: readonly Question[] = []) {
    this.#open = questions.filter(isOfSubAgent);
  }

  /** The open ones. The same list until it changes. */
  get all(): readonly SubAgentQuestion[] {
    return this.#open;
  }

  /** Takes the chunk of a question, and returns the question if it is new. */
  add(chunk: Extract<ChunkEvent, { type: "question" }>): SubAgentQuestion | undefined {
    const question = chunkToQuestion(chunk);
    const known = this.#find(question);
    if (known !== undefined && known.digest === question.digest && known.reminder === question.reminder)
      return undefined;
    this.#open = [...this.#open.filter((open) => open !== known), question];
    return question;
  }

  /** Removes a question. Returns it if it was there. */
  close(closed: Pick<Question, "toolCallId" | "path">): SubAgentQuestion | undefined {
    const known = this.#find(closed);
    if (known !== undefined) this.#open = this.#open.filter((open) => open !== known);
    return known;
  }

  /** Removes the questions whose call of the session has ended in this state. */
  closeEnded({ toolCalls }: Pick<AgentState, "toolCalls">): void {
    const open = this.#open.filter(({ path: [toolCallId = ""] }) => toolCalls[toolCallId]?.result === null);
    if (open.length < this.#open.length) this.#open = open;
  }

  #find(question: Pick<Question, "toolCallId" | "path">): SubAgentQuestion | undefined {
    const key = questionKey(question);
    return this.#open.find((open) => questionKey(open) === key);
  }
}

const isOfSubAgent = (question: Question): question is Question & SubAgentQuestion =>
  (question.path?.length ?? 0) > 0;

/** The event with which a session reports that a sub-agent asks. */
export const questionEvent = (
  question: SubAgentQuestion,
  decide: ApprovalRequested["decide"],
): SubAgentEvent => ({
  type: "SubAgentEvent",
  toolCallId: question.path[0] ?? "",
  path: question.path,
  event: { type: "ApprovalRequested", ...question, decide },
});
