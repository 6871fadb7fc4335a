import { renderMermaidSVG } from "beautiful-mermaid";
import { defineConfig } from "vitepress";
import { sidebar } from "./sidebar.ts";

/** The anchor of a heading, as GitHub makes it: the links of the pages are those of the repository. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number} _-]/gu, "")
    .replaceAll(" ", "-");

/** A diagram in the colors of the page. Vue takes no style elements in a template, so the picture is set as HTML. */
function diagramOf(text: string): string {
  const svg = renderMermaidSVG(text, { bg: "var(--vp-c-bg)", fg: "var(--vp-c-text-1)", transparent: true });
  return `<div class="diagram" v-html="${JSON.stringify(svg).replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></div>`;
}

export default defineConfig({
  title: "Moora",
  description: "LLM agents as a pure reducer plus effects computed from state, in TypeScript.",
  srcDir: "../.docs/pages",
  outDir: "../.docs/site",
  cacheDir: "../.docs/cache",
  cleanUrls: true,
  lastUpdated: false,
  markdown: {
    html: false,
    anchor: { slugify: anchorOf },
    theme: { light: "github-light", dark: "github-dark" },
    config(md) {
      const fence = md.renderer.rules.fence;
      md.renderer.rules.fence = (tokens, index, ...rest) => {
        const { info, content } = tokens[index] ?? {};
        if (info === "mermaid" && content !== undefined) return diagramOf(content);
        return fence?.(tokens, index, ...rest) ?? "";
      };
    },
  },
  themeConfig: {
    outline: { level: [2, 3], label: "On this page" },
    nav: [
      { text: "Guide", link: "/getting-started", activeMatch: "^/(?!packages|api|decisions)." },
      { text: "Packages", link: "/packages/moora", activeMatch: "^/packages/" },
      { text: "API", link: "/api/agent", activeMatch: "^/api/" },
      { text: "Decisions", link: "/decisions/001-no-immer", activeMatch: "^/decisions/" },
    ],
    sidebar: sidebar(),
    socialLinks: [{ icon: "github", link: "https://github.com/moora-ai/moora" }],
    search: {
      provider: "local",
      options: {
        /** Of the API only headings and comments are searched, without the declarations. */
        _render(text, env, md) {
          const html = md.render(text, env);
          return env.path.includes("/api/") ? html.replaceAll(/<pre[\s\S]*?<\/pre>/g, "") : html;
        },
      },
    },
    docFooter: { prev: false, next: false },
  },
});
