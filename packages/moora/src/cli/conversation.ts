import {
  openSession,
  SessionError,
  startSession,
  type Agent,
  type AgentRun,
  type AgentConfig,
  type DurableSession,
  type Question,
  type Session,
  type SessionView,
} from "@moora/agent";
import type { EventLog } from "@moora/event-log";
import { CliFailure } from "./cli-failure.ts";
import type { ChosenLlm } from "./choose-llm.ts";
import { exitCodes, type CliHost } from "./cli-host.ts";
import type { CommandCall } from "./command.ts";
import { optionsToAgent } from "./options-to-agent.ts";
import type { Screen } from "./screen.ts";
import { noticeToWords, openPlace } from "./session/log-place.ts";
import { openRecorded } from "./session/open-recorded.ts";
import { commandFor, placeOf } from "./session/session-call.ts";

/** How long what runs may take to end once the process is asked to go. */
const settleMs = 3_000;

/** A loop that somebody else began, and what of its answer had been streamed before it was joined. */
export interface BegunLoop {
  readonly run: AgentRun;
  readonly streaming: SessionView["streaming"];
}

/** The loop under way, joined so that nothing of it is missed from here on. */
export function begunLoop(session: Session): BegunLoop | undefined {
  const run = session.running();
  return run && { run, streaming: session.current().streaming };
}

/** A session, in memory or kept in a log, and the ways out of it. */
export interface Conversation {
  readonly session: Session;
  readonly isKept: boolean;
  /** What was under way when it was opened. */
  readonly begun: BegunLoop | undefined;
  /** Where else a question can be decided; undefined where that is nowhere. */
  readonly elsewhere: ((question: Question) => string) | undefined;
  /** How to go on later. */
  readonly wayBack: string;
  /** Starts nothing new, and lets what runs end for a while. */
  leave(): Promise<void>;
  close(): Promise<void>;
}

/** Begins a session, or opens the one that `--session` names. */
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
  return { session, isKept: false, begun: undefined, elsewhere: undefined, wayBack: "", leave: close, close };
}

async function keptConversation(
  id: string,
  { options }: CommandCall,
  host: CliHost,
  chosen: ChosenLlm,
  screen: Screen,
): Promise<Conversation> {
  const place = placeOf(options, host);
  const command = (words: string): string => commandFor(words, { options, place });
  const log = await openPlace(place, {
    makes: true,
    onNotice: (notice) => screen.note(noticeToWords(notice)),
  });
  try {
    const agent = await optionsToAgent(options, chosen, host, await configOf(log, id, host));
    const { session, begun } = await opened(agent, { log, id, host, command });
    return {
      session,
      isKept: true,
      begun,
      elsewhere: ({ about, toolCallId }) =>
        command(about === "answer" ? `answer ${id} ${toolCallId} ...` : `approve ${id} ${toolCallId}`),
      wayBack: `Go on with ${command(`run --session ${id}`)}`,
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

/** What a session was begun with stays until somebody says otherwise. */
async function configOf(log: EventLog, id: string, host: CliHost): Promise<AgentConfig | undefined> {
  if ((await log.open(id)) === undefined) return undefined;
  await using session = await openRecorded({ log, id, host }, "read");
  return session.current().config;
}

interface OpenCall {
  readonly log: EventLog;
  readonly id: string;
  readonly host: CliHost;
  readonly command: (words: string) => string;
}

/** Opens a session to run it. Throws `CliFailure` where another process does, and where a newer release wrote on. */
async function opened(
  agent: Agent,
  { log, id, host, command }: OpenCall,
): Promise<{ readonly session: DurableSession; readonly begun: BegunLoop | undefined }> {
  const { clock, owner, isOwnerGone } = host;
  try {
    const session = await openSession(agent, { log, id, clock, owner, isOwnerGone });
    const { access, lastError } = session.info();
    if (access === "run") return { session, begun: begunLoop(session) };
    await session.close();
    throw lastError;
  } catch (error) {
    if (!(error instanceof SessionError) || error.code !== "SessionBusy") throw error;
    const instead = `Say something to it with ${command(`send ${id} "..."`)}; watch it with ${command(`log ${id} --follow`)}`;
    throw new CliFailure(exitCodes.busy, `${error.message} ${instead}`);
  }
}
