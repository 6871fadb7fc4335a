import {
  InputRefused,
  type AgentInput,
  type Decision,
  type DurableSession,
  type Question,
} from "@moora/agent";
import { parseOrRefuse } from "@moora/agent/internal";

type DecidedInput = Extract<AgentInput, { readonly type: "tool-call-decided" }>;

type Receipt = Awaited<ReturnType<DurableSession["dispatch"]>>;

type QuestionRef = Pick<Question, "toolCallId" | "digest" | "path">;

/**
 * Gives an input from outside to a session. A decision is given to `decide`, which checks it; its `path`, a field beside those of the
 * input, leads to the question of a sub-agent. Rejects with `InputRefused` for an input that the session does not accept.
 */
export async function postInput(session: DurableSession<unknown>, value: unknown): Promise<Receipt> {
  if (!isDecision(value)) return await session.dispatch(value);
  const input = parseOrRefuse(value);
  if (input.type !== "tool-call-decided") return await session.dispatch(input);
  checkReason(input);
  const { by, requestId } = input;
  const question = questionOf(session, input, value.path);
  const decide = (decision: Decision): Promise<Receipt> => session.decide(question, decision, by, requestId);
  try {
    return await decide(toDecision(input));
  } catch (error) {
    const answer = isInvalidAnswer(error) ? jsonAnswerOf(input) : undefined;
    if (answer === undefined) throw error;
    return await decide(answer);
  }
}

const isDecision = (value: unknown): value is { readonly type: unknown; readonly path?: unknown } =>
  typeof value === "object" && value !== null && "type" in value && value.type === "tool-call-decided";

/** The question that a decision is about: its digest names it, also that of a sub-agent whose path is not given. */
function questionOf(
  session: DurableSession<unknown>,
  { toolCallId, digest }: DecidedInput,
  path: unknown,
): QuestionRef {
  if (isPath(path)) return { toolCallId, digest, path };
  if (path !== undefined)
    throw new InputRefused({ code: "wrong-shape", path: "path", message: "must be an array of strings." });
  const isAsked = (question: Question): boolean =>
    question.toolCallId === toolCallId && question.digest === digest;
  return session.questions().find(isAsked) ?? { toolCallId, digest };
}

const isPath = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((id) => typeof id === "string");

/** The decisions that `session.decide` records with a reason. */
const withReason: ReadonlySet<DecidedInput["decision"]["type"]> = new Set(["rejected", "failed", "unknown"]);

/** Throws `InputRefused` for a reason that would not be recorded. */
function checkReason({ decision, reason }: DecidedInput): void {
  if (reason === undefined || withReason.has(decision.type)) return;
  throw new InputRefused({
    code: "wrong-shape",
    path: "reason",
    message: `must be left out for the decision "${decision.type}": only rejected, failed or unknown have a reason.`,
  });
}

/** The decision that an input contains. Texts are unchanged. */
function toDecision({ decision, reason }: DecidedInput): Decision {
  const given = reason === undefined ? {} : { reason };
  switch (decision.type) {
    case "approved":
      return "approve";
    case "modified":
      return { approve: decision.parameters };
    case "rejected":
      return { reject: reason ?? "" };
    case "answered":
      return { answer: decision.content };
    case "worked":
      return { outcome: "worked", result: decision.content };
    case "run-again":
      return { outcome: "run-again" };
    case "failed":
    case "unknown":
      return { outcome: decision.type, ...given };
  }
}

const isInvalidAnswer = (error: unknown): boolean =>
  error instanceof InputRefused && error.code === "invalid-answer";

/** The answer as the JSON that its text may be: an input has the text of a number, too. Undefined for any other text. */
function jsonAnswerOf({ decision }: DecidedInput): Decision | undefined {
  if (decision.type !== "answered") return undefined;
  try {
    return { answer: JSON.parse(decision.content) };
  } catch {
    return undefined;
  }
}
