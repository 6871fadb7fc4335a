import type { AgentState, ToolCallResult } from "@moora/agent";
import { questionsAt } from "@moora/agent/internal";
import { askingCalls, type AskingCall } from "./loop-end.ts";
import { byResultTime } from "./loop-turns.ts";
import type { PostedMessage } from "./posted-message.ts";
import { askChunks } from "./question-text.ts";
import { fileToChunk, resultChunk, valueOf, type UiChunk } from "./ui-chunk.ts";

type ToolCallRecord = AgentState["toolCalls"][string];

type Decision = NonNullable<ToolCallRecord["decision"]>;

interface CallWriterOptions {
  /** The user who reads the message. */
  readonly viewer: string;
  readonly write: (chunk: UiChunk) => void;
  /** Called before the result of a call is written. */
  readonly onResult: (toolCallId: string) => void;
}

/** What a reader is shown of the decision about a call. */
interface ShownDecision {
  readonly approved?: boolean | undefined;
  readonly reason?: string | undefined;
}

/** A call as a reader has it. */
interface ShownCall {
  /** The text of its arguments: "" for others than those of the state. */
  readonly parameters: string;
  /** The digest of its newest question. */
  question?: string | undefined;
  approval?: (ShownDecision & { readonly id: string }) | undefined;
  hasResult?: boolean;
}

/**
 * The calls of one message. Writes each call, the questions about it, what was decided, and its result, as far as the reader lacks them. What
 * was decided is written as the state has it, whatever the reader shows, so that a page has the same parts after a reload.
 */
export class CallWriter {
  readonly #options: CallWriterOptions;
  /** The calls that the reader has. */
  readonly #calls = new Map<string, ShownCall>();

  constructor(options: CallWriterOptions) {
    this.#options = options;
  }

  has(toolCallId: string): boolean {
    return this.#calls.has(toolCallId);
  }

