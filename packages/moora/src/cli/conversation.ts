import {
  openSession,
  SessionError,
  sessionOwner,
  startSession,
  type Agent,
  type AgentRun,
  type AgentState,
  type DurableSession,
  type Question,
  type Session,
  type SessionView,
} from "@moora/agent";
import type { ChosenLlm } from "./choose-llm.ts";
import type { CliHost } from "./cli-host.ts";
import type { CommandCall } from "./command.ts";
import { optionsToAgent } from "./options-to-agent.ts";
import type { Screen } from "./screen.ts";
import { CommandHints } from "./session/command-hints.ts";
import { noticeToWords, openPlace } from "./session/log-place.ts";
import { sessionBusy } from "./session/session-busy.ts";
import { placeOf } from "./session/session-call.ts";
import { sessionState } from "./session/session-state.ts";
import { SessionTools } from "./session/session-tools.ts";

/** How long running work may take to finish once the process was asked to end. */
const settleMs = 3_000;

/** A loop in progress, and what of its answer had been streamed before it was joined. */
export interface BegunLoop {
  readonly run: AgentRun;
  readonly streaming: SessionView["streaming"];
}

/** Joins the loop in progress, so that no event from here on is missed. */
export function begunLoop(session: Session): BegunLoop | undefined {
  const run = session.running();
  return run && { run, streaming: session.current().streaming };
}

/** A session in a log: what its commands are called. */
export interface KeptSession {
  /** The commands that settle a question from another terminal. */
  readonly settling: (question: Question) => readonly string[];
  /** The command that resumes the session. */
  readonly resume: string;
  /** The command that shows all of its messages. */
  readonly show: string;
}

/** A session, in memory or in a log. */
export interface Conversation {
  readonly session: Session;
  /** Undefined for a session in memory. */
  readonly kept: KeptSession | undefined;
  /** What was in progress when it was opened. */
  readonly begun: BegunLoop | undefined;
  /** Starts nothing new, and lets running work finish for a while. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a session, or opens the one that `--session` names. */
export async function openConversation(
  call: CommandCall,
  host: CliHost,
  chosen: ChosenLlm,
  screen: Screen,
): Promise<Conversation> {
  const id = call.options.text("session");
  if (id !== undefined) return await keptConversation(id, call, host, chosen, screen);
  const session = startSession(await optionsToAgent(call.options, chosen, host), { clock: host.clock });
  const close = (): Promise<void> => session.close();
  return { session, kept: undefined, begun: undefined, leave: close, close };
}

async function keptConversation(
  id: string,
  { options }: CommandCall,
  host: CliHost,
  chosen: ChosenLlm,
  screen: Screen,
): Promise<Conversation> {
  const place = placeOf(options, host);
  const log = await openPlace(place, {
    makes: true,
    onNotice: (notice) => screen.note(noticeToWords(notice)),
  });
  try {
    const state = await sessionState(log, id, host);
    const tools = await SessionTools.of({ log, place, id, options, cwd: host.cwd });
    const hints = new CommandHints({ options, place, tools: tools.path });
    const agent = await optionsToAgent(options, chosen, host, state?.config);
    if (state !== undefined) await checkTools(state, tools, agent, { log, id, host, hints });
    const { session, begun } = await opened(agent, { log, id, host, hints });
    await tools.remember(screen, state);
    return {
      session,
      begun,
      kept: {
        settling: (question) => hints.settling(id, question),
        resume: hints.runCommand("run", "--session", id),
        show: hints.command("show", id),
      },
      leave: () => session.close({ graceMs: settleMs }),
      async close() {
        await session.close();
        await log.close();
      },
    };
  } catch (error) {
    await log.close();
    throw error;
  }
}

interface OpenCall {
  readonly log: Parameters<typeof sessionState>[0];
  readonly id: string;
  readonly host: CliHost;
  readonly hints: CommandHints;
}

/** Throws `CliFailure` or `UsageError` where the agent does not have the tools of open calls. */
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
  if (owner !== undefined) throw sessionBusy(`The session ${id} is run by ${owner}.`, id, hints);
  throw tools.notLoaded(missing, hints);
}

/** Opens a session to run it. Throws `CliFailure` where another process does, and where a newer release wrote to it. */
async function opened(
  agent: Agent,
  { log, id, host, hints }: OpenCall,
): Promise<{ readonly session: DurableSession; readonly begun: BegunLoop | undefined }> {
  const { clock, owner, isOwnerGone } = host;
  try {
    const session = await openSession(agent, {
      log,
      id,
      clock,
      ...(owner === undefined ? {} : { owner }),
      ...(isOwnerGone === undefined ? {} : { isOwnerGone }),
    });
    const { access, lastError } = session.info();
    if (access === "run") return { session, begun: begunLoop(session) };
    await session.close();
    throw lastError;
  } catch (error) {
    if (!(error instanceof SessionError) || error.code !== "SessionBusy") throw error;
    throw sessionBusy(`The session ${id} is run by ${error.owner ?? "another process"}.`, id, hints);
  }
}
