import type { Json, JsonObject, LlmTool } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/internal";
import { objectOf, type PastCall, type Progress } from "./progress.ts";
import type { Step } from "./request-to-steps.ts";

/** The most tools that are listed, lines that a result is quoted with, and characters of a line. */
const maxListed = 20;
const maxLines = 12;
const maxLineLength = 300;

/** The answer to a request, from the results of its calls only. */
export function answerTo(steps: readonly Step[], progress: Progress, tools: readonly LlmTool[]): string {
  if (steps.length === 0 && progress.calls.length === 0)
    return progress.summary === "" ? nothingFits(tools) : progress.summary;
  const asked = steps.map((step, index) => stepAnswer(step, index, progress));
  const others = progress.calls.filter(({ step }) => step === undefined).map(resultToText);
  return [...others, ...asked].join("\n\n");
}

function stepAnswer({ tool, text, missing }: Step, index: number, { calls }: Progress): string {
  const call = calls.findLast(({ step }) => step === index);
  if (call !== undefined) return resultToText(call);
  const asked = `"${text.slice(0, 200).toWellFormed()}"`;
  return missing.length === 0
    ? `I did not get to ${asked}.`
    : `For ${asked} I would call ${tool.name}, but its ${missing.join(" and ")} is missing.`;
}

function nothingFits(tools: readonly LlmTool[]): string {
  const what =
    "I am the planner that comes with Moora, not a language model: I call the tools that a request names";
  if (tools.length === 0) return `${what}, and I have no tools here.`;
  const listed = tools.slice(0, maxListed).map(({ name, description }) => {
    const [first = ""] = description.split(/(?<=[.!?])\s|[:(]\s/);
    return `- ${name}: ${first}`;
  });
  const rest = tools.length > maxListed ? [`- and ${tools.length - maxListed} more`] : [];
  return [`${what}. None of them matches this request. I have:`, ...listed, ...rest].join("\n");
}

/** The quoted result of a call: one line as a sentence, several lines below a heading. */
function resultToText({ name, values, isError, content }: PastCall): string {
  const given = Object.values(values).map(plain).join(", ").slice(0, 120).toWellFormed();
  const title = given === "" ? name : `${name} (${given})`;
  const lines = linesOf(content);
  const [only = "(no output)"] = lines;
  if (isError) return `${title} failed: ${sentence(only)}`;
  if (lines.length <= 1) return `According to ${name}: ${sentence(only)}`;
  const rest = lines.length > maxLines ? [`... and ${lines.length - maxLines} more lines.`] : [];
  return [`${title} says:`, ...lines.slice(0, maxLines).map((line) => `> ${line}`), ...rest].join("\n");
}

/** JSON as lines of names and values, other text unchanged. */
function linesOf(content: string): readonly string[] {
  const json = textToJson(content);
  const lines = isJsonObject(json)
    ? [plain(json)]
    : Array.isArray(json)
      ? json.map(plain)
      : content.split("\n");
  return lines.flatMap((line) => {
    const text = line.trimEnd();
    if (text === "") return [];
    return [text.length <= maxLineLength ? text : `${text.slice(0, maxLineLength).toWellFormed()} ...`];
  });
}

function plain(value: Json): string {
  if (typeof value === "string") return value;
  if (!isJsonObject(value)) return JSON.stringify(value);
  return Object.entries(value)
    .map(([key, field]) => `${key}: ${typeof field === "string" ? field : JSON.stringify(field)}`)
    .join(", ");
}

const sentence = (text: string): string => (/[.!?:)\]]$/.test(text) ? text : `${text}.`);

/** Names of fields that can contain the answer as text. */
const inWords = new Set(["answer", "text", "summary", "result", "message", "content", "reply"]);

/** The answer as JSON for a schema: what results have under the names of its fields. Undefined if a required field has no value. */
export function answerJson(
  { properties, required }: JsonObject,
  { calls }: Progress,
  answer: string,
): string | undefined {
  const found: JsonObject = Object.assign({}, ...calls.map(({ content }) => objectOf(content)));
  const values = Object.keys(isJsonObject(properties) ? properties : {}).flatMap((name) => {
    if (Object.hasOwn(found, name)) return [[name, found[name]] as const];
    return inWords.has(name) ? [[name, answer] as const] : [];
  });
  const given = new Set(values.map(([name]) => name));
  const needed = Array.isArray(required) ? required : [];
  return needed.every((name) => given.has(String(name)))
    ? JSON.stringify(Object.fromEntries(values))
    : undefined;
}
