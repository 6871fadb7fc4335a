import { hostConformance, type HostCase } from "@moora/agent-testing/hosts";
import { isProof } from "@moora/testbed/stores";
import { describe, expect, it } from "vitest";
import { workerdHost } from "./workerd-host.ts";

const cases = hostConformance(workerdHost).filter(({ reason }) => reason === undefined);

/** The kills of a batch: each one starts the runtime twice, so that a sample of them is run without MOORA_PROVE. */
const isSample = (index: number): boolean => index % 9 === 0;
/** The one that starts the runtime twice for each record. */
const isLong = ({ name }: HostCase): boolean => name.includes("before or after any record");
const batches = cases.filter(({ group }) => group === "a batch of three tools");
const others = cases.filter((hostCase) => !batches.includes(hostCase) && (isProof || !isLong(hostCase)));

describe("an agent in a Durable Object under workerd", { timeout: 600_000 }, () => {
  it.each([...others, ...batches.filter((_, index) => isProof || isSample(index))])(
    "$group: $name",
    async ({ run }) => {
      await expect(run()).resolves.toBeUndefined();
    },
  );
});
