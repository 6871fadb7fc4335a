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
import { refuse } from "@moora/agent-core-effects/internal";
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
import { startSession } from "./start-session.ts";

/** Defaults: in memory, the clock of the machine, questions rejected; the rest as `defineTool` has it. */
export interface AgentToolOptions extends Pick<
  ToolOptions<JsonObject, JsonObject>,
  "name" | "description" | "risk" | "approval" | "timeoutMs" | "maxParallel"
> {
  /** Keeps what the sub-agent does: after a crash the same session continues, and nothing is done twice. */
  readonly log?: EventLog;
  readonly clock?: Clock;
  /** Answers what the sub-agent asks of a human. Without it such calls are rejected: nothing ever waits. */
  readonly onApproval?: OnApproval;
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
};

/** `defineTool` checks the options that are its own. */
function checkAgentToolOptions(options: AgentToolOptions): void {
  checkOptions("agentTool", options, forms);
  const problem = options.log === undefined ? undefined : logProblem(options.log);
  if (problem !== undefined) refuse(problem);
}

const input: JsonObject = {
  type: "object",
  properties: { task: { type: "string", description: "The task, complete in itself." } },
  required: ["task"],
  additionalProperties: false,
};

/**
 * An agent as a tool of another one. Its result is the answer's text; a failure is an error that the model reads, with
 * its kind. A cancel or time-out of the call cancels the sub-agent, and so all that it has called; a host that shuts down
 * only leaves it, and with a `log` the next one continues the same session. It may spend what its caller has left, and
 * what it used counts for its caller. Throws `BuildError` for what is not an agent, an unknown option, and what `defineTool`
 * refuses.
 */
export function agentTool<Answer>(agent: Agent<Answer>, options: AgentToolOptions): Tool {
  checkIsAgent("agentTool", agent);
  checkAgentToolOptions(options);
  const { log, clock = systemClock, onApproval = rejectUnasked, ...definition } = options;
  const host = { clock, onApproval };
  return defineTool({
    ...definition,
    input,
    spends: spendsOf(agent),
    // In memory a crash would do the work of its tools again.
    replay: log === undefined ? "once" : "keyed",
    async execute(given, context) {
      const capped = cappedTo(agent, context);
      if (capped === undefined) return failed("AgentFailed: The budget is spent.", undefined);
      const session =
        log === undefined
          ? startSession(capped, host)
          : // Only the owner of the caller runs its tools: the process that held this session has ended.
            await openSession(capped, { ...host, log, id: idOf(definition.name, context), isOwnerGone });
      return await workedOff(capped, session, taskOf(given), { signal: context.signal, clock });
    },
  });
}

/** The schema has it that there is one. */
const taskOf = ({ task }: JsonObject): string => (typeof task === "string" ? task : "");

const rejectUnasked: OnApproval = (question) => refusalOf(question, "No reviewer is available.");

const isOwnerGone = (): boolean => true;

/** The same for every attempt of a call, and for no other call. */
const idOf = (name: string, { idempotencyKey }: ToolContext): string => `${name}-${digestOf(idempotencyKey)}`;

const smallestOf = (...limits: readonly (number | undefined)[]): number | undefined => {
  const given = limits.filter((limit) => limit !== undefined);
  return given.length === 0 ? undefined : Math.min(...given);
};

/** The most that one call can spend by the sub-agent's own limits. */
function spendsOf({ config: { budget } }: Agent<unknown>): Spending {
  const tokens = smallestOf(budget.maxTokens, budget.maxTotalTokens);
  const cost = smallestOf(budget.maxCost, budget.maxTotalCost);
  return { ...(tokens === undefined ? {} : { tokens }), ...(cost === undefined ? {} : { cost }) };
}

/**
 * The agent with no more to spend than its caller has reserved for it, and the price list of its caller where it has none;
 * undefined where there is nothing left to spend.
 */
function cappedTo<Answer>(
  agent: Agent<Answer>,
  { budgetLeft, prices = {} }: ToolContext,
): Agent<Answer> | undefined {
  const { config } = agent;
  const own = Object.keys(config.prices).length > 0;
  const budget = budgetLeft === undefined ? config.budget : cappedBudget(config.budget, budgetLeft);
  if (budgetLeft?.tokens === 0 || budgetLeft?.cost === 0) return undefined;
  return { ...agent, config: { ...config, budget, prices: own ? config.prices : prices } };
}

/** Brings the session to the end of its task, wherever it stands, and gives it up. */
async function workedOff<Answer>(
  agent: Agent<Answer>,
  session: Session<Answer>,
  task: string,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<ToolReply> {
  const stop = (): void => {
    if (isShutdown(signal)) void session.close();
    // A cancel that cannot be written lets go of the sub-agent; the next attempt of this call finds it as it is.
    else session.cancel("The caller no longer wants it.").catch(() => session.close());
  };
  try {
    const end = endOf(agent, session, task, signal);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    const ended = await end;
    if (signal.aborted && !isShutdown(signal)) await usageKnown(session, clock);
    return endToReply(ended, session.current());
  } finally {
    signal.removeEventListener("abort", stop);
    await session.close();
  }
}

/** How long a cancelled sub-agent is waited for, so that what its calls used can be counted. */
const usageGraceMs = 1_000;

async function usageKnown(session: Pick<Session, "current" | "subscribe">, clock: Clock): Promise<void> {
  const known = Promise.withResolvers<void>();
  const check = (): void => {
    if (session.current().unreportedUsage.length === 0) known.resolve();
  };
  const unsubscribe = session.subscribe(check);
  const cancel = clock.after(usageGraceMs, known.resolve);
  check();
  await known.promise;
  cancel();
  unsubscribe();
}

const isShutdown = ({ reason }: AbortSignal): boolean =>
  reason instanceof Error && reason.name === "ShutdownError";

/** Says the task, joins the loop that is under way, or gives what is on record. */
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
    // A log that could not be written is tried again: the loop continues, and its end is what counts.
    const continues = end instanceof AgentError && end.kind === "MemoryError" && !signal.aborted;
    run = continues ? session.running() : undefined;
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
