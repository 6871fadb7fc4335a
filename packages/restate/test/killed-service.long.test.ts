import { join } from "node:path";
import { freePort } from "@moora/testbed/ports";
import { describe, expect, it } from "vitest";
import { Child } from "@moora/testbed/child";
import { range, Scene } from "@moora/testbed/server/scene";
import { restateLog } from "../src/index.ts";
import { RestateServer } from "./restate-server.ts";
import { workerAgent } from "./worker-agent.ts";

const program = join(import.meta.dirname, "children/worker.ts");

describe("a process with the services that is killed in the middle of a tool", () => {
  it("is started again, and the stream of a viewer at a server continues without loss or repetition", async () => {
    await using restate = await RestateServer.start();
    const { ingressUrl } = restate;
    const port = String(await freePort());
    // They end after the servers, which wait for their calls at the end.
    await using children = new AsyncDisposableStack();
    const killed = children.use(new Child(program, port, ingressUrl, "hang"));
    await killed.printed(/listening/);
    await restate.register(`http://127.0.0.1:${port}`);
    const log = restateLog({ ingressUrl, agent: "worker" });
    const agent = workerAgent(() => Promise.reject(new Error("The server has run a tool.")));
    await using scene = new Scene(agent, { log });
    const ada = scene.as("ada");
    const id = await ada.create("worker");
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content: "Work" });
    await stream.until("tool-call-started");
    await killed.printed(/working 1/);
    await killed.kill();
    const next = children.use(new Child(program, port, ingressUrl, "answer"));
    const { seq } = await stream.until("re-act-observed");
    expect(stream.seqs).toEqual(range(1, seq));
    expect(killed.output.match(/working \d/g)).toEqual(["working 1"]);
    expect(next.output).not.toContain("working");
    await using again = await ada.events(id);
    await again.until("tool-call-started");
    await again.until("re-act-observed");
    expect(again.inputs).toEqual(stream.inputs);
    const { state } = (await ada.get(`/sessions/${id}`)).body;
    expect(state.toolCalls["call_1"].result).toMatchObject({ isSuccess: false, code: "outcome-unknown" });
    expect(scene.errors).toEqual([]);
  });
});
