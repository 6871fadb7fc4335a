import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import { initialAgentState, step, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { recordOf, toolOf } from "@moora/agent-core-state-machine/internal";
import { digestOf } from "@moora/event-log";
import { checkAnswer, checkFirstLate, checkLate, settledWithout } from "../laws/effect-laws.ts";
import { checkRequest, type Dialects } from "../laws/request-laws.ts";
import {
  checkJson,
  checkLimits,
  checkMoves,
  checkNeverStuck,
  checkReference,
  checkSame,
} from "../laws/transition-laws.ts";
import { checkInvariants, type Invariants } from "../simulation/invariants.ts";
import type { ToolRun } from "../simulation/pending.ts";
import { explorationToText } from "./exploration-text.ts";
import { smallInputs } from "./small-answers.ts";
import {
  outcomesFor,
  tokensFor,
  type ExploredAgent,
  type SmallOutcome,
  type SmallWorld,
} from "./small-outcomes.ts";
import { walkableEdges } from "./walkable-edges.ts";

/** The small world of an exploration. */
export interface ExploreOptions {
  /** How many inputs deep. Default: 12. */
  readonly depth?: number;
  /** The most states that are visited; the report names this cut. Default: 100,000. */
  readonly maxStates?: number;
  /**
   * What the model may return. Default: an answer, a call of each tool, of two at once, two failures, and what the
   * agent's own limits distinguish: a short answer, one that does not fit.
   */
  readonly outcomes?: readonly SmallOutcome[];
  /** User messages after the first. Default: 0. */
  readonly messages?: number;
  /** Default: true. */
  readonly crashes?: boolean;
  /** Default: true. */
  readonly cancels?: boolean;
  /** Promises of your own by name, checked in every state. A started call counts as run. */
  readonly invariants?: Invariants;
  /** What providers would refuse, beside the rules that all share. Default: none. */
  readonly dialects?: Dialects;
}

/** The result of an exploration. */
export interface ExploreReport {
  readonly states: number;
  readonly transitions: number;
  /** Whether every state of the small world was seen: neither the depth nor `maxStates` left one out. */
  readonly complete: boolean;
  /** What left states out; undefined where `complete`, or where a failure ended the exploration. */
  readonly cutOff: "depth" | "states" | undefined;
  readonly depth: number;
  /** How often each edge of the control graph was walked, as `Planning --LlmToolCall--> Acting`. */
  readonly edges: Readonly<Record<string, number>>;
  /** Edges that this agent can walk in this small world, and that were not walked. */
  readonly unwalked: readonly string[];
  /** The shortest way to a broken law or promise, if one was found. */
  readonly failure: { readonly error: unknown; readonly inputs: readonly AgentInput[] } | undefined;
  /** The whole as text. */
  toText(): string;
}

/** The way to a state, from its last input. */
interface Path {
  readonly input: AgentInput;
  readonly from: Path | undefined;
}

interface Node {
  readonly state: AgentState;
  readonly path: Path | undefined;
  readonly toolRuns: readonly ToolRun[];
}

/**
 * Visits every state that an agent can reach in a small world: all orders of completions, duplicates, stale answers,
 * decisions, cancels and crashes, up to a depth. Every transition is held to the laws, every state to your invariants.
 * Breadth first, so a failure comes with a shortest way to it. Keeps one level of states and a digest of every state.
 */
export function explore(agent: ExploredAgent, options: ExploreOptions = {}): ExploreReport {
  const world: SmallWorld = {
    outcomes: options.outcomes ?? outcomesFor(agent),
    messages: options.messages ?? 0,
    crashes: options.crashes ?? true,
    cancels: options.cancels ?? true,
    tokens: tokensFor(agent),
  };
  const exploration = new Exploration(agent, world, options);
  const failure = exploration.run();
  const { states, transitions, edges, cutOff, depth } = exploration;
  const unwalked = walkableEdges(agent, world)
    .map(({ from, event, to }) => `${from} --${event}--> ${to}`)
    .filter((edge) => !Object.hasOwn(edges, edge));
  const complete = failure === undefined && cutOff === undefined;
  const report = { states, transitions, complete, cutOff, depth, edges, unwalked, failure };
  return { ...report, toText: () => explorationToText(report) };
}

/** One exploration under way. */
class Exploration {
  transitions = 0;
  cutOff: "depth" | "states" | undefined;
  readonly edges: Record<string, number> = {};
  readonly depth: number;
  readonly #seen = new Set<string>();
  readonly #maxStates: number;
  readonly #world: SmallWorld;
  readonly #invariants: Invariants;
  readonly #dialects: Dialects;
  readonly #start: Node;

  constructor(agent: ExploredAgent, world: SmallWorld, options: ExploreOptions) {
    const { depth = 12, maxStates = 100_000, invariants = {}, dialects = {} } = options;
    this.depth = depth;
    this.#maxStates = maxStates;
    this.#world = world;
    this.#invariants = invariants;
    this.#dialects = dialects;
    this.#start = { state: initialAgentState(agent), path: undefined, toolRuns: [] };
    this.#seen.add(keyOf(this.#start));
  }

  get states(): number {
    return this.#seen.size;
  }

  /** Visits level after level; returns the failure that ended it, if one did. */
  run(): ExploreReport["failure"] {
    let level: readonly Node[] = [this.#start];
    for (let depth = 0; depth < this.depth && level.length > 0; depth += 1) {
      const next: Node[] = [];
      for (const node of level) {
        const failure = this.#visit(node, next);
        if (failure !== undefined) return failure;
      }
      level = next;
    }
    if (this.cutOff === undefined && level.some((node) => this.#hasMore(node))) this.cutOff = "depth";
    return undefined;
  }

  #visit(node: Node, next: Node[]): ExploreReport["failure"] {
    for (const input of smallInputs(node.state, this.#world)) {
      this.transitions += 1;
      const path = { input, from: node.path };
      try {
        const reached = this.#apply(input, node, path);
        if (reached.state === node.state || this.#seen.has(keyOf(reached))) continue;
        if (this.#seen.size >= this.#maxStates) {
          this.cutOff = "states";
          continue;
        }
        this.#seen.add(keyOf(reached));
        next.push(reached);
      } catch (error) {
        return { error, inputs: inputsOf(path) };
      }
    }
    return undefined;
  }

  /** Whether a state leads to one that was not seen. */
  #hasMore(node: Node): boolean {
    return smallInputs(node.state, this.#world).some((input) => {
      const { state } = step(input)(node.state);
      const toolRuns = runsAfter(node, input, state);
      return state !== node.state && !this.#seen.has(keyOf({ state, path: undefined, toolRuns }));
    });
  }

  /** One transition, held to the laws and promises. */
  #apply(input: AgentInput, node: Node, path: Path): Node {
    const { state } = node;
    const { state: next, moves } = step(input)(state);
    checkReference(input, state, next);
    if (next === state) return node;
    checkSame(input, state, next);
    checkMoves(state, next, moves);
    checkAnswer(input, effectsAt(state), effectsAt(next));
    checkLate(node.path === undefined ? [input] : [node.path.input, input], next);
    checkFirstLate(settledWithout(input, state, next), next);
    checkLimits(state, next);
    checkNeverStuck(next);
    const request = llmRequestAt(next);
    if (request !== undefined) checkRequest(request, this.#dialects, "L7");
    checkJson(next);
    for (const { from, event, to } of moves) {
      const edge = `${from} --${event}--> ${to}`;
      this.edges[edge] = (this.edges[edge] ?? 0) + 1;
    }
    const toolRuns = runsAfter(node, input, next);
    checkInvariants(this.#invariants, { state: next, toolRuns });
    return { state: next, path, toolRuns };
  }
}

/** A started call counts as one that ran: nothing else of a run is seen without its code. */
function runsAfter({ state, toolRuns }: Node, input: AgentInput, next: AgentState): readonly ToolRun[] {
  if (input.type !== "tool-call-started" || next === state) return toolRuns;
  const { toolCallId, attempt } = input;
  const { name = "", parameters = "" } = recordOf(state, toolCallId) ?? {};
  const { replay = "once" } = toolOf(state, name) ?? {};
  const run = { host: "explored", name, toolCallId, key: toolCallId, parameters, attempt, replay };
  return [...toolRuns, { ...run, atSeq: toolRuns.length }];
}

/** States are the same if all but the count of openings is, and if the same calls ran as often. */
const keyOf = ({ state, toolRuns }: Node): string =>
  digestOf(
    JSON.stringify(state, (name, value: unknown) => (name === "opened" ? 0 : value)),
    toolRuns
      .map(({ toolCallId }) => toolCallId)
      .toSorted()
      .join(),
  );

function inputsOf(path: Path): readonly AgentInput[] {
  const inputs: AgentInput[] = [];
  for (let at: Path | undefined = path; at !== undefined; at = at.from) inputs.unshift(at.input);
  return inputs;
}
