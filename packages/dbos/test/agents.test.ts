import { BuildError, defineAgent, defineContext, defineTool, type Agent } from "@moora/agent";
import { dbosHost, type DbosHost, type DbosHostOptions } from "@moora/dbos";
import { memoryLog } from "@moora/event-log";
import { MockLlmCaller } from "@moora/llm/testing";
import {
  agentsWhoseSubAgentAsks,
  agentsWhoseSubAgentsAskNothing,
  refusalOfSubAgent,
} from "@moora/testbed/asking-sub-agents";
import { describe, expect, it } from "vitest";

let hosts = 0;

/** A host of an agent with a name of its own: DBOS registers each name once. */
const hostOf = (agent: Agent): DbosHost => {
  hosts += 1;
  return dbosHost({ ...agent, name: `${agent.name}-${hosts}` }, { log: memoryLog() });
};

describe("dbosHost", () => {
  it.each(agentsWhoseSubAgentAsks)("refuses an agent %s", (_, agent, tool) => {
    expect(() => hostOf(agent)).toThrow(BuildError);
    expect(() => hostOf(agent)).toThrow(refusalOfSubAgent("dbosHost", tool));
  });

  it.each(agentsWhoseSubAgentsAskNothing)("hosts an agent %s", (_, agent) => {
    expect(hostOf(agent)).toBeTypeOf("object");
  });

  it("refuses an agent whose tool needs a context that is missing", () => {
    const tool = defineTool({
      name: "read",
      description: "Reads.",
      input: { type: "object" },
      context: defineContext<{ readonly folder: string }>(),
      execute: (_, { context }) => context.folder,
    });
    const agent = defineAgent({ name: "reader", llm: new MockLlmCaller([]), tools: [tool] });
    expect(() => hostOf(agent)).toThrow("The tool read needs a context. Give dbosHost the option context.");
  });

  const pool = { connect: () => Promise.reject(new Error("There is no database.")) };
  const pollTimes: readonly (readonly [string, Partial<DbosHostOptions>, string])[] = [
    ["longer than a timer", { takeOver: pool, takeOverPollMs: 3e9 }, "up to 2147483647, got 3000000000"],
    ["without end", { takeOver: pool, takeOverPollMs: Infinity }, "up to 2147483647, got Infinity"],
    ["without takeOver", { takeOverPollMs: 100 }, "takeOverPollMs needs takeOver"],
  ];

  it.each(pollTimes)("refuses a takeOverPollMs %s", (_, options, problem) => {
    const agent = defineAgent({ name: "polling", llm: new MockLlmCaller([]) });
    const host = () => dbosHost(agent, { log: memoryLog(), ...options });
    expect(host).toThrow(BuildError);
    expect(host).toThrow(problem);
  });

  it("refuses a second host of one name in a process", () => {
    const agent = defineAgent({ name: "twice", llm: new MockLlmCaller([]) });
    const host = () => dbosHost(agent, { log: memoryLog() });
    host();
    expect(host).toThrow(BuildError);
    expect(host).toThrow(
      'DBOS has the workflow moora.twice.post already. Call dbosHost once for the agent "twice", or give each agent a name of its own.',
    );
  });
});
