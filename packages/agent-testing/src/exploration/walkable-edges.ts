import {
  controlEdges,
  type ControlEdge,
  type ToolCallRecord,
  type transitionTable,
  initialAgentState,
} from "@moora/agent-core-state-machine";
import { needsHuman } from "@moora/agent-core-state-machine/internal";
import type { ExploredAgent, SmallOutcome, SmallWorld } from "./small-outcomes.ts";

/** What an agent can do in a small world, as far as its data shows. */
interface Abilities {
  readonly answers: boolean;
  readonly shortAnswers: boolean;
  readonly invalidAnswers: boolean;
  readonly lowConfidence: boolean;
  readonly blacklistedOnly: boolean;
  readonly singleCalls: boolean;
  readonly parallelCalls: boolean;
  /** Some turn has a call that a person has to approve or answer. */
  readonly asks: boolean;
  readonly approvals: boolean;
  readonly questions: boolean;
  /** A person may be asked what became of a call. */
  readonly unknownOutcomes: boolean;
  readonly several: boolean;
  readonly retries: boolean;
  readonly failures: boolean;
  readonly contextExceeded: boolean;
  readonly interjections: boolean;
  readonly budget: boolean;
  readonly reflectsBySteps: boolean;
  readonly manySteps: boolean;
  readonly cancels: boolean;
  /** A row of the user's own leads to a state of calls without any. */
  readonly rowsToCalls: boolean;
}

type Rule = (can: Abilities) => boolean;
type Rules = {
  readonly [From in keyof typeof transitionTable]: {
    readonly [Event in keyof (typeof transitionTable)[From]]: Rule;
  };
};

const acts: Rule = (can) => can.singleCalls || can.approvals || can.unknownOutcomes;
const actsInParallel: Rule = (can) => can.parallelCalls || (can.several && (can.asks || can.unknownOutcomes));
const waits: Rule = (can) => can.asks || can.unknownOutcomes;
const reflects: Rule = (can) => can.lowConfidence || can.contextExceeded || needsReflection(can);
const observes: Rule = (can) => acts(can) || actsInParallel(can) || waits(can);
const needsReflection: Rule = (can) => can.reflectsBySteps && observes(can);

/** What each edge of the table needs of an agent: one row for each. */
const rules: Rules = {
  Idle: { Start: () => true },
  Planning: {
    MaxSteps: (can) => can.manySteps,
    BudgetExceeded: (can) => can.budget,
    LowConfidence: (can) => can.lowConfidence,
    ToolBlacklisted: (can) => can.blacklistedOnly,
    AnswerInvalid: (can) => can.invalidAnswers,
    HumanApprovalRequired: (can) => can.asks,
    LlmToolCall: (can) => can.singleCalls,
    LlmParallelToolCalls: (can) => can.parallelCalls,
    // Internal tools are not called in a small world.
    ContextChanged: () => false,
    UserInterjected: (can) => can.interjections && can.answers,
    AnswerTooShort: (can) => can.shortAnswers,
    LlmFinalAnswer: (can) => can.answers,
    LlmRetry: (can) => can.retries,
    ContextExceeded: (can) => can.contextExceeded,
    FatalError: (can) => can.failures,
    Cancelled: (can) => can.cancels,
  },
  WaitingForHuman: {
    HumanRejected: waits,
    HumanAnswered: (can) => can.questions || can.unknownOutcomes,
    HumanModified: (can) => can.approvals,
    HumanApprovedParallel: (can) => can.several && waits(can),
    HumanApproved: (can) => can.approvals || can.unknownOutcomes,
    Cancelled: (can) => can.cancels && waits(can),
  },
  Acting: {
    ToolSuccess: acts,
    ToolFailure: acts,
    OutcomeUnknown: (can) => can.unknownOutcomes,
    HumanApprovalRequired: (can) => can.rowsToCalls && can.asks,
    FatalError: (can) => can.rowsToCalls,
    Cancelled: (can) => can.cancels && acts(can),
  },
  ParallelActing: {
    ToolSuccess: actsInParallel,
    ToolFailure: actsInParallel,
    OutcomeUnknown: (can) => can.unknownOutcomes && actsInParallel(can),
    HumanApprovalRequired: (can) => can.rowsToCalls && can.asks,
    FatalError: (can) => can.rowsToCalls,
    Cancelled: (can) => can.cancels && actsInParallel(can),
  },
  Observing: {
    NeedsReflection: needsReflection,
    Continue: observes,
  },
  Reflecting: { ReflectDone: reflects, Cancelled: (can) => can.cancels && reflects(can) },
  Done: {},
  Error: {},
};

