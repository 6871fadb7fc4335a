import { TextDecoder } from "node:util";
import { truncated } from "@moora/agent-core-effects/internal";
import { isBinary } from "../files/file-text.ts";
import { notFetched } from "../refused.ts";
import { getPage, type GetOptions, type Page } from "./get-page.ts";
import { htmlToText } from "./html-to-text.ts";

/** A web page as the model reads it. */
export interface ReadPage {
  readonly text: string;
  /** Whether the server answered with an error (a status of 400 or above). */
  readonly isError: boolean;
}

const maxBytes = 2_000_000;
const maxLength = 40_000;

/** Fetches a page and extracts its text. Rejects with `Refused`, or with the error of the connection. */
export async function readPage(address: string, options: Omit<GetOptions, "maxBytes">): Promise<ReadPage> {
  const page = await getPage(address, { ...options, maxBytes });
  return { text: pageToText(page), isError: page.status >= 400 };
}

function pageToText({ url, status, type, charset, body, isCut }: Page): string {
  const head = `${url.href} answered ${status}`;
  if (body.length === 0) return `${head} without content.`;
  if (!isText(type) || isBinary(body.subarray(0, 8_192)))
    throw notFetched(`${url.href} is not text: its type is ${type.slice(0, 80) || "unknown"}.`);
  const text = decoderOf(charset).decode(body);
  const mark = isCut ? `\n[cut: only the first ${maxBytes} bytes were read]` : "";
  const isHtml = type === "text/html" || type === "application/xhtml+xml";
  const page = isHtml ? htmlToText(text, url) : { title: "", text };
  const title = page.title === "" ? "" : `\nTitle: ${page.title}`;
  return `${head}:${title}\n\n${truncated(page.text, maxLength)}${mark}`;
}

const isText = (type: string): boolean =>
  type === "" ||
  /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|javascript)$|^application\/xhtml/.test(type);

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset || "utf-8");
  } catch {
    return new TextDecoder("utf-8");
  }
}
