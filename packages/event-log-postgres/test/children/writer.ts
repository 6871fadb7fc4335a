/** A process that appends to the session "a": `writer.ts URL NAME COUNT`; it prints a line for each acknowledged append. */
import { writeSync } from "node:fs";
import { type ChainHead, chainStart, LogError, type SessionLog } from "@moora/event-log";
import { recordsAfter } from "@moora/event-log/testing";
import { postgresLog } from "../../src/index.ts";

const [, , url = "", name = "", count = ""] = process.argv;

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
      head = (await session.read(head.seq)).at(-1) ?? head;
    }
  }
}

const log = postgresLog(url);
const session = await log.open("a");
if (session === undefined) throw new Error("there is no session a");
let head = chainStart(session.header);
for (let index = 0; index < Number(count); index += 1) {
  const body = JSON.stringify({ by: name, index });
  head = await append(session, head, body);
  writeSync(1, `${head.seq} ${body}\n`);
}
await log.close();
