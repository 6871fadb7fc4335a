/** In a file: the session continues after a crash. Usage: node sqlite.ts [file] */
import { openSession } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { agent } from "./agent.ts";

const log = sqliteLog(process.argv[2] ?? ":memory:");
await using session = await openSession(agent, { log, id: "oslo" });
console.log((await session.ask("What is the weather in Oslo?")).text);
