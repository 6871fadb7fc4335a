/** The page of `browser-worker.ts`: it shows the session and posts to it, and the worker runs it. A bundler builds both. */
import { openSession } from "@moora/agent";
import { indexedDbLog } from "@moora/event-log/indexeddb";
import { agent } from "./agent.ts";

const worker = new Worker("/worker.js", { type: "module" });
worker.addEventListener("message", ({ data }: MessageEvent<string>) => {
  if (data === "ToolCallStarted") console.log("The worker runs a tool.");
});

const log = indexedDbLog("worker-forecasts");
const id = "oslo";
while ((await log.open(id)) === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
await using session = await openSession(agent, { log, id, access: "post" });
console.log((await session.ask("What is the weather in Oslo?")).text);
