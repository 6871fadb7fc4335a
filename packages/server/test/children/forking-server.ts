/** A server as a process of its own whose forks stay without records: `forking-server.ts DATABASE`. Prints its address, and the id of each fork. */
import { defineAgent } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { withSessions } from "@moora/event-log/testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "../../src/index.ts";
import { serve } from "../../src/node.ts";

const [file = ""] = process.argv.slice(2);

const log = withSessions(sqliteLog(file), (session) => ({
  async append(seq, records) {
    if (!session.header.includes('"parent"')) return await session.append(seq, records);
    console.log(`writing ${session.id}`);
    await new Promise(() => undefined);
  },
}));
const agents = [defineAgent({ name: "helper", llm: new MockLlmCaller(() => answers("Hello.")) })];
const { url } = await serve(createAgentServer({ agents, log }), { port: 0 });
console.log(`listening ${url}`);
