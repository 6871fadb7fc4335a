import { answers } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Scene } from "@moora/testbed/server/scene";

const thrown = new Error("The reporter failed.");
const cause = new Error("No such user directory.");

const listeners: readonly [string, () => unknown][] = [
  [
    "throws",
    () => {
      throw thrown;
    },
  ],
  ["rejects", () => Promise.reject(thrown)],
];

describe("an onError of a server", () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each(listeners)(
    "that %s does not change the response, and both errors are printed",
    async (_, onError) => {
      const print = vi.spyOn(console, "error").mockImplementation(() => undefined);
      const authorize = () => Promise.reject(cause);
      await using scene = new Scene(agentOf([answers("Yes.")]), {
        authorize,
        onError,
      });
      const response = await scene.server.fetch(new Request("http://localhost/sessions"));
      expect(response.status).toBe(500);
      expect(await response.json()).toMatchObject({ code: "internal" });
      expect(print.mock.calls).toEqual([[cause], [thrown]]);
    },
  );

  it("may throw what cannot be printed", async () => {
    const print = vi.spyOn(console, "error").mockImplementation((value: unknown) => {
      if (typeof value !== "string") throw new Error("It cannot be inspected.");
    });
    const authorize = () => Promise.reject(cause);
    const onError = () => {
      throw thrown;
    };
    await using scene = new Scene(agentOf([answers("Yes.")]), { authorize, onError });
    const response = await scene.server.fetch(new Request("http://localhost/sessions"));
    expect(await response.json()).toMatchObject({ code: "internal" });
    expect(print).toHaveBeenLastCalledWith("An error that cannot be printed.");
  });
});
