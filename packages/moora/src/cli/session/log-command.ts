import { readSession, type DurableSession } from "@moora/agent";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { Interrupts } from "../interrupts.ts";
import { openRecorded } from "./open-recorded.ts";
import { positionOf, sessionCommand, type SessionCall } from "./session-call.ts";
import { rowToJson, rowToText, timelineOf, type TimelineRow } from "./timeline.ts";

/** A session record by record. */
export const logCommand: Command = sessionCommand({
  name: "log",
  usage: "<session>",
  summary: "Show a session record by record: time, control state, what happened.",
  options: ["from", "follow"],
  async run(call) {
    const after = positionOf(call.options, "from") ?? 0;
    const show = (row: TimelineRow): void => {
      if (row.seq > after) call.say(rowToJson(row), rowToText(row));
    };
    return call.options.has("follow") ? await followed(call, show) : await shown(call, show);
  },
});

async function shown({ log, id }: SessionCall, show: (row: TimelineRow) => void): Promise<ExitCode> {
  const { header, inputs, unreadable } = await readSession(log, id);
  const tell = timelineOf(header);
  inputs.forEach((input, index) => show(tell(index + 1, input)));
  if (unreadable !== undefined) throw unreadable;
  return exitCodes.answered;
}

/** Shows what is there and what comes, until Ctrl-C, or until there can come no more. */
async function followed(call: SessionCall, show: (row: TimelineRow) => void): Promise<ExitCode> {
  const { header } = await readSession(call.log, call.id);
  using interrupts = new Interrupts(call.host);
  await using session = await openRecorded(call, "read");
  const tell = timelineOf(header);
  const over = Promise.withResolvers<ExitCode>();
  const lost = session.subscribe(() => {
    const { lastError } = session.info();
    if (lastError !== undefined) over.reject(lastError);
  });
  const stopLooking = lookEachSecond(call, session);
  const stop = await session.follow(0, (seq, input) => show(tell(seq, input)));
  try {
    return await interrupts.during(
      () => over.resolve(exitCodes.cancelled),
      () => over.promise,
    );
  } finally {
    stop();
    lost();
    stopLooking();
  }
}

/** Logs say by themselves when there is more, and do not keep a process alive for it. Answers how to stop. */
function lookEachSecond({ host: { clock } }: SessionCall, session: DurableSession): () => void {
  let callOff = (): void => undefined;
  const look = (): void => {
    callOff = clock.after(1_000, look);
    void session.refresh();
  };
  look();
  return () => callOff();
}
