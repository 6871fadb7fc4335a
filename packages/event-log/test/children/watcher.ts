/** A process that only watches a session, and must exit by itself. */
import { jsonlLog } from "../../src/jsonl.ts";
import { sqliteLog } from "../../src/sqlite.ts";

const [, , store = "", path = ""] = process.argv;
const log = store === "jsonl" ? jsonlLog(path) : sqliteLog(path);
const session = await log.create("a", "{}");
session.watch(() => undefined);
