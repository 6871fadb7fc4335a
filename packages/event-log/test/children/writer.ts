/**
 * A process that appends to the session "a": `writer.ts STORE PATH NAME COUNT`. It prints "ready", waits for a line, and then
 * prints a line for each acknowledged append.
 */
import { writeSync } from "node:fs";
import { once } from "node:events";
import { type ChainHead, chainStart, LogError, type SessionLog } from "../../src/index.ts";
import { jsonlLog } from "../../src/jsonl.ts";
import { sqliteLog } from "../../src/sqlite.ts";
import { recordsAfter } from "../../src/testing/index.ts";

const [, , store = "", path = "", name = "", count = ""] = process.argv;
const log = store === "jsonl" ? jsonlLog(path) : sqliteLog(path);
const say = (line: string): void => void writeSync(1, `${line}\n`);

async function append(session: SessionLog, from: ChainHead, body: string): Promise<ChainHead> {
  let head = from;
  for (;;) {
    const [record] = recordsAfter(head, body);
    if (record === undefined) throw new Error("there is a record to append");
    try {
      await session.append(head.seq, [record]);
      return record;
    } catch (error) {
      if (!(error instanceof LogError && error.code === "Conflict")) throw error;
      say("conflict");
      head = (await session.read(head.seq)).at(-1) ?? head;
    }
  }
}

const session = await log.open("a");
if (session === undefined) throw new Error("there is no session a");
say("ready");
await once(process.stdin, "data");
let head = chainStart(session.header);
for (let index = 0; index < Number(count); index += 1) {
  const body = JSON.stringify({ by: name, index });
  head = await append(session, head, body);
  say(`acknowledged ${head.seq} ${body}`);
}
await log.close();
process.exit(0);
