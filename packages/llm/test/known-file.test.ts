import type { LlmFile, LlmRequest } from "@moora/llm";
import { normalizeRequest, type FileLimits } from "@moora/llm/adapter";
import { describe, expect, it } from "vitest";

const base64 = (bytes: string): string => Buffer.from(bytes, "latin1").toString("base64");

const png = base64("\x89PNG\r\n\x1a\n....");
const jpeg = base64("\xff\xd8\xff\xe0....");
const gif = base64("GIF89a....");
const webp = base64("RIFF1234WEBPVP8 ");
const pdf = base64("%PDF-1.7\n");
const heic = base64("\0\0\0\x18ftypheic....");

function normalized(files: readonly LlmFile[], fileLimits: FileLimits = {}) {
  const warnings: string[] = [];
  const request: LlmRequest = {
    purpose: "plan",
    model: "m",
    system: "",
    messages: files.map((file) => ({ role: "user", content: [{ type: "file", file }] })),
    tools: [],
    toolChoice: "auto",
    parallelToolCalls: true,
    settings: {},
  };
  const { messages } = normalizeRequest(request, {
    origin: "",
    files: fileLimits,
    warn: (warning) => void warnings.push(warning),
  });
  const content = messages.flatMap((message) => (message.role === "user" ? message.content : []));
  return { content, warnings };
}

const typeOf = (mediaType: string, data: string): unknown => {
  const [piece] = normalized([{ mediaType, data }]).content;
  return piece?.type === "file" ? piece.file.mediaType : piece;
};

describe("a file of a request", () => {
  it.each([
    ["image/png", png, "image/png"],
    ["IMAGE/PNG", png, "image/png"],
    [" image/png ", png, "image/png"],
    ["image/png; charset=binary", png, "image/png"],
    ["image/jpg", jpeg, "image/jpeg"],
    ["image/pjpeg", jpeg, "image/jpeg"],
    ["image/jpeg", png, "image/png"],
    ["image/png", gif, "image/gif"],
    ["image/*", webp, "image/webp"],
    ["application/octet-stream", pdf, "application/pdf"],
    ["", png, "image/png"],
    ["image/jpeg", heic, "image/heic"],
    ["image/png", base64("II*\0...."), "image/tiff"],
    ["image/png", base64("BM............"), "image/bmp"],
    ["image/png", base64('<?xml version="1.0"?>\n<svg xmlns="a"/>'), "image/svg+xml"],
    ["image/png", base64("<html>404</html>"), "invalid image/png"],
    ["image/jpg", "?", "invalid image/jpeg"],
    ["application/pdf", base64("Not found"), "invalid application/pdf"],
    ["application/pdf", base64(`junk\n%PDF-1.4`), "application/pdf"],
    ["image/png", "", "empty image/png"],
    ["audio/wav", "", "empty audio/wav"],
    ["image/heic", heic, "image/heic"],
    ["image/x-own", base64("????"), "image/x-own"],
    ["Text/CSV", base64("BM,1,2,3,4,5,6,7"), "text/csv"],
    ["audio/wav", base64("RIFF1234WAVE"), "audio/wav"],
  ])("of the type %j has the type of its first bytes: %s is %s", (mediaType, data, type) => {
    expect(typeOf(mediaType, data)).toBe(type);
  });

  it("has base64 without white space and of the common alphabet", () => {
    const url = base64("\x89PNG\r\n\x1a\n\xfb\xff\xbf\xff").replaceAll("+", "-").replaceAll("/", "_");
    const lines = url.replaceAll(/(.{4})/g, "$1\r\n");
    const given = [
      { mediaType: "image/png", data: lines },
      { mediaType: "image/png", url: `data:image/png;base64,${lines}` },
    ];
    for (const piece of normalized(given).content)
      expect(piece).toMatchObject({ file: { data: base64("\x89PNG\r\n\x1a\n\xfb\xff\xbf\xff") } });
  });

  it("is its name where it is beyond a limit of the provider, the oldest first", () => {
    const file = (name: string, data = png): LlmFile => ({ mediaType: "image/png", name, data });
    const texts = (files: readonly LlmFile[], limits: FileLimits): readonly unknown[] =>
      normalized(files, limits).content.map((piece) => (piece.type === "text" ? piece.text : "file"));
    const files = [file("a"), file("b"), file("c")];
    const nameOf = (name: string): string => `(File not shown: ${name} (image/png).)`;
    expect(texts(files, { maxFiles: 2 })).toEqual([nameOf("a"), "file", "file"]);
    expect(texts(files, { maxTotalLength: 2 * png.length })).toEqual([nameOf("a"), "file", "file"]);
    const large = file("large", png + "AAAA");
    expect(texts([large, file("b")], { maxImageLength: png.length })).toEqual([nameOf("large"), "file"]);
    const text = { mediaType: "text/plain", name: "t", data: "aGk=" };
    expect(texts([text, text, file("a")], { maxFiles: 1 })).toEqual(["file", "file", "file"]);
    expect(normalized(files, { maxFiles: 2 }).warnings).toHaveLength(1);
  });
});
