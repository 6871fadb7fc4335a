import {
  AgentError,
  defineTool,
  toolReply,
  type Clock,
  type Tool,
  type ToolContext,
  type ToolOptions,
  type ToolReply,
} from "@moora/agent-core-effects";
import { callHostOf, refuse, shownValue } from "@moora/agent-core-effects/internal";
import { traceOf, type AgentState, type Spending } from "@moora/agent-core-state-machine";
import { cappedBudget } from "@moora/agent-core-state-machine/internal";
import { digestOf, type EventLog } from "@moora/event-log";
import type { JsonObject } from "@moora/llm";
import type { AgentRun } from "./agent-run.ts";
import { checkOptions, type OptionForms } from "./check-options.ts";
import { checkIsAgent, logProblem } from "./check-arguments.ts";
import { refusalOf } from "./decision-to-input.ts";
import { systemClock } from "./clock.ts";
import type { Agent } from "./define-agent.ts";
import { openSession } from "./open-session.ts";
import type { OnApproval } from "./session/host-approvals.ts";
import { loopEndOf, type LoopEnd } from "./session/loop-end.ts";
import type { Session } from "./session/session.ts";
import { postsTo, SubAgents } from "./session/sub-agents.ts";
import { startSession } from "./start-session.ts";

/** The options of `agentTool`. Those that it shares with `defineTool` have the same meaning and the same defaults. */
export interface AgentToolOptions extends Pick<
  ToolOptions<JsonObject, JsonObject>,
  "name" | "description" | "risk" | "approval" | "timeoutMs" | "maxParallel"
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
 * what its caller has left, and its usage counts for its caller. Throws `BuildError` for an invalid agent, an unknown
 * option and an option that `defineTool` refuses.
 */
export function agentTool<Answer>(agent: Agent<Answer>, options: AgentToolOptions): Tool {
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
    spends: spendsOf(agent),
    // In memory a second attempt would run the tools of the sub-agent again.
    replay: log === undefined ? "once" : "keyed",
    async execute(args, context) {
      const caller = SubAgents.of(context);
      if (caller !== undefined && caller.depth >= maxDepth)
        return failed(`AgentFailed: Sub-agents are nested more than ${maxDepth} deep.`, undefined);
      const capped = withBudgetOfCaller(agent, context);
      if (capped === undefined) return failed("AgentFailed: The budget is spent.", undefined);
      caller?.adopt(capped);
      const reviewer =
        onApproval ?? (caller === undefined ? rejectQuestion : caller.reviewerOf(context.toolCallId));
      const host = {
        clock,
        ...(reviewer === undefined ? {} : { onApproval: reviewer }),
        ...(caller === undefined ? {} : { onError: caller.report }),
      };
      const session =
        log === undefined
          ? startSession(capped, host)
          : // Only the owner of the caller's session runs this tool, so the previous owner of this session has ended.
            await openSession(capped, {
              ...host,
              log,
              id: agentToolSessionId(definition.name, context),
              isOwnerGone,
            });
      const detach = showIn(caller, context, session);
      try {
        onSession?.(session, context);
        return await runToReply(capped, session, taskOf(args), { signal: context.signal, clock });
      } finally {
        detach();
        await session.close();
      }
    },
  });
  if (log !== undefined) {
    postsTo(tool, async (call) => {
      const id = agentToolSessionId(definition.name, call);
      // A session that was never opened has no question.
      if ((await log.open(id)) === undefined) return undefined;
      return await openSession(agent, { log, id, clock, access: "post" });
    });
  }
  return tool;
}

const defaultMaxDepth = 8;

/**
 * Shows the events and questions of a sub-agent in the session of its caller until the returned function is called. The time
 * of the call does not pass while a question waits for a person.
 */
function showIn(caller: SubAgents | undefined, context: ToolContext, session: Session<unknown>): () => void {
  let release: (() => void) | undefined;
  const follow = (): void => {
    if (session.questions().length === 0) {
      release?.();
      release = undefined;
    } else release ??= callHostOf(context)?.holdTimeout();
  };
  const detach = caller?.attach(context.toolCallId, session);
  const stops = [
    session.onInput(follow),
    session.onEvent(({ type }) => {
      if (type === "ApprovalRequested" || type === "SubAgentEvent") follow();
    }),
  ];
  return () => {
    detach?.();
    for (const stop of stops) stop();
    release?.();
  };
}

