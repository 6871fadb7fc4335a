/**
 * A process that hosts an agent with a list on DBOS. Its orders are the JSON of its argument. At its first append of an input of a type it
 * prints `appending`, and then is killed, or waits for the command `release`.
 */
import { defineAgent, defineData, type StandardSchema } from "@moora/agent";
import { dbosHost } from "@moora/dbos";
import { withSessions } from "@moora/event-log/testing";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { serveCommands, type LaunchOrders } from "./commands.ts";

export interface KeyedPostOrders extends LaunchOrders {
  /** What happens at the first append of the input. */
  readonly at: "nothing" | "killed-before" | "killed-after" | "held-before";
  /** The type of the input. */
  readonly input: "data-changed" | "user-message-received";
}

const orders: KeyedPostOrders = JSON.parse(process.argv[2] ?? "");
const released = Promise.withResolvers<void>();

const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
};

let isFirst = true;

const log = withSessions(postgresLog(orders.url), (session) => ({
  async append(expectedSeq, records) {
    const isDue = isFirst && records.some(({ body }) => body.includes(`"${orders.input}"`));
    if (isDue) isFirst = false;
    if (isDue) console.log("appending");
    if (isDue && orders.at === "killed-before") await die();
    if (isDue && orders.at === "held-before") await released.promise;
    await session.append(expectedSeq, records);
    if (isDue && orders.at === "killed-after") await die();
  },
}));

interface List {
  readonly items: readonly string[];
}

const isList = (value: unknown): value is List =>
  typeof value === "object" && value !== null && "items" in value && Array.isArray(value.items);

const schema: StandardSchema<List> = {
  "~standard": {
    version: 1,
    vendor: "moora",
    validate: (value) => (isList(value) ? { value } : { issues: [{ message: "must be { items }" }] }),
  },
};

const data = defineData({ schema, initial: { items: [] }, jsonSchema: { type: "object" } });
const llm = new MockLlmCaller(() => answers("Done."));
await serveCommands(dbosHost(defineAgent({ name: "lists", llm, data }), { log }), orders, released.resolve);
