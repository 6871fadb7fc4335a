import { describe, expect, it } from "vitest";
import { manifestOf, packageNames } from "../scripts/workspace.ts";

/** Who may import whom; there are no other arrows. Packages of others are named in full. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  moorex: [],
  "agent-webui-protocol": ["zod"],
  llm: [],
  "event-log": ["@noble/hashes"],
  "agent-core-state-machine": ["@moora/agent-webui-protocol", "zod"],
  "llm-openai": ["@moora/llm", "openai"],
  "llm-anthropic": ["@anthropic-ai/sdk", "@moora/llm"],
  "event-log-postgres": ["@moora/event-log", "pg"],
  "agent-core-effects": ["@cfworker/json-schema", "@moora/agent-core-state-machine", "@moora/llm"],
  agent: [
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/event-log",
    "@moora/llm",
    "@moora/moorex",
  ],
  "agent-testing": [
    "@moora/agent",
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/event-log",
    "@moora/llm",
  ],
  moora: [
    "@moora/agent",
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/event-log",
    "@moora/event-log-postgres",
    "@moora/llm",
    "@moora/llm-anthropic",
    "@moora/llm-openai",
    "htmlparser2",
  ],
};

describe("the arrows between packages", () => {
  it("are those of the picture, and every package is in it", () => {
    expect(packageNames.toSorted()).toEqual(Object.keys(arrows).toSorted());
  });

  it.each(packageNames)("%s imports nothing else", (name) => {
    expect(Object.keys(manifestOf(name).dependencies ?? {}).toSorted()).toEqual(
      [...(arrows[name] ?? [])].toSorted(),
    );
  });
});

describe("every package", () => {
  it.each(packageNames)("%s can be published: ESM, free of side effects, dist when packed", (name) => {
    const manifest = manifestOf(name);
    expect(manifest).toMatchObject({ type: "module", sideEffects: false, license: "MIT", files: ["dist"] });
    const packed = manifest.publishConfig?.exports ?? {};
    expect(Object.keys(packed)).toEqual(Object.keys(manifest.exports));
    expect(JSON.stringify(packed)).not.toContain("@moora/source");
    expect(JSON.stringify(packed)).not.toContain("./src/");
  });
});
