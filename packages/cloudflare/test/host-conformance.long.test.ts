import { hostConformance, type HostCase } from "@moora/agent-testing/hosts";
import { isProof, sample } from "@moora/testbed/sample";

import { describe, expect, it } from "vitest";
import { workerdHost } from "./workerd-host.ts";

const cases = hostConformance(workerdHost).filter(({ reason }) => reason === undefined);

/** The one that starts the runtime twice for each record. */
const isLong = ({ name }: HostCase): boolean => name.includes("before or after any record");
const batches = cases.filter(({ group }) => group === "a batch of three tools");
/** Each case starts the runtime, the kill of a batch twice. */
const others = cases.filter((hostCase) => !batches.includes(hostCase) && (isProof || !isLong(hostCase)));

describe("an agent in a Durable Object under workerd", { timeout: 600_000 }, () => {
  it.each([...sample(others, 2), ...sample(batches, 20)])("$group: $name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});
