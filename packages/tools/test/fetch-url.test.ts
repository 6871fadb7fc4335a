import { createServer, type RequestListener, type Server } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { ToolOutcome } from "@moora/agent-core-effects";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fetchUrlTool, type FetchUrlOptions } from "../src/fetch-url.ts";
import { runTool, textOf } from "./run-tool.ts";

/** What the front server does; the sentinel only counts who connects to it. */
let answer: RequestListener = (_, response) => response.end();
let connections = 0;
const front = createServer((request, response) => answer(request, response));
const sentinel = createServer((_, response) => response.end("canary"));
sentinel.on("connection", () => (connections += 1));
let port = 0;
let closed = 0;

const frontAddress = "127.0.0.2";

beforeAll(async () => {
  port = await listening(front, frontAddress);
  closed = await listening(sentinel, "0.0.0.0");
});
afterAll(() => {
  for (const server of [front, sentinel]) {
    server.close();
    server.closeAllConnections();
  }
});
beforeEach(() => (connections = 0));

const fetched = async (url: string, options: FetchUrlOptions = {}): Promise<ToolOutcome> =>
  await runTool(fetchUrlTool(options), { url });

/** Rules under which the front server is the only public host of the world. */
const world: FetchUrlOptions = {
  isAllowed: (address) => address === frontAddress,
  resolve: (name) => Promise.resolve([name === "front.test" ? frontAddress : "127.0.0.1"]),
};

const fromFront = async (listener: RequestListener, options: FetchUrlOptions = {}): Promise<ToolOutcome> => {
  answer = listener;
  return await fetched(`http://front.test:${port}/page`, { ...world, ...options });
};

describe("(M07) the SSRF set: no connection to a host that is not public", () => {
  it.each([
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://127\u30020\u30020\u30021:PORT/",
    "http://\u2460\u2461\u2466.0.0.1:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://public.test@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT#@public.test/",
    "http:\\\\127.0.0.1:PORT\\",
    "https://127.0.0.1:PORT/",
  ])("%s", async (url) => {
    const outcome = await fetched(url.replace("PORT", String(closed)));
    expect(outcome.isSuccess).toBe(false);
    expect(textOf(outcome)).toMatch(/not on the public internet|user name or password|no URL/);
    expect(connections).toBe(0);
  });

  it.each(["http://169.254.169.254/latest/meta-data/", "http://[fd00:ec2::254]/", "http://168.63.129.16/"])(
    "the metadata service at %s",
    async (url) => {
      expect(textOf(await fetched(url))).toContain("is not on the public internet");
    },
  );

  it("a name that resolves to this machine, alone or among other addresses", async () => {
    for (const addresses of [["127.0.0.1"], ["1.1.1.1", "127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"]]) {
      const outcome = await fetched(`http://public.test:${closed}/`, {
        resolve: () => Promise.resolve(addresses),
      });
      expect(textOf(outcome)).toBe(
        "public.test is not on the public internet; only public addresses are fetched.",
      );
    }
    expect(connections).toBe(0);
  });

  it.each([
    (sentinelPort: number) => `http://127.0.0.1:${sentinelPort}/`,
    (sentinelPort: number) => `http://[::1]:${sentinelPort}/`,
    (sentinelPort: number) => `http://other.test:${sentinelPort}/`,
    (sentinelPort: number) => `//127.0.0.1:${sentinelPort}/`,
    (sentinelPort: number) => `http://a:b@front.test:${sentinelPort}/`,
  ])("a redirect to this machine: %s", async (target) => {
    const outcome = await fromFront((_, response) =>
      response.writeHead(302, { location: target(closed) }).end(),
    );
    expect(textOf(outcome)).toMatch(/is not on the public internet|user name or password/);
    expect(connections).toBe(0);
  });

  it("a redirect to another protocol", async () => {
    const outcome = await fromFront((_, response) =>
      response.writeHead(301, { location: "file:///etc/passwd" }).end(),
    );
    expect(textOf(outcome)).toBe("Only http and https are fetched, not file:");
  });

  it("a name that resolves differently the second time: each connection uses the addresses that were checked", async () => {
    let resolved = 0;
    const resolve = (): Promise<readonly string[]> =>
      Promise.resolve([(resolved += 1) === 1 ? frontAddress : "127.0.0.1"]);
    const once = await fromFront((_, response) => response.end("the page"), { resolve });
    expect(textOf(once)).toContain("the page");
    expect(resolved).toBe(1);

    resolved = 0;
    const twice = await fromFront(
      (_, response) => response.writeHead(307, { location: `http://front.test:${closed}/` }).end(),
      { resolve },
    );
    expect(resolved).toBe(2);
    expect(textOf(twice)).toContain("front.test is not on the public internet");
    expect(connections).toBe(0);
  });

  it.each([
    "file:///etc/passwd",
    "ftp://front.test/",
    "data:text/plain,x",
    "gopher://front.test/",
    "javascript:1",
  ])("%s is not fetched", async (url) => {
    expect(textOf(await fetched(url, world))).toContain("Only http and https are fetched");
  });

  it("the sentinel counts connections that are allowed", async () => {
    await fetch(`http://127.0.0.1:${closed}/`);
    expect(connections).toBe(1);
  });
});

