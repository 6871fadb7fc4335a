import {
  draftToPieces,
  isProgress,
  progressToChunk,
  questionKey,
  type AnswerDraft,
  type ChunkEvent,
} from "@moora/agent-webui-protocol";
import type { AgentEvent, Question, SubAgentEvent } from "../agent-event.ts";

/** The chunks that a viewer gets, in a browser or at another server: what no record of the log shows. */
export class ViewerChunks {
  /** The questions of sub-agents that the viewer has, by their keys. */
  readonly #asked = new Set<string>();

  /** What was written before, and the questions of sub-agents that are open. */
  begin(draft: AnswerDraft | undefined, questions: readonly Question[]): readonly ChunkEvent[] {
    const pieces = draft === undefined ? [] : draftToPieces(draft);
    return [...pieces.map(progressToChunk), ...questions.flatMap((question) => this.#question(question))];
  }

  /** The chunk of an event; undefined for an event that a record shows. */
  chunkOf(event: AgentEvent<unknown>): ChunkEvent | undefined {
    if (event.type === "SubAgentEvent") return this.#ofSubAgent(event);
    return isProgress(event) ? progressToChunk(event) : undefined;
  }

  #ofSubAgent({ path, event }: SubAgentEvent): ChunkEvent | undefined {
    if (event.type === "ApprovalRequested") return this.#question(event)[0];
    if (event.type !== "ToolCallStarted" && event.type !== "ToolCallFinished") return undefined;
    const { toolCallId } = event;
    return this.#asked.delete(questionKey({ path, toolCallId }))
      ? { type: "question-closed", path, toolCallId }
      : undefined;
  }

  /** The chunk of a question; none for one of the session itself, which a record shows. An event has more than its question. */
  #question(asked: Question & { readonly type?: string; readonly decide?: unknown }): readonly ChunkEvent[] {
    const { type: _type, decide: _decide, path = [], ...question } = asked;
    if (path.length === 0) return [];
    this.#asked.add(questionKey(asked));
    return [{ ...question, type: "question", path }];
  }
}
