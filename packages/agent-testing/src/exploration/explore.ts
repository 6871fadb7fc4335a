import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import { initialStateOf } from "@moora/agent";
import { step, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
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

/** The options of `explore`, which define its small world. */
export interface ExploreOptions {
  /** The maximum number of inputs in a path. Default: 12. */
  readonly depth?: number;
  /** The maximum number of visited states. Default: 100,000. */
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
  /** Your own invariants by name, checked in every state. A started call counts as run. */
  readonly invariants?: Invariants;
  /** The rules of providers, in addition to those that all providers share. Default: none. */
  readonly dialects?: Dialects;
}

const exploreForms: OptionForms<ExploreOptions> = {
  depth: "positiveInteger",
  maxStates: "positiveInteger",
  outcomes: { expectation: "a list of outcomes", fits: Array.isArray },
  messages: {
    expectation: "0 or a positive integer",
    fits: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  },
  crashes: "boolean",
  cancels: "boolean",
  invariants: "object",
  dialects: "object",
};

/** The result of an exploration. */
export interface ExploreReport {
  readonly states: number;
  readonly transitions: number;
  /** Whether every state of the small world was visited: neither the depth nor `maxStates` left one out. */
  readonly complete: boolean;
  /** The limit that left states out; undefined if `complete`, or if a failure ended the exploration. */
  readonly cutOff: "depth" | "states" | undefined;
  readonly depth: number;
  /** How often each edge of the control graph was walked, as `Planning --LlmToolCall--> Acting`. */
  readonly edges: Readonly<Record<string, number>>;
  /** The edges that this agent can walk in this small world but that were not walked. */
  readonly unwalked: readonly string[];
  /** The shortest path to a broken law or invariant, if one was found. */
  readonly failure: { readonly error: unknown; readonly inputs: readonly AgentInput[] } | undefined;
  /** The exploration as text. */
  toText(): string;
}

/** The path to a state, linked from its last input. */
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
 * decisions, cancels and crashes, up to a depth. Checks the laws at every transition and your invariants in every state.
 * Searches breadth first, so that the path to a failure is a shortest one. Keeps one level of states and a digest of every
 * state in memory. Throws `BuildError` for an unknown or invalid option.
 */
export function explore(agent: ExploredAgent, options: ExploreOptions = {}): ExploreReport {
  checkOptions("explore", options, exploreForms);
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

/** A running exploration. */
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
    this.#start = { state: initialStateOf(agent), path: undefined, toolRuns: [] };
    this.#seen.add(keyOf(this.#start));
  }

  get states(): number {
    return this.#seen.size;
  }

  /** Visits level after level. Returns the failure that ended the exploration, if there is one. */
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

  /** Whether a state leads to one that was not visited. */
  #hasMore(node: Node): boolean {
    return smallInputs(node.state, this.#world).some((input) => {
      const { state } = step(input)(node.state);
      const toolRuns = runsAfter(node, input, state);
      return state !== node.state && !this.#seen.has(keyOf({ state, path: undefined, toolRuns }));
    });
  }

  /** Makes one transition, and checks the laws and invariants. */
  #apply(input: AgentInput, node: Node, path: Path): Node {
    const { state } = node;
    const { state: next, moves } = step(input)(state);
    checkReference(input, state, next);
    if (next === state) return node;
    checkSame(input, state, next);
    checkMoves(input, state, next, moves);
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

/** The runs of tools: a started call counts as run, because an exploration executes no code. */
function runsAfter({ state, toolRuns }: Node, input: AgentInput, next: AgentState): readonly ToolRun[] {
  if (input.type !== "tool-call-started" || next === state) return toolRuns;
  const { toolCallId, attempt } = input;
  const { name = "", parameters = "" } = recordOf(state, toolCallId) ?? {};
  const { replay = "once" } = toolOf(state, name) ?? {};
  const run = { host: "explored", name, toolCallId, key: toolCallId, parameters, attempt, replay };
  return [...toolRuns, { ...run, atSeq: toolRuns.length }];
}

/** The identity of a state: its fields without the count of openings, and how often each call ran. */
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
