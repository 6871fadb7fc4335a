import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import {
  controlEdges,
  initialAgentState,
  step,
  type AgentConfig,
  type AgentInput,
  type AgentState,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import { checkAnswer, checkLate } from "../laws/effect-laws.ts";
import { checkRequest, type Dialects } from "../laws/request-laws.ts";
import {
  checkJson,
  checkLimits,
  checkMoves,
  checkNeverStuck,
  checkReference,
  checkSame,
} from "../laws/transition-laws.ts";
import { smallInputs, type SmallOutcome, type SmallWorld } from "./small-answers.ts";

export interface ExploreOptions {
  /** How many inputs deep. Default: 12. */
  readonly depth?: number;
  /** Stops after so many states, and says so. Default: 100,000. */
  readonly maxStates?: number;
  /** What the model may come to; default: an answer, a call of each tool, of two at once, and two failures. */
  readonly outcomes?: readonly SmallOutcome[];
  /** User messages after the first. Default: 0. */
  readonly messages?: number;
  /** Default: true. */
  readonly crashes?: boolean;
  /** Default: true. */
  readonly cancels?: boolean;
  readonly dialects?: Dialects;
}

/** What an exploration saw. */
export interface ExploreReport {
  readonly states: number;
  readonly transitions: number;
  /** Whether every state within the depth was seen. */
  readonly complete: boolean;
  /** How often each edge of the control graph was walked, as `Planning --LlmToolCall--> Acting`. */
  readonly edges: Readonly<Record<string, number>>;
  /** Edges of the graph that were never walked. */
  readonly unwalked: readonly string[];
  /** The shortest way to a broken law, if one was found. */
  readonly failure: { readonly error: unknown; readonly inputs: readonly AgentInput[] } | undefined;
}

/** The parts of an agent that are data: all that an exploration needs. */
export interface ExploredAgent {
  readonly config: AgentConfig;
  readonly tools: Readonly<Record<string, ToolDefinition>>;
}

interface Node {
  readonly state: AgentState;
  readonly depth: number;
  readonly input: AgentInput | undefined;
  readonly from: Node | undefined;
}

/**
 * Visits every state that an agent can get into in a small world: all orders of completions, duplicates, stale answers,
 * decisions, cancels and crashes, up to a depth. Every transition is held to the laws. Breadth first, so a failure comes
 * with a shortest way to it.
 */
export function explore(agent: ExploredAgent, options: ExploreOptions = {}): ExploreReport {
  const { depth = 12, maxStates = 100_000, dialects = {} } = options;
  const world: SmallWorld = {
    outcomes: options.outcomes ?? outcomesFor(Object.keys(agent.tools)),
    messages: options.messages ?? 0,
    crashes: options.crashes ?? true,
    cancels: options.cancels ?? true,
  };
  const start: Node = { state: initialAgentState(agent), depth: 0, input: undefined, from: undefined };
  const seen = new Set([keyOf(start.state)]);
  const edges: Record<string, number> = {};
  let transitions = 0;
  let complete = true;
  const queue: Node[] = [start];
  for (const node of queue) {
    if (node.depth >= depth) continue;
    for (const input of smallInputs(node.state, world)) {
      transitions += 1;
      try {
        const next = taken(input, node, edges, dialects);
        const key = keyOf(next);
        if (next === node.state || seen.has(key)) continue;
        if (seen.size >= maxStates) {
          complete = false;
          continue;
        }
        seen.add(key);
        queue.push({ state: next, depth: node.depth + 1, input, from: node });
      } catch (error) {
        return report(agent, seen.size, transitions, false, edges, {
          error,
          inputs: [...pathTo(node), input],
        });
      }
    }
  }
  return report(agent, seen.size, transitions, complete, edges, undefined);
}

/** One transition, held to the laws. */
function taken(
  input: AgentInput,
  { state, input: last }: Node,
  edges: Record<string, number>,
  dialects: Dialects,
): AgentState {
  const { state: next, moves } = step(input)(state);
  checkReference(input, state, next);
  if (next === state) return next;
  checkSame(input, state, next);
  checkMoves(state, next, moves);
  checkAnswer(input, effectsAt(state), effectsAt(next));
  checkLate(last === undefined ? [input] : [last, input], next);
  checkLimits(state, next);
  checkNeverStuck(next, dialects);
  const request = llmRequestAt(next);
  if (request !== undefined) checkRequest(request, dialects, "L7");
  checkJson(next);
  for (const { from, event, to } of moves) {
    const edge = `${from} --${event}--> ${to}`;
    edges[edge] = (edges[edge] ?? 0) + 1;
  }
  return next;
}

const outcomesFor = (tools: readonly string[]): readonly SmallOutcome[] => [
  { answer: "That is the answer to it." },
  ...tools.map((name) => ({ calls: [name] })),
  ...(tools.length === 0 ? [] : [{ calls: [tools[0] ?? "", tools.at(-1) ?? ""] }]),
  { failure: "server", retryable: true },
  { failure: "auth" },
];

const keyOf = (state: AgentState): string =>
  JSON.stringify(state, (name, value: unknown) => (name === "opened" ? 0 : value));

function pathTo(node: Node): readonly AgentInput[] {
  const inputs: AgentInput[] = [];
  for (let at: Node | undefined = node; at !== undefined; at = at.from)
    if (at.input !== undefined) inputs.unshift(at.input);
  return inputs;
}

function report(
  { config }: ExploredAgent,
  states: number,
  transitions: number,
  complete: boolean,
  edges: Readonly<Record<string, number>>,
  failure: ExploreReport["failure"],
): ExploreReport {
  const unwalked = controlEdges(config.graph)
    .map(({ from, event, to }) => `${from} --${event}--> ${to}`)
    .filter((edge) => !Object.hasOwn(edges, edge));
  return { states, transitions, complete, edges, unwalked, failure };
}
