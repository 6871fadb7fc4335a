import { defineAgent, openSession } from "@moora/agent";
import { jsonlLog } from "@moora/event-log/jsonl";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

const rows = { Planning: { LlmFinalAnswer: "Check" }, Check: { Good: "Done" } };
const note = { text: "One\nnumber.", data: { rule: "digits" } };

let place = new TemporaryFolder();
beforeEach(async () => {
  place = new TemporaryFolder();
  const agent = defineAgent({
    llm: new MockLlmCaller([answers("It is 12.")]),
    config: { graph: { states: ["Check"], rows, terminals: [] } },
    states: { Check: () => ({ event: "Good", trace: note }) },
  });
  const log = jsonlLog(place.at("log"));
  const session = await openSession(agent, { log, id: "ada" });
  await session.ask("How many?");
  await session.close();
  await log.close();
});
afterEach(() => place[Symbol.dispose]());

async function cli(...args: readonly string[]): Promise<string> {
  const host = new TestHost({ cwd: place.path });
  await host.run([...args, "--log", place.at("log")]);
  return host.stdout.text;
}

describe("the trace notes of a session", () => {
  it("are shown from their record on", async () => {
    const line = 'loop 1, step 1, Check Good: One\n  number. {"rule":"digits"}';
    expect(await cli("show", "ada")).toContain(`\ntrace notes\n  ${line}\n`);
    expect(await cli("show", "ada", "--at", "2")).not.toContain("trace notes");
  });

  it("are shown to programs", async () => {
    expect(JSON.parse(await cli("show", "ada", "--json"))).toMatchObject({
      traceNotes: [{ from: "Check", event: "Good", to: "Done", note }],
    });
  });

  it("are in the line of their record", async () => {
    expect(await cli("log", "ada")).toContain('state handled, Good: One number. {"rule":"digits"}  [Good]');
  });
});
