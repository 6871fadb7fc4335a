import type { AgentInput, AgentState, Question } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";
import type { LiveSession } from "../sessions/live-session.ts";
import type { RunInput } from "./ag-ui-request.ts";
import { valueOf } from "./ui-chunk.ts";

type Resumed = NonNullable<RunInput["resume"]>[number];

type RecordedDecision = Extract<AgentInput, { readonly type: "tool-call-decided" }>;

/** Why answers are refused: their questions are not open. */
export interface LateRefusal {
  readonly code: "already-decided" | "not-open";
  readonly message: string;
}

/**
 * Why answers to interrupts are refused that are not among the open `questions`; undefined if none of them is, or the session has recorded
 * the same answers, as it has those that a client sends again.
 */
export async function lateAnswers(
  { session }: Pick<LiveSession, "session">,
  resume: readonly Resumed[],
  questions: readonly Question[],
): Promise<LateRefusal | undefined> {
  const open = new Set(questions.map(({ digest }) => digest));
  const late = resume.filter(({ interruptId }) => !open.has(interruptId));
  if (late.length === 0) return undefined;
  const inputs = (await session.history()).map(({ input }) => input);
  const decided = inputs.flatMap((input) => (input.type === "tool-call-decided" ? [input] : []));
  for (const answer of late) {
    const recorded = decided.findLast(({ digest }) => digest === answer.interruptId);
    const isDone =
      recorded === undefined
        ? isRejection(answer) && isRefused(session.current(), inputs, answer.interruptId)
        : isSameAnswer(answer, recorded);
    if (!isDone) return refusalOf(answer, recorded);
  }
  return undefined;
}

/**
 * Whether a question that was not decided counts as rejected: its call was canceled with its loop, or it has expired. For a question of a
 * sub-agent, whether the newest loop was canceled.
 */
function isRefused(
  { reActContext: { control }, toolCalls }: AgentState,
  inputs: readonly AgentInput[],
  question: string,
): boolean {
  if (control.type === "Error" && control.failure.kind === "Cancelled") return true;
  const asking = inputs.find((input) => input.type === "tool-call-asked" && input.digest === question);
  // A later question about the same call has a number after the digest.
  const [bound] = question.split("#");
  return Object.entries(toolCalls).some(
    ([id, call]) =>
      (call.digest === bound || (asking?.type === "tool-call-asked" && asking.toolCallId === id)) &&
      (wasCanceled(call) || hasExpired(call)),
  );
}

type CallRecord = AgentState["toolCalls"][string];

const wasCanceled = ({ result }: CallRecord): boolean =>
  result?.isSuccess === false && result.code?.startsWith("cancelled") === true;

const hasExpired = ({ decision, asked }: CallRecord): boolean =>
  decision?.type === "expired" || asked?.reply?.by === "deadline";

export const isRejection = ({ status, payload }: Resumed): boolean =>
  status === "cancelled" || payload?.approved === false;

function refusalOf({ interruptId }: Resumed, recorded: RecordedDecision | undefined): LateRefusal {
  const name = JSON.stringify(interruptId);
  if (recorded !== undefined) {
    const { by, decision } = recorded;
    const message = `The interrupt ${name} was decided before: ${decision.type}, by ${by}. No answer of this run was recorded.`;
    return { code: "already-decided", message };
  }
  const message = `The interrupt ${name} is not open: it has ended, or was never one of this thread. No answer of this run was recorded.`;
  return { code: "not-open", message };
}

/** Whether an answer asks for what was decided. */
function isSameAnswer(answer: Resumed, { decision }: RecordedDecision): boolean {
  const { payload = {} } = answer;
  const isRejected = isRejection(answer);
  switch (decision.type) {
    case "rejected":
    case "unknown":
      return isRejected;
    case "approved":
    case "run-again":
      return !isRejected && payload.approved === true && payload.editedArgs === undefined;
    case "modified":
      return !isRejected && isSameJson(valueOf(decision.parameters), payload.editedArgs);
    case "answered":
      return !isRejected && isSameContent(decision.content, payload.answer);
    case "worked":
    case "failed":
      return false;
  }
}

/** Whether a content is that of an answer: a text itself, and any other value as JSON. */
const isSameContent = (content: string, answer: unknown): boolean =>
  content === answer || (answer !== undefined && isSameJson(valueOf(content), answer));
