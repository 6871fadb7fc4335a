import { openSession, stateAt } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { answers } from "@moora/llm/testing";
import { createDatabase } from "@moora/testbed/postgres/database";
import { failOnDriverWarnings } from "@moora/testbed/postgres/driver-warnings";
import { agentOf } from "@moora/testbed/server/agent-of";
import { Scene } from "@moora/testbed/server/scene";
import { beforeAll, expect, inject, it } from "vitest";

beforeAll(failOnDriverWarnings);

it("two workers on one PostgreSQL keep a schedule once for each due time", async () => {
  const url = await createDatabase(inject("postgresUrl"));
  const agent = () => agentOf(() => answers("Hello."));
  await using log = postgresLog(url);
  const session = await openSession(agent(), { log, id: "a" });
  await session.schedule({ everyMs: 2_000, message: "Report." });
  await session.close();
  const messages = async () =>
    (await stateAt(log, "a")).state.messages.filter(({ scheduled }) => scheduled !== undefined);
  {
    await using one = new Scene(agent(), { log: postgresLog(url), worker: true });
    await using other = new Scene(agent(), { log: postgresLog(url), worker: true });
    await expect.poll(async () => (await messages()).length, { timeout: 60_000 }).toBeGreaterThan(2);
    expect([...one.errors, ...other.errors]).toEqual([]);
  }
  const times = (await messages()).map(({ receivedAt }) => receivedAt);
  for (const [index, time] of times.entries())
    if (index > 0) expect(time - Number(times[index - 1])).toBeGreaterThan(900);
});
