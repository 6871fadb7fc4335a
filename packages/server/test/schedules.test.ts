import { openSession, stateAt } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { byName, Scene } from "@moora/testbed/server/scene";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { pollsUntil } from "./support.ts";

const talker = () => agentOf(() => answers("Hello."));
const hour = 3_600_000;

describe("the routes of schedules", () => {
  it("set a schedule by the user, once for each key, and remove it", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    const post = async (route: string, body: object, key = "1") =>
      (await ada.post(`/sessions/${id}/${route}`, body, { "idempotency-key": key })).body;
    const daily = { cron: "0 9 * * *", timeZone: "Europe/Berlin", message: "Report." };
    const receipt = await post("schedule", daily);
    expect(receipt).toMatchObject({ status: "accepted" });
    expect(await post("schedule", daily)).toEqual(receipt);
    const { state } = (await ada.get(`/sessions/${id}`)).body;
    expect(state.schedules.open).toMatchObject([
      { by: "ada", message: "Report.", when: { cron: "0 9 * * *", timeZone: "Europe/Berlin" } },
    ]);
    const remove = { id: state.schedules.open[0].id };
    expect(await post("unschedule", remove, "2")).toMatchObject({ status: "accepted" });
    expect(await post("unschedule", remove, "3")).toEqual({ status: "ignored", reason: "unknown-schedule" });
  });

  it("need the right to cancel to replace the schedule of another user", async () => {
    await using scene = new Scene(talker(), {
      authorize(request) {
        const grant = byName(request);
        return grant && { ...grant, mayForeign: (action) => action === "read" || action === "post" };
      },
    });
    const [ada, bob] = [scene.as("ada"), scene.as("bob")];
    const id = await ada.create();
    const set = async (client: typeof ada, schedule: string, message: string) =>
      await client.post(`/sessions/${id}/schedule`, { id: schedule, everyMs: hour, message });
    expect((await set(ada, "report", "Report.")).status).toBe(200);
    expect(await set(bob, "report", "Mine now.")).toMatchObject({ status: 403, body: { code: "forbidden" } });
    const { state } = (await ada.get(`/sessions/${id}`)).body;
    expect(state.schedules.open).toMatchObject([{ by: "ada", message: "Report." }]);
    for (const message of ["One.", "Two."])
      expect((await set(bob, "own", message)).body).toMatchObject({ status: "accepted" });
    expect((await set(ada, "own", "Ended.")).body).toMatchObject({ status: "accepted" });
    expect(scene.errors).toEqual([]);
  });

  it("refuse an invalid time, with its path, and hide the sessions of others", async () => {
    await using scene = new Scene(talker());
    const ada = scene.as("ada");
    const id = await ada.create();
    const refused = await ada.post(`/sessions/${id}/schedule`, { everyMs: 0, message: "Hi" });
    expect(refused).toMatchObject({ status: 422, body: { code: "refused", path: "options.everyMs" } });
    expect((await ada.post(`/sessions/${id}/schedule`, { message: "Hi", later: 1 })).status).toBe(400);
    const stranger = await scene.as("bob").post(`/sessions/${id}/schedule`, { at: 1, message: "Hi" });
    expect(stranger.status).toBe(404);
  });
});

describe("workers", () => {
  it("keep the schedules of sessions that no process has open, once for each due time", async () => {
    const clock = new TestClock(0);
    const storage = new MemoryStorage();
    const session = await openSession(talker(), { log: memoryLog(storage), id: "a", clock });
    await session.schedule({ everyMs: hour, message: "Report." });
    await session.schedule({ cron: "30 * * * *", message: "Half past." });
    await session.close();
    const options = () => ({ log: memoryLog(storage), clock, worker: true }) as const;
    await using one = new Scene(talker(), options());
    await using other = new Scene(talker(), options());
    const asked = async () =>
      (await stateAt(memoryLog(storage), "a")).state.messages.flatMap(({ content, scheduled }) =>
        scheduled === undefined ? [] : [content],
      );
    expect(await asked()).toEqual([]);
    const expected: string[] = [];
    for (let count = 1; count <= 4; count += 1) {
      clock.set((count * hour) / 2);
      expected.push(count % 2 === 1 ? "Half past." : "Report.");
      await pollsUntil(clock, async () => expect(await asked()).toEqual(expected));
    }
    // All of both were missed meanwhile: each runs once.
    clock.set(9.75 * hour);
    await pollsUntil(clock, async () => expect((await asked()).length).toBe(6));
    expect((await asked()).slice(4).toSorted()).toEqual(["Half past.", "Report."]);
    expect([...one.errors, ...other.errors]).toEqual([]);
  });
});
