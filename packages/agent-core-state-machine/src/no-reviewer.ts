import type { ToolCallDecidedInput } from "./input.ts";

/** The decider and the reason of a refusal because no reviewer is available. The model reads the reason. */
export const noReviewer = { by: "no-reviewer", reason: "No reviewer is available." } as const;

/** The decider and the reason of the end of a question that a fork has closed. The model reads the reason. */
export const closedByFork = {
  by: "fork",
  reason: "The conversation was forked here before a decision.",
} as const;

/** The decider and the reason of the end of a question on which the code of the host gave no valid decision. The model reads the reason. */
export const noDecision = { by: "no-decision", reason: "The reviewer gave no valid decision." } as const;

/** The reason of a decision that no person has made; undefined if a person has made it. */
export const reasonWithoutPerson = ({
  by,
  reason,
}: Pick<ToolCallDecidedInput, "by" | "reason">): string | undefined =>
  [noReviewer, closedByFork, noDecision].find((each) => each.by === by && each.reason === reason)?.reason;
