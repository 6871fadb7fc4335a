import { defineAgent, openSession, stateAt } from "@moora/agent";
import { sqliteLog } from "@moora/event-log/sqlite";
import { planner } from "@moora/planner";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

it("an option replaces only its own field of the limits that a session has recorded", async () => {
  using place = new TemporaryFolder();
  const path = join(place.path, "own.db");
  const config = {
    limits: { maxSteps: 4, minAnswerLength: 2 },
    budget: { maxTokens: 5_000, maxTotalTokens: 777_777 },
    approval: { policy: "always", expiresAfterMs: 123_456 },
  } as const;
  {
    const log = sqliteLog(path);
    const session = await openSession(defineAgent({ name: "moora", llm: planner(), config }), {
      log,
      id: "ada",
    });
    await session.close();
    await log.close();
  }
  const options = ["--max-steps", "9", "--max-tokens", "6000", "--approve", "never"];
  const host = new TestHost({ cwd: place.path });
  expect(await host.run(["run", "what is 2+2?", "--session", "ada", "--log", "own.db", ...options])).toBe(0);
  const log = sqliteLog(path);
  const { state } = await stateAt(log, "ada");
  await log.close();
  expect(state.config).toMatchObject({
    limits: { maxSteps: 9, minAnswerLength: 2 },
    budget: { maxTokens: 6_000, maxTotalTokens: 777_777 },
    approval: { policy: "never", expiresAfterMs: 123_456 },
  });
});
