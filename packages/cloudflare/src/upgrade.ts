import type { ObjectSocket } from "./platform.ts";
import { Problem } from "./problem.ts";

declare const WebSocketPair: new () => { readonly 0: unknown; readonly 1: ObjectSocket };

type Sockets = InstanceType<typeof WebSocketPair>;

/** The sockets of a request that asks for one. Throws `upgrade-required` for another. */
export function newSockets(request: Request): Sockets {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket")
    throw new Problem(426, "upgrade-required", "Connect with a WebSocket.");
  return new WebSocketPair();
}

/** The response that gives one of the sockets to the client. */
export function toUpgrade(pair: Sockets): Response {
  const init: ResponseInit & { readonly webSocket: unknown } = { status: 101, webSocket: pair[0] };
  return new Response(null, init);
}
