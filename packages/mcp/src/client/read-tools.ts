import { errorText, truncated } from "@moora/agent-core-effects/internal";
import { isJsonObject } from "@moora/llm/internal";
import { loadSdk } from "../load-sdk.ts";
import { McpError } from "../mcp-error.ts";
import type { McpClient, McpTool } from "./mcp-client.ts";
import type { SkippedTool } from "./tools-options.ts";

/** What a server lists: its tools, and those that do not follow the protocol. */
export interface ToolList {
  readonly tools: readonly McpTool[];
  readonly skipped: readonly SkippedTool[];
}

/** The maximum number of tools of one server. */
export const maxTools = 1_000;
/** The maximum number of pages of a list of tools, which is also the SDK's own. */
const maxPages = 64;
/** The maximum length of the reason for which a tool is skipped. It quotes the server. */
const maxReasonLength = 500;

/**
 * Reads the whole list of tools of a server. The client's own way to read it would reject the whole list for one tool that does not follow
 * the protocol, so it is used only where there is no other; here such tools are skipped. Rejects with `too-many-tools` for a list without an
 * end, and otherwise with the error of the client.
 */
export async function readTools(server: string, client: McpClient, timeout?: number): Promise<ToolList> {
  // A client of the SDK has more methods than the part that this package needs.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const requests = client as McpClient & RawRequests;
  if (requests.request !== undefined) return await readPages(server, requests, timeout);
  return { tools: (await client.listTools()).tools, skipped: [] };
}

/** The method of the SDK's client that sends a request and checks its result with a given schema. */
interface RawRequests {
  request?(
    request: { readonly method: "tools/list"; readonly params?: { readonly cursor: string } },
    resultSchema: typeof pageSchema,
    options: { readonly timeout?: number },
  ): Promise<ToolPage>;
}

interface ToolPage {
  readonly tools: readonly unknown[];
  readonly nextCursor: string | undefined;
}

/** The result of `tools/list`, whatever its tools are. */
const pageSchema = {
  "~standard": {
    version: 1,
    vendor: "moora",
    validate(value: unknown): { readonly value: ToolPage } | { readonly issues: [{ message: string }] } {
      const { tools, nextCursor } = isJsonObject(value) ? value : {};
      if (!Array.isArray(tools)) return { issues: [{ message: "tools must be a list" }] };
      return { value: { tools, nextCursor: typeof nextCursor === "string" ? nextCursor : undefined } };
    },
  },
} as const;

async function readPages(server: string, client: RawRequests, timeout?: number): Promise<ToolList> {
  const options = timeout === undefined ? {} : { timeout };
  const items: unknown[] = [];
  let cursor: string | undefined;
  let previous: string | undefined;
  for (let pages = 0; ; pages += 1) {
    if (pages === maxPages) throw tooManyPages(server);
    const params = cursor === undefined ? {} : { params: { cursor } };
    // The cursor of a page is in the page before it.
    // oxlint-disable-next-line no-await-in-loop
    const page = await client.request?.({ method: "tools/list", ...params }, pageSchema, options);
    const { tools = [], nextCursor } = page ?? {};
    const isRepeated = nextCursor === cursor && JSON.stringify(tools) === previous;
    if (!isRepeated) items.push(...tools);
    if (items.length > maxTools || nextCursor === undefined || nextCursor === cursor) break;
    cursor = nextCursor;
    previous = JSON.stringify(tools);
  }
  return await checkedList(server, items);
}

/** The items that are tools as the protocol defines them, and those that are not. */
async function checkedList(server: string, items: readonly unknown[]): Promise<ToolList> {
  if (items.length > maxTools) throw tooManyTools(server, items.length);
  const { specTypeSchemas } = await loadSdk(
    "@modelcontextprotocol/client",
    () => import("@modelcontextprotocol/client"),
  );
  const tools: McpTool[] = [];
  const skipped: SkippedTool[] = [];
  for (const [index, item] of items.entries()) {
    const skip = (problem: string): void =>
      void skipped.push({ name: nameOf(item, index), reason: reasonOf(problem) });
    try {
      const { issues, ...checked } = specTypeSchemas.Tool["~standard"].validate(item);
      const [{ message, path = [] } = { message: "" }] = issues ?? [];
      const keys = path.map((part) => String(typeof part === "object" ? part.key : part));
      if ("value" in checked) tools.push(checked.value);
      else skip(`${keys.join(".")}: ${message}`);
    } catch (error) {
      skip(errorText(error));
    }
  }
  return { tools, skipped };
}

const nameOf = (item: unknown, index: number): string => {
  const name = isJsonObject(item) ? item["name"] : undefined;
  return typeof name === "string" ? name : `tools[${index}]`;
};

const reasonOf = (problem: string): string =>
  truncated(`It does not follow the protocol: ${problem}.`, maxReasonLength);

const tooManyPages = (server: string): McpError =>
  new McpError("too-many-tools", `The MCP server ${server} lists its tools on more than ${maxPages} pages.`);

/** The error of a server with more tools than an agent may have. */
export const tooManyTools = (server: string, count: number): McpError =>
  new McpError("too-many-tools", `The MCP server ${server} lists ${count} tools; the limit is ${maxTools}.`);
