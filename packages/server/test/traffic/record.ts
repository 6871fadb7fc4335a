/** Writes the traffic of a client of this version of the protocol: run it when the version has changed, or a conversation was added. */
import { existsSync, writeFileSync } from "node:fs";
import { protocolVersion } from "@moora/agent-webui-protocol";
import { conversations, trafficScene, type ConversationName } from "./conversations.ts";
import { trafficFile } from "./exchange.ts";
import { Recorder } from "./recorder.ts";

for (const name of Object.keys(conversations) as ConversationName[]) {
  const file = trafficFile(protocolVersion, name);
  // Recorded traffic is not written again.
  if (existsSync(file)) continue;
  await using scene = trafficScene(name);
  const recorder = new Recorder(scene.as("ada"), protocolVersion);
  await conversations[name].run(recorder);
  writeFileSync(file, `${JSON.stringify(recorder.exchanges, undefined, 2)}\n`);
}
