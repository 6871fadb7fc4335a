/** The pages of the site: those of the repository, with their links as the site has them. */
import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { packageNames, root } from "../../scripts/workspace.ts";

/** A page of the site. */
export interface SitePage {
  /** Its address without the first slash and the extension: `packages/moora`. */
  readonly address: string;
  readonly title: string;
  readonly text: string;
}

const repository = "https://github.com/moora-ai/moora/";

/** The address of each page, by its path in the repository. */
const addresses: ReadonlyMap<string, string> = new Map(
  [
    ...globSync(["docs/*.md", "docs/decisions/*.md"], { cwd: root }),
    ...packageNames.map((name) => `packages/${name}/README.md`),
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "STYLE.md",
    "examples/README.md",
  ].map((path) => [path, addressOf(path)]),
);

function addressOf(path: string): string {
  if (path === "README.md") return "overview";
  return path
    .replace(/^docs\//, "")
    .replace(/\/README\.md$/, "")
    .replace(/\.md$/, "")
    .toLowerCase();
}

/** Reads every page. */
export const readPages = (): readonly SitePage[] =>
  [...addresses].map(([path, address]) => {
    const text = readFileSync(join(root, path), "utf8");
    return { address, title: titleOf(text), text: toSite(path, text) };
  });

export const titleOf = (text: string): string => /^# (.+)$/m.exec(text)?.[1]?.replaceAll("`", "") ?? "";

/** A page without comments, whose links lead to the site, or else to the repository. */
function toSite(path: string, text: string): string {
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) => (part.startsWith("```") ? part : linkedText(path, part.replaceAll(/<!--.*?-->\n*/gs, ""))))
    .join("");
}

const linkedText = (path: string, text: string): string =>
  text.replaceAll(
    /(!?)\]\(([^)\s]+)\)/g,
    (_, image: string, target: string) => `${image}](${linkOf(path, target)})`,
  );

function linkOf(path: string, target: string): string {
  const [to = "", anchor] = target.split("#");
  const inRepository = to.replace(/^https:\/\/github\.com\/moora-ai\/moora\/(?:blob|tree|raw)\/main\//, "");
  if (to === "" || /^[a-z]+:/.test(inRepository)) return target;
  const file = inRepository === to ? join(dirname(path), to) : inRepository;
  const hash = anchor === undefined ? "" : `#${anchor}`;
  if (/\.(?:png|svg)$/.test(file)) return `/${file.replace(/^docs\//, "")}`;
  const address = addresses.get(file) ?? addresses.get(join(file, "README.md"));
  if (address !== undefined) return `/${address}.md${hash}`;
  if (!existsSync(join(root, file))) throw new Error(`${path}: the link ${target} leads to no file.`);
  return `${repository}${statSync(join(root, file)).isDirectory() ? "tree" : "blob"}/main/${file}${hash}`;
}
