import {
  defineContext,
  defineTool,
  type Clock,
  type NeedsContext,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type WithNeed,
} from "@moora/agent-core-effects";
import { refuse, shownValue } from "@moora/agent-core-effects/internal";
import type { Spending } from "@moora/agent-core-state-machine";
import { cappedBudget } from "@moora/agent-core-state-machine/internal";
import type { EventLog } from "@moora/event-log";
import type { JsonObject } from "@moora/llm";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { checkIsAgent, logProblem } from "./check-arguments.ts";
import { systemClock } from "./clock.ts";
import type { Agent } from "./define-agent.ts";
import { refusalWithoutReviewer } from "./no-reviewer.ts";
import { openForCall } from "./open-for-call.ts";
import { openSession } from "./open-session.ts";
import type { OnApproval } from "./session/host-approvals.ts";
import { needsContext } from "./session-context.ts";
import { failed, runToReply, showIn, type CallRun } from "./session-of-call.ts";
import { openedSessionId, registerLog } from "./session-of-tool.ts";
import type { Session } from "./session/session.ts";
import { postsTo } from "./session/post-to-sub-agent.ts";
import { SubAgents } from "./session/sub-agents.ts";
import { registerCalledAgent } from "./sub-agent-questions.ts";

/** The options of `agentTool`. Those that it shares with `defineTool` have the same meaning and the same defaults. */
export interface AgentToolOptions extends Pick<
  ToolOptions<JsonObject, JsonObject>,
  "name" | "formerNames" | "description" | "risk" | "approval" | "timeoutMs" | "maxParallel"
> {
  /**
   * The log for the sessions of the sub-agent: after a crash the same session continues, and no work is repeated.
   * Default: in memory.
   */
  readonly log?: EventLog;
  /** The clock of the sub-agent. Default: `systemClock`. */
  readonly clock?: Clock;
  /**
   * Answers the questions of the sub-agent. Default: the reviewers of the session that calls it do, as they answer those of the
   * session itself; a call without a session, such as one of `performEffect`, has its questions rejected.
   */
  readonly onApproval?: OnApproval;
  /** How many sessions may be above that of the sub-agent. A call that is nested deeper fails. Default: 8. */
  readonly maxDepth?: number;
  /**
   * Called with the session of each call as soon as it is open, before its task is sent, and with the context of the call: to
   * follow the session. Must not close it. An exception fails the call. Default: none.
   */
  readonly onSession?: (session: Session<unknown>, context: ToolContext) => void;
}

const forms: OptionForms<AgentToolOptions> = {
  name: "any",
  formerNames: "any",
  description: "any",
  risk: "any",
  approval: "any",
  timeoutMs: "any",
  maxParallel: "any",
  log: "any",
  clock: "clock",
  onApproval: "function",
  maxDepth: "number",
  onSession: "function",
};

/** Checks the options that `defineTool` does not check. */
function checkAgentToolOptions(options: AgentToolOptions): void {
  checkOptions("agentTool", options, forms);
  const { maxDepth } = options;
  if (maxDepth !== undefined && !(Number.isSafeInteger(maxDepth) && maxDepth > 0))
    refuse(`maxDepth must be a positive integer, got ${shownValue(maxDepth)}.`);
  const problem = options.log === undefined ? undefined : logProblem(options.log);
  if (problem !== undefined) refuse(problem);
}

const input: JsonObject = {
  type: "object",
  properties: {
    task: { type: "string", description: "The complete task, with everything that is needed to do it." },
  },
  required: ["task"],
  additionalProperties: false,
};

/**
 * Makes an agent a tool of another agent. The result of a call is the text of the answer; a failure is an error with
 * its kind, which the model reads. A cancel or a timeout of the call cancels the sub-agent and its own calls. A host
 * that shuts down does not cancel it: with a `log` the next host continues the same session. The sub-agent can spend
 * what its caller has left, and its usage counts for its caller. The context of the caller's session is that of the
 * sub-agent's. Throws `BuildError` for an invalid agent, an unknown option and an option that `defineTool` refuses.
 */
export function agentTool<Answer, Context = unknown>(
  agent: Agent<Answer> & NeedsContext<Context>,
  options: AgentToolOptions,
): WithNeed<Tool, NoInfer<Context>> {
  // The context exists only for types.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return toolOfAgent(agent, options) as WithNeed<Tool, NoInfer<Context>>;
}

