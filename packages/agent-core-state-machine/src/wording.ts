import type { Json } from "@moora/agent-webui-protocol";
import type { ToolCallResult } from "./state.ts";

/**
 * Every sentence with which the reducer answers the model, in one place. States contain their names and arguments, and requests the
 * texts: a correction of a text changes what models read, and no state. A name stays, and so does the order of arguments.
 */
export const wording = {
  blacklisted: (name: string) => `The tool ${name} is not allowed here and was not run.`,
  cutTurn:
    "Not run: the turn was cut off at the token limit before the model had finished it. Make shorter calls.",
  tooManyCalls: (limit: number) =>
    `Not run: only the first ${limit} calls of a turn are run. Call it again if needed.`,
  reportedFailed: (reason: string | undefined) =>
    reason === undefined || reason === ""
      ? "A person reports that this call failed."
      : `A person reports that this call failed: ${reason}`,
  rejected: (reason: string | undefined) =>
    reason === undefined || reason === ""
      ? "A human rejected this call."
      : `A human rejected this call: ${reason}`,
  expired: "Nobody approved this call in time. It was not run.",
  unanswered: "Nobody answered this question in time.",
  unreported: "Nobody reported its outcome in time.",
  unknownToPerson: (reason: string | undefined) =>
    reason === undefined || reason === ""
      ? "A person was asked and does not know it either."
      : `A person was asked and does not know it either: ${reason}`,
  cancelledBeforeRun: "Cancelled before it ran.",
  cancelledAfterStart: "Cancelled after it had started; it may have had its effect.",
  notRun: (reason: string) => `Not run. ${reason}`,
  toolChanged: "The tool was changed or removed.",
  movedOn: "The agent moved on without it.",
  interrupted: "It was interrupted.",
  notAllowedAnymore: (name: string) => `The tool ${name} is not allowed anymore.`,
  outcomeUnknown: (reason: string) =>
    `The outcome of this call is unknown: it was started and may have had its effect. ${reason} Do not assume either.`,
  crashLoop: (attempts: number, mayHaveRun: boolean) =>
    `Given up: this call was interrupted ${attempts} times.${mayHaveRun ? " It may have had its effect." : ""}`,
  withheldCall: (name: string, id: string, code: string) =>
    `${name} (id ${id}) ${code === "" ? "succeeded" : `failed (${code})`}`,
  withheldCalls: (calls: readonly string[]) =>
    `The provider refused the exchange before this, which is not shown. These calls were made in it: ${calls.join("; ")}. Their results can be loaded by id.`,
  lowConfidence: (confidence: number, threshold: number) =>
    `Your last turn was dropped: its confidence, ${confidence.toFixed(2)}, is below ${threshold.toFixed(2)}. Think again, and go on only with what you are sure of.`,
  answerTooShort: (length: number) =>
    `Your answer is too short: at least ${length} characters are expected. Give a complete answer.`,
  answerInvalid: (problem: string) =>
    `Your answer does not have the form that is asked for: ${problem} Answer again.`,
  triedAgain: "The task ended with an error and is tried again. Continue it.",
  nothingToDo: "Your last turn had neither an answer nor a call. Answer, or call a tool.",
  notAlone: "Not handed over: hand the conversation over in a turn without other calls.",
  noTeam: "Not handed over: there is no other agent in this conversation.",
  hasIt: (agent: string) => `Not handed over: the agent ${agent} has the conversation already.`,
  tooManyHandoffs: (limit: number) =>
    `Not handed over: ${limit} handoffs are the most for one message of the user. Continue yourself.`,
  handedOver: (from: string, message: string | undefined) =>
    message === undefined || message === ""
      ? `The agent ${from} has handed this conversation over to you. Continue it.`
      : `The agent ${from} has handed this conversation over to you: ${message}`,
  cleared: (id: string) =>
    `(This result is left out, because the conversation is long. load_tool_results brings it back by its id, ${id}.)`,
  data: (json: string) => `The data of the application is now: ${json}`,
  budgetNearlySpent: "The budget of this task is nearly spent: finish, and answer soon.",
  repeatedCalls: (turns: number, limit: number) =>
    `Your last ${turns} turns have made the same calls and got the same results. Another one will not change that${limit === 0 ? "" : `, and the task fails after ${limit}`}: do something else, or answer.`,
  lastStep: "This is the last step of this task: answer now, without calling tools.",
  cancelled: (reason: string | undefined) =>
    reason === undefined || reason === ""
      ? "The task was cancelled here."
      : `The task was cancelled here: ${reason}`,
} as const;

/** A sentence as a state contains it: its name in `wording`, and its arguments, which may be sentences or lists of them. */
export type Sentence = readonly [keyof typeof wording, ...Json[]];

/**
 * The text of what a state says. `said` is what a tool or a person has said, which is the whole text without a sentence, and the last
 * argument of one. A name that this release does not know is the text.
 */
export function sentenceToText(says: readonly [string, ...unknown[]] | undefined, said: string): string {
  if (says === undefined) return said;
  const [name, ...args] = says;
  const texts: Readonly<Record<string, unknown>> = wording;
  const text = Object.hasOwn(texts, name) ? texts[name] : name;
  if (typeof text !== "function") return String(text);
  const argumentOf = (given: unknown): unknown => {
    if (isSentence(given)) return sentenceToText(given, said);
    return Array.isArray(given) ? given.map(argumentOf) : given;
  };
  return String(Reflect.apply(text, undefined, [...args.map(argumentOf), said]));
}

const isSentence = (value: unknown): value is readonly [string, ...unknown[]] =>
  Array.isArray(value) && typeof value[0] === "string";

/** The text of a failed result, as the model reads it. `error` alone is what the tool or a person has said. */
export const failureText = ({ says, error }: Extract<ToolCallResult, { isSuccess: false }>): string =>
  sentenceToText(says, error);
