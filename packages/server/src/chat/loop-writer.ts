import { answerMessageId } from "@moora/agent/internal";
import type { AgentEvent, AgentState, Question } from "@moora/agent";
import type { LiveLink } from "../live/live-link.ts";
import { CallWriter } from "./call-writer.ts";
import { cutAnswerOf } from "./cut-answer.ts";
import type { AnswerDraft } from "@moora/agent-webui-protocol";
import { DraftWriter } from "./draft-writer.ts";
import { endOf } from "./loop-end.ts";
import { callsOf, keyOf, turnIdOf, turnsOf, type Turn } from "./loop-turns.ts";
import type { PostedMessage } from "./posted-message.ts";
import { questionPartId } from "./question-text.ts";
import { SubAgentQuestions } from "./sub-agent-questions.ts";
import { fileToChunk, type UiChunk } from "./ui-chunk.ts";

/** The events after which the answer that the model is writing has grown. */
const growsDraft: ReadonlySet<AgentEvent["type"]> = new Set([
  "LlmToken",
  "LlmReasoning",
  "LlmToolCall",
  "LlmToolCallDelta",
]);

type Streamed = Pick<LiveLink, "questions" | "draft">;

/** The step of a message that contains questions of sub-agents. It is not a step of the loop. */
const questionStep = -1;

/**
 * Writes one loop of a session as one assistant message. Everything but what is streamed is computed from the state, so that a
 * replay, a live stream, and a stream of a session that another process runs have the same parts.
 */
export class LoopWriter {
  readonly #write: (chunk: UiChunk) => void;
  readonly #working: () => ReadonlySet<string>;
  readonly #turns = new Set<string>();
  readonly #calls: CallWriter;
  readonly #subAgentQuestions: SubAgentQuestions;
  readonly #draft: DraftWriter;
  readonly loop: number;
  #step: number | undefined;
  /** The cut answer that the client has. */
  #cut: string | undefined;
  /** What a refused message ends with, instead of the end of its loop. */
  #refusal: UiChunk | undefined;
  isEnded = false;

