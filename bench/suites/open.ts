/** How long a session of 100,000 records takes to open, from its records and from a snapshot. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSession, type OpenOptions } from "@moora/agent";
import { memoryLog, type EventLog, type LogRecord } from "@moora/event-log";
import { msOf, ownTime } from "../harness/clocks.ts";
import { atMost, type Row, type RowContext } from "../harness/row.ts";
import { alternating, partlyTimedWay, type Way } from "../harness/ways.ts";
import { chatAgent, userText } from "../loops/chat.ts";
import { bareSqlite } from "../stores/bare-store.ts";
import { openLog, storeTitles } from "../stores/stores.ts";

const recordCount = 100_000;
const agent = chatAgent({ callsPerMessage: 10, resultLength: 100 });

/** The sessions in each store: one is folded from its records, the other one has a snapshot. */
const [plain, withSnapshot] = ["plain", "with-snapshot"] as const;

type OpenedStore = "sqlite-relaxed" | "jsonl-relaxed";

/** The same records and the same snapshot without a log, for the floors. */
const bareDatabase = (directory: string): string => join(directory, "open-bare.db");
const bareLines = (directory: string): string => join(directory, "open-bare.jsonl");
const bareSnapshot = (directory: string): string => join(directory, "open-bare.json");

/** A live session that has grown to so many records, as its log has them. */
async function recordSession(): Promise<{ readonly header: string; readonly records: readonly LogRecord[] }> {
  const log = memoryLog();
  await using session = await openSession(agent, { log, id: plain, snapshots: false });
  for (let message = 0; session.seq() < recordCount; message += 1) await session.ask(userText(message));
  const found = await log.open(plain);
  return { header: found?.header ?? "", records: (await found?.read()) ?? [] };
}

async function copyTo(log: EventLog, header: string, records: readonly LogRecord[]): Promise<void> {
  for (const id of [plain, withSnapshot]) {
    const session = await log.create(id, header);
    for (let seq = 0; seq < records.length; seq += 10_000)
      await session.append(seq, records.slice(seq, seq + 10_000));
  }
  // The owner of a session saves a snapshot when it closes the session.
  await (await openSession(agent, { log, id: withSnapshot })).close();
}

/** Fills the stores, unless another process of the run has done so. */
async function fillStores(context: RowContext): Promise<void> {
  const { directory } = context;
  if (existsSync(bareSnapshot(directory))) return;
  const { header, records } = await recordSession();
  const lines = records.map((record) => JSON.stringify(record));
  const bare = bareSqlite(bareDatabase(directory), "NORMAL");
  const session = bare.start();
  for (const line of lines) void session.append(line);
  await bare.close();
  writeFileSync(bareLines(directory), lines.join("\n"));
  let snapshot = "";
  for (const store of ["sqlite-relaxed", "jsonl-relaxed"] as const) {
    const log = openLog(store, context);
    await copyTo(log, header, records);
    const opened = await log.open(withSnapshot);
    snapshot = (await opened?.snapshot())?.body ?? "";
    await log.close();
  }
  writeFileSync(bareSnapshot(directory), snapshot);
}

/** A way whose samples are milliseconds. */
const ownTimedWay = (name: string, work: () => Promise<number>): Way =>
  partlyTimedWay({ name, units: 1_000, clock: ownTime, work });

/** Opens and closes a session; the closing is not measured. */
const openWay = (name: string, options: OpenOptions): Way =>
  ownTimedWay(name, async () => {
    const from = ownTime();
    await using session = await openSession(agent, options);
    const ms = ownTime() - from;
    if (session.seq() < recordCount) throw new Error(`The session has ${session.seq()} records.`);
    return ms;
  });

/** Reads and parses the same text without a log. */
const bareWay = (name: string, read: () => unknown): Way => ownTimedWay(name, () => msOf(ownTime, read));

function parseRows(directory: string): number {
  const database = new DatabaseSync(bareDatabase(directory), { readOnly: true });
  const rows = database.prepare("SELECT body FROM appends ORDER BY session, seq").all();
  const count = rows.map(({ body }) => JSON.parse(String(body))).length;
  database.close();
  return count;
}

const parseLines = (directory: string): number =>
  readFileSync(bareLines(directory), "utf8")
    .split("\n")
    .map((line) => JSON.parse(line)).length;

const row = (store: OpenedStore, mostMs: number, isSnapshot: boolean): Row => ({
  name: `open/${store.replace("-relaxed", "")}${isSnapshot ? "-snapshot" : ""}`,
  what: `open 100,000 records${isSnapshot ? " from a snapshot" : ""}, ${storeTitles[store].split(" ")[0]}`,
  unit: "ms",
  goal: atMost(mostMs),
  async prepare(context) {
    const { directory, resources } = context;
    await fillStores(context);
    const log = openLog(store, context);
    resources.defer(() => log.close());
    const parse = store === "jsonl-relaxed" ? parseLines : parseRows;
    const options = { log, id: isSnapshot ? withSnapshot : plain, snapshots: isSnapshot };
    return alternating(
      openWay("to read", { ...options, access: "read" }),
      isSnapshot
        ? bareWay("parse a file of the state", () =>
            JSON.parse(readFileSync(bareSnapshot(directory), "utf8")),
          )
        : bareWay("parse bare records", () => parse(directory)),
      openWay("to run", options),
    );
  },
});

export const rows: readonly Row[] = [
  row("sqlite-relaxed", 1_000, false),
  row("jsonl-relaxed", 1_000, false),
  row("sqlite-relaxed", 50, true),
  row("jsonl-relaxed", 1_000, true),
];
