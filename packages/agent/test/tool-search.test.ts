import { contextAt, type AgentState, type Json } from "@moora/agent-core-state-machine";
import { memoryLog } from "@moora/event-log";
import type { LlmRequest } from "@moora/llm";
import { answers, callsTools, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  agentTool,
  askHuman,
  defineAgent,
  defineTeam,
  defineTool,
  forkSession,
  llmRequestAt,
  openSession,
  rerunSession,
  runTask,
  startSession,
  verifySession,
  type AgentConfigChange,
  type Tool,
} from "../src/index.ts";

interface Described {
  readonly description?: string;
  readonly formerNames?: readonly string[];
}

const tool = (name: string, { description = `Does ${name}.`, formerNames = [] }: Described = {}): Tool =>
  defineTool({
    name,
    description,
    input: z.object({ of: z.number().optional() }),
    formerNames,
    execute: () => `done by ${name}`,
  });

/** Tools that no test looks for: filler_1 and so on. */
const fillers = (count: number): readonly Tool[] =>
  Array.from({ length: count }, (_, index) => tool(`filler_${index + 1}`));

const mail = tool("send_mail", { description: "Sends an e-mail to a person." });
const refund = tool("refund_order", { description: "Pays back what an order has cost." });

const finds = (query: string) => callsTools([{ name: "search_tools", arguments: { query } }]);
const calls = (name: string, of?: Json) => callsTools([{ name, arguments: of === undefined ? {} : { of } }]);

const offered = ({ tools }: LlmRequest): readonly string[] => tools.map(({ name }) => name);
/** What the model reads of the internal calls and the calls before a request. */
const results = ({ messages }: LlmRequest): readonly string[] =>
  messages.flatMap((message) =>
    message.role === "assistant" ? message.results.map(({ content }) => content) : [],
  );

function asked(script: MockScript, tools: readonly Tool[], config: AgentConfigChange = { toolSearch: true }) {
  const llm = new MockLlmCaller(script);
  const session = startSession(defineAgent({ llm, tools, config }));
  return { session, requests: llm.requests };
}

/** The names that a search answers with. */
async function found(
  query: string,
  tools: readonly Tool[],
  config?: AgentConfigChange,
): Promise<readonly string[]> {
  const { session, requests } = asked([finds(query), answers("")], tools, config);
  await session.ask("Go.");
  const [, ...lines] = (requests[1] === undefined ? [] : results(requests[1])).join().split("\n");
  return lines.map((line) => line.slice(0, line.indexOf(":")));
}

