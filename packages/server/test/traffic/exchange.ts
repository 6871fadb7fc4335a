import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defineData } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { agentOf, Scene, toolOf, type ReadEvent } from "../support.ts";

/** A request of a client and what it got: a JSON body, or the events of a stream up to where the client left. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly status: number;
  readonly answer?: unknown;
  readonly events?: readonly ReadEvent[];
}

/** The file with the traffic of a version of the protocol. It is written once, and never again. */
export const trafficFile = (version: number): string => join(import.meta.dirname, `protocol-${version}.json`);

export const readTraffic = (version: number): readonly Exchange[] =>
  JSON.parse(readFileSync(trafficFile(version), "utf8"));

/** The server of the traffic: its agent pays after an approval, and has data. */
export const trafficScene = (): Scene => {
  const pay = toolOf("pay", () => "paid", { approval: "always" });
  const data = defineData({ schema: { type: "object" }, initial: { list: [] } });
  const script = [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is paid.")];
  return new Scene(agentOf(script, { tools: [pay], data }), { clock: new TestClock(), owner: "server" });
};

/** The fields of a state that clients read. The others depend on the configuration. */
const fields = ["messages", "toolCalls", "data", "transcript"];

/** The part of an answer that does not depend on the configuration of the agent. */
export function comparedPart(answer: unknown): unknown {
  const { state, ...others } = Object(answer);
  if (state === undefined) return answer;
  return { ...others, state: Object.fromEntries(fields.map((field) => [field, state[field]])) };
}
