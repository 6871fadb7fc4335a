/** In memory: the session ends with the process. */
import { startSession } from "@moora/agent";
import { agent } from "./agent.ts";

await using session = startSession(agent);
console.log((await session.ask("What is the weather in Oslo?")).text);