describe("an agent with a search of tools", () => {
  it("sends no tools but the search until the model has found them, and then appends them", async () => {
    const { session, requests } = asked(
      [finds("pay money back"), calls("refund_order"), finds("e-mail"), calls("send_mail"), answers("Done.")],
      [...fillers(500), refund, mail],
    );
    expect((await session.ask("Pay order 7 back.")).text).toBe("Done.");
    expect(requests.map(offered)).toEqual([
      ["search_tools"],
      ["search_tools", "refund_order"],
      ["search_tools", "refund_order"],
      ["search_tools", "refund_order", "send_mail"],
      ["search_tools", "refund_order", "send_mail"],
    ]);
    expect(requests[1] && results(requests[1])).toEqual([
      "You can call these tools from now on:\nrefund_order: Pays back what an order has cost.",
    ]);
    expect(Object.values(session.current().toolCalls).map(({ name }) => name)).toEqual([
      "refund_order",
      "send_mail",
    ]);
  });

  it("keeps found tools for later messages, or for one message with keep: loop", async () => {
    const script: MockScript = [finds("mail"), answers("Found."), answers("Again.")];
    for (const [keep, last] of [
      ["conversation", ["search_tools", "send_mail"]],
      ["loop", ["search_tools"]],
    ] as const) {
      const { session, requests } = asked(script, [mail, refund], { toolSearch: { keep } });
      await session.ask("One.");
      await session.ask("Two.");
      expect(requests.map(offered)).toEqual([["search_tools"], ["search_tools", "send_mail"], last]);
    }
  });

  it("always offers what the configuration names, what it must call, and questions to a person, in the order of the agent", async () => {
    const tools = [mail, askHuman(), refund, tool("clock")];
    const { session, requests } = asked([calls("clock"), answers("")], tools, {
      toolSearch: { always: ["refund_order"] },
      toolChoice: { name: "clock" },
    });
    await session.ask("Go.");
    expect(requests.map(offered)).toEqual([
      ["ask_human", "refund_order", "clock", "search_tools"],
      ["ask_human", "refund_order", "clock", "search_tools"],
    ]);
    expect(requests.map(({ toolChoice }) => toolChoice)).toEqual([{ name: "clock" }, "auto"]);
  });

  it("that must call a tool first may search", async () => {
    const { session, requests } = asked([finds("mail"), answers("")], [mail], {
      toolSearch: true,
      toolChoice: "required",
    });
    await session.ask("Go.");
    expect(requests[0]?.toolChoice).toBe("required");
    expect(requests[1]?.toolChoice).toBe("auto");
  });

  it("finds at most maxFound tools at once, and two searches of one turn add up", async () => {
    expect(await found("filler", fillers(20))).toHaveLength(5);
    expect(await found("filler", fillers(20), { toolSearch: { maxFound: 2 } })).toEqual([
      "filler_1",
      "filler_10",
    ]);
    const two = ["mail", "refund"].map((query) => ({ name: "search_tools", arguments: { query } }));
    const { session, requests } = asked([callsTools(two), answers("")], [refund, mail]);
    await session.ask("Go.");
    expect(requests.map(offered)[1]).toEqual(["search_tools", "send_mail", "refund_order"]);
  });

  it("keeps the 40 newest of the found tools offered", async () => {
    const all = Array.from({ length: 50 }, (_, index) => `t${index}x`);
    const script = [...all.map((name) => finds(name)), finds("t0x"), answers("")];
    const { session, requests } = asked(
      script,
      all.map((name) => tool(name)),
      {
        toolSearch: true,
        limits: { maxSteps: 100 },
      },
    );
    await session.ask("Go.");
    expect(offered(requests[50] ?? expect.fail())).toEqual(["search_tools", ...all.slice(10)]);
    expect(offered(requests[51] ?? expect.fail())).toEqual(["search_tools", ...all.slice(11), "t0x"]);
  });

  it("does not find blacklisted tools", async () => {
    const config = { toolSearch: true, toolCalls: { blacklist: ["send_mail"] } };
    expect(await found("mail", [mail, refund], config)).toEqual([]);
  });

  it("counts what is offered for its limit of tokens, and what is found next", async () => {
    const long = tool("archive", { description: "Archives. ".repeat(400) });
    const { session, requests } = asked([finds("archive"), answers("")], [long, ...fillers(100)]);
    const sizes: number[] = [];
    const plans: unknown[] = [];
    session.onInput((_, state) => {
      const plan = contextAt(state);
      sizes.push(plan.sizes.tools);
      plans.push(plan.tools?.found);
    });
    await session.ask("Go.");
    expect(requests).toHaveLength(2);
    expect(sizes[0]).toBe(0);
    expect(sizes.at(-1)).toBeGreaterThan(1_000);
    expect(sizes.at(-1)).toBeLessThan(1_100);
    expect(plans.at(-1)).toEqual(["archive"]);
    expect(session.current().reActContext.inputTokens).toBeGreaterThan(1_000);
  });
});

describe("the search is on by default", () => {
  it("above 40 tools, and below them each request is as without it", async () => {
    const script: MockScript = [answers("")];
    const sent = async (count: number, config: AgentConfigChange): Promise<string> => {
      const { session, requests } = asked(script, fillers(count), config);
      await session.ask("Go.");
      return JSON.stringify(requests);
    };
    expect(await sent(40, {})).toBe(await sent(40, { toolSearch: false }));
    expect(await sent(41, {})).toBe(await sent(41, { toolSearch: true }));
    expect(await sent(41, {})).not.toBe(await sent(41, { toolSearch: false }));
    expect(defineAgent({ llm: new MockLlmCaller(script), tools: fillers(40) }).config).not.toHaveProperty(
      "toolSearch",
    );
  });

  it("where the tools that may be called are more", () => {
    const config = { toolCalls: { blacklist: ["filler_1"] } };
    expect(
      defineAgent({ llm: new MockLlmCaller([]), tools: fillers(41), config }).config.toolSearch,
    ).toBeUndefined();
  });
});

