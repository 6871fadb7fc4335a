import type { DurableSession } from "@moora/agent";
import { describe, expect, it } from "vitest";
import { SessionKeeper } from "../src/session-keeper.ts";

describe("the keeper of the session of an object", () => {
  it("closes a session although the close of an earlier one, or its opening, failed", async () => {
    const closed: number[] = [];
    let opened = 0;
    const keeper = new SessionKeeper({
      open: async () => {
        opened += 1;
        const number = opened;
        if (number === 2) throw new Error("The session cannot be opened.");
        const close = async (): Promise<void> => {
          if (number === 1) throw new Error("The storage failed.");
          closed.push(number);
        };
        // The keeper calls no other method of a session before it is idle.
        return { close } as DurableSession<unknown>;
      },
      idleMs: 1_000_000,
      onError: () => undefined,
    });
    const use = (): Promise<void> => keeper.use(async () => undefined);
    await use();
    await expect(keeper.close()).rejects.toThrow("The storage failed.");
    await expect(use()).rejects.toThrow("The session cannot be opened.");
    await use();
    await keeper.close();
    expect(closed).toEqual([3]);
  });
});
