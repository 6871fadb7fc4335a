import { join } from "node:path";
import { defineAgent } from "@moora/agent";
import { postgresLog } from "@moora/event-log-postgres";
import { MockLlmCaller } from "@moora/llm/testing";
import { freePort } from "@moora/testbed/ports";
import { createDatabase } from "@moora/testbed/postgres/database";
import { describe, expect, inject, it } from "vitest";
import { Child } from "@moora/testbed/child";
import { range, Scene } from "@moora/testbed/server/scene";
import { restateLog } from "../src/index.ts";
import { RestateServer } from "./restate-server.ts";
import { shownText, untilShown } from "./shown-text.ts";

const program = join(import.meta.dirname, "children/writer.ts");
const agent = defineAgent({ name: "writer", llm: new MockLlmCaller([]) });

describe("a model call in another process than the server of its viewers", () => {
  it("is shown while it streams, and anew when its process was killed", async () => {
    const url = await createDatabase(inject("postgresUrl"));
    await using restate = await RestateServer.start();
    const { ingressUrl } = restate;
    const port = String(await freePort());
    // They end after the servers, which wait for their calls at the end.
    await using children = new AsyncDisposableStack();
    const killed = children.use(new Child(program, port, ingressUrl, url, "hang"));
    await killed.printed(/listening/);
    await restate.register(`http://127.0.0.1:${port}`);
    await using channel = postgresLog(url);
    const { live } = channel;
    if (live === undefined) throw new Error("The log has no live channel.");
    const serve = (): Scene => new Scene(agent, { log: restateLog({ ingressUrl, agent: "writer", live }) });
    await using one = serve();
    await using other = serve();
    const id = await one.as("ada").create("writer");
    await using stream = await one.as("ada").events(id);
    await one.as("ada").post(`/sessions/${id}/messages`, { content: "Write" });
    await untilShown(stream, "one two three");
    await using late = await other.as("ada").events(id);
    await untilShown(late, "one two three");
    await killed.kill();
    const next = children.use(new Child(program, port, ingressUrl, url, "answer"));
    await next.printed(/listening/);
    for (const reader of [stream, late]) {
      const { seq, input } = await reader.until("re-act-observed");
      expect(JSON.stringify(input)).toContain("one two three");
      expect(reader.seqs).toEqual(range(1, seq));
      expect(shownText(reader)).toBe("one two three");
    }
    expect([...one.errors, ...other.errors]).toEqual([]);
  });
});
