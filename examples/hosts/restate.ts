/** On Restate. Register the address there, then post messages with `restateSession`. Usage: node restate.ts [ingress] [port] */
import { createServer } from "node:http2";
import { restateServices } from "@moora/restate";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { agent } from "./agent.ts";

const [ingressUrl = "http://127.0.0.1:8080", port = "9080"] = process.argv.slice(2);
const services = restateServices(agent, { ingressUrl });
createServer(createEndpointHandler({ services })).listen(Number(port), "127.0.0.1", () => {
  console.log(`Serving the agent ${agent.name} on port ${port}.`);
});
