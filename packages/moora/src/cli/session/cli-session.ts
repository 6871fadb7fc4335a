import {
  openSession,
  readHeader,
  SessionError,
  sessionOwner,
  startSession,
  type Agent,
  type AgentEvent,
  type AgentState,
  type DurableSession,
  type OpenOptions,
  type Session,
} from "@moora/agent";
import { openCallsOf, recordOf, toolOf } from "@moora/agent-core-state-machine/internal";
import type { ChosenLlm } from "../choose-llm.ts";
import { type CliHost, exitCodes } from "../cli-host.ts";
import type { CommandCall } from "../command.ts";
import { logLines } from "../log-lines.ts";
import { openMcpServers } from "../mcp/open-mcp-servers.ts";
import { agentName, optionsToAgent } from "../options-to-agent.ts";
import { agentOfModule, type ModuleAgent } from "../served-agents.ts";
import type { Screen } from "../terminal/screen.ts";
import { CommandHints } from "./command-hints.ts";
import { openLog } from "./log-target.ts";
import { logTargetOf } from "./session-call.ts";
import { sessionState } from "./attach-session.ts";
import { CliFailure, usageError } from "../cli-failure.ts";

/** How long running work may take to finish once the process was asked to end. */
const settleMs = 3_000;

/** A session, in memory or in a log. */
export interface CliSession {
  readonly session: Session<unknown>;
  /** The commands for a session in a log. Undefined for a session in memory. */
  readonly hints: CommandHints | undefined;
  /** Starts no new work, and gives running work time to finish. */
  shutdown(): Promise<void>;
  close(): Promise<void>;
}

/** What a session is opened with beside the options. */
interface OpenParts {
  /** The model; undefined for the agent of `--agent`. */
  readonly chosen: ChosenLlm | undefined;
  readonly screen: Screen;
  /** Gets every event from the opening on, also of work that resumes in it. Marks questions as seen (no `QuestionUnseen`). */
  readonly onEvent: (event: AgentEvent<unknown>) => void;
}

/** Starts a session, or opens the one that `--session` names. */
export async function openCliSession(
  call: CommandCall,
  host: CliHost,
  parts: OpenParts,
): Promise<CliSession> {
  const { chosen, screen, onEvent } = parts;
  const id = call.options.session;
  if (id !== undefined) return await openLoggedSession(id, call, host, parts);
  const newId = crypto.randomUUID();
  const { agent, context, closeTools } = await openAgent(call, host, { chosen, screen, id: newId });
  const { clock } = host;
  const session = startSession(agent, { id: newId, clock, context, ...logLines(call.options, screen) });
  session.onEvent(onEvent);
  session.onEvent((event) => {
    if (event.type === "Paused") void refusePause(session, screen, event.reason);
  });
  const close = async (): Promise<void> => {
    await session.close();
    await closeTools();
  };
  return { session, hints: undefined, shutdown: close, close };
}

/** Without a log no other command can resume the session: what a guardrail asks a person is refused. */
async function refusePause(session: Session<unknown>, screen: Screen, reason?: string): Promise<void> {
  screen.dim("A guardrail asks a person. To decide, run it with --session.");
  await session.cancel(reason);
  await session.resume();
}

interface SessionAgent extends Pick<OpenParts, "chosen" | "screen"> {
  readonly id: string;
  /** The state of the session, if it exists, and the name of its agent. */
  readonly state?: AgentState | undefined;
  readonly recorded?: string | undefined;
}

/** An agent, and what closes the servers of its tools. */
type OpenAgent = ModuleAgent & { readonly closeTools: () => Promise<void> };

async function openAgent(
  { options }: CommandCall,
  host: CliHost,
  { chosen, screen, id, state, recorded }: SessionAgent,
): Promise<OpenAgent> {
  if (chosen === undefined) {
    const closeTools = (): Promise<void> => Promise.resolve();
    return { ...(await agentOfModule(options, host, id, recorded)), closeTools };
  }
  const { tools: mcpTools, close: closeTools } = await openMcpServers(options, host, screen);
  try {
    return { agent: await optionsToAgent(options, { ...chosen, mcpTools }, host, state?.config), closeTools };
  } catch (error) {
    await closeTools();
    throw error;
  }
}

