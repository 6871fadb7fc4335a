import type { ToolCallDecidedInput } from "./input.ts";

/** The decider and the reason of a refusal because no reviewer is available. The model reads the reason. */
export const noReviewer = { by: "no-reviewer", reason: "No reviewer is available." } as const;

/** Whether a call was refused because no reviewer is available, instead of by a person. */
export const isWithoutReviewer = ({ by, reason }: Pick<ToolCallDecidedInput, "by" | "reason">): boolean =>
  by === noReviewer.by && reason === noReviewer.reason;
