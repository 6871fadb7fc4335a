/**
 * A server over standard input and output that misbehaves: written against the bare protocol, since a library would not do what
 * it does. The first argument is JSON: the lists of tools, one for each change of them, the last one for all later ones. With a
 * second argument, every page of the list has another page after it.
 */
import { createInterface } from "node:readline";

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly _meta?: { readonly progressToken?: number } };
}

const lists: readonly (readonly { readonly name: string }[])[] = JSON.parse(process.argv[2] ?? "[[]]");
const isEndless = process.argv[3] !== undefined;
let changes = 0;
let pages = 0;
let calls = 0;

const send = (message: object): void =>
  void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const text = (content: string): object => ({ content: [{ type: "text", text: content }] });

const behaviors: Readonly<Record<string, (id: number, message: Message) => void>> = {
  count: (id) => send({ id, result: text(`call ${calls} of this process`) }),
  die: () => process.exit(1),
  hang: () => undefined,
  empty: (id) => send({ id, result: {} }),
  huge: (id) => send({ id, result: text("x".repeat(50 * 1024 * 1024)) }),
  large: (id) => send({ id, result: text("x".repeat(3_000)) }),
  noise: (id) => {
    process.stdout.write("this is not JSON\n");
    send({ id: 987_654, result: text("an answer that was not asked for") });
    send({ id, result: text("after the noise") });
  },
  "not-base64": (id) =>
    send({ id, result: { content: [{ type: "image", data: "not base64, ok?", mimeType: "image/png" }] } }),
  "odd-media-type": (id) =>
    send({
      id,
      result: { content: [{ type: "image", data: "AAAA", mimeType: "text/html,<script>;x=" }] },
    }),
  "not-a-result": (id) => send({ id, result: { content: "none" } }),
  "not-as-promised": (id) => send({ id, result: { content: [], structuredContent: { sum: "three" } } }),
  refuse: (id) => send({ id, error: { code: -32_000, message: "not today" } }),
  flood: (id, { params }) => {
    // oxlint-disable-next-line no-underscore-dangle -- the name of the protocol
    const progressToken = params?._meta?.progressToken;
    for (let progress = 1; progress <= 1_000; progress += 1) {
      send({
        method: "notifications/progress",
        params: { progressToken, progress, message: "x".repeat(5_000) },
      });
    }
    send({ id, result: text("flooded") });
  },
  change: (id) => {
    changes += 1;
    send({ method: "notifications/tools/list_changed" });
    send({ id, result: text("changed") });
  },
};

function answer(message: Message): void {
  const { id, method, params } = message;
  if (id === undefined) return;
  if (method === "initialize") {
    const serverInfo = { name: "hostile", version: "1" };
    send({
      id,
      result: { protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true } }, serverInfo },
    });
  } else if (method === "tools/list") {
    const tools = lists[Math.min(changes, lists.length - 1)];
    pages += 1;
    send({ id, result: { tools, ...(isEndless ? { nextCursor: `page ${pages}` } : {}) } });
  } else if (method === "tools/call") {
    calls += 1;
    (behaviors[params?.name ?? ""] ?? behaviors["count"])?.(id, message);
  } else send({ id, error: { code: -32_601, message: "Method not found" } });
}

createInterface({ input: process.stdin }).on("line", (line) => answer(JSON.parse(line)));
