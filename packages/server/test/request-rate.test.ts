import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";

const sceneOf = (clock: TestClock, maxRequestsPerMinute: number): Scene =>
  new Scene(
    agentOf(() => answers("Hello.")),
    { clock, limits: { maxRequestsPerMinute } },
  );

/** The statuses of requests one after the other. */
async function statuses(scene: Scene, user: string, count: number): Promise<readonly number[]> {
  const found: number[] = [];
  for (let made = 0; made < count; made += 1) found.push((await scene.as(user).get("/sessions")).status);
  return found;
}

describe("the limit of requests per minute", () => {
  it("lets a user make as many at once, and names the time after which the next one is allowed", async () => {
    await using scene = sceneOf(new TestClock(), 3);
    expect(await statuses(scene, "ada", 3)).toEqual([200, 200, 200]);
    const refused = await scene.as("ada").get("/sessions");
    expect(refused).toMatchObject({ status: 429, body: { code: "too-many-requests" } });
    expect(refused.headers.get("retry-after")).toBe("20");
  });

  it("allows the next one after the time that was given, and all of them after a minute", async () => {
    const clock = new TestClock();
    await using scene = sceneOf(clock, 3);
    expect(await statuses(scene, "ada", 4)).toEqual([200, 200, 200, 429]);
    await clock.advanceAsync(20_000);
    expect(await statuses(scene, "ada", 2)).toEqual([200, 429]);
    await clock.advanceAsync(60_000);
    expect(await statuses(scene, "ada", 4)).toEqual([200, 200, 200, 429]);
  });

  it("allows exactly as many, also where the parts of a minute are fractions of milliseconds", async () => {
    await using scene = sceneOf(new TestClock(), 7);
    expect(await statuses(scene, "ada", 8)).toEqual([...Array<number>(7).fill(200), 429]);
  });

  it("is for each user, and requests without a user do not count", async () => {
    await using scene = sceneOf(new TestClock(), 2);
    expect(await statuses(scene, "ada", 3)).toEqual([200, 200, 429]);
    expect(await statuses(scene, "bob", 2)).toEqual([200, 200]);
    const unknown = await scene.server.fetch(new Request("http://localhost/sessions"));
    expect(unknown.status).toBe(401);
    expect((await scene.server.fetch(new Request("http://localhost/health"))).status).toBe(200);
  });

  it("does not lock a user out after the clock was set back", async () => {
    const clock = new TestClock();
    await using scene = sceneOf(clock, 2);
    expect(await statuses(scene, "ada", 3)).toEqual([200, 200, 429]);
    clock.set(clock.now() - 3_600_000);
    expect(await statuses(scene, "ada", 3)).toEqual([200, 200, 429]);
  });
});
