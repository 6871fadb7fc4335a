import type { HttpAgent } from "@ag-ui/client";
import { agentTool, readSession, type AgentConfigChange } from "@moora/agent";
import { answers, callsTools } from "@moora/llm/testing";
import { AgUiScene, say } from "@moora/testbed/server/ag-ui-scene";
import { agentOf } from "@moora/testbed/server/agent-of";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anything, dataOf, run } from "./ag-ui-data.ts";
import { shown, shownAnew } from "./ag-ui-shown.ts";
import { pay } from "./chat-scene.ts";

type Given = "approve" | "change" | "reject" | "cancel";

const resumeOf = (interruptId: string, given: Given) => {
  if (given === "cancel") return { interruptId, status: "cancelled" as const };
  const payload =
    given === "change" ? { approved: true, editedArgs: { cents: 1 } } : { approved: given === "approve" };
  return { interruptId, status: "resolved" as const, payload };
};

/** An agent with data that asks before it pays, once in each thread. */
const payer = (config: AgentConfigChange = {}) =>
  agentOf(
    ({ messages }) =>
      messages.length === 1 ? callsTools([{ name: "pay" }]) : answers(`Read ${messages.length}.`),
    { config, data: anything({ n: 0 }), tools: [pay()] },
  );

/** A thread with one interrupt that two windows show. */
class Thread implements AsyncDisposable {
  readonly scene: AgUiScene;
  readonly client: HttpAgent;
  readonly other: HttpAgent;
  id = "";

  constructor(agent = payer()) {
    this.scene = new AgUiScene(agent);
    this.client = this.scene.client();
    this.other = this.scene.client();
  }

  async ask(): Promise<this> {
    await say(this.client, "Pay", "user_1");
    this.id = this.scene.interrupts[0]?.id ?? "";
    this.other.setMessages([...this.client.messages]);
    return this;
  }

  async cancel(): Promise<void> {
    const [session = ""] = await this.scene.sessionIds();
    await this.scene.scene.as("ada").post(`/sessions/${encodeURIComponent(session)}/cancel`);
  }

  /** Answers in the first window. */
  async send(given: readonly Given[], content?: string, base?: object): Promise<string> {
    if (content !== undefined) this.client.addMessage({ id: content, role: "user", content });
    await run(this.client, {
      resume: given.map((answer) => resumeOf(this.id, answer)),
      ...(base === undefined ? {} : { forwardedProps: { "moora.base-state": base } }),
    });
    return this.end;
  }

  /** How the last run has ended. */
  get end(): string {
    const { type, code } = this.scene.events.at(-1) as unknown as Record<string, string>;
    return code ?? type ?? "";
  }

