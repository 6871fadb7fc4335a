import type { AgentState } from "../state.ts";
import { namesTool, toolNameOf } from "./calls.ts";

/**
 * The most tools of which a model chooses well. An agent that has more searches by default, and of those that were found the newest so many
 * stay offered. Providers say that the choice becomes worse above 30 to 50 tools, and some refuse more than 128.
 */
export const mostTools = 40;

/** The name of the tool with which an agent of a team hands the conversation over. */
export const handOffToolName = "hand_off";

/** What a request offers of the tools that are not blacklisted. `found` has the order of the searches, the others that of the agent. */
export interface OfferedTools {
  readonly always: readonly string[];
  readonly found: readonly string[];
  readonly hidden: readonly string[];
}

/**
 * The tools that a request offers which has read `seen` entries of the transcript; by default the request that is open. Always offered are
 * those of the configuration, the one that `toolChoice` names, handoffs, and questions to a person. Undefined where the model does not
 * search: then all are.
 */
export function offeredToolsAt(
  state: AgentState,
  seen: number = state.reActContext.seen,
): OfferedTools | undefined {
  const { toolSearch = false, toolChoice, toolCalls } = state.config;
  if (toolSearch === false) return undefined;
  const { always = [], keep = "conversation" } = toolSearch === true ? {} : toolSearch;
  const { foundTools = [], loopStart } = state.reActContext;
  const forced = typeof toolChoice === "string" ? [] : [toolChoice.name];
  const named = [...always, ...forced, ...(state.activeAgent === undefined ? [] : [handOffToolName])];
  const kept = foundTools.filter(({ since }) => since < seen && (keep !== "loop" || since >= loopStart));
  const names = Object.keys(state.tools).filter((name) => !namesTool(state, toolCalls.blacklist, name));
  const own = names.filter((name) => state.tools[name]?.asksHuman === true || namesTool(state, named, name));
  const others = names.filter((name) => !own.includes(name));
  const known = new Set(kept.map(({ name }) => toolNameOf(state, name)));
  const found = [...known].filter((name) => others.includes(name)).slice(-mostTools);
  return { always: own, found, hidden: others.filter((name) => !found.includes(name)) };
}

/** Of some names those of tools that exist and are not offered. */
export function hiddenAmong(state: AgentState, names: readonly string[]): readonly string[] {
  const { hidden = [] } = offeredToolsAt(state) ?? {};
  if (hidden.length === 0) return [];
  return [...new Set(names.map((name) => toolNameOf(state, name)))].filter((name) => hidden.includes(name));
}
