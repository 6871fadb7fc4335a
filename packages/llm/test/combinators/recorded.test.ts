import { recorded, replayed, type LlmRecording } from "@moora/llm";
import { answers, fails, hangs, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { requestOf, userMessage } from "../fixtures.ts";

const secrets = ["hunter2-hunter2"];

/** Records calls, and passes the recordings through JSON, as files do. */
function recorder(model: MockLlmCaller) {
  const recordings: LlmRecording[] = [];
  const record = (recording: LlmRecording): void => {
    recordings.push(JSON.parse(JSON.stringify(recording)));
  };
  return { caller: recorded(model, record, { secrets }), recordings };
}

describe("recorded", () => {
  it("returns the outcome of the caller, and records answers and failures without secrets", async () => {
    const model = new MockLlmCaller([answers("The password is hunter2-hunter2."), fails("server")]);
    const { caller, recordings } = recorder(model);
    const request = requestOf({
      system: "Use hunter2-hunter2 and sk-proj-abcdefghijklmnop1234.",
      messages: [userMessage("Authorization: Bearer abc.def-ghi")],
    });
    expect(await caller.call(request)).toMatchObject({
      turn: { parts: [{ text: "The password is hunter2-hunter2." }] },
    });
    await caller.call(request);
    expect(recordings.map(({ outcome }) => outcome.ok)).toEqual([true, false]);
    const text = JSON.stringify(recordings);
    for (const secret of ["hunter2", "abcdefghijklmnop1234", "abc.def-ghi"])
      expect(text).not.toContain(secret);
    expect(text).toContain("Use [secret] and [secret].");
  });

  it("records no aborted call", async () => {
    const { caller, recordings } = recorder(new MockLlmCaller([hangs("")]));
    const abort = new AbortController();
    const call = caller.call(requestOf(), { signal: abort.signal });
    abort.abort();
    expect(await call).toMatchObject({ failure: { kind: "aborted" } });
    expect(recordings).toEqual([]);
  });

  it("warns where a call cannot be recorded", async () => {
    const caller = recorded(new MockLlmCaller([answers("x")]), () => Promise.reject(new Error("disk full")));
    expect(await caller.call(requestOf())).toMatchObject({
      ok: true,
      warnings: ["the call was not recorded: Error: disk full"],
    });
  });
});

describe("replayed", () => {
  it("answers equal requests with their recordings, in order, also where they contain secrets", async () => {
    const model = new MockLlmCaller([answers("one"), answers("two"), fails("overloaded")]);
    const { caller, recordings } = recorder(model);
    const request = requestOf({ system: "Use hunter2-hunter2." });
    const other = requestOf({ system: "Else." });
    const outcomes = [];
    for (const one of [request, request, other]) outcomes.push(await caller.call(one));

    const replay = replayed(recordings, { secrets });
    expect(replay.left).toBe(3);
    expect(await replay.call(other)).toEqual(outcomes[2]);
    expect(replay.callSync(request)).toMatchObject({
      turn: { parts: [{ text: "one" }] },
      answeredBy: { caller: "replayed", reasons: ["recording"] },
    });
    expect(await replay.call(request)).toMatchObject({ turn: { parts: [{ text: "two" }] } });
    expect(replay.left).toBe(0);
  });

  it("fails for a request without a recording, with what it has", async () => {
    expect(await replayed([]).call(requestOf())).toMatchObject({
      failure: {
        kind: "invalid-request",
        retryable: false,
        message: expect.stringContaining('No recording for a request to "some-model" with purpose plan'),
      },
    });
  });
});
