import {
  draftToPieces,
  isProgress,
  progressToChunk,
  questionKey,
} from "@moora/agent-core-state-machine/internal";
import type { AnswerDraft } from "@moora/agent-webui-protocol";
import type { AgentEvent, Question, SubAgentEvent } from "../agent-event.ts";
import type { LiveChunk } from "./live-texts.ts";

/** The chunks that a viewer gets, in a browser or at another server: what no record of the log shows. */
export class ViewerChunks {
  readonly #getsResults: boolean;
  /** The questions of sub-agents that the viewer has, by their keys, and whether they are open. Their calls have not ended. */
  readonly #asked = new Map<string, boolean>();

  /** `getsResults`: the viewer gets the results of the calls of sub-agents that it was asked about. */
  constructor(getsResults = false) {
    this.#getsResults = getsResults;
  }

  /** What was written before, and the questions of sub-agents that are open. */
  begin(draft: AnswerDraft | undefined, questions: readonly Question[]): readonly LiveChunk[] {
    const pieces = draft === undefined ? [] : draftToPieces(draft);
    return [...pieces.map(progressToChunk), ...questions.flatMap((question) => this.#question(question))];
  }

  /** The chunk of an event; undefined for an event that a record shows. */
  chunkOf(event: AgentEvent<unknown>): LiveChunk | undefined {
    if (event.type === "SubAgentEvent") return this.#ofSubAgent(event);
    return isProgress(event) ? progressToChunk(event) : undefined;
  }

  #ofSubAgent({ path, event }: SubAgentEvent): LiveChunk | undefined {
    if (event.type === "ApprovalRequested") return this.#question(event)[0];
    if (event.type !== "ToolCallStarted" && event.type !== "ToolCallFinished") return undefined;
    const { toolCallId } = event;
    const key = questionKey({ path, toolCallId });
    const isOpen = this.#asked.get(key);
    if (isOpen === undefined) return undefined;
    const closed = { type: "question-closed", path, toolCallId } as const;
    if (event.type === "ToolCallStarted") this.#asked.set(key, false);
    else {
      this.#asked.delete(key);
      if (this.#getsResults) return { ...closed, result: event.result };
    }
    return isOpen ? closed : undefined;
  }

  /** The chunk of a question; none for one of the session itself, which a record shows. An event has more than its question. */
  #question(asked: Question & { readonly type?: string; readonly decide?: unknown }): readonly LiveChunk[] {
    const { type: _type, decide: _decide, path = [], ...question } = asked;
    if (path.length === 0) return [];
    this.#asked.set(questionKey(asked), true);
    return [{ ...question, type: "question", path }];
  }
}