function toolOfAgent<Answer>(agent: Agent<Answer>, options: AgentToolOptions): Tool {
  checkIsAgent("agentTool", agent);
  checkAgentToolOptions(options);
  const {
    log,
    clock = systemClock,
    onApproval,
    onSession,
    maxDepth = defaultMaxDepth,
    ...definition
  } = options;
  const tool = defineTool({
    ...definition,
    input,
    ...(needsContext(agent) ? { context: defineContext<object>() } : {}),
    spends: spendsOf(agent),
    // In memory a second attempt would run the tools of the sub-agent again.
    ...(log === undefined ? { replay: "once" } : { replay: "keyed", resumable: true }),
    async execute(args, context) {
      const caller = SubAgents.of(context);
      if (caller !== undefined && caller.depth >= maxDepth)
        return failed(`AgentFailed: Sub-agents are nested more than ${maxDepth} deep.`);
      const capped = withBudgetOfCaller(agent, context);
      SubAgents.adopt(capped, { caller, signal: context.signal });
      const pauses = caller?.watchPauses();
      const reviewer =
        onApproval ?? (caller === undefined ? refusalWithoutReviewer : caller.reviewerOf(context.toolCallId));
      const opening = openForCall(capped, context, { ...options, clock, onApproval: reviewer, caller });
      const { release, ...closing } = closeWithCaller(caller, opening);
      try {
        const session = await opening;
        const detach = showIn(caller, context, session);
        try {
          await pauses?.pause(session);
          onSession?.(session, context);
          const { signal } = context;
          return await runToReply(capped, session, taskOf(args), { signal, clock, ...closing });
        } finally {
          // Before the session closes: a pause of the caller could no longer be recorded there.
          pauses?.end();
          await session.close();
          detach();
        }
      } finally {
        release();
        pauses?.end();
      }
    },
  });
  registerCalledAgent(tool, { agent, options });
  if (log !== undefined) {
    registerLog(tool, { ...definition, log });
    postsTo(tool, async (call) => {
      const id = await openedSessionId({ ...definition, log }, call);
      // A session that was never opened has no question.
      if (id === undefined) return undefined;
      return { agent, session: await openSession(agent, { log, id, clock, access: "post" }) };
    });
  }
  return tool;
}

/** Closes the session of a call when its caller closes, after a cancel in progress has been written. `release` ends this. */
function closeWithCaller(
  caller: SubAgents | undefined,
  opening: Promise<Session<unknown>>,
): { readonly release: () => void } & Pick<CallRun, "onCancel" | "closed"> {
  const closed = Promise.withResolvers<void>();
  let cancel: Promise<unknown> | undefined;
  const release = caller?.closeWith(async () => {
    const session = await opening;
    await cancel;
    closed.resolve();
    await session.close();
  });
  return {
    release: () => release?.(),
    closed: closed.promise,
    onCancel(canceled) {
      cancel = canceled;
    },
  };
}

const defaultMaxDepth = 8;

/** The task of a call. The schema of the input makes it a string. */
const taskOf = ({ task }: JsonObject): string => (typeof task === "string" ? task : "");

const smallestOf = (...limits: readonly (number | undefined)[]): number | undefined => {
  const given = limits.filter((limit) => limit !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
};

/** The most that one call can spend within the sub-agent's own limits. */
function spendsOf({ config: { budget } }: Agent<unknown>): Spending {
  const tokens = smallestOf(budget.maxTokens, budget.maxTotalTokens);
  const cost = smallestOf(budget.maxCost, budget.maxTotalCost);
  return { ...(tokens === undefined ? {} : { tokens }), ...(cost === undefined ? {} : { cost }) };
}

/**
 * The agent with its budget limited to the reservation of its caller, and with the price list of its caller if it has
 * none of its own.
 */
function withBudgetOfCaller<Answer>(
  agent: Agent<Answer>,
  { budgetLeft, prices = {} }: ToolContext,
): Agent<Answer> {
  const { config } = agent;
  const own = Object.keys(config.prices).length > 0;
  const budget = budgetLeft === undefined ? config.budget : cappedBudget(config.budget, budgetLeft);
  return { ...agent, config: { ...config, budget, prices: own ? config.prices : prices } };
}
