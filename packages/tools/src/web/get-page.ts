import { Agent, request as requestHttp, type IncomingMessage } from "node:http";
import { Agent as SecureAgent, request as requestHttps } from "node:https";
import { pipeline, type Transform } from "node:stream";
import { createBrotliDecompress, createUnzip } from "node:zlib";
import { checkedLookup, checkHost, type AddressRules } from "./checked-lookup.ts";
import { notFetched } from "../refused.ts";

/** The response of a URL. `url` is the target of the last redirect. */
export interface Page {
  readonly url: URL;
  readonly status: number;
  /** The content type without parameters, in lower case; "" if the server sends none. */
  readonly type: string;
  readonly charset: string;
  readonly body: Buffer;
  /** Whether the body was longer than allowed. */
  readonly isCut: boolean;
}

export interface GetOptions extends AddressRules {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const maxRedirects = 5;

/** Fetches a page over HTTP or HTTPS; each redirect is checked like the first URL. Rejects with `Refused`. */
export async function getPage(address: string, options: GetOptions): Promise<Page> {
  let url = checkedUrl(address, undefined, options);
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const response = await responseOf(url, options);
    const location = redirectOf(response);
    if (location === undefined) return await pageOf(url, response, options);
    response.destroy();
    url = checkedUrl(location, url, options);
  }
  throw notFetched(`${address} redirects more than ${maxRedirects} times.`);
}

function checkedUrl(address: string, base: URL | undefined, rules: AddressRules): URL {
  const url = URL.parse(address, base?.href);
  if (url === null) throw notFetched("Invalid URL.");
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw notFetched(`Only http and https are fetched, not ${url.protocol}`);
  if (url.username !== "" || url.password !== "")
    throw notFetched("A URL with a user name or password is not fetched.");
  checkHost(url, rules);
  return url;
}

/** One connection for one request, without a proxy: a proxy would resolve the name again. */
function responseOf(url: URL, options: GetOptions): Promise<IncomingMessage> {
  const isSecure = url.protocol === "https:";
  const agent = isSecure ? new SecureAgent({ keepAlive: false }) : new Agent({ keepAlive: false });
  const headers = {
    accept: "text/html, text/*, application/json, application/xml;q=0.9, */*;q=0.1",
    "accept-encoding": "gzip, deflate, br",
    "user-agent": "moora (fetch_url)",
  };
  return new Promise((resolve, reject) => {
    const { signal } = options;
    const request = isSecure ? requestHttps : requestHttp;
    request(url, { agent, headers, signal, lookup: checkedLookup(options) }, resolve)
      .on("error", reject)
      .end();
  });
}

function redirectOf({ statusCode = 0, headers }: IncomingMessage): string | undefined {
  return [301, 302, 303, 307, 308].includes(statusCode) ? headers.location : undefined;
}

async function pageOf(url: URL, response: IncomingMessage, { maxBytes }: GetOptions): Promise<Page> {
  const header = response.headers["content-type"] ?? "";
  const chunks: Buffer[] = [];
  let left = maxBytes;
  let isCut = false;
  try {
    for await (const chunk of decoded(response)) {
      const bytes = Buffer.from(chunk);
      isCut = bytes.length > left;
      chunks.push(bytes.subarray(0, left));
      left -= bytes.length;
      if (isCut) break;
    }
  } finally {
    response.destroy();
  }
  return {
    url,
    status: response.statusCode ?? 0,
    type: (header.split(";")[0] ?? "").trim().toLowerCase(),
    charset: /charset="?([\w-]+)/i.exec(header)?.[1] ?? "",
    body: Buffer.concat(chunks),
    isCut,
  };
}

const decoders: Readonly<Record<string, (() => Transform) | undefined>> = {
  br: createBrotliDecompress,
  gzip: createUnzip,
  "x-gzip": createUnzip,
  deflate: createUnzip,
};

/** The decoded body. The size limit counts decoded bytes, so a compression bomb is stopped while it is decoded. */
function decoded(response: IncomingMessage): AsyncIterable<Uint8Array> {
  const encoding = (response.headers["content-encoding"] ?? "identity").toLowerCase();
  if (encoding === "identity" || encoding === "") return response;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (decoder === undefined) throw notFetched(`Unsupported content encoding: ${encoding.slice(0, 40)}.`);
  // An error of either is thrown to the reader.
  return pipeline(response, decoder(), () => undefined);
}
