import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { manifestAt, manifestOf, packageNames, packOf, packs, root } from "./workspace.ts";

/** Projects that depend on the packs as applications do. The workspace of this repository is not seen from there. */
export const consumers: string = join(packs, "consumers");

/** The versions that this workspace has installed: they are in pnpm's store already. */
const installed = (folder: string, ...names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    names.map((name) => [name, manifestAt(join(root, folder, "node_modules", name, "package.json")).version]),
  );

/** A pack that another one has as an optional peer. An override would make it a dependency there. */
const optionalPeer = "@moora/mcp";

const published: readonly string[] = packageNames.map((name) => manifestOf(name).name);

/** The dependencies of each project. */
const projects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  /** Only the facade: no other package of ours can be imported, or named in a declaration. */
  strict: { "@moora/agent": "*", ...installed(".", "zod") },
  /** Only `moora`, without the packages that providers and PostgreSQL need. */
  bare: { moora: "*", ...installed(".", "@types/node") },
  /** Sessions on DBOS, the types of which need those of `pg`: no project has to install them. */
  dbos: {
    "@moora/agent": "*",
    "@moora/dbos": "*",
    "@moora/event-log-postgres": "*",
    ...installed("packages/dbos", "@dbos-inc/dbos-sdk", "pg"),
    ...installed(".", "@types/node"),
  },
  /** A page with a chat of the AI SDK. */
  chat: {
    "@moora/react": "*",
    ...installed("packages/react", "@ai-sdk/react", "@types/react", "ai"),
    ...installed(".", "react"),
  },
  /** Everything. */
  full: {
    ...Object.fromEntries(published.map((name) => [name, "*"])),
    [optionalPeer]: `file:${packOf("mcp")}`,
    ...installed(
      "packages/mcp",
      ...["client", "node", "server"].map((name) => `@modelcontextprotocol/${name}`),
    ),
    ...installed("packages/moora", "@anthropic-ai/sdk", "openai", "pg"),
    ...installed("packages/otel", "@opentelemetry/api"),
    ...installed("packages/restate", "@restatedev/restate-sdk"),
    ...installed("packages/dbos", "@dbos-inc/dbos-sdk"),
    ...installed("packages/react", "@ai-sdk/react", "ai"),
    ...installed(".", "@types/node", "@types/react", "react", "zod"),
  },
};

/** Installs the packs into the projects with pnpm. Throws where that fails. */
export function installPacks(): void {
  rmSync(consumers, { recursive: true, force: true });
  mkdirSync(consumers);
  writeFileSync(join(consumers, "package.json"), JSON.stringify({ name: "consumers", private: true }));
  writeFileSync(join(consumers, "pnpm-workspace.yaml"), JSON.stringify(workspace()));
  for (const [name, dependencies] of Object.entries(projects)) {
    mkdirSync(join(consumers, name));
    writeFileSync(
      join(consumers, name, "package.json"),
      JSON.stringify({ name, private: true, type: "module", dependencies }),
    );
  }
  const { error, status } = spawnSync("pnpm", ["install", "--prefer-offline", "--reporter=silent"], {
    cwd: consumers,
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("The packs cannot be installed with pnpm.", { cause: error });
}

/**
 * Each project sees its own dependencies and no others. Types are hoisted, as npm and pnpm do by default: `@dbos-inc/dbos-sdk` declares no
 * dependency on those that its declarations import. JSON is YAML.
 */
const workspace = (): object => ({
  packages: ["*"],
  hoistPattern: ["@types/pg"],
  dedupePeerDependents: false,
  overrides: Object.fromEntries(
    packageNames
      .map((name) => [manifestOf(name).name, `file:${packOf(name)}`])
      .filter(([name]) => name !== optionalPeer),
  ),
});