  /** Marks calls as written with the results and the open questions that a state has: the reader has them. */
  skip(state: AgentState, ids: readonly string[]): void {
    const open = openQuestions(state);
    for (const id of ids) {
      const { parameters = "", result = null } = state.toolCalls[id] ?? {};
      this.#calls.set(id, {
        parameters,
        question: open.get(id)?.digest,
        hasResult: result !== null,
      });
    }
  }

  /** Marks as written what a reader has posted of calls. Writes those that it lacks. */
  continueFrom(state: AgentState, ids: readonly string[], posted: PostedMessage): void {
    const open = openQuestions(state);
    for (const id of ids) {
      const { result = null, parameters = "", decision } = state.toolCalls[id] ?? {};
      const call = posted.call(id);
      if (call === undefined) {
        this.write(state, id);
        continue;
      }
      const hasInput = decision?.type !== "modified" || !posted.hasOtherInput(id, valueOf(parameters));
      const question = open.get(id);
      this.#calls.set(id, {
        parameters: hasInput ? parameters : "",
        question: question && posted.hasQuestion(question) ? question.digest : undefined,
        approval: call.approval,
        hasResult: result !== null && hasInput && posted.hasResult(resultChunk(id, result)),
      });
    }
  }

  write({ toolCalls }: AgentState, toolCallId: string): void {
    const call = toolCalls[toolCallId];
    if (call !== undefined) this.#writeInput("tool-input-available", toolCallId, call);
  }

  /** Takes back what the reader shows of the call: its approval gets the digest of the new input. */
  #writeInput(
    type: "tool-input-available" | "tool-input-changed",
    toolCallId: string,
    { name: toolName, parameters }: ToolCallRecord,
  ): ShownCall {
    const call = { parameters };
    this.#calls.set(toolCallId, call);
    this.#options.write({ type, toolCallId, toolName, input: valueOf(parameters) });
    return call;
  }

  /** Writes the open questions about calls that are written. */
  ask(state: AgentState): void {
    const isNew = ({ id, digest }: AskingCall): boolean => {
      const call = this.#calls.get(id);
      return call !== undefined && call.question !== digest;
    };
    // A question is made of the arguments of its call: not again for each input.
    if (!askingCalls(state).some(isNew)) return;
    for (const asked of questionsAt(state)) {
      const { toolCallId, digest, about } = asked;
      const call = this.#calls.get(toolCallId);
      if (call === undefined || call.question === digest) continue;
      call.question = digest;
      if (about !== "answer") call.approval = { id: digest };
      for (const chunk of askChunks(asked)) this.#options.write(chunk);
    }
  }

  /** Writes what became of the calls that have no open question, in the order of their results. */
  writeOutcomes(state: AgentState): void {
    const open = new Set(askingCalls(state).map(({ id }) => id));
    const ids = [...this.#calls].flatMap(([id, { hasResult }]) => (open.has(id) || hasResult ? [] : [id]));
    for (const id of byResultTime(state, ids)) {
      const record = state.toolCalls[id];
      if (record !== undefined) this.#writeOutcome(id, record);
    }
  }

  /** Writes what was decided about a call, and its result, as far as there are any. */
  #writeOutcome(toolCallId: string, record: ToolCallRecord): void {
    const known = this.#calls.get(toolCallId);
    const call =
      known?.parameters === record.parameters
        ? known
        : // A reviewer has changed the arguments.
          this.#writeInput("tool-input-changed", toolCallId, record);
    this.#writeDecision(toolCallId, call, record);
    if (record.result === null) return;
    call.hasResult = true;
    this.#writeResult(toolCallId, record.result);
  }

  #writeDecision(toolCallId: string, call: ShownCall, record: ToolCallRecord): void {
    const { write, viewer } = this.#options;
    const { approved, reason } = decisionOf(record, viewer);
    const shown = call.approval;
    if (shown?.approved === approved && shown?.reason === reason) return;
    // Its answer was not taken, and the call may still ask.
    if (approved === undefined && record.result === null) return;
    const id = shown?.id ?? digestOfCall(record);
    // An approval is taken back, and so is a reason, only by the question.
    const isTakenBack = approved === undefined || (reason === undefined && shown?.reason !== undefined);
    if (shown === undefined || isTakenBack)
      write({ type: "tool-approval-request", toolCallId, approvalId: id });
    call.approval = { id, approved, reason };
    if (approved === undefined) return;
    const why = reason === undefined ? {} : { reason };
    write({ type: "tool-approval-response", approvalId: id, approved, ...why });
  }

  #writeResult(toolCallId: string, result: ToolCallResult): void {
    const { write, onResult } = this.#options;
    onResult(toolCallId);
    write(resultChunk(toolCallId, result));
    for (const file of (result.isSuccess ? result.files : undefined) ?? []) write(fileToChunk(file));
  }
}

/** The open questions by the ids of their calls. */
const openQuestions = (state: AgentState): ReadonlyMap<string, AskingCall> =>
  new Map(askingCalls(state).map((question) => [question.id, question]));

/** Whether a decision lets a call run, or reports that it worked. Undefined for one that answers no approval. */
const approves: Readonly<Record<Decision["type"], boolean | undefined>> = {
  approved: true,
  modified: true,
  "run-again": true,
  worked: true,
  rejected: false,
  failed: false,
  unknown: false,
  answered: undefined,
  expired: undefined,
};

/**
 * What the part of a call shows of its decision: that it was approved, or that it was rejected, and why. The reason of a decision of
 * another user without one is who has decided. Empty for any other call, such as one with an expired question or an unknown outcome.
 */
function decisionOf({ decision, result }: ToolCallRecord, viewer: string): ShownDecision {
  if (decision === undefined) return {};
  const isRejected = result?.isSuccess === false && result.code === "rejected";
  const approved = isRejected ? false : approves[decision.type];
  if (approved === undefined || (!approved && !isRejected)) return {};
  const { by, reason = by === viewer ? undefined : `Decided by ${by}.` } = decision;
  return { approved, reason };
}

/** The digest of the first question about a call. */
const digestOfCall = ({ digest, name, parameters }: ToolCallRecord): string =>
  digest ?? JSON.stringify([name, parameters]);
