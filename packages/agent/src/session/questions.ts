import { type AskHumanEffect, effectsAt } from "@moora/agent-core-effects";
import type { AgentState } from "@moora/agent-core-state-machine";
import type { Question } from "../agent-event.ts";

/** The question of an `ask-human` effect, with its arguments parsed. */
export const effectToQuestion = ({
  toolCallId,
  about,
  name,
  parameters,
  question,
  digest,
  due,
  reminder,
  escalated,
}: AskHumanEffect): Question => ({
  toolCallId,
  about,
  name,
  parameters: parseArguments(parameters),
  ...(question === undefined ? {} : { question }),
  digest,
  due,
  reminder,
  escalated,
});

/** The open questions of a state. */
export const questionsAt = (state: AgentState): readonly Question[] =>
  Object.values(effectsAt(state)).flatMap((effect) =>
    effect.type === "ask-human" ? [effectToQuestion(effect)] : [],
  );

function parseArguments(parameters: string): unknown {
  try {
    return JSON.parse(parameters);
  } catch {
    return parameters;
  }
}
