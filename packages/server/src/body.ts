import type { Clock } from "@moora/agent";
import { lostNumber, repeatedKey } from "@moora/agent-core-effects/internal";
import type * as z from "zod/mini";
import { acceptedForm } from "./accepted-form.ts";
import { HttpProblem } from "./problem.ts";
import type { ServerLimits } from "./server-options.ts";

/** The most levels of arrays and objects in a body. */
const maxDepth = 200;

interface BodyOptions {
  readonly clock: Clock;
  readonly limits: Pick<ServerLimits, "maxBodyBytes" | "bodyTimeoutMs">;
}

/** Reads the JSON body of a request and checks it. Throws `HttpProblem`; its text never repeats the body. */
export async function readBody<Schema extends z.ZodMiniType>(
  request: Request,
  schema: Schema,
  options: BodyOptions,
): Promise<z.infer<Schema>> {
  return checkedBody(await readJson(request, options), schema);
}

/** Reads a body that may be missing, which is {} then. Throws as `readBody` does. */
export async function readOptionalBody<Schema extends z.ZodMiniType>(
  request: Request,
  schema: Schema,
  options: BodyOptions,
): Promise<z.infer<Schema>> {
  const text = await readText(request, options);
  if (text === "") return checkedBody({}, schema);
  checkType(request);
  return checkedBody(textToJson(text), schema);
}

function checkedBody<Schema extends z.ZodMiniType>(value: unknown, schema: Schema): z.infer<Schema> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = issue?.path ?? [];
  const detail = `The body does not have the expected form.${problemOf(issue)} ${acceptedForm(schema, path)}`;
  throw new HttpProblem("invalid-request", detail, { path: path.map(String).join(".") });
}

function problemOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === "unrecognized_keys") return " It has a field that is not known.";
  if (issue?.code === "too_big" && issue.origin === "array")
    return ` The field has more than ${issue.maximum} items.`;
  return "";
}

/** Reads a JSON body of any form. Throws `HttpProblem`. */
export async function readJson(request: Request, options: BodyOptions): Promise<unknown> {
  checkType(request);
  return textToJson(await readText(request, options));
}

function checkType({ headers }: Request): void {
  const type = headers.get("content-type") ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new HttpProblem("unsupported-media-type", "The body must be application/json.");
}

function textToJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new HttpProblem("invalid-request", "The body must be valid JSON.");
  }
  const lost = lostNumber(text);
  if (lost !== undefined) {
    const detail = "A number of the body has more digits than can be kept. Send it as a string.";
    throw new HttpProblem("invalid-request", detail, { path: lost.path });
  }
  if (repeatedKey(text) !== undefined)
    throw new HttpProblem("invalid-request", "An object of the body has a key twice.");
  if (isDeeperThan(value, maxDepth))
    throw new HttpProblem("invalid-request", `The body must have at most ${maxDepth} levels.`);
  // Before ids are computed from it: the log stores well-formed text only.
  return surrogateEscape.test(text) ? withWellFormedText(value) : value;
}

/** How JSON writes one half of a surrogate pair. UTF-8 has no such characters. */
const surrogateEscape = /\\u[dD][89a-fA-F]/;

/** A copy of a JSON value in which each lone surrogate is replaced by U+FFFD. */
function withWellFormedText(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(withWellFormedText);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key.toWellFormed(), withWellFormedText(field)]),
  );
}

async function readText({ body, headers }: Request, { clock, limits }: BodyOptions): Promise<string> {
  const { maxBodyBytes, bodyTimeoutMs } = limits;
  const tooLarge = (): HttpProblem =>
    new HttpProblem(
      "body-too-large",
      `The body must have at most ${maxBodyBytes} bytes (limits.maxBodyBytes of the server).`,
      closing,
    );
  if (Number(headers.get("content-length") ?? 0) > maxBodyBytes) throw tooLarge();
  if (body === null) return "";
  const reader = body.getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const late = Promise.withResolvers<never>();
  const cancelTimer = clock.after(bodyTimeoutMs, () => {
    late.reject(new HttpProblem("body-timeout", `The body must arrive within ${bodyTimeoutMs} ms.`, closing));
  });
  let length = 0;
  let text = "";
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), late.promise]);
      if (done) return text + decoder.decode();
      length += value.byteLength;
      if (length > maxBodyBytes) throw tooLarge();
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    // Not awaited: the client may never end its body.
    reader.cancel().catch(() => undefined);
    if (error instanceof HttpProblem) throw error;
    throw new HttpProblem("invalid-request", "The body must be valid UTF-8, and complete.", { cause: error });
  } finally {
    cancelTimer();
    late.promise.catch(() => undefined);
  }
}

/** The rest of a body that is refused is not read: the connection ends. */
const closing = { headers: { connection: "close" } } as const;

function isDeeperThan(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}
