import { isToolUIPart, type UIMessage } from "ai";

type Part = UIMessage["parts"][number];

export const isOfAssistant = ({ role }: UIMessage): boolean => role === "assistant";

/** Whether a step of the model begins here. The questions of sub-agents have steps of their own. */
function beginsStep({ type }: Part, index: number, parts: readonly Part[]): boolean {
  const next = parts[index + 1];
  return type === "step-start" && !(next && isToolUIPart(next) && next.toolCallId.startsWith("question_"));
}

/** The parts of the newest step of the model, with the questions of its sub-agents. */
const newestStep = ({ parts }: UIMessage): readonly Part[] =>
  parts.slice(parts.findLastIndex(beginsStep) + 1);

/** Whether a message waits for the result of a call, for what follows an answer, or for the rest of a step. */
export const isUnfinished = (message: UIMessage): boolean =>
  message.parts.at(-1)?.type === "step-start" ||
  newestStep(message).some((part) => isToolUIPart(part) || ("state" in part && part.state === "streaming"));

/**
 * The answers of the user that the model has not read, as text; "" if there is none, and while the newest message of the
 * assistant has an open question. A part that asks for an output has `toolMetadata`.
 */
export function answersIn(messages: readonly UIMessage[]): string {
  const newest = messages.findLast(isOfAssistant);
  if (newest === undefined || newest.parts.some(asks)) return "";
  const answers = newestStep(newest).filter(isAnswered);
  return answers.length === 0 ? "" : JSON.stringify([newest.metadata, answers]);
}

const asks = (part: Part): boolean =>
  isToolUIPart(part) &&
  (part.state === "approval-requested" ||
    (part.state === "input-available" && part.toolMetadata !== undefined));

const isAnswered = (part: Part): boolean =>
  isToolUIPart(part) &&
  (part.state === "approval-responded" ||
    (part.state.startsWith("output-") && part.toolMetadata !== undefined));
