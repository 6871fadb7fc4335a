import { createServer } from "node:http2";
import { conformanceAgent, remoteWorld } from "@moora/agent-testing/hosts";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { restateServices } from "../../src/index.ts";

/** Serves the agent of the suite: the address, the ingress, the world, the release and the bytes of the cache are arguments. */
const [port = "", ingressUrl = "", worldUrl = "", release = "1", cacheBytes = ""] = process.argv.slice(2);

const agent = conformanceAgent(remoteWorld(worldUrl), Number(release));
const services = restateServices(agent, {
  ingressUrl,
  ...(cacheBytes === "" ? {} : { cacheBytes: Number(cacheBytes) }),
  onProgress(sessionId, progress) {
    if (progress.type === "LlmToken") process.send?.({ sessionId, text: progress.text });
  },
  onLog: (entry) => process.send?.({ entry }),
});

createServer(createEndpointHandler({ services })).listen(Number(port), "127.0.0.1", () => {
  process.send?.("ready");
});
