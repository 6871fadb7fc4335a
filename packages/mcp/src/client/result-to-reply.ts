import { canonicalJson } from "@moora/agent";
import { toolReply, type ToolReply } from "@moora/agent-core-effects";
import { isObject, truncated } from "@moora/agent-core-effects/internal";
import { textToJson } from "@moora/llm/internal";
import { McpError } from "../mcp-error.ts";
import type { ReceivedCheck } from "./received-schema.ts";

/** What a block of a result becomes: text for the model, or a file. */
interface ReadBlock {
  readonly text?: string;
  readonly file?: NonNullable<ToolReply["files"]>[number];
}

/**
 * The reply of a tool for the result of a call. Text stays text, images, audio and other binary content become files with data
 * URLs, links and embedded resources become text. Structured content is added as JSON if no text contains it already.
 * Throws `McpError` for a result that does not follow the protocol or the output schema of its tool, which `checkOutput` checks.
 */
export function resultToReply(tool: string, result: unknown, checkOutput: ReceivedCheck): ToolReply {
  if (!isObject(result) || !Array.isArray(result["content"] ?? []))
    throw invalid(tool, "it is not the result of a call");
  const problem =
    result["isError"] === true ? undefined : outputProblem(result["structuredContent"], checkOutput);
  if (problem !== undefined) throw invalid(tool, problem);
  const blocks: readonly unknown[] = Array.isArray(result["content"]) ? result["content"] : [];
  const read = blocks.map((block) => readBlock(tool, block));
  const texts = read.flatMap(({ text }) => (text === undefined ? [] : [text]));
  const structured = structuredText(result["structuredContent"], texts);
  const content = [...texts, ...(structured === undefined ? [] : [structured])].join("\n");
  if (result["isError"] === true)
    return toolReply({ content: content === "" ? `The tool ${tool} failed.` : content, isError: true });
  const files = read.flatMap(({ file }) => (file === undefined ? [] : [file]));
  return toolReply({ content, ...(files.length === 0 ? {} : { files }) });
}

/** The maximum length of what a check finds, which quotes the names of a server. */
const maxProblemLength = 1_000;

/** Why structured content does not fit the output schema; undefined if it fits. */
function outputProblem(structured: unknown, check: ReceivedCheck): string | undefined {
  const found = check(structured ?? null);
  if (found.ok) return undefined;
  if (structured === undefined)
    return "it has no structured content, which the output schema of the tool promises";
  const problem = truncated(found.problem.replace(/\.$/, ""), maxProblemLength);
  return `its structured content does not fit the output schema of the tool: ${problem}`;
}

function readBlock(tool: string, block: unknown): ReadBlock {
  if (!isObject(block)) throw invalid(tool, "a block of its content is not an object");
  switch (block["type"]) {
    case "text":
      return { text: String(block["text"]) };
    case "image":
    case "audio":
      return binaryBlock(tool, block["data"], block["mimeType"], undefined);
    case "resource_link":
      return { text: `${String(block["name"])}: ${String(block["uri"])}` };
    case "resource":
      return resourceBlock(tool, block["resource"]);
    default:
      return { text: `(content of the unknown type ${String(block["type"]).slice(0, 60)})` };
  }
}

function resourceBlock(tool: string, resource: unknown): ReadBlock {
  if (!isObject(resource)) throw invalid(tool, "a resource of its content is not an object");
  const { text, blob, mimeType, uri } = resource;
  return typeof text === "string" ? { text } : binaryBlock(tool, blob, mimeType, String(uri));
}

/** A file of a data URL. Its media type is one without parameters, so that it ends where it should. */
function binaryBlock(tool: string, data: unknown, mimeType: unknown, name: string | undefined): ReadBlock {
  // Many encoders break lines.
  const base64 = typeof data === "string" ? data.replaceAll(/\s+/g, "") : "?";
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw invalid(tool, "binary content of it is not base64");
  const isPlain = typeof mimeType === "string" && /^[\w.+-]+\/[\w.+-]+$/.test(mimeType);
  const mediaType = isPlain ? mimeType : "application/octet-stream";
  const url = `data:${mediaType};base64,${base64}`;
  return { file: { mediaType, url, ...(name === undefined ? {} : { name }) } };
}

/**
 * The JSON text of the fields of structured content that no text contains: as its JSON, or as the same string. Undefined if there are none,
 * as for the many servers that send a result as text and as structured content.
 */
function structuredText(structured: unknown, texts: readonly string[]): string | undefined {
  if (structured === undefined) return undefined;
  const inTexts = new Set(
    [...texts, texts.join("\n")].flatMap((text) => [
      canonicalJson(text),
      canonicalJson(textToJson(text) ?? text),
    ]),
  );
  const isInText = (value: unknown): boolean =>
    inTexts.has(canonicalJson(value)) || (Array.isArray(value) && value.length > 0 && value.every(isInText));
  if (isInText(structured)) return undefined;
  if (!isObject(structured)) return JSON.stringify(structured);
  const rest = Object.entries(structured).filter(([, value]) => !isInText(value));
  return rest.length === 0 ? undefined : JSON.stringify(Object.fromEntries(rest));
}

const invalid = (tool: string, problem: string): McpError =>
  new McpError(
    "invalid-result",
    `The result of the MCP tool ${tool} is invalid: ${problem}. The call ran and may have had its effect.`,
  );