describe("a model", () => {
  it("that calls a tool which is not offered runs it, and is offered it from then on", async () => {
    const { session, requests } = asked(
      [calls("send_mail", "x"), calls("send_mail", 1), answers("")],
      [mail, refund],
    );
    await session.ask("Go.");
    expect(requests.map(offered)).toEqual([
      ["search_tools"],
      ["search_tools", "send_mail"],
      ["search_tools", "send_mail"],
    ]);
    expect(requests[2] && results(requests[2])).toEqual([expect.stringContaining("of"), "done by send_mail"]);
  });

  it("that calls a tool which does not exist reads how to find one", async () => {
    const { session, requests } = asked([calls("fax"), answers("")], fillers(50));
    await session.ask("Go.");
    expect(requests[1] && results(requests[1])).toEqual([
      "There is no tool fax. Find tools with search_tools.",
    ]);
  });

  it("that finds nothing, or asks for nothing, reads names to search for", async () => {
    const { session, requests } = asked([finds("xylophone"), finds(" "), answers("")], fillers(150));
    await session.ask("Go.");
    const [first = "", second] = requests[2] === undefined ? [] : results(requests[2]);
    expect(first).toMatch(
      /^No tool was found\. Search for some of their names: filler_1, .*filler_100, and 50 more\.$/,
    );
    expect(second).toBe(first);
    expect(session.current().reActContext.foundTools).toBeUndefined();
  });

  it("that searches with wrong arguments reads what is missing, and one that does not search has no such tool", async () => {
    const script: MockScript = [
      callsTools([{ name: "search_tools", arguments: { text: "a" } }]),
      answers(""),
    ];
    for (const [toolSearch, answer] of [
      [true, "The argument query is missing."],
      [false, "There is no tool search_tools. There are: send_mail."],
    ] as const) {
      const { session, requests } = asked(script, [mail], { toolSearch });
      await session.ask("Go.");
      expect(requests[1] && results(requests[1])).toEqual([answer]);
    }
  });

  it("finds what it has already found, without another record", async () => {
    const { session, requests } = asked([finds("mail"), finds("mail"), answers("")], [mail, refund]);
    const types: string[] = [];
    session.onInput(({ type }) => void types.push(type));
    await session.ask("Go.");
    expect(types.filter((type) => type === "tools-found")).toHaveLength(1);
    expect(requests.map(offered)[2]).toEqual(["search_tools", "send_mail"]);
  });
});

describe("the ranking", () => {
  const tools = [
    tool("create_issue", { description: "Creates an issue in a repository." }),
    tool("create_issue_comment", { description: "Comments on an issue of a repository." }),
    tool("a_create_issue_form", { description: "A form for the issues of a repository." }),
    tool("listInvoices", { description: "Lists the invoices of a customer, the newest first." }),
    tool("wetter", { description: "Gibt das aktuelle Wetter für eine Stadt zurück." }),
    tool("tenki", { description: "都市の現在の天気を返します。" }),
    tool("renamed", { description: "Of a release.", formerNames: ["old_report"] }),
    tool("please", { description: "Says thanks." }),
  ];

  it.each([
    ["create_issue", "create_issue"],
    ["an issue to create", "create_issue"],
    ["invoice", "listInvoices"],
    ["INVOICES of one customer", "listInvoices"],
    ["Wetter für Köln", "wetter"],
    ["東京の天気予報", "tenki"],
    ["old_report", "renamed"],
    ["Could you comment on the repository?", "create_issue_comment"],
  ])("of %j has %s first", async (query, first) => {
    expect((await found(query, tools))[0]).toBe(first);
  });

  it("orders equals by name, and leaves out what fits far less than the best", async () => {
    const equals = ["b", "a", "c"].map((name) => tool(`${name}_lamp`, { description: "Light." }));
    const other = tool("other", { description: "Not a lamp." });
    expect(await found("lamp", [other, ...equals])).toEqual(["a_lamp", "b_lamp", "c_lamp", "other"]);
    expect(await found("lamp light", [other, ...equals])).toEqual(["a_lamp", "b_lamp", "c_lamp"]);
  });

  it("reads the beginning of long descriptions and shows less, in one line", async () => {
    const long = tool("long", { description: `First\nline. ${"word ".repeat(10_000)}` });
    const { session, requests } = asked([finds("first line"), answers("")], [long]);
    await session.ask("Go.");
    const [answer = ""] = requests[1] === undefined ? [] : results(requests[1]);
    expect(answer).toContain("\nlong: First line. word word");
    expect(answer.length).toBeLessThan(300);
  });
});

