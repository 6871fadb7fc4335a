import { describe, expect, it } from "vitest";
import { checkInterleaving, interleavings } from "../src/testing/index.ts";
import { relaxedStores, stores } from "./stores.ts";

const orders = [...interleavings(6, 6)];

describe("the orders in which two writers take six steps each", () => {
  it("are 924, all different", () => {
    expect(new Set(orders.map((order) => order.join())).size).toBe(924);
    expect(orders.every((order) => order.length === 12)).toBe(true);
  });

  const quick = [...stores.filter(({ name }) => name === "memory"), ...relaxedStores];
  it.each(quick)("give the log that they should, in the $name log", async ({ storageOf }) => {
    const storage = storageOf();
    for (const [index, order] of orders.entries()) await checkInterleaving(storage, `order ${index}`, order);
    await storage.dispose();
  });
});
