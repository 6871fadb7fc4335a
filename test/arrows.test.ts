import { describe, expect, it } from "vitest";
import { manifestOf, packageNames } from "../scripts/workspace.ts";

/** Who may import whom; there are no other arrows. Packages of others are named in full. */
const arrows: Readonly<Record<string, readonly string[]>> = {
  moorex: [],
  "agent-webui-protocol": ["zod"],
  llm: [],
  "event-log": ["@noble/hashes"],
  "agent-core-state-machine": ["@moora/agent-webui-protocol", "zod"],
  "llm-openai": ["@moora/llm"],
  "llm-anthropic": ["@moora/llm"],
  "llm-ai-sdk": ["@moora/llm"],
  "event-log-postgres": ["@moora/event-log"],
  "agent-core-effects": [
    "@cfworker/json-schema",
    "@moora/agent-core-state-machine",
    "@moora/agent-webui-protocol",
    "@moora/llm",
  ],
  agent: [
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/agent-webui-protocol",
    "@moora/event-log",
    "@moora/llm",
    "@moora/moorex",
    "croner",
  ],
  "agent-testing": [
    "@moora/agent",
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/event-log",
    "@moora/llm",
  ],
  mcp: ["@moora/agent", "@moora/agent-core-effects", "@moora/event-log", "@moora/llm"],
  // The declarations of DBOS import the types of pg, and DBOS does not depend on them.
  dbos: [
    "@moora/agent",
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/event-log",
    "@types/pg",
  ],
  tools: [
    "@moora/agent-core-effects",
    "@moora/event-log",
    "@moora/llm",
    "fraction.js",
    "htmlparser2",
    "ipaddr.js",
    "re2js",
  ],
  cloudflare: ["@moora/agent", "@moora/agent-core-effects", "@moora/event-log"],
  planner: ["@moora/agent-core-effects", "@moora/llm"],
  restate: [
    "@moora/agent",
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/event-log",
  ],
  otel: ["@moora/agent", "@moora/agent-core-effects", "@moora/agent-core-state-machine", "@moora/event-log"],
  inspector: [],
  server: [
    "@hono/node-server",
    "@moora/agent",
    "@moora/agent-core-effects",
    "@moora/agent-webui-protocol",
    "@moora/event-log",
    "hono",
    "zod",
  ],
  client: [
    "@moora/agent",
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/agent-webui-protocol",
    "@moora/event-log",
  ],
  react: ["@moora/agent", "@moora/agent-core-state-machine", "@moora/agent-webui-protocol", "marked"],
  moora: [
    "@moora/agent",
    "@moora/agent-core-effects",
    "@moora/agent-core-state-machine",
    "@moora/agent-testing",
    "@moora/event-log",
    "@moora/event-log-postgres",
    "@moora/inspector",
    "@moora/llm",
    "@moora/llm-ai-sdk",
    "@moora/llm-anthropic",
    "@moora/llm-openai",
    "@moora/planner",
    "@moora/server",
    "@moora/tools",
    "diff",
    "zod",
  ],
};

/** What an application installs only where it uses it. Loaded at the first call, so that nothing else needs it. */
const optionalPeers: Readonly<Record<string, readonly string[]>> = {
  "llm-openai": ["openai"],
  "llm-anthropic": ["@anthropic-ai/sdk"],
  "llm-ai-sdk": ["@ai-sdk/provider"],
  "event-log-postgres": ["pg"],
  "agent-testing": ["@moora/llm-anthropic", "@moora/llm-openai"],
  tools: ["yaml"],
  react: ["@ai-sdk/react", "ai"],
  mcp: ["@modelcontextprotocol/client", "@modelcontextprotocol/node", "@modelcontextprotocol/server"],
  moora: [
    "@ai-sdk/amazon-bedrock",
    "@ai-sdk/azure",
    "@ai-sdk/cohere",
    "@ai-sdk/google",
    "@ai-sdk/google-vertex",
    "@ai-sdk/xai",
    "@anthropic-ai/sdk",
    "@moora/mcp",
    "openai",
    "pg",
  ],
};

/** What a package cannot do without, and an application has one copy of. */
const requiredPeers: Readonly<Record<string, readonly string[]>> = {
  dbos: ["@dbos-inc/dbos-sdk"],
  otel: ["@opentelemetry/api"],
  restate: ["@restatedev/restate-sdk"],
  react: ["react"],
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

  it.each(packageNames)("%s makes every peer dependency optional that not all of it needs", (name) => {
    const { peerDependencies = {}, peerDependenciesMeta = {} } = manifestOf(name);
    const optional = optionalPeers[name] ?? [];
    const required = requiredPeers[name] ?? [];
    expect(Object.keys(peerDependencies).toSorted()).toEqual([...optional, ...required].toSorted());
    for (const peer of Object.keys(peerDependencies))
      expect(peerDependenciesMeta[peer]?.optional ?? false, peer).toBe(optional.includes(peer));
  });
});

const repository = "https://github.com/moora-ai/moora";

describe("every package", () => {
  it.each(packageNames)("%s can be published: ESM, free of side effects, dist when packed", (name) => {
    const manifest = manifestOf(name);
    expect(manifest).toMatchObject({
      type: "module",
      // A style sheet is imported for its effect.
      sideEffects: name === "react" ? ["**/*.css"] : false,
      license: "MIT",
      files: ["dist", "CHANGELOG.md"],
    });
    const packed = manifest.publishConfig?.exports ?? {};
    expect(Object.keys(packed)).toEqual(Object.keys(manifest.exports));
    expect(JSON.stringify(packed)).not.toContain("@moora/source");
    expect(JSON.stringify(packed)).not.toContain("./src/");
  });

  it.each(packageNames)("%s names its authors, its repository and the Node that it needs", (name) => {
    expect(manifestOf(name)).toMatchObject({
      author: "The Moora authors",
      homepage: `${repository}/tree/main/packages/${name}#readme`,
      bugs: { url: `${repository}/issues` },
      repository: { type: "git", url: `git+${repository}.git`, directory: `packages/${name}` },
      engines: { node: ">=22.13" },
    });
  });
});
