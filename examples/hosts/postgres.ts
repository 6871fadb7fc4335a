/** In PostgreSQL: any process can continue the session. Usage: DATABASE_URL=... node postgres.ts */
import { openSession } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { agent } from "./agent.ts";

await using log = postgresLog(process.env["DATABASE_URL"] ?? "postgres://127.0.0.1/moora");
await using session = await openSession(agent, { log, id: "oslo" });
console.log((await session.ask("What is the weather in Oslo?")).text);
