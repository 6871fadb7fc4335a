import { recordDigest, chainStart, type ChainHead, type EventLog, type LogRecord } from "@moora/event-log";
import type { DurableSession } from "../../src/index.ts";
import { quiet } from "@moora/testbed/durable/drive";
import type { Scene } from "@moora/testbed/durable/scene";

/** Records a session of a scene: sends the messages, answers the questions, and closes it. */
export async function recordSession(
  scene: Scene,
  says: readonly string[] = ["Please."],
  decide: (session: DurableSession) => Promise<void> = approveAll,
): Promise<void> {
  await using session = await scene.open();
  // A listener shows the questions that `decide` answers.
  session.onEvent(() => undefined);
  for (const text of says) {
    await session.send(text);
    await quiet(session);
    await decide(session);
    await quiet(session);
  }
}

export async function approveAll(session: DurableSession): Promise<void> {
  for (const question of session.questions()) await session.decide(question, "approve", "ada");
}

export async function recordsOf(log: EventLog, id = "ada"): Promise<readonly LogRecord[]> {
  return (await (await log.open(id))?.read()) ?? [];
}

/** Writes a session under another id with some records replaced: a valid chain over other content. */
export async function rewriteSession(
  log: EventLog,
  as: string,
  change: (record: LogRecord) => Pick<LogRecord, "body" | "changesDigest">,
): Promise<void> {
  const header = (await log.open("ada"))?.header ?? "";
  let head: ChainHead = chainStart(header);
  const records = (await recordsOf(log)).map((record): LogRecord => {
    const { body, changesDigest } = change(record);
    const next = {
      seq: record.seq,
      body,
      changesDigest,
      digest: recordDigest(head.digest, body),
    };
    head = next;
    return next;
  });
  await (await log.create(as, header)).append(0, records);
}
