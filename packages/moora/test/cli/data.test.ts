import { defineAgent, defineData, openSession } from "@moora/agent";
import { jsonlLog } from "@moora/event-log/jsonl";
import { MockLlmCaller } from "@moora/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => void (place = new TemporaryFolder()));
afterEach(() => place[Symbol.dispose]());

/** Records a session whose application data has these items. */
async function record(id: string, items: readonly string[]): Promise<void> {
  const data = defineData({ schema: z.object({ items: z.array(z.string()) }), initial: { items: [] } });
  const agent = defineAgent({ name: "shop", llm: new MockLlmCaller([]), data });
  const log = jsonlLog(place.at("log"));
  const session = await openSession(agent, { log, id });
  await session.update((draft) => void draft.items.push(...items));
  await session.close();
  await log.close();
}

async function cli(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  return { code: await host.run([...args, "--log", place.at("log")]), out: host.stdout.text };
}

describe("the application data of a session", () => {
  it("is shown at each of its records", async () => {
    await record("ada", ["tea"]);
    expect((await cli("show", "ada")).out).toMatch(/^data, version 1\n {2}\{\n {4}"items": \[\n {6}"tea"/m);
    expect((await cli("show", "ada", "--at", "1")).out).not.toContain("tea");
  });

  it("is shown in 40 lines if it is long, and as a whole on demand", async () => {
    await record(
      "ada",
      Array.from({ length: 1_500 }, (_, index) => `item ${index}`),
    );
    const short = (await cli("show", "ada")).out;
    expect(short).toContain('"item 37"');
    expect(short).not.toContain('"item 38"');
    expect(short).toMatch(/^ {2}\.\.\. 1,464 more lines; --all shows them\.$/m);
    const all = (await cli("show", "ada", "--all")).out;
    expect(all).toContain('"item 1499"');
    expect(all).not.toContain("more lines");
    expect(JSON.parse((await cli("show", "ada", "--json")).out).state.data.items).toHaveLength(1_500);
  });

  it("is compared between two sessions", async () => {
    await record("ada", ["tea"]);
    await record("bob", ["coffee"]);
    const { out } = await cli("diff", "ada", "bob");
    expect(out).toContain("tea");
    expect(out).toContain("coffee");
  });
});
