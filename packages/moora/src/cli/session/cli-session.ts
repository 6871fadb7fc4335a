import {
  openSession,
  readHeader,
  SessionError,
  sessionOwner,
  startSession,
  type Agent,
  type AgentEvent,
  type AgentRun,
  type AgentState,
  type DurableSession,
  type LogListener,
  type Question,
  type Session,
  type SessionView,
} from "@moora/agent";
import type { ChosenLlm } from "../choose-llm.ts";
import type { CliHost } from "../cli-host.ts";
import type { CommandCall } from "../command.ts";
import { logLines } from "../log-lines.ts";
import { openMcpServers, type McpServers } from "../mcp/open-mcp-servers.ts";
import { agentName, optionsToAgent } from "../options-to-agent.ts";
import type { Screen } from "../terminal/screen.ts";
import { CommandHints } from "./command-hints.ts";
import { noticeToMessage, openLog } from "./log-target.ts";
import { OpeningEvents } from "./opening-events.ts";
import { sessionBusyError } from "./session-busy-error.ts";
import { logTargetOf } from "./session-call.ts";
import { sessionState } from "./session-state.ts";
import { SessionTools } from "./session-tools.ts";

/** How long running work may take to finish once the process was asked to end. */
const settleMs = 3_000;

/** A loop in progress, and the part of its answer that was streamed before it was joined. */
export interface RunningLoop {
  readonly run: AgentRun;
  readonly streaming: SessionView["streaming"];
}

/** Joins the loop in progress, so that no event from here on is missed. */
export function joinLoop(session: Session): RunningLoop | undefined {
  const run = session.running();
  return run && { run, streaming: session.current().streaming };
}

/** The commands for a session in a log. */
export interface SessionHints {
  /** The commands that settle a question from another terminal. */
  readonly decisionCommands: (question: Question) => readonly string[];
  /** The command that resumes the session. */
  readonly resume: string;
  /** The command that ends a pause of the session. */
  readonly unpause: string;
  /** The command that shows all of its messages. */
  readonly show: string;
}

/** A session, in memory or in a log. */
export interface CliSession {
  readonly session: Session;
  /** Undefined for a session in memory. */
  readonly hints: SessionHints | undefined;
  /** The loop that was in progress when it was opened. */
  readonly running: RunningLoop | undefined;
  /** The events of the work that resumed before `running` was joined. */
  readonly opening: readonly AgentEvent<unknown>[];
  /** Starts no new work, and gives running work time to finish. */
  shutdown(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a session, or opens the one that `--session` names. */
export async function openCliSession(
  call: CommandCall,
  host: CliHost,
  chosen: ChosenLlm,
  screen: Screen,
): Promise<CliSession> {
  const id = call.options.text("session");
  if (id !== undefined) return await openLoggedSession(id, call, host, { chosen, screen });
  const mcp = await openMcpServers(call.options, host, screen);
  try {
    const agent = await optionsToAgent(call.options, { ...chosen, mcpTools: mcp.tools }, host);
    const session = startSession(agent, { clock: host.clock, ...logLines(call.options, screen) });
    const close = async (): Promise<void> => {
      await session.close();
      await mcp.close();
    };
    return { session, hints: undefined, running: undefined, opening: [], shutdown: close, close };
  } catch (error) {
    await mcp.close();
    throw error;
  }
}

async function openLoggedSession(
  id: string,
  { options }: CommandCall,
  host: CliHost,
  { chosen, screen }: { readonly chosen: ChosenLlm; readonly screen: Screen },
): Promise<CliSession> {
  const target = logTargetOf(options, host);
  const log = await openLog(target, {
    creates: true,
    onNotice: (notice) => screen.line(noticeToMessage(notice)),
  });
  let mcp: McpServers | undefined;
  try {
    const state = await sessionState(log, id, host);
    if (state !== undefined) await checkAgent(log, id, new CommandHints({ options, target }));
    const tools = await SessionTools.of({ log, target, id, options, cwd: host.cwd });
    const hints = new CommandHints({ options, target, tools: tools.path });
    mcp = await openMcpServers(options, host, screen);
    const { close: closeServers, tools: mcpTools } = mcp;
    const agent = await optionsToAgent(options, { ...chosen, mcpTools }, host, state?.config);
    if (state !== undefined) await checkTools(state, tools, agent, { log, id, host, hints });
    const { session, running, opening } = await openToRun(agent, {
      log,
      id,
      host,
      hints,
      ...logLines(options, screen),
    });
    await tools.save(screen, state);
    return {
      session,
      running,
      opening,
      hints: {
        decisionCommands: (question) => hints.decisionCommands(id, question),
        resume: hints.runCommand("run", "--session", id),
        show: hints.command("show", id),
        unpause: hints.command("resume", id),
      },
      shutdown: () => session.close({ graceMs: settleMs }),
      async close() {
        await session.close();
        await closeServers();
        await log.close();
      },
    };
  } catch (error) {
    await mcp?.close();
    await log.close();
    throw error;
  }
}

/** Throws `SessionError` for the session of another agent, whose tools and states are not known here. */
async function checkAgent(log: OpenCall["log"], id: string, hints: CommandHints): Promise<void> {
  const { agent } = await readHeader(log, id);
  if (agent.name === agentName) return;
  const message =
    `This session belongs to the agent "${agent.name}", not to "${agentName}". ` +
    `Run it with the module of that agent: ${hints.workerCommand()}`;
  throw new SessionError("WrongAgent", message);
}

interface OpenCall {
  readonly log: Parameters<typeof sessionState>[0];
  readonly id: string;
  readonly host: CliHost;
  readonly hints: CommandHints;
  readonly onLog?: LogListener;
}

/** Throws `CliFailure` or `UsageError` if the agent does not have the tools of open calls. */
async function checkTools(
  state: AgentState,
  tools: SessionTools,
  agent: Agent,
  { log, id, host, hints }: OpenCall,
): Promise<void> {
  const missing = tools.missingIn(state, agent);
  if (missing.length === 0) return;
  const { clock, isOwnerGone } = host;
  const owner = await sessionOwner(log, id, { clock, isOwnerGone });
  if (owner !== undefined) throw sessionBusyError(`The session ${id} is run by ${owner}.`, id, hints);
  throw tools.notLoadedError(missing, hints);
}

/** Opens a session to run it. Throws `CliFailure` if another process runs it, or if a newer release wrote to it. */
async function openToRun(
  agent: Agent,
  { log, id, host, hints, onLog }: OpenCall,
): Promise<Pick<CliSession, "running" | "opening"> & { readonly session: DurableSession }> {
  const { clock, owner, isOwnerGone } = host;
  const opening = new OpeningEvents();
  try {
    const session = await openSession(agent, {
      log,
      id,
      clock,
      onEvent: opening.listener,
      ...(owner === undefined ? {} : { owner }),
      ...(onLog === undefined ? {} : { onLog }),
      ...(isOwnerGone === undefined ? {} : { isOwnerGone }),
    });
    const { access, lastError } = session.info();
    if (access === "run") {
      const running = joinLoop(session);
      return { session, running, opening: opening.end(running) };
    }
    await session.close();
    throw lastError;
  } catch (error) {
    if (!(error instanceof SessionError) || error.code !== "SessionBusy") throw error;
    throw sessionBusyError(`The session ${id} is run by ${error.owner ?? "another process"}.`, id, hints);
  }
}
