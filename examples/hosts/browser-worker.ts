/** A worker of a browser that runs the session of `browser-page.ts`, as long as it has the lock: until it is terminated. */
import { openSession } from "@moora/agent";
import { indexedDbLog } from "@moora/event-log/indexeddb";
import { agent } from "./agent.ts";

const log = indexedDbLog("worker-forecasts");
await navigator.locks.request("worker-forecasts/oslo", async () => {
  const session = await openSession(agent, { log, id: "oslo", owner: "this browser" });
  // Streamed text and questions are shown only where the session runs, so the worker sends its events to the page.
  session.onEvent((event) => postMessage(event.type));
  await new Promise(() => undefined);
});
