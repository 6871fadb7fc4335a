import { join } from "node:path";
import { inputsOf } from "@moora/testbed/server/event-reader";
import { Child } from "@moora/testbed/child";
import { Place } from "@moora/testbed/durable/places";
import { describe, expect, it } from "vitest";
import { Client, range } from "@moora/testbed/server/scene";

const program = join(import.meta.dirname, "children/server.ts");

const clientOf = async (child: Child): Promise<Client> => {
  const [, url = ""] = await child.printed(/listening (\S+)/);
  return new Client((path, init) => fetch(`${url}${path}`, init));
};

describe("a server that is killed in the middle of a tool", () => {
  it("is started again, and the stream of a viewer resumes completely", async () => {
    using place = new Place();
    const file = place.file("log.db");
    await using killed = new Child(program, file, "hang");
    const client = await clientOf(killed);
    const id = await client.create("worker");
    const stream = await client.events(id);
    await client.post(`/sessions/${id}/messages`, { content: "Work" });
    await stream.until("tool-call-started");
    await killed.printed(/working 1/);
    await killed.kill();
    await expect(stream.next()).rejects.toThrow(/terminated|aborted|closed/);

    await using next = new Child(program, file, "answer");
    const again = await clientOf(next);
    const cursor = stream.seqs.at(-1) ?? 0;
    await using resumed = await again.events(id, 0, { "last-event-id": String(cursor) });
    const { seq } = await resumed.until("re-act-observed");
    expect([...stream.seqs, ...resumed.seqs]).toEqual(range(1, seq));
    const attempts = [...stream.inputs, ...resumed.inputs]
      .flatMap(inputsOf)
      .flatMap((input) => (input.type === "tool-call-started" ? [input.attempt] : []));
    expect(attempts).toEqual([1, 2]);
    expect(next.output.match(/working \d/g)).toEqual(["working 2"]);
    await using whole = await again.events(id);
    await whole.until("tool-call-completed");
    await whole.until("re-act-observed");
    expect(whole.inputs).toEqual([...stream.inputs, ...resumed.inputs]);
  });
});