  /** `viewer` is the user who reads the message, `working` returns the calls whose sub-agents do more than wait for a human. */
  constructor(
    loop: number,
    viewer: string,
    working: () => ReadonlySet<string>,
    write: (chunk: UiChunk) => void,
  ) {
    this.loop = loop;
    this.#working = working;
    this.#write = (chunk) => {
      if (!this.isEnded) write(chunk);
    };
    this.#subAgentQuestions = new SubAgentQuestions(this.#write);
    const onResult = (toolCallId: string): void => this.#subAgentQuestions.callEnded(toolCallId);
    this.#calls = new CallWriter({ viewer, write: this.#write, onResult });
    this.#draft = new DraftWriter(this.#write);
    write({ type: "start", messageId: `loop_${loop}` });
  }

  /** Marks everything of a state as written, and the open questions: the client has them. */
  skip(state: AgentState, questions: readonly Question[]): void {
    this.#subAgentQuestions.skip(questions);
    const turns = turnsOf(state, this.loop);
    for (const turn of turns) this.#turns.add(keyOf(turn));
    this.#calls.skip(state, turns.flatMap(callsOf));
    this.#cut = this.#cutAnswer(state)?.id;
  }

  /** Writes what is new of the answer that the model is writing. */
  follow(state: AgentState, draft: AnswerDraft | undefined): void {
    if (draft === undefined || this.isEnded || state.reActContext.loop !== this.loop) return;
    if (this.#draft.isOther(draft)) this.#draft.reset();
    this.#openStep(state.reActContext.step);
    this.#draft.update(draft, () => turnIdOf(this.loop, turnsOf(state, this.loop).length));
  }

  /**
   * Begins after what a client has posted of the loop. Writes what became of the questions that it shows as open or has answered,
   * but that are not open: another client may have decided them.
   */
  continueFrom(state: AgentState, { questions, draft }: Streamed, posted: PostedMessage): void {
    const turns = turnsOf(state, this.loop);
    const known = turns.slice(0, posted.countTurns(turns));
    for (const turn of known) this.#turns.add(keyOf(turn));
    this.#calls.continueFrom(state, known.flatMap(callsOf), posted);
    this.#subAgentQuestions.skip(questions.filter((question) => posted.call(questionPartId(question))));
    this.#subAgentQuestions.close(posted.closedQuestions(questions));
    const cut = this.#cutAnswer(state);
    if (cut !== undefined && posted.hasText(cut.text)) this.#cut = cut.id;
    this.update(state, questions, false);
    this.follow(state, draft);
  }

  /** Writes what a state has, and what the model has written of its answer. */
  resume(state: AgentState, { questions, draft }: Streamed): void {
    this.update(state, questions);
    this.follow(state, draft);
  }

  /**
   * Writes what a state has and the client does not. Ends the message when the loop has ended, or waits for a human only, unless
   * `mayEnd` is false. `questions` are all that are open.
   */
  update(state: AgentState, questions: readonly Question[], mayEnd = true): void {
    if (this.isEnded) return;
    for (const [index, turn] of turnsOf(state, this.loop).entries()) {
      if (this.#turns.has(keyOf(turn))) continue;
      // The results of the turns before, as they came.
      this.#calls.writeOutcomes(state);
      this.#writeTurn(state, turn, turnIdOf(this.loop, index));
    }
    this.#calls.writeOutcomes(state);
    if (state.reActContext.loop > this.loop)
      return this.#endWith(state, { type: "finish", finishReason: "stop" });
    // Before the step of the sub-agents: a page finds a call that asks only in its last step.
    this.#calls.ask(state);
    this.#subAgentQuestions.update(questions, () => this.#openStep(questionStep));
    const end = mayEnd ? endOf(state, questions, this.#working()) : undefined;
    if (end !== undefined) this.#endWith(state, end);
  }

  /** Writes what a model, a tool or a sub-agent streams. */
  event(event: AgentEvent<unknown>, state: AgentState, live: Streamed): void {
    if (this.isEnded || state.reActContext.loop !== this.loop) return;
    if (growsDraft.has(event.type)) this.follow(state, live.draft);
    else if (event.type === "LlmRetryScheduled") this.#draft.reset();
    else if (event.type === "LlmAttemptEnded" && event.status !== "cut") this.#draft.reset();
    else if (event.type === "ToolCallProgress" && this.#calls.has(event.toolCallId))
      this.#write({ type: "data-progress", id: event.toolCallId, data: event.text, transient: true });
    else if (event.type === "SubAgentEvent") this.#subAgentQuestions.event(event, live.questions);
  }

  /** Ends the message with the reason why its request is refused. */
  refuse(errorText: string, code: string): void {
    this.#end({ type: "error", errorText, code });
  }

  /** Ends the message with the reason why its request is refused, after its loop. */
  refuseAtEnd(errorText: string): void {
    this.#refusal = { type: "error", errorText, code: "refused" };
  }

  /** Ends the message where it is. Its parts have no end, so that it does not look complete. */
  cut(errorText: string, code: string): void {
    this.#write({ type: "error", errorText, code });
    this.isEnded = true;
  }

  /** Continues after events that were missed: writes what a state has, and takes back an attempt that has failed meanwhile. */
  catchUp(state: AgentState, { questions, draft }: Streamed, mayEnd: boolean): void {
    this.update(state, questions, mayEnd);
    const { reActContext } = state;
    const { control } = reActContext;
    if (
      control.type === "Planning" &&
      this.#draft.isOther({ messageId: answerMessageId(reActContext, control) })
    )
      this.#draft.reset();
    this.follow(state, draft);
  }

  /** Writes a turn, without what was streamed of it. Its files follow its calls, of which the client may have drafts. */
  #writeTurn(state: AgentState, turn: Turn, turnId: string): void {
    this.#turns.add(keyOf(turn));
    if (!this.#draft.isBeginningOf(turn)) this.#draft.reset();
    this.#openStep(turn.step);
    this.#draft.complete(turn, turnId);
    for (const id of callsOf(turn)) this.#calls.write(state, id);
    for (const part of turn.parts) if (part.type === "file") this.#write(fileToChunk(part.file));
  }

  #openStep(step: number): void {
    if (this.#step === step) return;
    if (this.#draft.hasCalls) this.#draft.reset();
    this.#draft.clear();
    this.#closeStep();
    this.#step = step;
    this.#write({ type: "start-step" });
  }

  #closeStep(): void {
    this.#draft.close();
    if (this.#step !== undefined) this.#write({ type: "finish-step" });
    this.#step = undefined;
  }

  #cutAnswer(state: AgentState): ReturnType<typeof cutAnswerOf> {
    return cutAnswerOf(state.messages, this.loop, turnsOf(state, this.loop));
  }

  /** Ends the message after the answer that was cut off: it stays, also if a retry that did not begin has taken it back. */
  #endWith(state: AgentState, chunk: UiChunk): void {
    const cut = this.#cutAnswer(state);
    if (cut !== undefined && cut.id !== this.#cut) {
      if (this.#draft.isOther({ messageId: cut.id })) this.#draft.reset();
      const length = this.#draft.textLength(cut.id);
      this.#openStep(cut.step);
      this.#draft.write({ kind: "text", id: cut.id }, cut.text.slice(length));
    }
    this.#end(chunk);
  }

  #end(chunk: UiChunk): void {
    this.#closeStep();
    this.#write(this.#refusal ?? chunk);
    this.isEnded = true;
  }
}
