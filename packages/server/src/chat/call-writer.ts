import type { AgentState, ToolCallResult } from "@moora/agent";
import { CallApprovals, toolQuestion } from "./call-approval.ts";
import { askingCalls } from "./loop-end.ts";
import { byResultTime } from "./loop-turns.ts";
import type { PostedMessage } from "./posted-message.ts";
import { resultChunk } from "./sub-agent-questions.ts";
import { fileToChunk, valueOf, type UiChunk } from "./ui-chunk.ts";

interface CallWriterOptions {
  /** The user who reads the message. */
  readonly viewer: string;
  readonly write: (chunk: UiChunk) => void;
  /** Called before the result of a call is written. */
  readonly onResult: (toolCallId: string) => void;
}

/** The calls of one message. Writes each call, the questions about it, what was decided, and its result, as far as the client lacks them. */
export class CallWriter {
  readonly #options: CallWriterOptions;
  /** The calls that the client has, with the text of their arguments: "" for others than those of the state. */
  readonly #calls = new Map<string, string>();
  readonly #results = new Set<string>();
  /** The digests of the questions that the client has. */
  readonly #questions = new Set<string>();
  readonly #approvals: CallApprovals;

  constructor(options: CallWriterOptions) {
    this.#options = options;
    this.#approvals = new CallApprovals(options.viewer, options.write);
  }

  /** Whether the client has a call. */
  has(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  /** Marks calls as written with the results that a state has, and its open questions: the client has them. */
  skip(state: AgentState, ids: readonly string[]): void {
    for (const id of ids) {
      const call = state.toolCalls[id];
      this.#calls.set(id, call?.parameters ?? "");
      if ((call?.result ?? null) !== null) this.#results.add(id);
    }
    for (const { digest } of askingCalls(state)) this.#questions.add(digest);
  }

  /** Marks as written what a client has posted of calls and of the open questions. Writes the calls that it lacks. */
  continueFrom(state: AgentState, ids: readonly string[], posted: PostedMessage): void {
    for (const id of ids) this.#continueCall(state, id, posted);
    for (const question of askingCalls(state))
      if (posted.hasQuestion(question)) this.#questions.add(question.digest);
  }

  #continueCall(state: AgentState, id: string, posted: PostedMessage): void {
    const { result = null, parameters = "", decision } = state.toolCalls[id] ?? {};
    const call = posted.call(id);
    if (call === undefined) return this.write(state, id);
    const hasInput = decision?.type !== "modified" || !posted.hasOtherInput(id, valueOf(parameters));
    this.#calls.set(id, hasInput ? parameters : "");
    this.#approvals.posted(call);
    if (result !== null && hasInput && posted.hasResult(resultChunk(id, result))) this.#results.add(id);
  }

  write({ toolCalls }: AgentState, toolCallId: string): void {
    const call = toolCalls[toolCallId];
    if (call === undefined) return;
    this.#writeInput("tool-input-available", toolCallId, call);
  }

  #writeInput(
    type: "tool-input-available" | "tool-input-changed",
    toolCallId: string,
    { name: toolName, parameters }: AgentState["toolCalls"][string],
  ): void {
    this.#calls.set(toolCallId, parameters);
    this.#options.write({ type, toolCallId, toolName, input: valueOf(parameters) });
  }

  /** Writes the open questions about calls that are written. */
  ask(state: AgentState): void {
    for (const question of askingCalls(state)) {
      const { id, digest, about } = question;
      if (!this.#calls.has(id) || this.#questions.has(digest)) continue;
      this.#questions.add(digest);
      // The page shows the text of a question about an outcome with the approval.
      if (about !== "approval") for (const chunk of toolQuestion(state, question)) this.#options.write(chunk);
      if (about !== "answer") this.#approvals.ask(id, digest);
    }
  }

  /** Writes what became of the calls that have no open question, in the order of their results. */
  writeOutcomes(state: AgentState): void {
    const open = new Set(askingCalls(state).map(({ id }) => id));
    const ids = [...this.#calls.keys()].filter((id) => !open.has(id) && !this.#results.has(id));
    for (const id of byResultTime(state, ids)) this.#writeOutcome(state, id);
  }

  /** Writes what was decided about a call, and its result, as far as there are any. */
  #writeOutcome({ toolCalls }: AgentState, toolCallId: string): void {
    const record = toolCalls[toolCallId];
    if (record === undefined) return;
    if (record.parameters !== this.#calls.get(toolCallId)) {
      // A reviewer has changed the arguments.
      this.#approvals.forget(toolCallId);
      this.#writeInput("tool-input-changed", toolCallId, record);
    }
    this.#approvals.update(toolCallId, record);
    if (record.result !== null) this.#writeResult(toolCallId, record.result);
  }

  #writeResult(toolCallId: string, result: ToolCallResult): void {
    const { write, onResult } = this.#options;
    this.#results.add(toolCallId);
    onResult(toolCallId);
    write(resultChunk(toolCallId, result));
    for (const file of (result.isSuccess ? result.files : undefined) ?? []) write(fileToChunk(file));
  }
}
