import { noDecision, noReviewer } from "@moora/agent-core-state-machine/internal";
import type { Decision, Question } from "./agent-event.ts";
import { refusalOf } from "./decision-to-input.ts";
import { isSameJson } from "./durable/canonical-json.ts";

/** The decision on a question that no reviewer is available for. */
export const refusalWithoutReviewer = (question: Pick<Question, "about">): Decision =>
  refusalOf(question, noReviewer.reason);

/** The refusal of a question on which `onApproval` gave no valid decision, and that no other reviewer can answer. */
export const refusalWithoutDecision = (question: Pick<Question, "about">): Decision =>
  refusalOf(question, noDecision.reason);

/** The `by` of a decision at a host: the host, unless it is a refusal without a reviewer or without a valid decision. */
export const hostDecider = (question: Pick<Question, "about">, decision: Decision): string =>
  [noReviewer, noDecision].find(({ reason }) => isSameJson(decision, refusalOf(question, reason)))?.by ??
  "host";