/**
 * The edges of the control graph that an agent can walk in a small world, given time: what its tools, limits and policy,
 * and the outcomes of the world, leave possible. Rows of the user's own always count as possible.
 */
export function walkableEdges(agent: ExploredAgent, world: SmallWorld): readonly ControlEdge[] {
  const can = abilitiesOf(agent, world);
  const table: Readonly<Record<string, Readonly<Record<string, Rule>>>> = rules;
  return controlEdges(agent.config.graph).filter(({ from, event }) => {
    const rule = table[from]?.[event];
    return rule === undefined ? event !== "Cancelled" || can.cancels : rule(can);
  });
}

function abilitiesOf(agent: ExploredAgent, world: SmallWorld): Abilities {
  const { config, tools } = agent;
  const { outcomes, messages, crashes, cancels, tokens } = world;
  const mayRetry = config.retries.maxAnswerRetries > 0;
  const turns = outcomes.map((outcome) => openCalls(agent, outcome));
  const asking = turns.filter((names) => names.some((name) => asksHuman(agent, name)));
  const free = turns.filter((names) => names.length > 0 && !asking.includes(names));
  const isParallel = (names: readonly string[]): boolean => names.length > 1 && config.toolCalls.parallel;
  const asked = asking.flat().filter((name) => asksHuman(agent, name));
  const questions = asked.some((name) => tools[name]?.asksHuman === true);
  const answersIn = outcomes.filter((outcome) => "answer" in outcome);
  const fails = (kind: string): boolean =>
    outcomes.some((outcome) => "failure" in outcome && outcome.failure === kind);
  const invalid = answersIn.some(({ problem }) => problem !== undefined);
  const calls = turns.some((names) => names.length > 0);
  return {
    answers: answersIn.length > 0,
    shortAnswers:
      mayRetry && answersIn.some(({ answer }) => answer.trim().length < config.limits.minAnswerLength),
    invalidAnswers: mayRetry && invalid,
    lowConfidence: mayRetry && outcomes.some((outcome) => isBelow(outcome, config.limits.minConfidence)),
    blacklistedOnly: outcomes.some(
      (outcome, index) => "calls" in outcome && outcome.calls.length > 0 && turns[index]?.length === 0,
    ),
    singleCalls: free.some((names) => !isParallel(names)),
    parallelCalls: free.some(isParallel),
    asks: asking.length > 0,
    approvals: asked.some((name) => tools[name]?.asksHuman !== true),
    questions,
    unknownOutcomes: turns.flat().some((name) => isAskedAbout(agent, name)),
    several: turns.some(isParallel),
    retries:
      config.retries.maxLlmAttempts > 1 && outcomes.some((it) => "failure" in it && it.retryable === true),
    failures: crashes || outcomes.some((outcome) => "failure" in outcome) || (invalid && !mayRetry),
    contextExceeded: fails("context-length") && (calls || messages > 0),
    interjections: messages > 0 && config.interjection === "queue",
    budget: tokens > 0 || config.budget.maxCost === 0 || config.budget.maxTotalCost === 0,
    reflectsBySteps: config.reflection.everyNSteps > 0,
    manySteps: calls || config.retries.maxAnswerRetries >= config.limits.maxSteps,
    cancels,
    rowsToCalls: Object.values(config.graph.rows).some((row) =>
      Object.values(row).some((to) => to === "Acting" || to === "ParallelActing"),
    ),
  };
}

/** The calls of an outcome that are not refused at once. */
const openCalls = ({ config }: ExploredAgent, outcome: SmallOutcome): readonly string[] =>
  "calls" in outcome
    ? outcome.calls
        .filter((name) => !config.toolCalls.blacklist.includes(name))
        .slice(0, config.toolCalls.maxPerTurn)
    : [];

const asksHuman = (agent: ExploredAgent, name: string): boolean => {
  const call: ToolCallRecord = { name, parameters: "{}", calledAt: 0, result: null };
  return needsHuman(initialAgentState(agent), call);
};

/** After an interruption, the outcome of a tool that runs once is unknown; a probe may report that as well. */
const isAskedAbout = ({ tools }: ExploredAgent, name: string): boolean =>
  tools[name]?.onUnknown === "ask" && (tools[name].replay ?? "once") === "once";

const isBelow = (outcome: SmallOutcome, threshold: number): boolean =>
  "confidence" in outcome && outcome.confidence !== undefined && outcome.confidence < threshold;
