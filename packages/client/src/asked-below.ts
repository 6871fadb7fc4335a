import type { AgentState, Question } from "@moora/agent";
import { chunkToQuestion, type ChunkEvent } from "@moora/agent-webui-protocol";

/** A question of a sub-agent, which has a path. */
export type AskedBelow = Question & { readonly path: readonly string[] };

/** The questions of sub-agents, which the records of a session do not contain. */
export class QuestionsBelow {
  #asked: readonly AskedBelow[];

  constructor(asked: readonly Question[]) {
    this.#asked = asked.filter(isBelow);
  }

  /** The open ones. The same list until it changes. */
  get all(): readonly AskedBelow[] {
    return this.#asked;
  }

  /** Takes the chunk of a question, and returns the question if it is new. */
  ask(chunk: Extract<ChunkEvent, { type: "question" }>): AskedBelow | undefined {
    const question = chunkToQuestion(chunk);
    const known = this.#asked.find((asked) => isSame(asked, question));
    if (known !== undefined && known.digest === question.digest && known.reminder === question.reminder)
      return undefined;
    this.#asked = [...this.#asked.filter((asked) => asked !== known), question];
    return question;
  }

  /** Removes a question. Returns whether it was there. */
  close(closed: Pick<Question, "toolCallId" | "path">): boolean {
    return this.#keep((asked) => !isSame(asked, closed));
  }

  /** Removes the questions whose call of the session has ended in this state. Returns whether there were some. */
  closeEnded({ toolCalls }: Pick<AgentState, "toolCalls">): boolean {
    return this.#keep(({ path: [toolCallId = ""] }) => toolCalls[toolCallId]?.result === null);
  }

  #keep(isKept: (asked: AskedBelow) => boolean): boolean {
    const kept = this.#asked.filter(isKept);
    if (kept.length === this.#asked.length) return false;
    this.#asked = kept;
    return true;
  }
}

const isBelow = (question: Question): question is AskedBelow => (question.path?.length ?? 0) > 0;

type CallRef = Pick<Question, "toolCallId" | "path">;

const isSame = (a: CallRef, b: CallRef): boolean =>
  a.toolCallId === b.toolCallId && JSON.stringify(a.path) === JSON.stringify(b.path);
