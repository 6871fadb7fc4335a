import { defineTool, toolReply, type Tool } from "@moora/agent-core-effects";
import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import { textAt } from "./tool-input.ts";
import { resolveName } from "./web/checked-lookup.ts";
import { Refused } from "./refused.ts";
import { isPublicAddress } from "./web/public-address.ts";

/** Options of `fetchUrlTool`. */
export interface FetchUrlOptions {
  /** Resolves a host name to all of its addresses. Default: the resolver of the system. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
  /** Which addresses may be connected to. Default: those of the public internet. */
  readonly isAllowed?: (address: string) => boolean;
  /** Time limit for one page, including its redirects. Default: 20,000. */
  readonly timeoutMs?: number;
}

const forms: OptionForms<FetchUrlOptions> = {
  resolve: "function",
  isAllowed: "function",
  timeoutMs: "positive",
};

/**
 * Creates `fetch_url`: reads pages of the public internet as text. A URL can carry data out, so its risk is medium: approve
 * each call, or do not combine it with tools that read private data.
 */
export function fetchUrlTool(options: FetchUrlOptions = {}): Tool {
  checkOptions("fetchUrlTool", options, forms);
  const { resolve = resolveName, isAllowed = isPublicAddress, timeoutMs = 20_000 } = options;
  return defineTool({
    name: "fetch_url",
    description:
      "Fetches a page from the web (a site, a link) by its URL and returns its readable text. " +
      "Only http and https, only public addresses, only text.",
    input: {
      type: "object",
      properties: {
        url: {
          type: "string",
          maxLength: 2_000,
          description: "The address of the page, with http:// or https://.",
        },
      },
      required: ["url"],
      additionalProperties: false,
    },
    risk: "medium",
    replay: "safe",
    async execute(input, context) {
      const late = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([context.signal, late]);
      try {
        // Loaded by the first call: Node's HTTP client and the HTML parser take a while.
        const { readPage } = await import("./web/read-page.ts");
        const { text, isError } = await readPage(textAt(input, "url"), { resolve, isAllowed, signal });
        return toolReply({ content: text, isError });
      } catch (error) {
        if (late.aborted)
          throw new Error(`The page did not arrive within ${timeoutMs} ms.`, { cause: error });
        throw error instanceof Refused ? error : new Error(connectionProblem(error), { cause: error });
      }
    },
  });
}

/** The cause of a failed connection, with the error code of the system. */
function connectionProblem(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "The host does not exist.";
  if (code === "ABORT_ERR") return "Canceled.";
  return `The page could not be fetched (${code || (error instanceof Error ? error.message : "unknown")}).`;
}
