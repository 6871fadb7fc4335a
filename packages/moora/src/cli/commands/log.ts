import { readSession, readSoundPart, type DurableSession } from "@moora/agent";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { Interrupts } from "../terminal/interrupts.ts";
import { attachSession } from "../session/attach-session.ts";
import { closedErrorOf } from "../session/closed-session.ts";
import { checkPosition, sessionCommand, type SessionCall } from "../session/session-call.ts";
import { rowToJson, rowToText, timelineOf, type TimelineRow } from "../session/timeline.ts";

/** Shows a session record by record. */
export const logCommand: Command = sessionCommand({
  name: "log",
  usage: "<session>",
  summary: "Show a session record by record: time, control state, event.",
  options: ["from", "follow"],
  optionHelp: { json: "Print one JSON object per line, one for each record." },
  async run(call) {
    const after = call.options.from ?? 0;
    const show = (row: TimelineRow): void => {
      if (row.seq > after) call.print(rowToJson(row), rowToText(row));
    };
    return call.options.follow === true ? await followRecords(call, show) : await showRecords(call, show);
  },
});

async function showRecords(
  { log, id, options, screen }: SessionCall,
  show: (row: TimelineRow) => void,
): Promise<ExitCode> {
  const { header, records, inputs, stoppedBy, damage } = await readSoundPart(log, id);
  if (damage === undefined) checkPosition(id, options.from, records.length);
  const toRow = timelineOf(header);
  inputs.forEach((input, index) => show(toRow(index + 1, input)));
  const problem = stoppedBy ?? damage;
  if (problem !== undefined) throw problem;
  const closed = await closedErrorOf({ log, id });
  if (closed !== undefined) screen.line(closed.message);
  return exitCodes.answered;
}

/** Shows the records that exist and those that are added, until Ctrl-C, or until the log cannot be followed anymore. */
async function followRecords(call: SessionCall, show: (row: TimelineRow) => void): Promise<ExitCode> {
  const { header } = await readSession(call.log, call.id);
  using interrupts = new Interrupts(call.host);
  await using session = await attachSession(call, "read");
  const toRow = timelineOf(header);
  const over = Promise.withResolvers<ExitCode>();
  const lost = session.subscribe(() => {
    const { lastError } = session.info();
    if (lastError !== undefined) over.reject(lastError);
  });
  const stopPolling = pollEachSecond(call, session);
  const stop = await session.follow(0, (seq, input) => show(toRow(seq, input)));
  try {
    return await interrupts.during(
      () => over.resolve(exitCodes.canceled),
      () => over.promise,
    );
  } finally {
    stop();
    lost();
    stopPolling();
  }
}

/** A log reports new records by itself, and does not keep the process alive for it. Returns a function that stops looking. */
function pollEachSecond({ host: { clock } }: SessionCall, session: DurableSession): () => void {
  let cancel = (): void => undefined;
  const look = (): void => {
    cancel = clock.after(1_000, look);
    void session.refresh();
  };
  look();
  return () => cancel();
}
