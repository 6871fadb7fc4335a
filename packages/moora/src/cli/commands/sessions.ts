import { isPaused, statusAt } from "@moora/agent-core-state-machine";
import { SessionError } from "@moora/agent";
import { checkIsNotClosed, lastPositionOf, sessionLog } from "@moora/agent/internal";
import { oneLine } from "@moora/agent-core-effects/internal";
import { LogError, sessionsOf, type LogInfo } from "@moora/event-log";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { sessionCommand, type SessionCall } from "../session/session-call.ts";
import { timeToText } from "../session/timeline.ts";

/** Lists the sessions of a log. */
export const sessionsCommand: Command = sessionCommand({
  name: "sessions",
  usage: "",
  summary: "List the sessions.",
  optionHelp: { json: "Print one JSON object per line, one for each session." },
  async run(call) {
    const { log, print, screen, target } = call;
    let count = 0;
    for await (const info of sessionsOf(log, { limit: 200 })) {
      const row = await rowOf(call, info);
      print(row, rowToText(row));
      count += 1;
    }
    if (count === 0) screen.line(`No sessions in ${target.shown}.`);
    return exitCodes.answered;
  },
});

interface SessionRow {
  readonly id: string;
  readonly records: number;
  readonly state: string;
  readonly paused: boolean;
  readonly updatedAt: number;
  readonly lastMessage: string;
}

async function rowOf({ log }: SessionCall, { id, head }: LogInfo): Promise<SessionRow> {
  try {
    const session = await sessionLog(log, id);
    await checkIsNotClosed(session);
    const { state } = await lastPositionOf(session);
    const lastMessage = state.messages.at(-1)?.content ?? "";
    const paused = isPaused(state);
    return {
      id,
      records: head,
      state: statusAt(state),
      paused,
      updatedAt: state.updatedAt,
      lastMessage,
    };
  } catch (error) {
    if (!(error instanceof LogError || error instanceof SessionError)) throw error;
    return { id, records: head, state: error.code, paused: false, updatedAt: 0, lastMessage: "" };
  }
}

function rowToText({ id, records, state, paused, updatedAt, lastMessage }: SessionRow): string {
  const stateText = paused ? `${state}, paused` : state;
  const time = updatedAt === 0 ? "-" : timeToText(updatedAt);
  return `${id.padEnd(20)}  ${String(records).padStart(6)}  ${stateText.padEnd(15)}  ${time.padEnd(24)}  ${oneLine(lastMessage, 60)}`.trimEnd();
}
