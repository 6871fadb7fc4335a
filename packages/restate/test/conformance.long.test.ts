import { hostConformance, type HostCase } from "@moora/agent-testing/hosts";
import { restateCannot } from "@moora/testbed/hosts";
import { isProof, sample } from "@moora/testbed/sample";

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RestateHost } from "./restate-host.ts";

let host: RestateHost;
let servers: RestateHost;
let forgetful: RestateHost;

beforeAll(async () => {
  [host, servers, forgetful] = await Promise.all([
    RestateHost.start(),
    RestateHost.start({ victim: "server" }),
    RestateHost.start({ cacheBytes: 1 }),
  ]);
});

afterAll(async () => {
  await host[Symbol.asyncDispose]();
  await servers[Symbol.asyncDispose]();
  await forgetful[Symbol.asyncDispose]();
});

const suite = (victim: () => RestateHost): readonly HostCase[] =>
  hostConformance({
    name: "Restate",
    cannot: restateCannot,
    prepare: (setup) => victim().prepare(setup),
  }).filter((found) => found.reason === undefined && (isProof || !isLong(found)));

/** The one that kills the process twice for each record. */
const isLong = ({ name }: HostCase): boolean => name.includes("before or after any record");

const isBatch = ({ group }: HostCase): boolean => group === "a batch of three tools";

/** A kill takes seconds. */
const batches = (cases: readonly HostCase[], oneIn: number): readonly HostCase[] =>
  sample(cases.filter(isBatch), oneIn);

describe("an agent on Restate", { timeout: 900_000 }, () => {
  const cases = suite(() => host);
  const others = cases.filter((found) => !isBatch(found));
  it.each([...sample(others, 2), ...batches(cases, 8)])("$group: $name", async (found) => {
    await expect(found.run()).resolves.toBeUndefined();
  });
});

describe("an agent on Restate, the server of which is killed and started again with its data", () => {
  it.each(
    batches(
      suite(() => servers),
      14,
    ),
  )("$group: $name", async (found) => {
    await expect(found.run()).resolves.toBeUndefined();
  });
});

describe("an agent on Restate, in a process that keeps no session", { timeout: 900_000 }, () => {
  const cases = suite(() => forgetful);
  const others = cases.filter((found) => !isBatch(found));
  it.each([...others.filter(() => isProof), ...batches(cases, 14)])("$group: $name", async (found) => {
    await expect(found.run()).resolves.toBeUndefined();
  });
});