describe("pages", () => {
  it("HTML is returned as text, with its title and its address", async () => {
    const outcome = await fromFront((_, response) =>
      response
        .setHeader("content-type", "text/html; charset=utf-8")
        .end("<title>T</title><p>caf\u00e9 <a href=/x>x</a>"),
    );
    expect(outcome).toEqual({
      isSuccess: true,
      content: `http://front.test:${port}/page answered 200:\nTitle: T\n\ncaf\u00e9 [x](http://front.test:${port}/x)`,
    });
  });

  it("follows a redirect, but not a loop", async () => {
    const outcome = await fromFront((request, response) => {
      if (request.url === "/page") response.writeHead(302, { location: "/there" }).end();
      else response.setHeader("content-type", "text/plain").end("arrived");
    });
    expect(textOf(outcome)).toBe(`http://front.test:${port}/there answered 200:\n\narrived`);
    const loop = await fromFront((_, response) => response.writeHead(302, { location: "/page" }).end());
    expect(textOf(loop)).toContain("redirects more than 5 times");
  });

  it("in the charset that the server names", async () => {
    const outcome = await fromFront((_, response) =>
      response
        .setHeader("content-type", "text/plain; charset=iso-8859-1")
        .end(Buffer.from("caf\xe9", "latin1")),
    );
    expect(textOf(outcome)).toContain("caf\u00e9");
  });

  it.each([
    ["gzip", gzipSync("packed text")],
    ["br", brotliCompressSync("packed text")],
    ["deflate", deflateSync("packed text")],
  ])("packed by %s", async (encoding, body) => {
    const outcome = await fromFront((_, response) =>
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": encoding }).end(body),
    );
    expect(textOf(outcome)).toContain("packed text");
  });

  it("an error status is an error with the body of the response", async () => {
    const outcome = await fromFront((_, response) =>
      response.writeHead(404, { "content-type": "text/plain" }).end("no such page"),
    );
    expect(outcome).toMatchObject({ isSuccess: false });
    expect(textOf(outcome)).toContain("answered 404:\n\nno such page");
  });

  it.each(["image/png", "application/octet-stream", "application/pdf", "video/mp4"])(
    "%s is not shown",
    async (type) => {
      const outcome = await fromFront((_, response) => response.setHeader("content-type", type).end("bytes"));
      expect(textOf(outcome)).toContain(`is not text: its type is ${type}`);
    },
  );

  it("binary data with a text type is not returned", async () => {
    const outcome = await fromFront((_, response) =>
      response.setHeader("content-type", "text/plain").end(Buffer.from([1, 0, 2])),
    );
    expect(textOf(outcome)).toContain("is not text");
  });
});

describe("limits", () => {
  it("a long page is cut, compressed or not", async () => {
    for (const encoding of ["identity", "gzip"]) {
      const body = Buffer.alloc(30_000_000, "a");
      const outcome = await fromFront((_, response) =>
        response
          .writeHead(200, { "content-type": "text/plain", "content-encoding": encoding })
          .end(encoding === "gzip" ? gzipSync(body) : body),
      );
      expect(textOf(outcome)).toContain("[cut: only the first 2000000 bytes were read]");
      expect(textOf(outcome).length).toBeLessThan(41_000);
    }
  });

  it("a server that sends nothing, or never ends, times out", async () => {
    const silent = await fromFront(() => undefined, { timeoutMs: 40 });
    expect(textOf(silent)).toBe("The page did not arrive within 40 ms.");
    const endless = await fromFront(
      (_, response) => void response.setHeader("content-type", "text/plain").write("begin"),
      { timeoutMs: 40 },
    );
    expect(textOf(endless)).toBe("The page did not arrive within 40 ms.");
  });

  it("a canceled call ends", async () => {
    const cancel = new AbortController();
    answer = () => cancel.abort();
    const outcome = await runTool(fetchUrlTool(world), { url: `http://front.test:${port}/` }, cancel.signal);
    expect(textOf(outcome)).toBe("Canceled.");
  });

  it("a broken connection and an invalid compressed body are short errors", async () => {
    const broken = await fromFront((request) => void request.socket.destroy());
    expect(textOf(broken)).toBe("The page could not be fetched (ECONNRESET).");
    const garbage = await fromFront((_, response) =>
      response.writeHead(200, { "content-type": "text/plain", "content-encoding": "gzip" }).end("no gzip"),
    );
    expect(textOf(garbage)).toBe("The page could not be fetched (Z_DATA_ERROR).");
  });

  it("sends nothing of the environment along", async () => {
    let headers: NodeJS.Dict<string | string[]> = {};
    await fromFront((request, response) => {
      ({ headers } = request);
      response.end("x");
    });
    expect(Object.keys(headers).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "connection",
      "host",
      "user-agent",
    ]);
  });

  it("is declared as medium risk", () => {
    expect(fetchUrlTool().definition).toMatchObject({ risk: "medium", replay: "safe" });
    expect(fetchUrlTool().definition.approval).toBeUndefined();
  });
});

async function listening(server: Server, host: string): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
