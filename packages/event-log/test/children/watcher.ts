/** A process that watches a session and has nothing else to do: it must come to its end by itself. */
import { jsonlLog } from "../../src/jsonl.ts";
import { sqliteLog } from "../../src/sqlite.ts";

const [, , store = "", path = ""] = process.argv;
const log = store === "jsonl" ? jsonlLog(path) : sqliteLog(path);
const session = await log.create("a", "{}");
session.watch(() => undefined);
