import { hostConformance, type HostCase } from "@moora/agent-testing/hosts";
import { restateCannot } from "@moora/testbed/hosts";
import { isProof } from "@moora/testbed/stores";
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

/** A kill takes seconds: `pnpm run test` kills one batch in so many. */
const sampled = (cases: readonly HostCase[], interval: number): readonly HostCase[] =>
  cases.filter(isBatch).filter((_, index) => isProof || index % interval === 0);

describe("an agent on Restate", { timeout: 900_000 }, () => {
  const cases = suite(() => host);
  const others = cases.filter((found) => !isBatch(found));
  it.each([...others, ...sampled(cases, 4)])("$group: $name", async (found) => {
    await expect(found.run()).resolves.toBeUndefined();
  });
});

describe("an agent on Restate, the server of which is killed and started again with its data", () => {
  it.each(
    sampled(
      suite(() => servers),
      9,
    ),
  )("$group: $name", async (found) => {
    await expect(found.run()).resolves.toBeUndefined();
  });
});

describe("an agent on Restate, in a process that keeps no session", { timeout: 900_000 }, () => {
  const cases = suite(() => forgetful);
  const others = cases.filter((found) => !isBatch(found));
  it.each([...others.filter(() => isProof), ...sampled(cases, 9)])("$group: $name", async (found) => {
    await expect(found.run()).resolves.toBeUndefined();
  });
});
