import { loadSdk } from "@moora/llm/adapter";
import { describe, expect, it } from "vitest";

const notFound = (packageName: string): Error =>
  Object.assign(new Error(`Cannot find package '${packageName}' imported from /app/adapter.js`), {
    code: "ERR_MODULE_NOT_FOUND",
  });

describe("the SDK of an adapter", () => {
  it("is the imported module", async () => {
    await expect(loadSdk("openai", "openai", () => Promise.resolve({ version: 7 }))).resolves.toEqual({
      version: 7,
    });
  });

  it("is named with an install command if it is missing", async () => {
    await expect(loadSdk("groq", "openai", () => Promise.reject(notFound("openai")))).rejects.toThrow(
      /^The groq provider needs the package openai: npm install openai$/,
    );
  });

  it.each([
    ["misses one of its own dependencies", notFound("openai-internals")],
    ["throws while it is loaded", new TypeError("x is not a function")],
  ])("that %s rejects with its own error", async (_, error) => {
    await expect(loadSdk("openai", "openai", () => Promise.reject(error))).rejects.toBe(error);
  });
});
