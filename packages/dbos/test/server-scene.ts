import { defineAgent, defineTool, foldHeader, recordInputs, type Agent, type AgentInput } from "@moora/agent";
import { foldRecords } from "@moora/agent/internal";
import type { LogRecord, SessionLog } from "@moora/event-log";
import { MockLlmCaller } from "@moora/llm/testing";

/** The agent of `children/host.ts` at a server, which must not call its model and tools. */
export function servedAgent(used: string[]): Agent {
  const fail = (what: string): never => {
    used.push(what);
    throw new Error(`The server has run ${what}.`);
  };
  const tools = ["read", "write", "pay"].map((name) =>
    defineTool({
      name,
      description: `Does ${name}.`,
      input: { type: "object" },
      replay: "once",
      execute: () => fail(name),
    }),
  );
  return defineAgent({ name: "batch", llm: new MockLlmCaller(() => fail("the model")), tools });
}

/** The records that an input makes at the end of a session. */
export async function postedRecords(session: SessionLog, input: AgentInput): Promise<readonly LogRecord[]> {
  const folded = await foldRecords(foldHeader(session.header), await session.read());
  return recordInputs(folded, [input]).records;
}
