import { userMessage } from "@moora/agent";
import { expect, it } from "vitest";
import { Viewer } from "./viewer.ts";
import { useWorkerd } from "./workerd.ts";

const workerd = useWorkerd("idle-worker", { ASKING: "Asking", PLAIN: "Plain" });

async function post(id: string, text: string): Promise<void> {
  const body = JSON.stringify(userMessage(text));
  const url = `http://localhost/sessions/${id}/inputs`;
  expect((await workerd.dispatchFetch(url, { method: "POST", body })).status).toBe(200);
}

const constructions = async (): Promise<unknown> =>
  (await workerd.dispatchFetch("http://localhost/constructions")).json();

/** Expects a viewer to have received the state once, and then each record, in order. */
function expectNoGap({ messages, seqs }: Viewer): void {
  expect(messages.filter(({ type }) => type === "state")).toHaveLength(1);
  const from = seqs[0] ?? expect.fail("There are no records.");
  expect(seqs).toEqual(seqs.map((_, index) => from + index));
}

it("continues in a new object, by the alarm of the platform or by a post, when the one before was removed from memory, and its viewers stay connected", async () => {
  const [asking, plain] = [
    await Viewer.connect(workerd, "asking"),
    await Viewer.connect(workerd, "plain"),
  ] as const;
  await post("plain", "One.");
  await post("asking", "Pay.");
  await plain.until(() => plain.text === "One.");
  const asked = Date.now();
  expect(await constructions()).toEqual({ Asking: 1, Plain: 1 });

  const types = (): readonly string[] =>
    asking.messages.flatMap((message) => (message.type === "input" ? [message.input.type] : []));
  await asking.until(() => types().includes("deadline-passed"));
  expect(Date.now() - asked).toBeGreaterThan(10_000);
  expect(await constructions()).toEqual({ Asking: 2, Plain: 1 });
  await asking.until(() => asking.text === "Done.");
  expect(types().filter((type) => type === "deadline-passed")).toHaveLength(1);
  expectNoGap(asking);

  await post("plain", "Two.");
  expect(await constructions()).toEqual({ Asking: 2, Plain: 2 });
  await plain.until(() => plain.text === "One.Two.");
  expectNoGap(plain);
});
