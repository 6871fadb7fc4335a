import { type AskHumanEffect, effectsAt } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import {
  openCallOf,
  questionReasonOf,
  recordOf,
  riskOf,
  toolOf,
  toolQuestionOf,
  frozen,
} from "@moora/agent-core-state-machine/internal";
import type { Question } from "../agent-event.ts";

/** The question of an `ask-human` effect of this state, with its arguments parsed. */
export function effectToQuestion(effect: AskHumanEffect, state: AgentState): Question {
  const { toolCallId, about, name, parameters, question, digest, due, reminder, escalated } = effect;
  const risk = riskOf(state, name);
  return {
    toolCallId,
    about,
    name,
    parameters: parseArguments(parameters),
    ...(question === undefined ? {} : { question }),
    ...(about === "answer" ? schemaAt(state, effect) : {}),
    digest,
    ...(risk === undefined ? {} : { risk }),
    reason: questionReasonOf(state, recordOf(state, toolCallId) ?? { name }, about),
    due,
    reminder,
    escalated,
  };
}

/** The schema of the answer: that of what the tool asks in the middle of its call, else that of the tool. */
function schemaAt(state: AgentState, { toolCallId, name }: AskHumanEffect): Pick<Question, "answerSchema"> {
  const call = openCallOf(state.reActContext.control, toolCallId);
  const asked = call === undefined ? undefined : toolQuestionOf(state, call);
  const { answerSchema } = asked ?? toolOf(state, name) ?? {};
  return answerSchema === undefined ? {} : { answerSchema };
}

/** The open questions of a state. */
export const questionsAt = (state: AgentState): readonly Question[] =>
  Object.values(effectsAt(state)).flatMap((effect) =>
    effect.type === "ask-human" ? [effectToQuestion(effect, state)] : [],
  );

function parseArguments(parameters: string): unknown {
  try {
    return frozen(JSON.parse(parameters));
  } catch {
    return parameters;
  }
}
