import { differencesOf, initialStateOf, type Agent, type Difference } from "@moora/agent";
import { effectsAt, llmRequestAt, type AgentEffect } from "@moora/agent-core-effects";
import {
  agentTransition,
  type AgentInput,
  type AgentState,
  type InputOf,
  type ObservedToolCall,
} from "@moora/agent-core-state-machine";
import { llmCallKey, toolOf } from "@moora/agent-core-state-machine/internal";

/** A difference between a recording and an agent. `a` is the recorded value, `b` that of the agent. */
export interface AgentDifference extends Difference {
  /** The sequence number of the record after which they differ; 0 is before the first record. */
  readonly seq: number;
}

/** A value of a difference as text. */
export const shown = (value: unknown): string => (JSON.stringify(value) ?? "nothing").slice(0, 300);

/** The maximum number of listed differences of one request. */
const mostPerRequest = 5;

/**
 * Compares the effects and requests of an agent with a recording. Applies the recorded inputs to the agent, whose own
 * policy, predicates and schemas decide about the recorded calls. Lists every request that differs, and stops at the first
 * position with other effects, because the later records answer those.
 */
export async function compareAgent(
  agent: Agent<unknown>,
  from: AgentState,
  inputs: readonly AgentInput[],
): Promise<readonly AgentDifference[]> {
  let recorded = from;
  let own = initialStateOf(agent);
  let asked = "";
  const found: AgentDifference[] = [];
  for (const [index, input] of inputs.entries()) {
    const seq = index + 1;
    const recordedBefore = recorded;
    recorded = agentTransition(input)(recorded);
    // The agent keeps its own configuration; recorded changes of it are not applied.
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

/** A recorded answer, with the key of the agent's own model call: attempts may be counted differently. */
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

/** The effects of a state, without the attempts of model calls, which depend on the configuration. */
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

/** A recorded input, with the results of this agent's own predicates and schemas for its calls. */
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

/** False for invalid arguments; the result of the predicate, if the policy names one; undefined if the policy decides. */
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
