/** Serves an agent with a tool that runs once: `worker.ts PORT INGRESS hang|answer`. Prints each run of its tool. */
import { createServer } from "node:http2";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { restateServices } from "../../src/index.ts";
import { workerAgent } from "../worker-agent.ts";

const [port = "", ingressUrl = "", mode = "answer"] = process.argv.slice(2);

const agent = workerAgent(async (attempt) => {
  console.log(`working ${attempt}`);
  if (mode === "hang") await new Promise(() => undefined);
});
const handler = createEndpointHandler({
  services: restateServices(agent, { ingressUrl }),
  logger: () => undefined,
});
createServer(handler).listen(Number(port), "127.0.0.1", () => console.log("listening"));
