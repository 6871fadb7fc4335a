import { hostConformance, type HostCase } from "@moora/agent-testing/hosts";
import { sample } from "@moora/testbed/sample";
import { describe, expect, inject, it } from "vitest";
import { dbosConformanceHost } from "./conformance-host.ts";

const host = dbosConformanceHost(inject("postgresUrl"));

/** The batch in which each tool is in another phase. */
const batch = "killed when read is reported, write has worked and pay has begun";

/** Without those that take minutes: `proofs/hosts.ts` runs the whole suite, and `crashes.test.ts` the same batches at once. */
const isRun = ({ reason, group, name }: HostCase): boolean =>
  reason === undefined &&
  (group !== "a batch of three tools" || name === batch) &&
  !name.includes("before or after any record");

describe("an agent on DBOS", { timeout: 240_000 }, () => {
  it.each(sample(hostConformance(host).filter(isRun), 2))("$group: $name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
