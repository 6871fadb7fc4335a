/**
 * A process that hosts a release of an agent with a count on DBOS. Its orders are the JSON of its argument. With `holds`, a tool prints
 * `began NAME`, and waits for the command `release`.
 */
import { defineAgent, defineData, defineTool, type StandardSchema, type Tool } from "@moora/agent";
import { dbosHost } from "@moora/dbos";
import { withSessions } from "@moora/event-log/testing";
import { postgresLog } from "@moora/event-log-postgres";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import pg from "pg";
import { serveCommands, type LaunchOrders } from "./commands.ts";

export interface ReleaseOrders extends LaunchOrders {
  /** In release 1 the count is a number, and in release 2 a text. */
  readonly release: 1 | 2;
  readonly takesOver?: boolean;
  readonly holds?: boolean;
  /** When the process is killed that appends the message `fatal`. */
  readonly killed?: "before" | "after";
}

const orders: ReleaseOrders = JSON.parse(process.argv[2] ?? "");
const { release, killed } = orders;
const released = Promise.withResolvers<void>();

type Count = number | string;

const schema: StandardSchema<{ count: Count }> = {
  "~standard": {
    version: 1,
    vendor: "moora",
    validate: (value) =>
      isCount(value) ? { value } : { issues: [{ message: `must be the count of release ${release}` }] },
  },
};

const isCount = (value: unknown): value is { count: Count } =>
  typeof Reflect.get(Object(value), "count") === (release === 1 ? "number" : "string");

const data = defineData({
  schema,
  jsonSchema: { type: "object" },
  initial: { count: release === 1 ? 0 : "0" },
  version: release,
  ...(release === 1 ? {} : { migrate: (stored: unknown) => ({ count: String(Object(stored).count) }) }),
});

const setTo = (draft: { count: Count }): void => void (draft.count = release === 1 ? 7 : "7");

const counting = (name: string, isEarly: boolean): Tool =>
  defineTool({
    name,
    description: "Counts.",
    input: { type: "object", properties: {} },
    replay: "safe",
    data,
    async execute(_, { update }) {
      console.log(`began ${name}`);
      if (orders.holds === true) await released.promise;
      if (isEarly) await update.now(setTo);
      else update(setTo);
      return "It is counted.";
    },
  });

/** Calls the tool that the message names. */
const llm = new MockLlmCaller(({ messages }) => {
  const last = messages.at(-1);
  const [name] = last?.role === "user" ? (/count\w*/.exec(JSON.stringify(last.content)) ?? []) : [];
  return name === undefined ? answers("Done.") : callsTools([{ name, arguments: {} }]);
});

const die = (): Promise<never> => {
  process.kill(process.pid, "SIGKILL");
  return new Promise(() => undefined);
};

const log = withSessions(postgresLog(orders.url), (session) => ({
  async append(expectedSeq, records) {
    const isFatal = killed !== undefined && records.some(({ body }) => body.includes("fatal"));
    if (isFatal && killed === "before") await die();
    await session.append(expectedSeq, records);
    if (isFatal) await die();
  },
}));

const tools = [counting("count", false), counting("countNow", true)];
const agent = defineAgent({ name: "counter", version: String(release), llm, tools, data });
const host = dbosHost(agent, {
  log,
  onError: (error) => console.log(`refused ${String(Object(error).name)}`),
  ...(orders.takesOver === true
    ? { takeOver: new pg.Pool({ connectionString: orders.url }), takeOverPollMs: 100 }
    : {}),
});
await serveCommands(host, orders, released.resolve);
