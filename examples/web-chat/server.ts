/** The server of the example: `server.ts [PORT] [LOG]`. Its sessions are in a file and survive a crash. */
import { join } from "node:path";
import { sqliteLog } from "@moora/event-log/sqlite";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { shopper } from "./agent.ts";

const [port = "8787", file = join(import.meta.dirname, "web-chat.db")] = process.argv.slice(2);
const log = sqliteLog(file);
const { url } = await serve(createAgentServer({ agents: [shopper], log }), { port: Number(port) });
console.log(`Agents: ${url}`);
