import { MooraError } from "@moora/agent-core-effects";
import { byteLength, longestMessageBytes } from "./message-limits.ts";
import { serviceNames } from "./options.ts";
import type { SessionHandlers } from "./session-handlers.ts";

/** Restate did not handle a call. `status` is that of HTTP; undefined if it did not answer, or with a text that is not JSON. */
export class RestateFailure extends MooraError {
  override readonly name = "RestateFailure";
  readonly code = "RestateFailure";
  readonly status: number | undefined;

  constructor(message: string, status?: number, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }

  protected override about(): Readonly<Record<string, unknown>> {
    return this.status === undefined ? {} : { status: this.status };
  }
}

/** Calls a handler of a session and resolves with its answer. Rejects with `RestateFailure`, and with the reason of an aborted signal. */
export type SessionCall = <Name extends keyof SessionHandlers>(
  id: string,
  handler: Name,
  body: Parameters<SessionHandlers[Name]>[1] | null,
  signal?: AbortSignal,
) => Promise<Awaited<ReturnType<SessionHandlers[Name]>>>;

/** Calls the objects of the sessions of an agent. Throws `BuildError` for an agent whose name is not the name of a service. */
export function sessionCall(ingressUrl: string, agent: string): SessionCall {
  const { session: service } = serviceNames(agent);
  return async (id, handler, body, signal) => {
    const path = [service, encodeURIComponent(id), handler].join("/");
    const json = JSON.stringify(body);
    if (byteLength(json) > longestMessageBytes) {
      const message = `The body of ${path} is longer than ${longestMessageBytes} bytes, the limit of a call.`;
      throw new RestateFailure(message, 413);
    }
    const { ok, status, text } = await post(ingressUrl, path, json, signal);
    if (!ok) throw new RestateFailure(`Restate answered ${path} with ${status}: ${text}`, status);
    try {
      return JSON.parse(text);
    } catch (cause) {
      const message = `The answer of ${originOf(ingressUrl)} to ${path} is not JSON: check ingressUrl.`;
      throw new RestateFailure(message, undefined, { cause });
    }
  };
}

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

async function post(ingressUrl: string, path: string, body: string, signal?: AbortSignal): Promise<Answer> {
  try {
    const response = await fetch(`${ingressUrl.replace(/\/+$/, "")}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      ...(signal === undefined ? {} : { signal }),
    });
    const { ok, status } = response;
    return { ok, status, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    const message = `Restate at ${originOf(ingressUrl)} did not answer ${path}: ${reasonOf(cause)}`;
    throw new RestateFailure(message, undefined, { cause });
  }
}

/** The address without a path, which may contain a key. */
const originOf = (url: string): string => new URL(url).origin;

/** What a failed `fetch` is about: its own message is always the same. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code: unknown = Reflect.get(Object(cause), "code");
  const message = cause instanceof Error && cause.message !== "" ? cause.message : String(code ?? cause);
  return message.endsWith(".") ? message : `${message}.`;
}
