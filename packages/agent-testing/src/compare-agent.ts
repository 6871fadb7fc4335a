import { differencesOf, type Agent, type Difference } from "@moora/agent";
import { effectsAt, llmRequestAt, type AgentEffect } from "@moora/agent-core-effects";
import {
  agentTransition,
  initialAgentState,
  type AgentInput,
  type AgentState,
  type InputOf,
  type ObservedToolCall,
} from "@moora/agent-core-state-machine";
import { llmCallKey, toolOf } from "@moora/agent-core-state-machine/internal";

/** Where an agent wants something else than was recorded. `a` is what was recorded, `b` what the agent wants now. */
export interface AgentDifference extends Difference {
  /** The record after which they differ; 0 is before the first one. */
  readonly seq: number;
}

/** More differences of one request are not listed. */
const mostPerRequest = 5;

/**
 * What an agent would want and ask the model now, beside what was recorded: the recorded inputs are applied to it, and
 * its own policy, predicates and schemas decide about the recorded calls. Every request that differs is listed; at the
 * first position with other effects it stops, for what was recorded after it answers another question.
 */
export async function compareAgent(
  agent: Agent<unknown>,
  from: AgentState,
  inputs: readonly AgentInput[],
): Promise<readonly AgentDifference[]> {
  let recorded = from;
  let own = initialAgentState({ config: agent.config, tools: agent.tools });
  let asked = "";
  const found: AgentDifference[] = [];
  for (const [index, input] of inputs.entries()) {
    const seq = index + 1;
    const recordedBefore = recorded;
    recorded = agentTransition(input)(recorded);
    // The agent is what it is: what another one was configured to is not applied.
    if (input.type !== "agent-configured")
      own = agentTransition(await withOwnApprovals(agent, own, withOwnKey(input, recordedBefore, own)))(own);
    const key = Object.values(effectsAt(recorded)).find(({ type }) => type === "call-llm")?.key ?? "";
    if (key !== asked && key !== "") found.push(...requestDifferences(recorded, own, seq));
    asked = key;
    const effects = differencesOf(wantedAt(recorded), wantedAt(own), 1);
    if (effects.length === 0) continue;
    found.push({ seq, path: "effects", a: wantedAt(recorded), b: wantedAt(own) });
    return found;
  }
  return found;
}

/** An answer to the recorded model call as an answer to the agent's own: their attempts are counted differently. */
function withOwnKey(input: AgentInput, recorded: AgentState, own: AgentState): AgentInput {
  const key = llmCallKey(own);
  if (!("key" in input) || key === undefined || input.key !== llmCallKey(recorded)) return input;
  return { ...input, key };
}

const requestDifferences = (recorded: AgentState, own: AgentState, seq: number): readonly AgentDifference[] =>
  differencesOf(llmRequestAt(recorded), llmRequestAt(own), mostPerRequest).map(({ path, a, b }) => ({
    seq,
    path: `request${path === "" ? "" : `.${path}`}`,
    a,
    b,
  }));

/** The work that a state wants done. Attempts of model calls are left out: they differ with the configuration. */
const wantedAt = (state: AgentState): readonly string[] =>
  Object.values(effectsAt(state)).map(inWords).toSorted();

function inWords(effect: AgentEffect): string {
  switch (effect.type) {
    case "call-llm":
      return `${effect.type} ${effect.purpose}`;
    case "call-tool":
    case "probe-tool":
      return `${effect.type} ${effect.toolCallId} ${effect.name} ${effect.parameters}`;
    case "ask-human":
      return `${effect.type} ${effect.toolCallId} ${effect.about} ${effect.name} ${effect.parameters}`;
    case "run-state":
      return `${effect.type} ${effect.name}`;
    case "wait-until":
      return effect.type;
  }
}

/** An input as this agent would have made it: its own predicates and schemas decide which calls need an approval. */
async function withOwnApprovals(
  agent: Agent<unknown>,
  state: AgentState,
  input: AgentInput,
): Promise<AgentInput> {
  if (input.type !== "re-act-observed" || input.observation.type !== "continue-re-act") return input;
  const toolCalls: Record<string, ObservedToolCall> = {};
  for (const [id, call] of Object.entries(input.observation.toolCalls)) {
    const { needsApproval: _, ...made } = call;
    const asks = await asksHuman(agent, state, call);
    toolCalls[id] = asks === undefined ? made : { ...made, needsApproval: asks };
  }
  return { ...input, observation: { ...input.observation, toolCalls } } satisfies InputOf<"re-act-observed">;
}

/** False where the arguments do not fit, the predicate's result where the policy names one, undefined where the policy decides. */
async function asksHuman(
  { parts }: Agent<unknown>,
  state: AgentState,
  { name, parameters }: ObservedToolCall,
): Promise<boolean | undefined> {
  if ((await parts.tools.get(name)?.check(parameters)) !== undefined) return false;
  const tool = toolOf(state, name);
  const { policy } = state.config.approval;
  const ownRule = tool === undefined || tool.approval !== undefined || tool.asksHuman === true;
  if (ownRule || typeof policy === "string" || !("predicate" in policy)) return undefined;
  const predicate = parts.predicates[policy.predicate];
  return predicate === undefined ? true : await predicate({ name, parameters });
}
