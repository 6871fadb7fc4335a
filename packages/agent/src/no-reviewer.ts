import { noReviewer } from "@moora/agent-core-state-machine/internal";
import type { Decision, Question } from "./agent-event.ts";
import { refusalOf } from "./decision-to-input.ts";
import { isSameJson } from "./durable/canonical-json.ts";

/** The decision on a question that no reviewer is available for. */
export const refusalWithoutReviewer = (question: Pick<Question, "about">): Decision =>
  refusalOf(question, noReviewer.reason);

/** The `by` of a decision that an `onApproval` has made: the host, unless it refuses because no reviewer is available. */
export const hostDecider = (question: Pick<Question, "about">, decision: Decision): string =>
  isSameJson(decision, refusalWithoutReviewer(question)) ? noReviewer.by : "host";
