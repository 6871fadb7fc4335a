import {
  defaultAgentConfig,
  type AgentConfig,
  type AgentConfigChange,
} from "@moora/agent-core-state-machine";
import { isObject, refuse, shownValue } from "@moora/agent-core-effects/internal";
import { changeConfig, configGroups } from "@moora/agent-core-state-machine/internal";

/** The name of a set of limits that replace the defaults of `defineAgent`. */
export type BuilderPreset = "hybrid";

const presets: Readonly<Record<BuilderPreset, AgentConfigChange>> = {
  hybrid: { limits: { maxSteps: 15, minAnswerLength: 20 }, reflection: { everyNSteps: 5 } },
};

export const presetNames: readonly string[] = Object.keys(presets);

/** The defaults of `defineAgent`, with the fields of the preset. */
export const presetConfig = (preset?: BuilderPreset): AgentConfig =>
  preset === undefined ? defaultAgentConfig : changeConfig(defaultAgentConfig, presets[preset]);

const objectFields = [...configGroups, "models", "settings", "budget", "approval", "graph"] as const;

/** Throws `BuildError` for a change that a merge would lose: one that is not an object, or whose nested objects are not. */
export function checkChange(change: AgentConfigChange): void {
  if (!isObject(change)) refuse(`config(...) needs an object of fields, got ${shownValue(change)}.`);
  for (const name of objectFields) {
    if (change[name] !== undefined && !isObject(change[name]))
      refuse(`config.${name} must be an object, got ${shownValue(change[name])}.`);
  }
}

/**
 * Merges a change into a configuration. Models, settings, budget, approval, the blacklist and the graph are merged, so that
 * setting one limit does not remove another; other fields are replaced.
 */
export const mergeConfig = (config: AgentConfig, change: AgentConfigChange): AgentConfig => ({
  ...changeConfig(config, change),
  models: { ...config.models, ...change.models },
  settings: { ...config.settings, ...change.settings },
  budget: { ...config.budget, ...change.budget },
  approval: { ...config.approval, ...change.approval },
  toolCalls: {
    ...config.toolCalls,
    ...change.toolCalls,
    blacklist: unique(config.toolCalls.blacklist, change.toolCalls?.blacklist),
  },
  graph: mergeGraph(config.graph, change.graph),
});

type Graph = AgentConfig["graph"];

const mergeGraph = (graph: Graph, change: Partial<Graph> = {}): Graph => ({
  states: unique(graph.states, change.states),
  terminals: unique(graph.terminals, change.terminals),
  rows: mergeRows(graph.rows, change.rows ?? {}),
  ...(graph.replay === undefined && change.replay === undefined
    ? {}
    : { replay: { ...graph.replay, ...change.replay } }),
});

const mergeRows = (rows: Graph["rows"], change: Graph["rows"]): Graph["rows"] =>
  Object.fromEntries(
    unique(Object.keys(rows), Object.keys(change)).map((from) => [from, { ...rows[from], ...change[from] }]),
  );

const unique = (before: readonly string[], added: readonly string[] = []): readonly string[] => [
  ...new Set([...before, ...added]),
];
