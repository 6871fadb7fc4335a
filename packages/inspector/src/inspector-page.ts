import type { PageParts } from "./page-parts.ts";

/** A page: its HTML, and the policy that a server sends with it in the header `content-security-policy`. */
export interface InspectorPage {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

let parts: Promise<PageParts> | undefined;

/** Loads the parts once. They are not a part of what an import of this package loads. */
const loadParts = (): Promise<PageParts> =>
  (parts ??= import("./built-page.ts").then(({ builtPage }) => builtPage()));

/** What a page shows beside its session. */
export interface InspectorFileOptions {
  /** What is wrong with the session, such as the damage of a log whose records before it were exported. Default: nothing. */
  readonly problem?: string;
}

/**
 * The inspector as one file without network access. `exported` is the text of `exportSession`, which the page opens at once;
 * default: it asks for a file. Save it as `.html`, or send it with its policy. Rejects with `TypeError` for an unknown option.
 */
export async function inspectorFile(
  exported?: string,
  options: InspectorFileOptions = {},
): Promise<InspectorPage> {
  const unknown = Object.keys(options).find((name) => name !== "problem");
  if (unknown !== undefined)
    throw new TypeError(`Unknown option "${unknown}" of inspectorFile. The only option is "problem".`);
  const { problem } = options;
  return pageOf(await loadParts(), { isLive: false, exported, problem });
}

/**
 * The inspector of a server: a page in the folder `/inspector/` beside the routes of `@moora/server`, which lists the sessions of
 * the user, follows them, and posts to them. It connects to its own origin only.
 */
export async function inspectorOfServer(): Promise<InspectorPage> {
  return pageOf(await loadParts(), { isLive: true, exported: undefined, problem: undefined });
}

interface PageKind {
  readonly isLive: boolean;
  readonly exported: string | undefined;
  readonly problem: string | undefined;
}

function pageOf(
  { script, worker, style, scriptHash, styleHash }: PageParts,
  { isLive, exported, problem }: PageKind,
): InspectorPage {
  const policy = [
    "default-src 'none'",
    `script-src ${scriptHash}`,
    `style-src ${styleHash}`,
    "worker-src blob:",
    "img-src data:",
    `connect-src ${isLive ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const html = [
    `<!doctype html><html lang="en" data-live="${isLive}"><head><meta charset="utf-8">`,
    `<meta http-equiv="content-security-policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="color-scheme" content="light dark">',
    '<meta name="referrer" content="no-referrer"><title>Moora inspector</title><link rel="icon" href="data:,">',
    `<style>${style}</style></head><body>`,
    `<script type="text/plain" id="moora-worker">${worker}</script>`,
    exported === undefined
      ? ""
      : `<script type="application/jsonl" id="moora-log">${escaped(exported)}</script>`,
    problem === undefined
      ? ""
      : `<script type="application/json" id="moora-problem">${escaped(JSON.stringify(problem))}</script>`,
    `<script>${script}</script></body></html>`,
  ];
  return { html: `${html.join("")}\n`, contentSecurityPolicy: `${policy}; frame-ancestors 'none'` };
}

/** JSON in which no text can end the element that contains it, or begin a comment in it. */
const escaped = (json: string): string => json.replaceAll("<", String.raw`\u003c`);
