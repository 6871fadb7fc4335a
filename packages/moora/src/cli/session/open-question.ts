import { askedText, type AgentState, type Question, type ToolCallResult } from "@moora/agent";
import { recordOf } from "@moora/agent-core-state-machine/internal";
import { namedCallId, oneLine } from "@moora/agent-core-effects/internal";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import type { CommandHints } from "./command-hints.ts";

export interface OpenQuestions {
  readonly id: string;
  readonly questions: readonly Question[];
  readonly state: AgentState;
  readonly hints: CommandHints;
}

type Kinds = readonly Question["about"][];

/**
 * The question about this call, which is given by its id or number, or the only open one of its kind. Throws `CliFailure` if
 * there is none, if it was decided already, or if several are open and no call is given.
 */
export function openQuestion(open: OpenQuestions, call: string | undefined, kinds: Kinds): Question {
  if (call === undefined) return onlyOne(open, kinds);
  const toolCallId = namedCallId(call, (id) => recordOf(open.state, id) !== undefined);
  const found = open.questions.find((question) => question.toolCallId === toolCallId);
  if (found === undefined) throw notAskedError(open, toolCallId, kinds.includes("outcome"));
  if (!kinds.includes(found.about)) throw otherKindError(open, found);
  return found;
}

function onlyOne(open: OpenQuestions, kinds: Kinds): Question {
  const { id, questions } = open;
  const [first, ...others] = questions.filter(({ about }) => kinds.includes(about));
  if (first !== undefined && others.length === 0) return first;
  if (first !== undefined) {
    const calls = [first, ...others].map((question) => callToText(question)).join("; ");
    throw new CliFailure(exitCodes.refused, `Several calls are waiting. Name one of them: ${calls}.`);
  }
  const [other] = questions;
  if (other !== undefined) throw otherKindError(open, other);
  throw new CliFailure(exitCodes.missing, `No question is open in session "${id}".`);
}

const waits: Readonly<Record<Question["about"], string>> = {
  approval: "waits for approval",
  outcome: "was interrupted, and waits for its outcome",
  answer: "waits for an answer",
};

function otherKindError({ id, hints }: OpenQuestions, question: Question): CliFailure {
  const commands = hints.decisionCommands(id, question).map((command) => `\n  ${command}`);
  return new CliFailure(
    exitCodes.refused,
    `Call ${callToText(question)} ${waits[question.about]}. Use one of${commands.join("")}`,
  );
}

/** The types of decisions about an outcome. */
const outcomeDecisions: ReadonlySet<string> = new Set(["run-again", "worked", "failed", "unknown"]);

/** `isAboutOutcome`: whether the command settles outcomes, for which an earlier approval does not matter. */
function notAskedError(
  { id, questions, state }: OpenQuestions,
  toolCallId: string,
  isAboutOutcome: boolean,
): CliFailure {
  const record = recordOf(state, toolCallId);
  if (record === undefined) {
    const open = questions.map(({ toolCallId: call, name }) => `${call} ${name}`).join(", ");
    const hint = open === "" ? "No question is open." : `Open questions: ${open}.`;
    return new CliFailure(exitCodes.missing, `Call "${toolCallId}" not found in session "${id}". ${hint}`);
  }
  const { name, decision, result } = record;
  const isSettled = decision !== undefined && outcomeDecisions.has(decision.type);
  if (isAboutOutcome && !isSettled && result !== null) {
    const message = `Call ${toolCallId} already has its result: ${resultText(result)}`;
    return new CliFailure(exitCodes.refused, message);
  }
  const call = `Call ${toolCallId} ${name} in session "${id}"`;
  return new CliFailure(
    exitCodes.refused,
    decision === undefined || (isAboutOutcome && !isSettled)
      ? `${call} does not wait for a decision.`
      : `${call} was already decided by ${decision.by}: ${decision.type}.`,
  );
}

function resultText(result: ToolCallResult): string {
  if (result.isSuccess) return "it succeeded.";
  const code = result.code?.replaceAll("-", " ") ?? "it failed";
  if (result.code !== "outcome-unknown") return `${code}.`;
  return `${code}. To be asked about interrupted calls, define the tool with onUnknown: "ask".`;
}

/** A call in one line: its id, its tool, its arguments or the question that it asks. */
export const callToText = (
  question: Pick<Question, "toolCallId" | "name" | "parameters" | "about">,
): string => `${question.toolCallId} ${question.name} ${oneLine(argumentsOf(question))}`;

const argumentsOf = ({ about, parameters }: Pick<Question, "about" | "parameters">): string => {
  if (about === "answer") return JSON.stringify(askedText({ parameters }).text);
  return typeof parameters === "string" ? parameters : JSON.stringify(parameters);
};
