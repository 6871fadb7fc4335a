import { memoryLog, MemoryStorage } from "@moora/event-log";
import { withSessions } from "@moora/event-log/testing";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { defineAgent, openSession, type ErrorReport } from "../../src/index.ts";
import { failureOf } from "../support.ts";

afterEach(() => void vi.restoreAllMocks());

/** The owner of a session whose log reports nothing new by itself, and a process that posts to it. */
async function ownerAndPoster() {
  const storage = new MemoryStorage();
  const agent = defineAgent({ llm: new MockLlmCaller(() => answers("Here.")) });
  const log = withSessions(memoryLog(storage), () => ({ watch: () => () => undefined }));
  const reports: ErrorReport[] = [];
  const owner = await openSession(agent, { log, id: "ada", onError: (report) => void reports.push(report) });
  const poster = await openSession(agent, { log: memoryLog(storage), id: "ada", access: "post" });
  return { owner, poster, reports };
}

/** From now on the reducer throws for a message of this content. */
function breakOn(content: string, error: Error): void {
  const trim = String.prototype.trim;
  vi.spyOn(String.prototype, "trim").mockImplementation(function (this: string) {
    if (this === content) throw error;
    return trim.call(this);
  });
}

describe("an input of another process for which the reducer throws", () => {
  it.each(["a pull", "a conflict with an own input"])(
    "halts the session when it is found by %s, which writes nothing more and says why",
    async (way) => {
      const { owner, poster, reports } = await ownerAndPoster();
      const bug = new Error(`A bug in the reducer, found by ${way}.`);
      for (const content of ["before", "broken", "after"]) await poster.send(content);
      breakOn("broken", bug);

      const halted = {
        name: "AgentError",
        kind: "AgentFailed",
        reason: "InternalError",
        message: expect.stringContaining("An input of the log could not be applied."),
        cause: bug,
      };
      if (way === "a pull") await owner.refresh();
      else expect(await failureOf(owner.send("own"))).toMatchObject(halted);
      expect(await failureOf(owner.send("later"))).toMatchObject(halted);
      expect(reports).toEqual([{ source: "transition", error: bug }]);
      expect(owner.info().access).toBe("read");

      const contents = owner.current().messages.map(({ content }) => content);
      expect(contents).not.toContain("after");
      vi.restoreAllMocks();
      await poster.refresh();
      expect(poster.current().messages.map(({ content }) => content)).toEqual(["before", "broken", "after"]);
      await Promise.all([owner.close(), poster.close()]);
    },
  );
});
