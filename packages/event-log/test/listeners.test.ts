import { describe, expect, it } from "vitest";
import { Listeners } from "../src/store.ts";

/** Counts its calls. */
function counter(): { (): void; calls: number } {
  const count = Object.assign(() => void (count.calls += 1), { calls: 0 });
  return count;
}

describe("listeners", () => {
  it("are called once for all earlier notifications, after the caller returns", async () => {
    const listeners = new Listeners();
    const listener = counter();
    listeners.add("a", listener);
    for (let round = 0; round < 5; round += 1) listeners.notify("a");
    expect(listener.calls).toBe(0);
    await Promise.resolve();
    expect(listener.calls).toBe(1);
    listeners.notify("a");
    await Promise.resolve();
    expect(listener.calls).toBe(2);
  });

  it("are called only for their own key, and twice if they were added twice", async () => {
    const listeners = new Listeners();
    const [listener, other] = [counter(), counter()];
    const stop = listeners.add("a", listener);
    listeners.add("a", listener);
    listeners.add("b", other);
    listeners.notify("a");
    await Promise.resolve();
    expect([listener.calls, other.calls]).toEqual([2, 0]);
    stop();
    listeners.notify("a");
    await Promise.resolve();
    expect(listener.calls).toBe(3);
  });

  it("are not called after they were removed or cleared, even when they were scheduled", async () => {
    const listeners = new Listeners();
    const [stopped, cleared] = [counter(), counter()];
    const stop = listeners.add("a", stopped);
    listeners.add("a", cleared);
    listeners.notify("a");
    stop();
    listeners.clear();
    await Promise.resolve();
    expect([stopped.calls, cleared.calls]).toEqual([0, 0]);
    expect(listeners.keys).toEqual([]);
  });

  it("are deleted with the last one of a key, also when one was added again in between", () => {
    const listeners = new Listeners();
    const stop = listeners.add("a", counter());
    listeners.clear();
    const stopNext = listeners.add("a", counter());
    stop();
    expect(listeners.has("a")).toBe(true);
    stopNext();
    stopNext();
    expect(listeners.has("a")).toBe(false);
  });
});
