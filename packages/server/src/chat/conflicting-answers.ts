import type { Decision } from "@moora/agent";
import { isSameJson } from "@moora/agent/internal";
import type { AnsweredQuestion } from "./chat-request.ts";

/** Why answers are refused that a client sends together: two of them decide one question in different ways. */
export interface ConflictRefusal {
  readonly code: "conflicting-answers";
  readonly message: string;
}

/** Returns why answers are refused; undefined if those to the same question are equal, also in their reasons. */
export function conflictingAnswers(answers: readonly AnsweredQuestion[]): ConflictRefusal | undefined {
  const decisions = new Map<string, Decision>();
  for (const { question, decision } of answers) {
    const { digest } = question;
    const before = decisions.get(digest);
    if (before !== undefined && !isSameJson(before, decision)) return refusalOf(digest);
    decisions.set(digest, decision);
  }
  return undefined;
}

const refusalOf = (digest: string): ConflictRefusal => ({
  code: "conflicting-answers",
  message: `The question ${JSON.stringify(digest)} has two different answers in this request. Send one answer to each question. No answer of this request was recorded.`,
});
