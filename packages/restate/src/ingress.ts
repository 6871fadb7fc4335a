import { MooraError } from "@moora/agent-core-effects";
import { byteLength } from "./byte-length.ts";
import { longestMessageBytes } from "./message-limits.ts";

/** Restate did not handle a call. `status` is that of HTTP. */
export class RestateFailure extends MooraError {
  override readonly name = "RestateFailure";
  readonly code = "RestateFailure";
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }

  protected override about(): Readonly<Record<string, unknown>> {
    return { status: this.status };
  }
}

/** Calls a handler of a session and resolves with its JSON. Rejects with `RestateFailure`, and as `fetch` does, also for a signal. */
export async function callSession(
  ingressUrl: string,
  target: { readonly service: string; readonly id: string; readonly handler: string },
  body: unknown,
  signal?: AbortSignal,
): Promise<unknown> {
  const { service, id, handler } = target;
  const path = [service, encodeURIComponent(id), handler].join("/");
  const json = JSON.stringify(body);
  if (byteLength(json) > longestMessageBytes) {
    const message = `The body of ${path} is longer than ${longestMessageBytes} bytes, the limit of a call.`;
    throw new RestateFailure(message, 413);
  }
  const response = await fetch(`${ingressUrl.replace(/\/+$/, "")}/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: json,
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  if (!response.ok)
    throw new RestateFailure(`Restate answered ${path} with ${response.status}: ${text}`, response.status);
  return JSON.parse(text);
}
