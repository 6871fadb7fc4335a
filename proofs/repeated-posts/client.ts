import type { Cluster } from "./cluster.ts";

/** The result of a post, as far as its client compares it. */
export interface PostResult {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a request to one server after the other until one answers, as a client does that lost its connection. */
export async function sendTo(
  cluster: Cluster,
  path: string,
  { body, key }: { readonly body?: unknown; readonly key?: string } = {},
): Promise<PostResult> {
  for (;;) {
    const response = await attempt(`${cluster.url()}${path}`, body, key);
    if (response !== undefined && response.status < 500) return response;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Sends the same post several times at the same moment, to different servers. */
export const sendAtOnce = (
  cluster: Cluster,
  path: string,
  post: { readonly body: unknown; readonly key: string },
): Promise<readonly PostResult[]> => Promise.all([1, 2, 3].map(() => sendTo(cluster, path, post)));

/** Undefined if the connection was lost. */
async function attempt(url: string, body: unknown, key?: string): Promise<PostResult | undefined> {
  try {
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: fieldsOf(await response.json()) };
  } catch {
    return undefined;
  }
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};
