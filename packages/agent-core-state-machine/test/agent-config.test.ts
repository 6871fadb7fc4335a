import type { Immutable } from "@moora/agent-webui-protocol";
import { describe, expectTypeOf, it } from "vitest";
import type * as z from "zod/mini";
import type { agentConfigSchema, AgentConfig } from "../src/index.ts";

describe("AgentConfig", () => {
  it("has the fields and types of its schema", () => {
    type Parsed = Immutable<z.infer<typeof agentConfigSchema>>;
    expectTypeOf<Required<AgentConfig>>().toEqualTypeOf<Required<Parsed>>();
    expectTypeOf<AgentConfig>().toExtend<Parsed>();
    expectTypeOf<Parsed>().toExtend<AgentConfig>();
  });
});