/** The task of a call. The schema of the input makes it a string. */
const taskOf = ({ task }: JsonObject): string => (typeof task === "string" ? task : "");

const rejectQuestion: OnApproval = (question) => refusalOf(question, "No reviewer is available.");

const isOwnerGone = (): boolean => true;

/**
 * The id of the session of a call of `agentTool` with a log: the same for every attempt of the call, different for every other
 * call. `name` is that of the tool.
 */
export const agentToolSessionId = (
  name: string,
  { idempotencyKey }: Pick<ToolContext, "idempotencyKey">,
): string => `${name}-${digestOf(idempotencyKey)}`;

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
 * none of its own. Undefined if the reservation is empty.
 */
function withBudgetOfCaller<Answer>(
  agent: Agent<Answer>,
  { budgetLeft, prices = {} }: ToolContext,
): Agent<Answer> | undefined {
  const { config } = agent;
  const own = Object.keys(config.prices).length > 0;
  const budget = budgetLeft === undefined ? config.budget : cappedBudget(config.budget, budgetLeft);
  if (budgetLeft?.tokens === 0 || budgetLeft?.cost === 0) return undefined;
  return { ...agent, config: { ...config, budget, prices: own ? config.prices : prices } };
}

/** Runs the task of a new session, or continues the one of a restored session, and closes the session. */
async function runToReply<Answer>(
  agent: Agent<Answer>,
  session: Session<Answer>,
  task: string,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<ToolReply> {
  const stop = (): void => {
    if (isShutdown(signal)) void session.close();
    // If the cancel cannot be written, the session is only closed; the next attempt of this call continues it.
    else session.cancel("The call was cancelled.").catch(() => session.close());
  };
  try {
    const end = endOf(agent, session, task, signal);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const loopEnd = await end;
    if (signal.aborted && !isShutdown(signal)) await waitForUsage(session, clock);
    return endToReply(loopEnd, session.current());
  } finally {
    signal.removeEventListener("abort", stop);
    await session.close();
  }
}

/** How long to wait for the usage of the calls of a cancelled sub-agent, in milliseconds. */
const usageGraceMs = 1_000;

/** Waits until the usage of all calls is reported, for at most `usageGraceMs`. */
async function waitForUsage(session: Pick<Session, "current" | "subscribe">, clock: Clock): Promise<void> {
  const reported = Promise.withResolvers<void>();
  const check = (): void => {
    if (session.current().unreportedUsage.length === 0) reported.resolve();
  };
  const unsubscribe = session.subscribe(check);
  const cancel = clock.after(usageGraceMs, reported.resolve);
  check();
  await reported.promise;
  cancel();
  unsubscribe();
}

const isShutdown = ({ reason }: AbortSignal): boolean =>
  reason instanceof Error && reason.name === "ShutdownError";

/**
 * Sends the task to a new session, waits for the loop of a running one, or returns the recorded end of a finished one.
 */
async function endOf<Answer>(
  agent: Agent<Answer>,
  session: Session<Answer>,
  task: string,
  signal: AbortSignal,
): Promise<LoopEnd<Answer>> {
  const hasTask = session.current().messages.some(({ role }) => role === "user");
  let run = hasTask ? session.running() : session.ask(task);
  while (run !== undefined) {
    const end = await runToEnd(run);
    // The session retries a failed write and continues the loop, so wait for the end of the loop.
    const isRetried = end instanceof AgentError && end.kind === "MemoryError" && !signal.aborted;
    run = isRetried ? session.running() : undefined;
    if (run === undefined) return end;
  }
  return await loopEndOf(agent, session.current(), traceOf([]));
}

const runToEnd = <Answer>(run: AgentRun<Answer>): Promise<LoopEnd<Answer>> =>
  run.then<LoopEnd<Answer>, AgentError>(
    (result) => result,
    (error: unknown) => {
      if (error instanceof AgentError) return error;
      throw error;
    },
  );

const endToReply = <Answer>(end: LoopEnd<Answer>, state: AgentState): ToolReply =>
  end instanceof AgentError
    ? failed(`${end.kind}: ${end.message}`, state)
    : toolReply({ content: end.text, usage: state.usage });

const failed = (content: string, state: AgentState | undefined): ToolReply =>
  toolReply({ content, isError: true, ...(state === undefined ? {} : { usage: state.usage }) });
