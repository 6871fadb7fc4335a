import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { inspectorFile, inspectorOfServer } from "@moora/inspector";
import { describe, expect, it } from "vitest";
import { hashToLink, linkToHash } from "../src/app/page-data.ts";
import { exportOf } from "./support.ts";

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

describe("the page", () => {
  it("is at most 300 KB gzipped, and allows its own script and style and nothing else", async () => {
    const { html, contentSecurityPolicy } = await inspectorFile();
    expect(gzipSync(html).length).toBeLessThan(300_000);
    const [, script = ""] = /<script>(.*)<\/script><\/body>/s.exec(html) ?? [];
    const [, style = ""] = /<style>(.*)<\/style>/s.exec(html) ?? [];
    expect(contentSecurityPolicy).toBe(
      `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}; worker-src blob:; img-src data:; connect-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(html.includes(contentSecurityPolicy.replace("; frame-ancestors 'none'", ""))).toBe(true);
  });

  it("refuses an unknown option", async () => {
    const options = Object.assign(JSON.parse("{}"), { problm: "The file is damaged." });
    await expect(inspectorFile("", options)).rejects.toThrow('Unknown option "problm" of inspectorFile.');
  });

  it("of a server connects to its own origin", async () => {
    const { html, contentSecurityPolicy } = await inspectorOfServer();
    expect(contentSecurityPolicy).toContain("connect-src 'self';");
    expect(html.includes('data-live="true"')).toBe(true);
    expect(html.includes('id="moora-log"')).toBe(false);
  });

  it("contains a session whose texts cannot end its element", async () => {
    const exported = exportOf("twenty-steps").replace("twenty", "</script><!--<script>");
    const { html } = await inspectorFile(exported);
    const [, log = ""] = /<script type="application\/jsonl" id="moora-log">(.*?)<\/script>/s.exec(html) ?? [];
    expect(log).not.toContain("<");
    const parsed = (text: string): unknown =>
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    expect(parsed(log)).toEqual(parsed(exported));
  });
});

describe("a link", () => {
  it("names a session, a record and a panel, and anything else is ignored", () => {
    const link = { session: "a b&c=1", at: 12, tab: "state", isChat: false };
    expect(hashToLink(linkToHash(link))).toEqual(link);
    expect(hashToLink("#at=-1&x=2")).toEqual({
      session: undefined,
      at: undefined,
      tab: undefined,
      isChat: false,
    });
    expect(linkToHash({ session: undefined, at: 3, tab: undefined, isChat: false })).toBe("#at=3");
  });
});
