import { hostConformance, type HostCase } from "@moora/agent-testing/hosts";
import { isProof, sample } from "@moora/testbed/sample";
import { describe, expect, inject, it } from "vitest";
import { dbosConformanceHost } from "./conformance-host.ts";

const host = dbosConformanceHost(inject("postgresUrl"));

/** The batch in which each tool is in another phase. */
const batch = "killed when read is reported, write has worked and pay has begun";

/** Without those that take minutes, but in the proof; `crashes.test.ts` has the same batches at once. */
const isRun = ({ reason, group, name }: HostCase): boolean =>
  reason === undefined &&
  (isProof ||
    ((group !== "a batch of three tools" || name === batch) && !name.includes("before or after any record")));

describe("an agent on DBOS", { timeout: 240_000 }, () => {
  it.each(sample(hostConformance(host).filter(isRun), 2))("$group: $name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
