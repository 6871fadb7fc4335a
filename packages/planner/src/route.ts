import type { LlmTool } from "@moora/llm";
import type { Clause } from "./clause.ts";
import { fieldsOf, type Field } from "./fields.ts";
import { fillArguments, type Filled } from "./fill-arguments.ts";
import { wordsOf } from "./words.ts";

/** The planner's view of a tool: its arguments, and the weight of each of its words. */
export interface Profile {
  readonly tool: LlmTool;
  readonly fields: readonly Field[];
  readonly weights: ReadonlyMap<string, number>;
  /** The words of its name and of the first sentence of its description: they name the work, not its subject. */
  readonly ownWords: ReadonlySet<string>;
}

/** A tool that matches a clause, with the arguments that the clause contains. */
export interface Route {
  readonly profile: Profile;
  readonly filled: Filled;
  readonly score: number;
  /** The score of the words alone. */
  readonly lexical: number;
}

const weightOf = { name: 2, field: 0.9, firstSentence: 0.9, description: 0.5, choice: 1.2 } as const;
const threshold = 1;

export function profileOf(tool: LlmTool): Profile {
  const fields = fieldsOf(tool.schema);
  const weights = new Map<string, number>();
  const weigh = (text: string, weight: number): void => {
    for (const word of wordsOf(text)) weights.set(word, Math.max(weights.get(word) ?? 0, weight));
  };
  const [firstSentence = ""] = tool.description.split(/[.;:(]\s/);
  weigh(tool.description, weightOf.description);
  weigh(firstSentence, weightOf.firstSentence);
  for (const { name, choices } of fields) {
    weigh(name, weightOf.field);
    for (const choice of choices) if (typeof choice === "string") weigh(choice, weightOf.choice);
  }
  weigh(tool.name, weightOf.name);
  return { tool, fields, weights, ownWords: new Set([...wordsOf(tool.name), ...wordsOf(firstSentence)]) };
}

/** The tools that match a clause, best first. The fewer tools have a word, the higher its weight. */
export function routesOf(clause: Clause, profiles: readonly Profile[]): readonly Route[] {
  return profiles
    .map((profile) => routeTo(clause, profile, profiles))
    .filter(({ score, lexical, filled }) => score >= threshold && (lexical > 0 || filled.evidence >= 2))
    .toSorted((a, b) => b.score - a.score);
}

export function routeTo(clause: Clause, profile: Profile, profiles: readonly Profile[]): Route {
  const { fields, weights, ownWords, tool } = profile;
  const filled = fillArguments(fields, clause, ownWords);
  let lexical = 0;
  for (const word of clause.words) lexical += (weights.get(word) ?? 0) * rarityOf(word, profiles);
  if (clause.text.toLowerCase().includes(tool.name.toLowerCase())) lexical += 4;
  return { profile, filled, lexical, score: lexical + filled.evidence - filled.missing.length };
}

function rarityOf(word: string, profiles: readonly Profile[]): number {
  const having = profiles.filter(({ weights }) => weights.has(word)).length;
  return Math.log(1 + profiles.length / Math.max(1, having));
}
