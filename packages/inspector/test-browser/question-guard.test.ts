import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { pageForEach } from "./browser.ts";
import { servedAgent, talkIn } from "./served-agent.ts";

/** As the page promises. */
const guardMs = 700;

const pay = (euros: number) => ({ name: "pay", arguments: { euros } });

/** An agent that asks about these payments, step by step, and what it has paid. */
function payer(steps: readonly (readonly number[])[]): { agent: Agent<unknown>; paid: readonly unknown[] } {
  const paid: unknown[] = [];
  const tool = defineTool({
    name: "pay",
    description: "Pays.",
    input: { type: "object" },
    approval: "always",
    execute: (input) => (paid.push(input), "paid"),
  });
  const llm = new MockLlmCaller([...steps.map((step) => callsTools(step.map(pay))), answers("Paid.")]);
  return { agent: defineAgent({ name: "support", llm, tools: [tool] }), paid };
}

describe("a question that has come, or has moved, under the pointer", () => {
  let page: Page;
  pageForEach((opened) => void (page = opened));

  const approve = () => page.getByRole("button", { name: "Approve", exact: true });
  const euros = (count: number) => page.locator(".moora-questions pre", { hasText: `"euros": ${count}` });

  it.each([{ steps: [[100], [200]] }, { steps: [[100, 200]] }])(
    "takes no second click before it could be read, and gets the focus: %j",
    async ({ steps }) => {
      const { agent, paid } = payer(steps);
      await using server = await servedAgent(agent);
      await page.clock.install({ time: 0 });
      await talkIn(page, server.url, "Pay.");
      await euros(100).waitFor();
      // No time passes for the page after the jump.
      await page.clock.pauseAt(3_600_000);
      const click = async (): Promise<void> => {
        const { x, y } = (await approve().first().boundingBox()) ?? { x: 0, y: 0 };
        await page.mouse.click(x + 10, y + 10);
      };
      await click();
      await euros(100).waitFor({ state: "detached" });
      await euros(200).waitFor();
      await click();
      expect(await approve().getAttribute("aria-disabled")).toBe("true");
      expect(await page.evaluate(() => document.activeElement?.matches(".moora-questions li"))).toBe(true);
      await page.clock.runFor(guardMs - 1);
      await click();
      expect(paid).toEqual([{ euros: 100 }]);
      await page.clock.runFor(1);
      await approve().click();
      await expect.poll(() => paid).toEqual([{ euros: 100 }, { euros: 200 }]);
    },
  );
});
