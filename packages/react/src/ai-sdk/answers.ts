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

/** The ids of the questions of the newest step that have an answer: that of the approval, or that of the call. */
export function answersIn(messages: readonly UIMessage[]): readonly string[] {
  const newest = messages.findLast(isOfAssistant);
  return newest === undefined ? [] : newestStep(newest).flatMap(answeredBy);
}

/** A part that asks for an output has `toolMetadata`. */
function answeredBy(part: Part): readonly string[] {
  if (!isToolUIPart(part)) return [];
  if (part.state === "approval-responded") return [part.approval.id];
  return part.state.startsWith("output-") && part.toolMetadata !== undefined ? [part.toolCallId] : [];
}
