/** Writes the traffic of a client of this version of the protocol: run it once, when the version has changed. */
import { existsSync, writeFileSync } from "node:fs";
import { protocolVersion } from "@moora/agent-webui-protocol";
import { EventReader, type ReadEvent } from "../support.ts";
import { comparedPart, trafficFile, trafficScene, type Exchange } from "./exchange.ts";

const file = trafficFile(protocolVersion);
if (existsSync(file)) throw new Error(`${file} exists: recorded traffic is not written again.`);

await using scene = trafficScene();
const { send } = scene.as("ada");
const exchanges: Exchange[] = [];
const version = { "moora-protocol": String(protocolVersion) };

/** Sends a request and records what it gets. */
async function exchange(
  method: string,
  path: string,
  { body, key }: { readonly body?: unknown; readonly key?: string } = {},
): Promise<Readonly<Record<string, unknown>>> {
  const headers = {
    ...version,
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...(key === undefined ? {} : { "idempotency-key": key }),
  };
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await send(path, { method, headers, ...init });
  const text = await response.text();
  const answer: unknown = text === "" ? undefined : comparedPart(JSON.parse(text));
  exchanges.push({ method, path, headers, body, status: response.status, answer });
  return Object(answer);
}

/** Reads a stream until a record of this type. */
async function stream(path: string, headers: Readonly<Record<string, string>>, type: string): Promise<void> {
  const response = await send(path, { headers: { ...version, ...headers } });
  if (response.body === null) throw new Error("The response has no body.");
  await using reader = new EventReader(response.body);
  const events: ReadEvent[] = [];
  for (;;) {
    const event = await reader.next();
    if (event === undefined) throw new Error("The stream ended.");
    if (event.event === "input") events.push(event);
    if (event.event === "input" && JSON.parse(event.data).input.type === type) break;
  }
  exchanges.push({
    method: "GET",
    path,
    headers: { ...version, ...headers },
    status: response.status,
    events,
  });
}

const { id } = await exchange("POST", "/agents/helper/sessions", { body: {}, key: "create" });
const session = `/sessions/${String(id)}`;
await exchange("GET", "/sessions?limit=10");
await exchange("POST", `${session}/messages`, { body: { content: "Pay" }, key: "message" });
await exchange("POST", `${session}/messages`, { body: { content: "Pay" }, key: "message" });
await exchange("POST", `${session}/messages`, { body: { content: "Pay twice" }, key: "message" });
await stream(`${session}/events`, {}, "re-act-observed");
const { questions } = await exchange("GET", session);
const [{ toolCallId, digest }] = questions as [{ toolCallId: string; digest: string }];
const decision = { toolCallId, digest, decision: "approve" };
await exchange("POST", `${session}/decisions`, { body: decision, key: "decision" });
await stream(`${session}/events?after=2`, { "last-event-id": "4" }, "tool-call-completed");
await stream(`${session}/events?after=9`, {}, "re-act-observed");
const patches = [{ op: "add", path: "/list/-", value: 1 }];
await exchange("POST", `${session}/data`, { body: { patches }, key: "data" });
await exchange("POST", `${session}/data`, { body: { patches: [{ op: "remove", path: "/none" }] } });
await exchange("POST", `${session}/cancel`, { body: { reason: "Enough." } });
await exchange("GET", session);
await exchange("GET", `${session}?at=2`);
await exchange("GET", `${session}/events?after=99`);
await exchange("GET", `${session}/events?after=x`);
await exchange("POST", `${session}/messages`, { body: { text: "Hi" } });
await exchange("GET", "/sessions/missing");
await exchange("DELETE", session);
await exchange("GET", session);
writeFileSync(file, `${JSON.stringify(exchanges, undefined, 2)}\n`);
