import type { AgentState, Question } from "@moora/agent";
import { recordOf } from "@moora/agent-core-state-machine";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes } from "../cli-host.ts";
import { oneLine } from "../one-line.ts";

export interface Asked {
  readonly id: string;
  readonly questions: readonly Question[];
  readonly state: AgentState;
}

/**
 * The question that is meant: the one about this call, or the only one of its kind. Throws `CliFailure` for a call that
 * there is not, one that was decided, and where it is not clear which one is meant.
 */
export function openQuestion(
  asked: Asked,
  toolCallId: string | undefined,
  isOfKind: (question: Question) => boolean,
): Question {
  const { id, questions, state } = asked;
  const found =
    toolCallId === undefined
      ? onlyOne(asked, questions.filter(isOfKind))
      : questions.find((question) => question.toolCallId === toolCallId);
  if (found === undefined) throw notAsked(id, toolCallId ?? "", state, questions);
  if (isOfKind(found)) return found;
  const command = found.about === "answer" ? "answer" : "approve";
  throw new CliFailure(
    exitCodes.refused,
    `Call ${callToText(found)} waits for something else: moora ${command} ${id} ${found.toolCallId}.`,
  );
}

function onlyOne({ id }: Asked, questions: readonly Question[]): Question {
  const [first, ...others] = questions;
  if (first === undefined) throw new CliFailure(exitCodes.missing, `Nothing of that kind is asked in ${id}.`);
  if (others.length === 0) return first;
  const calls = questions.map((question) => callToText(question)).join("; ");
  throw new CliFailure(exitCodes.refused, `Which one? Name the call: ${calls}.`);
}

function notAsked(
  id: string,
  toolCallId: string,
  state: AgentState,
  questions: readonly Question[],
): CliFailure {
  const record = recordOf(state, toolCallId);
  if (record === undefined) {
    const open = questions.map(({ toolCallId: call, name }) => `${call} ${name}`).join(", ");
    const hint = open === "" ? "Nothing is asked there now." : `Asked there now: ${open}.`;
    return new CliFailure(exitCodes.missing, `There is no call ${toolCallId} in ${id}. ${hint}`);
  }
  const { name, decision } = record;
  if (decision === undefined)
    return new CliFailure(exitCodes.refused, `Nothing is asked about call ${toolCallId} ${name} in ${id}.`);
  return new CliFailure(
    exitCodes.refused,
    `Call ${toolCallId} ${name} was already decided by ${decision.by}: ${decision.type}.`,
  );
}

/** A call in a line: its number, its tool, its arguments. */
export const callToText = ({
  toolCallId,
  name,
  parameters,
}: Pick<Question, "toolCallId" | "name" | "parameters">): string =>
  `${toolCallId} ${name} ${oneLine(typeof parameters === "string" ? parameters : JSON.stringify(parameters))}`;
