import { describe, expect, it } from "vitest";
import { checkIsRecorded, continueAfterKill } from "./ag-ui-continued.ts";

const endOfUnknown = [
  ["result", "call_1", expect.stringContaining("The outcome of this call is unknown")],
  ["assistant", "msg_1_2", "It may be paid."],
];

describe("a client of AG-UI whose server is killed in the middle of a tool that runs once", () => {
  it("shows what the next server makes of it, as the session has it", async () => {
    const call = ["call", "call_1", "pay", { cents: 5 }];
    await using continued = await continueAfterKill({ text: "Pay", printed: /paying/, shown: call });
    expect(continued.page.shown).toEqual([
      ["user", "user_1", "Pay"],
      ["assistant", "msg_1_1", "One moment."],
      call,
      ...endOfUnknown,
    ]);
    await checkIsRecorded(continued);
    expect(continued.payments()).toBe(1);
  });

  it("is asked about its outcome where the tool says so, and answers at the next server", async () => {
    const call = ["call", "call_1", "charge", { cents: 5 }];
    await using continued = await continueAfterKill({ text: "Charge", printed: /paying/, shown: call });
    const { page } = continued;
    const message = "The outcome of this call is unknown: it may have run. If you approve it, it runs again.";
    expect(page.interrupts).toMatchObject([{ reason: "outcome", toolCallId: "call_1", message }]);
    const [{ id } = { id: "" }] = page.interrupts;
    await page.client.runAgent({
      resume: [{ interruptId: id, status: "resolved", payload: { approved: false } }],
    });
    expect(page.shown.slice(3)).toEqual(endOfUnknown);
    await checkIsRecorded(continued);
    expect(continued.payments()).toBe(1);
  });
});

describe("a client of AG-UI whose server is killed in the middle of a text", () => {
  it("shows the answer that the next server writes", async () => {
    const shown = ["assistant", "msg_1_1", "Once upon a "];
    await using continued = await continueAfterKill({ text: "Sing", printed: /listening/, shown });
    expect(continued.page.shown).toEqual([
      ["user", "user_1", "Sing"],
      ["assistant", "msg_1_1_2", "Once there was a server."],
    ]);
    await checkIsRecorded(continued);
  });
});
