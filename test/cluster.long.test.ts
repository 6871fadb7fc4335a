import { describe, expect, it } from "vitest";
import { provePoison } from "../proofs/cluster/poison.ts";
import { proveRolling } from "../proofs/cluster/rolling.ts";
import { measureTakeOver } from "../proofs/cluster/take-over.ts";
import { World } from "../proofs/cluster/world.ts";

/** The short form of `proofs/cluster.ts`. */
describe("servers and workers in several processes on PostgreSQL", { timeout: 120_000 }, () => {
  it("lose and double nothing while they are killed and restarted under load", async () => {
    await using world = await World.start(false);
    const options = { servers: 3, conversations: 4, ends: 4, answersBetween: 10, leaseMs: 1_000 };
    const { problems, kills, restarts, messages } = await proveRolling(world, options);
    expect(problems).toEqual([]);
    expect({ kills, restarts }).toEqual({ kills: 2, restarts: 2 });
    expect(messages).toBeGreaterThanOrEqual(options.conversations);
  });

  it("answer all other sessions beside one that is damaged, one that hangs and one that ends its process", async () => {
    const { problems, ends } = await provePoison(10);
    expect(problems).toEqual([]);
    expect(ends).toBe(3);
  });

  it("take the sessions of a killed process over when its lease ends, and not before", async () => {
    const leaseMs = 1_000;
    const { delaysMs, leaseEndsMs } = await measureTakeOver({ sessions: 5, leaseMs });
    expect(delaysMs).toHaveLength(5);
    for (const [index, delayMs] of delaysMs.entries())
      expect(delayMs).toBeGreaterThanOrEqual(leaseEndsMs[index] ?? NaN);
  });
});