async function openLoggedSession(
  id: string,
  call: CommandCall,
  host: CliHost,
  { chosen, screen, onEvent }: OpenParts,
): Promise<CliSession> {
  const { options } = call;
  const target = logTargetOf(options, host);
  const log = await openLog(target, screen);
  let closeTools: OpenAgent["closeTools"] | undefined;
  try {
    const state = await sessionState(log, id, host);
    const recorded = state === undefined ? undefined : (await readHeader(log, id)).agent.name;
    const hints = new CommandHints({ options, target });
    if (chosen !== undefined) checkAgent(recorded, hints);
    const opened = await openAgent(call, host, { chosen, screen, id, state, recorded });
    const { agent, context } = opened;
    closeTools = opened.closeTools;
    if (state !== undefined && chosen !== undefined) await checkTools(state, agent, { log, id, host, hints });
    const given = { context, onEvent, ...logLines(options, screen) };
    const session = await openToRun(agent, { log, id, host, hints }, given);
    return {
      session,
      hints,
      shutdown: () => session.close({ graceMs: settleMs }),
      async close() {
        await session.close();
        await opened.closeTools();
        await log.close();
      },
    };
  } catch (error) {
    await closeTools?.();
    await log.close();
    throw error;
  }
}

/** Throws `CliFailure` for the session of another agent, whose tools and states are not known here. */
function checkAgent(recorded: string | undefined, hints: CommandHints): void {
  if (recorded === undefined || recorded === agentName) return;
  throw usageError(
    `This session belongs to the agent "${recorded}", not to "${agentName}".`,
    `Run it with the module of that agent: --agent FILE, or ${hints.workerCommand()}`,
  );
}

interface OpenCall {
  readonly log: Parameters<typeof sessionState>[0];
  readonly id: string;
  readonly host: CliHost;
  readonly hints: CommandHints;
}

/**
 * Throws `CliFailure` if the agent does not have the tools of open calls: it must not run the session, because without
 * their tools these calls would be recorded as not run, permanently.
 */
async function checkTools(
  state: AgentState,
  { tools }: Pick<Agent, "tools">,
  { log, id, host: { clock, isOwnerGone }, hints }: OpenCall,
): Promise<void> {
  const missing = openCallsOf(state.reActContext.control).flatMap((call) => {
    const name = recordOf(state, call.id)?.name ?? "";
    return toolOf(state, name) === undefined || Object.hasOwn(tools, name) ? [] : [`${call.id} ${name}`];
  });
  if (missing.length === 0) return;
  const owner = await sessionOwner(log, id, { clock, isOwnerGone });
  if (owner !== undefined) throw sessionBusyError(`The session ${id} is run by ${owner}.`, id, hints);
  throw usageError(
    `Session "${id}" has open calls of tools that are not loaded: ${missing.join(", ")}.`,
    "Load them as before: --tools FILE for a module, --mcp for a server, --allow-fetch for fetch_url.\n" +
      `To cancel the calls instead: ${hints.command("cancel", id)}`,
  );
}

/** Opens a session to run it. Throws `CliFailure` if another process runs it, or if a newer release wrote to it. */
async function openToRun(
  agent: Agent<unknown>,
  { log, id, host, hints }: OpenCall,
  given: Pick<OpenOptions, "onEvent" | "onLog"> & { readonly context: object | undefined },
): Promise<DurableSession<unknown>> {
  const { clock, owner, isOwnerGone } = host;
  try {
    const session = await openSession(agent, {
      ...given,
      log,
      id,
      clock,
      ...(owner === undefined ? {} : { owner }),
      ...(isOwnerGone === undefined ? {} : { isOwnerGone }),
    });
    const { access, lastError } = session.info();
    if (access === "run") return session;
    await session.close();
    throw lastError;
  } catch (error) {
    if (!(error instanceof SessionError) || error.code !== "SessionBusy") throw error;
    throw sessionBusyError(`The session ${id} is run by ${error.owner ?? "another process"}.`, id, hints);
  }
}

/** The failure of a command that would run a session which another process runs. */
const sessionBusyError = (message: string, id: string, hints: CommandHints): CliFailure =>
  new CliFailure(
    exitCodes.busy,
    `${message}\nTo send it a message: ${hints.command("send", id, "...")}\n` +
      `To watch it: ${hints.command("log", id, "--follow")}`,
  );
