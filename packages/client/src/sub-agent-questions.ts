import type { AgentEvent, AgentState, Question } from "@moora/agent";
import {
  chunkToQuestion,
  questionKey,
  type ChunkEvent,
  type SubAgentQuestion,
} from "@moora/agent-webui-protocol";

/** The questions of sub-agents, which the records of a session do not contain. */
export class SubAgentQuestions {
  #open: readonly SubAgentQuestion[];

  constructor(questions: readonly Question[]) {
    this.#open = questions.filter(isOfSubAgent);
  }

  /** The open ones. The same list until it changes. */
  get all(): readonly SubAgentQuestion[] {
    return this.#open;
  }

  /** Takes the chunk of a question, and returns the question if it is new. */
  add(chunk: Extract<ChunkEvent, { type: "question" }>): SubAgentQuestion | undefined {
    const question = chunkToQuestion(chunk);
    const key = questionKey(question);
    const known = this.#open.find((open) => questionKey(open) === key);
    if (known !== undefined && known.digest === question.digest && known.reminder === question.reminder)
      return undefined;
    this.#open = [...this.#open.filter((open) => open !== known), question];
    return question;
  }

  /** Removes a question. Returns whether it was there. */
  close(closed: Pick<Question, "toolCallId" | "path">): boolean {
    const key = questionKey(closed);
    return this.#filter((open) => questionKey(open) !== key);
  }

  /** Removes the questions whose call of the session has ended in this state. Returns whether there were some. */
  closeEnded({ toolCalls }: Pick<AgentState, "toolCalls">): boolean {
    return this.#filter(({ path: [toolCallId = ""] }) => toolCalls[toolCallId]?.result === null);
  }

  #filter(isOpen: (question: SubAgentQuestion) => boolean): boolean {
    const open = this.#open.filter(isOpen);
    if (open.length === this.#open.length) return false;
    this.#open = open;
    return true;
  }
}

const isOfSubAgent = (question: Question): question is Question & SubAgentQuestion =>
  (question.path?.length ?? 0) > 0;

/** The event with which a session reports that a sub-agent asks. */
export const questionEvent = (
  question: SubAgentQuestion,
  decide: ApprovalEvent["decide"],
): AgentEvent<never> => ({
  type: "SubAgentEvent",
  toolCallId: question.path[0] ?? "",
  path: question.path,
  event: { type: "ApprovalRequested", ...question, decide },
});

type ApprovalEvent = Extract<AgentEvent<never>, { readonly type: "ApprovalRequested" }>;
