import { describe, expect, it } from "vitest";
import { checkInterleaving, interleavings } from "../src/testing/index.ts";
import { isProof } from "@moora/testbed/sample";
import { relaxedStores, stores } from "@moora/testbed/stores";

const orders = [...interleavings(6, 6)];

describe("the interleavings of two writers with six steps each", () => {
  it("are 924, all different", () => {
    expect(new Set(orders.map((order) => order.join())).size).toBe(924);
    expect(orders.every((order) => order.length === 12)).toBe(true);
  });

  const every = isProof ? 1 : 4;
  it.each([
    ...stores.filter(({ name }) => name === "memory").map((store) => ({ ...store, some: orders })),
    ...relaxedStores.map((store) => ({ ...store, some: orders.filter((_, index) => index % every === 0) })),
  ])("give the log that they should, in the $name log, $some.length of them", async ({ storageOf, some }) => {
    const storage = storageOf();
    for (const [index, order] of some.entries()) await checkInterleaving(storage, `order ${index}`, order);
    await storage.dispose();
  });
});
