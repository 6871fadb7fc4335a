import { effectsAt } from "@moora/agent-core-effects";
import { controlName, type AgentState } from "@moora/agent-core-state-machine";

/** The visible part of a state: its control state and the wanted effects. */
export interface Shown {
  readonly control: string;
  /** Keys of effects, sorted. */
  readonly wants: readonly string[];
}

export const shownAt = (state: AgentState): Shown => ({
  control: controlName(state.reActContext.control),
  wants: Object.keys(effectsAt(state)).toSorted(),
});

/** The difference between a state and what it should show, as text; undefined if there is no difference. */
export function notShown(state: AgentState, control: string, keys: readonly string[]): string | undefined {
  const shown = shownAt(state);
  const expected = keys.toSorted();
  if (shown.control === control && shown.wants.join() === expected.join()) return undefined;
  const { control: at } = state.reActContext;
  const why = at.type === "Error" ? ` (${at.failure.kind}: ${at.failure.message})` : "";
  return [
    `expected ${control} wanting [${expected.join(", ")}]`,
    `     got ${shown.control} wanting [${shown.wants.join(", ")}]${why}`,
  ].join("\n");
}
