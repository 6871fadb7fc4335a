/** Serves an agent that writes: `writer.ts PORT INGRESS DATABASE hang|answer`. What it writes is sent over PostgreSQL. */
import { createServer } from "node:http2";
import { defineAgent } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { answers } from "@moora/llm/testing";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { restateServices } from "../../src/index.ts";

const [port = "", ingressUrl = "", database = "", mode = "answer"] = process.argv.slice(2);

const agent = defineAgent({
  name: "writer",
  llm: {
    name: "words",
    async call(_, options = {}) {
      for (const text of ["one ", "two ", "three"]) options.onChunk?.({ type: "text", text });
      if (mode === "hang") await new Promise(() => undefined);
      return answers("one two three");
    },
  },
});
const { live } = postgresLog(database);
if (live === undefined) throw new Error("The log has no live channel.");
const services = restateServices(agent, { ingressUrl, live });
createServer(createEndpointHandler({ services, logger: () => undefined })).listen(
  Number(port),
  "127.0.0.1",
  () => console.log("listening"),
);