  /** What clients have posted: the texts of messages, the changes of the data, and the decisions. */
  async posts(): Promise<readonly string[]> {
    const [session = ""] = await this.scene.sessionIds();
    const { inputs } = await readSession(this.scene.scene.log, session);
    return inputs.flatMap((input) => {
      if (input.type === "user-message-received") return [input.content];
      if (input.type === "data-changed") return ["data"];
      return input.type === "tool-call-decided" ? [input.decision.type] : [];
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scene[Symbol.asyncDispose]();
  }
}

const lastText = ({ messages }: HttpAgent): unknown => messages.at(-1)?.content;

describe("a rejection that comes with a new message after its loop was canceled", () => {
  it.each<Given>(["cancel", "reject"])(
    "counts as done, and the run follows the loop of the message, also when it is sent again: %s",
    async (given) => {
      await using thread = await new Thread().ask();
      const { client, scene } = thread;
      await thread.cancel();
      const before = [...client.messages];
      client.setState({ n: 1 });
      expect(await thread.send([given], "Next", { n: 0 })).toBe("RUN_FINISHED");
      expect(scene.outcome).toEqual({ type: "success" });
      expect(lastText(client)).toMatch(/^Read/);
      expect(await thread.posts()).toEqual(["Pay", "data", "Next"]);
      expect(shown(client)).toEqual(await shownAnew(scene));
      client.setMessages(before);
      expect(await thread.send([given], "Next", { n: 0 })).toBe("RUN_FINISHED");
      expect(lastText(client)).toMatch(/^Read/);
      expect(await thread.posts()).toEqual(["Pay", "data", "Next"]);
      expect(scene.failures).toEqual([]);
    },
  );

  it("counts as done for a question of a sub-agent", async () => {
    const script = [callsTools([{ name: "pay" }]), answers("Paid.")];
    const cashier = agentOf(script, { name: "cashier", tools: [pay()] });
    const call = callsTools([{ name: "cashier", arguments: { task: "Pay" } }]);
    const tools = [agentTool(cashier, { name: "cashier", description: "Pays." })];
    await using thread = await new Thread(agentOf([call, answers("Hello.")], { tools })).ask();
    await thread.cancel();
    expect(await thread.send(["cancel"], "Next")).toBe("RUN_FINISHED");
    expect(lastText(thread.client)).toBe("Hello.");
    expect(await thread.posts()).toEqual(["Pay", "Next"]);
  });
});

describe("a run with answers", () => {
  it("records all that it posts, or nothing if it is refused", async () => {
    const drawn = fc.record({
      interjection: fc.constantFrom("queue" as const, "restart" as const, "reject" as const),
      before: fc.constantFrom("nothing", "nothing", "nothing", "approve", "reject", "canceled", "written"),
      given: fc.array(fc.constantFrom<Given>("approve", "change", "reject", "cancel"), {
        minLength: 1,
        maxLength: 2,
      }),
      hasMessage: fc.boolean(),
      hasState: fc.boolean(),
    });
    const ends = new Set<string>();
    await fc.assert(
      fc.asyncProperty(drawn, async ({ interjection, before, given, hasMessage, hasState }) => {
        await using thread = await new Thread(payer({ interjection })).ask();
        const { client, other, id, scene } = thread;
        if (before === "approve" || before === "reject") await run(other, { resume: [resumeOf(id, before)] });
        else if (before !== "nothing") await thread.cancel();
        if (before === "written") await say(other, "Theirs", "user_2");
        const posted = await thread.posts();
        const data = await dataOf(scene);
        if (hasState) client.setState({ n: 1 });
        scene.failures.length = 0;
        const end = await thread.send(
          given,
          hasMessage ? "Next" : undefined,
          hasState ? { n: 0 } : undefined,
        );
        // A response with a status is not an event.
        const isRefused = end !== "RUN_FINISHED" || scene.failures.length > 0;
        ends.add(scene.failures.length > 0 ? "failed" : end);
        const now = await thread.posts();
        if (isRefused) {
          expect([now, await dataOf(scene)]).toEqual([posted, data]);
          if (hasMessage) expect(lastText(client)).toBe("Next");
          // An agent that refuses messages while it waits refuses the next run as well.
          if (interjection === "reject") return;
          client.pendingInterrupts = [];
          await run(client);
          expect(thread.end).toBe("RUN_FINISHED");
          const messages = (await thread.posts()).filter((text) => text !== "data");
          expect(messages).toEqual([...posted, ...(hasMessage ? ["Next"] : [])]);
          // The run of a new message does not show what became of a loop that the message has ended.
          if (interjection === "queue") expect(shown(client)).toEqual(await shownAnew(scene));
          return;
        }
        expect(now.filter((text) => text === "Next")).toHaveLength(Number(hasMessage));
        expect(now.filter((text) => text === "data")).toHaveLength(Number(hasState));
        expect(shown(client)).toEqual(await shownAnew(scene));
      }),
      { numRuns: 100 },
    );
    expect(ends).toEqual(
      new Set(["RUN_FINISHED", "already-decided", "conflicting-answers", "not-open", "failed"]),
    );
  });
});
