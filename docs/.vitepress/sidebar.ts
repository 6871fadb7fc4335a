/** The order of the pages at the side. A page that no list names is at the end of the guides. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DefaultTheme } from "vitepress";
import { packageNames, root } from "../../scripts/workspace.ts";
import { titleOf } from "./pages.ts";

const folder = join(root, ".docs/pages");

const groups: readonly (readonly [title: string, addresses: readonly string[]])[] = [
  ["Begin", ["overview", "getting-started", "concepts", "examples", "glossary"]],
  [
    "Agents",
    [
      "tools",
      "approvals",
      "context",
      "data",
      "memory",
      "skills",
      "long-conversations",
      "files",
      "sub-agents",
      "teams",
      "schedules",
      "providers",
    ],
  ],
  ["In production", ["durability", "hosts", "runner", "observability", "inspector", "scale"]],
  ["Servers and pages", ["server", "deploy", "chats", "ag-ui", "next", "browser"]],
  ["Tests", ["testing", "evals", "find-a-bug"]],
  ["Reference", ["configuration", "errors"]],
  ["Project", ["architecture", "changelog", "contributing", "style"]],
];

/** The packages, those that most programs import first. */
const packages: readonly string[] = [
  ...new Set([
    "moora",
    "agent",
    "llm-openai",
    "llm-anthropic",
    "llm-ai-sdk",
    "server",
    "client",
    "react",
    ...packageNames,
  ]),
];

type Item = DefaultTheme.SidebarItem;

/** A page by its title; the overview is called so, and packages are without their scope. */
function item(address: string): Item {
  const title = titleOf(readFileSync(join(folder, `${address}.md`), "utf8"));
  return { text: address === "overview" ? "Overview" : title.replace("@moora/", ""), link: `/${address}` };
}

const pagesIn = (path: string): readonly string[] =>
  readdirSync(join(folder, path))
    .filter((file) => file.endsWith(".md") && file !== "index.md")
    .map((file) => `${path}/${file.slice(0, -3)}`.replace(/^\.?\//, ""))
    .toSorted();

export function sidebar(): DefaultTheme.SidebarMulti {
  const pages = pagesIn("");
  const named = groups.flatMap(([, addresses]) => addresses);
  const others = pages.filter((page) => !named.includes(page));
  const guides = groups
    .map(([text, addresses]): Item => ({
      text,
      items: addresses.filter((page) => pages.includes(page)).map(item),
    }))
    .concat(others.length === 0 ? [] : [{ text: "More", items: others.map(item) }]);
  return {
    "/packages/": [{ text: "Packages", items: packages.map((name) => item(`packages/${name}`)) }],
    "/api/": [{ text: "API", items: pagesIn("api").map(item) }],
    "/decisions/": [{ text: "Decisions", items: pagesIn("decisions").map(item) }],
    "/": guides,
  };
}
