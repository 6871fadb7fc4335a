/** A process that only watches a session, and must exit by itself. */
import { postgresLog } from "../../src/index.ts";

const [, , url = ""] = process.argv;
const session = await postgresLog(url).create("watched", "{}");
const { promise, resolve } = Promise.withResolvers<void>();
session.watch(resolve);
const alive = setInterval(() => undefined, 1_000);
await promise;
clearInterval(alive);
