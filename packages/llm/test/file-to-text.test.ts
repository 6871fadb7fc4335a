import { describe, expect, it } from "vitest";
import { fileToFallbackText, fileToText, fileToUrl } from "@moora/llm/adapter";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("a file", () => {
  it("has a text if its data is the text of a text type", () => {
    expect(fileToText({ mediaType: "text/markdown", data: base64("# Grüße 😀") })).toBe("# Grüße 😀");
    expect(fileToText({ mediaType: "application/geo+json", data: base64("{}") })).toBe("{}");
    expect(fileToText({ mediaType: "text/plain", url: "https://files.test/a" })).toBeUndefined();
    expect(fileToText({ mediaType: "image/png", data: base64("x") })).toBeUndefined();
    expect(fileToText({ mediaType: "text/plain", data: "not base64!" })).toBeUndefined();
  });

  it("that is not accepted is replaced by its text, otherwise by a description with a warning", () => {
    const warnings: string[] = [];
    const words = (file: Parameters<typeof fileToFallbackText>[0]): string =>
      fileToFallbackText(file, (warning) => warnings.push(warning));
    expect(words({ mediaType: "text/plain", name: "a.txt", data: base64("hi") })).toBe("File a.txt:\nhi");
    expect(words({ mediaType: "text/plain", data: base64("hi") })).toBe("File text/plain:\nhi");
    expect(warnings).toEqual([]);
    expect(words({ mediaType: "audio/wav", url: "https://files.test/b.wav" })).toBe(
      "(File not shown: audio/wav at https://files.test/b.wav.)",
    );
    expect(warnings).toEqual(["audio/wav was left out: this API does not support it"]);
  });

  it("has its own URL or a data URL", () => {
    expect(fileToUrl({ mediaType: "image/png", url: "https://files.test/a" })).toBe("https://files.test/a");
    expect(fileToUrl({ mediaType: "image/png", data: "AAAA" })).toBe("data:image/png;base64,AAAA");
  });
});