describe("tools that were found", () => {
  const open = async (script: MockScript, tools: readonly Tool[], log = memoryLog(), config = {}) => {
    const llm = new MockLlmCaller(script);
    const agent = defineAgent({ llm, tools, config: { toolSearch: true, ...config } });
    return { log, agent, requests: llm.requests, session: await openSession(agent, { log, id: "ada" }) };
  };

  it("follow a release: a renamed one has its new name, and one that is gone is not offered", async () => {
    const first = await open([finds("mail"), finds("refund"), answers("")], [mail, refund]);
    await first.session.ask("Go.");
    await first.session.close();
    const renamed = tool("post_mail", { description: "Sends an e-mail.", formerNames: ["send_mail"] });
    const second = await open([answers("")], [renamed, tool("clock")], first.log);
    await second.session.ask("And now?");
    expect(second.requests.map(offered)).toEqual([["search_tools", "post_mail"]]);
    await second.session.close();
    expect(await verifySession(first.log, "ada")).toMatchObject({ ok: true });
  });

  it("are all offered after a release, or a change of the configuration, without the search", async () => {
    const first = await open([finds("mail"), answers(""), answers("")], [mail, refund]);
    await first.session.ask("Go.");
    await first.session.configure({ toolSearch: false });
    await first.session.ask("Go.");
    expect(first.requests.map(offered)[2]).toEqual(["send_mail", "refund_order"]);
    await first.session.configure({ toolSearch: true });
    await first.session.close();
    const llm = new MockLlmCaller([answers("")]);
    const second = await openSession(defineAgent({ llm, tools: [mail, refund] }), {
      log: first.log,
      id: "ada",
    });
    await second.ask("Go.");
    expect(llm.requests.map(offered)).toEqual([["send_mail", "refund_order"]]);
    expect(second.current().config.toolSearch).toBe(false);
    await second.close();
  });

  it("are those of a fork and of a replay: a state from JSON has the same request", async () => {
    const { log, session, requests } = await open([finds("mail"), calls("send_mail"), answers("")], [mail]);
    const states: AgentState[] = [];
    session.onInput((_, state) => void states.push(state));
    await session.ask("Go.");
    await session.close();
    for (const state of states)
      expect(JSON.stringify(llmRequestAt(structuredClone(state)))).toBe(JSON.stringify(llmRequestAt(state)));
    const end = session.current().reActContext.foundTools;
    expect(end).toEqual([{ name: "send_mail", since: 1 }]);
    await forkSession(log, "ada", 3, { as: "fork", open: "rerun" });
    const fork = await openSession(
      defineAgent({
        llm: new MockLlmCaller([finds("mail"), answers("")]),
        tools: [mail],
        config: { toolSearch: true },
      }),
      { log, id: "fork" },
    );
    await fork.running();
    expect(fork.current().reActContext.foundTools).toEqual(end);
    await fork.close();
    const again = await open([finds("mail"), calls("send_mail"), answers("")], [mail]);
    const rerun = await rerunSession(again.agent, log, "ada", { from: 0 });
    expect(rerun.differences).toEqual([]);
    expect(requests).toHaveLength(3);
  });

  it("belong to each agent of a team, which always has its handoff", async () => {
    const handsOff = (agent: string) => callsTools([{ name: "hand_off", arguments: { agent } }]);
    const office = new MockLlmCaller([finds("mail"), handsOff("shop"), answers("Back.")]);
    const shop = new MockLlmCaller([handsOff("office")]);
    const team = defineTeam({
      agents: {
        office: {
          agent: defineAgent({ llm: office, tools: [mail, tool("clock")], config: { toolSearch: true } }),
          description: "Mail.",
        },
        shop: { agent: defineAgent({ llm: shop, tools: [refund] }), description: "Refunds." },
      },
      start: "office",
    });
    const log = memoryLog();
    const session = await openSession(team, { log, id: "ada" });
    await session.ask("Go.");
    expect(office.requests.map(offered)).toEqual([
      ["hand_off", "search_tools"],
      ["hand_off", "search_tools", "send_mail"],
      ["hand_off", "search_tools", "send_mail"],
    ]);
    expect(shop.requests.map(offered)).toEqual([["refund_order", "hand_off"]]);
    await session.close();
    expect(await verifySession(log, "ada")).toMatchObject({ ok: true });
  });

  it("are those of a sub-agent alone where it searches", async () => {
    const inner = new MockLlmCaller([finds("mail"), calls("send_mail"), answers("Sent.")]);
    const writer = defineAgent({
      llm: inner,
      name: "writer",
      tools: [mail, refund],
      config: { toolSearch: true },
    });
    const outer = new MockLlmCaller([
      callsTools([{ name: "writer", arguments: { task: "Write." } }]),
      answers("Ok."),
    ]);
    await runTask(
      defineAgent({
        llm: outer,
        tools: [agentTool(writer, { name: "writer", description: "Writes mail." })],
      }),
      "Go.",
    );
    expect(inner.requests.map(offered).at(-1)).toEqual(["search_tools", "send_mail"]);
    expect(outer.requests.map(offered)).toEqual([["writer"], ["writer"]]);
  });
});

describe("the configuration of the search", () => {
  it.each([
    [
      { toolSearch: { always: ["mail"] } },
      'config.toolSearch.always[0]: "mail" is not a tool of this agent.',
    ],
    [{ toolSearch: { maxFound: 0 } }, "config.toolSearch"],
    [
      { toolSearch: { alway: ["send_mail"] } },
      'config.toolSearch.alway: unknown field. Did you mean "always"?',
    ],
    [{ toolSearch: "yes" }, "config.toolSearch"],
  ])("%j is refused", (config, message) => {
    // @ts-expect-error Some of the values have other types.
    const define = () => defineAgent({ llm: new MockLlmCaller([]), tools: [mail], config });
    expect(define).toThrow(message);
  });

  it("reserves the name of the search", () => {
    expect(() => defineAgent({ llm: new MockLlmCaller([]), tools: [tool("search_tools")] })).toThrow(
      "is reserved",
    );
  });
});
