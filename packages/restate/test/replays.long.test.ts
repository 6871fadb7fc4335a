import { setTimeout as pause } from "node:timers/promises";
import { defineAgent } from "@moora/agent";
import { hostConformance, type HostCase, type HostWorld } from "@moora/agent-testing/hosts";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { restateCannot } from "@moora/testbed/hosts";
import { isProof, sample } from "@moora/testbed/sample";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { restateSession } from "../src/index.ts";
import { ask, expectSound, serveLocally } from "./local-service.ts";
import { RestateHost } from "./restate-host.ts";
import { RestateServer } from "./restate-server.ts";

/** How often the handlers of a session are started or continued for one message, with and without suspensions. */
async function attemptsFor(suspendsAtOnce: boolean): Promise<readonly number[]> {
  await using server = await RestateServer.start({ suspendsAtOnce });
  const agent = defineAgent({ name: "clerk", llm: new MockLlmCaller(() => answers("Hello.")) });
  await using service = await serveLocally(server, agent);
  if (suspendsAtOnce) await server.suspendAtOnce("clerk-effects");
  const session = restateSession({ ingressUrl: server.ingressUrl, agent: "clerk", id: "ada" });
  await ask(session, "Hello?");
  await expectSound(session, "ada");
  return ["clerk-session/post", "clerk-session/report"].map((handler) => service.attempts(handler));
}

describe("a session whose invocations are suspended at each await", () => {
  it("replays its inputs from their journals, and has the same records", async () => {
    // The intent of the model call, and its result.
    expect(await attemptsFor(false)).toEqual([1, 2]);
    const [post = 0, report = 0] = await attemptsFor(true);
    expect(post).toBeGreaterThan(1);
    expect(report).toBeGreaterThan(2);
  });
});

/** How long a moment takes at most, in milliseconds. */
const longestLatencyMs = 60;

/** A world in which all moments take a random time, so that parallel work ends in any order. */
const slowWorld = (world: HostWorld): HostWorld => ({
  async reach(moment) {
    await pause(Math.random() * longestLatencyMs);
    await world.reach(moment);
    await pause(Math.random() * longestLatencyMs);
  },
});

const groups: ReadonlySet<string> = new Set([
  "tools in parallel",
  "cancel",
  "application data",
  "custom states",
  "what a post reports",
  "two sessions",
  "removal",
  "crashes",
]);

/** The cases of a tool that learns of a cancel: it does so over the stream of its invocation, which a suspension closes. */
const aborts: ReadonlySet<string> = new Set([
  "a cancel ends the loop and aborts the running tools",
  "a cancel aborts the handler of a custom state",
]);

const isLong = ({ name }: HostCase): boolean => name.includes("before or after any record");

let host: RestateHost;

beforeAll(async () => {
  host = await RestateHost.start({ alwaysReplays: true });
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

describe(
  "an agent on Restate that replays at each await, with random latencies",
  { timeout: 900_000 },
  () => {
    const cases = hostConformance({
      name: "Restate",
      cannot: restateCannot,
      prepare: ({ world }) => host.prepare({ world: slowWorld(world) }),
    }).filter(({ name, reason }) => reason === undefined && !aborts.has(name));
    const batches = cases.filter(({ group }) => group === "a batch of three tools");
    const others = cases.filter((found) => groups.has(found.group) && !isLong(found));
    it.each(isProof ? cases : [...sample(others, 2), ...sample(batches, 26)])(
      "$group: $name",
      async (found) => {
        await expect(found.run()).resolves.toBeUndefined();
      },
    );
  },
);
