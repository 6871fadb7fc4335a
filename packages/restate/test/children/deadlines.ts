/** Serves two agents that ask: `brief`, whose question expires after the argument, and `patient`, whose question waits for 30 days. */
import { createServer } from "node:http2";
import { askingAgent, thirtyDays } from "@moora/testbed/asking-agent";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { restateServices } from "../../src/index.ts";

const [port = "", ingressUrl = "", expiresAfterMs = ""] = process.argv.slice(2);

const agents = [askingAgent("brief", Number(expiresAfterMs)), askingAgent("patient", thirtyDays)];
const services = agents.flatMap((agent) => restateServices(agent, { ingressUrl }));
createServer(createEndpointHandler({ services })).listen(Number(port), "127.0.0.1", () => {
  process.send?.("ready");
});
