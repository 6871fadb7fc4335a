/** A process that watches a session and has nothing else to do: it must come to its end by itself. */
import { postgresLog } from "../../src/index.ts";

const [, , url = ""] = process.argv;
const session = await postgresLog(url).create("watched", "{}");
const { promise, resolve } = Promise.withResolvers<void>();
session.watch(resolve);
const alive = setInterval(() => undefined, 1_000);
await promise;
clearInterval(alive);
