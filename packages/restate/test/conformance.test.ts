import { hostConformance } from "@moora/agent-testing/hosts";
import { restateCannot } from "@moora/testbed/hosts";
import { isProof } from "@moora/testbed/stores";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RestateHost } from "./restate-host.ts";

let host: RestateHost;

beforeAll(async () => {
  host = await RestateHost.start();
}, 60_000);

afterAll(async () => {
  await host[Symbol.asyncDispose]();
});

describe("an agent on Restate", () => {
  const cases = hostConformance({
    name: "Restate",
    cannot: restateCannot,
    prepare: (setup) => host.prepare(setup),
  });
  /** A kill takes seconds: `pnpm run test` kills every fourth batch. */
  const isSampled = (index: number): boolean => isProof || index % 4 === 0;
  const batches = cases.filter(({ group }) => group === "a batch of three tools");
  const others = cases.filter((found) => !batches.includes(found));
  const run = [...others, ...batches.filter((_, index) => isSampled(index))];
  it.each(run.filter(({ reason }) => reason === undefined))("$group: $name", async (found) => {
    await expect(found.run()).resolves.toBeUndefined();
  });
});
