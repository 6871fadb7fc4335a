import { agentTool } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import type { EventLog } from "@moora/event-log";
import { failOnDriverWarnings } from "@moora/testbed/postgres/driver-warnings";
import { createDatabase } from "@moora/testbed/postgres/database";
import { poolOn } from "@moora/testbed/postgres/server";
import type { LlmCaller } from "@moora/llm";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import type { EventReader } from "@moora/testbed/server/event-reader";
import { ChatScene, textOf } from "@moora/testbed/server/chat-scene";
import { Scene } from "@moora/testbed/server/scene";
import { toolOf } from "./support.ts";

let url: string;
let admin: ReturnType<typeof poolOn>;

beforeAll(failOnDriverWarnings);
beforeAll(async () => {
  url = await createDatabase(inject("postgresUrl"));
  admin = poolOn(url, 2);
});

afterAll(async () => {
  await admin.end();
});

/** A model that writes one word after the other until it is ended. */
class Writer implements LlmCaller {
  readonly name = "writer";
  #isEnded = false;

  async call(...[, options = {}]: Parameters<LlmCaller["call"]>): ReturnType<LlmCaller["call"]> {
    let text = "";
    for (let count = 1; !this.#isEnded; count += 1) {
      const word = `word${count} `;
      text += word;
      options.onChunk?.({ type: "text", text: word });
      await admin.query("SELECT 1");
    }
    return answers(text);
  }

  end(): void {
    this.#isEnded = true;
  }
}

/** The text that the chunks of a stream show; each must continue the one before, or begin anew. */
function shownText({ chunks }: EventReader): string {
  let shown = "";
  for (const chunk of chunks) {
    if (chunk.type !== "text") continue;
    expect([0, shown.length]).toContain(chunk.offset);
    shown = shown.slice(0, chunk.offset) + chunk.text;
  }
  return shown;
}

async function untilLonger(reader: EventReader, length: number): Promise<string> {
  for (;;) {
    const shown = shownText(reader);
    if (shown.length > length) return shown;
    if ((await reader.next()) === undefined) throw new Error("The stream ended.");
  }
}

describe("two servers on one PostgreSQL", () => {
  it("show the tokens of the one to the viewers of the other, also after its listening connection was killed", async () => {
    const open = (): EventLog => postgresLog(url);
    const writer = new Writer();
    await using near = new Scene(agentOf(writer), { log: open() });
    await using far = new Scene(agentOf(writer), { log: open() });
    const id = await near.as("ada").create();
    await using viewer = await far.as("ada").events(id);
    await near.as("ada").post(`/sessions/${id}/messages`, { content: "Hi" });
    const before = await untilLonger(viewer, 20);
    const { rows } = await admin.query(
      `SELECT count(pg_terminate_backend(pid))::int AS count FROM pg_stat_activity
       WHERE application_name = 'moora' AND query LIKE 'LISTEN%'`,
    );
    expect(rows[0]?.["count"]).toBeGreaterThan(0);
    const after = await untilLonger(viewer, before.length + 1_000);
    expect(after.startsWith(before)).toBe(true);
    writer.end();
    const { input } = await viewer.until("re-act-observed");
    expect(JSON.stringify(input)).toContain(shownText(viewer).trimEnd());
    expect(far.errors).toEqual([]);
  });

  it("send tokens only between servers of one log: one in another schema has its own channels", async () => {
    const writer = new Writer();
    const heard: string[] = [];
    await using stranger = postgresLog(url, { schema: "other" });
    await using neighbor = postgresLog(url);
    await stranger.list();
    const stops = [stranger, neighbor].map((log, index) =>
      log.live?.subscribe("viewers/1", () => void heard.push(["stranger", "neighbor"][index] ?? "")),
    );
    await using near = new Scene(agentOf(writer), { log: postgresLog(url) });
    await using far = new Scene(agentOf(writer), { log: postgresLog(url) });
    const id = await near.as("ada").create();
    while (!heard.includes("neighbor")) {
      await using viewer = await far.as("ada").events(id);
      await viewer.until("session-opened");
    }
    expect(heard).not.toContain("stranger");
    for (const stop of stops) stop?.();
  });
});

describe("two servers on one PostgreSQL, one of which runs a sub-agent", () => {
  it("take the answer of a page at the other one", async () => {
    const ran: unknown[] = [];
    const log = postgresLog(url);
    const tools = [toolOf("pay", (input) => (ran.push(input), "paid"), { approval: "always" })];
    const payingAgent = () => {
      const cashier = agentOf(
        [callsTools([{ name: "pay", arguments: { cents: 5 } }]), answers("It is paid.")],
        {
          name: "cashier",
          tools,
        },
      );
      const asTool = agentTool(cashier, { name: "cashier", description: "Pays.", log });
      const script = [callsTools([{ name: "cashier", arguments: { task: "Pay" } }]), answers("Done.")];
      return agentOf(script, { tools: [asTool] });
    };
    await using near = new ChatScene(payingAgent(), { log: postgresLog(url) });
    await using far = new ChatScene(payingAgent(), { log: postgresLog(url) });
    const first = near.chat();
    await first.sendMessage({ text: "Pay" });
    const page = far.chat();
    await page.resumeStream();
    const parts = page.lastMessage?.parts as unknown as readonly { approval?: { id: string } }[];
    const id = parts.find(({ approval }) => approval)?.approval?.id ?? "";
    await page.addToolApprovalResponse({ id, approved: true });
    await expect.poll(() => textOf(page), { timeout: 30_000 }).toBe("Done.");
    expect(ran).toEqual([{ cents: 5 }]);
    expect(JSON.stringify(page.messages)).not.toContain("no longer open");
    expect(far.responses).toHaveLength(2);
    expect([...near.errors, ...far.errors]).toEqual([]);
    await log.close();
  });
});
