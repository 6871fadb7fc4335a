/** In a browser, in a page or in a worker: the session is in IndexedDB, and the tab or worker that has the lock runs it. */
import { openSession } from "@moora/agent";
import { indexedDbLog } from "@moora/event-log/indexeddb";
import { agent } from "./agent.ts";

const log = indexedDbLog("forecasts");
await navigator.locks.request("forecasts/oslo", async () => {
  await using session = await openSession(agent, { log, id: "oslo", owner: "this browser" });
  console.log((await session.ask("What is the weather in Oslo?")).text);
});
