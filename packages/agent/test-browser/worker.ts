import { runUnderLock } from "./agent.ts";

void runUnderLock(() => postMessage("opened"));
