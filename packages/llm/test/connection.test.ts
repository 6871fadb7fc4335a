import { afterEach, describe, expect, it, vi } from "vitest";
import { resolveApiKey, baseUrlProblem, headerValue, secretsOf } from "../src/connection.ts";
import { environmentVariable } from "@moora/llm/adapter";

afterEach(() => void vi.unstubAllEnvs());

describe("an API key", () => {
  it("is the configured one, otherwise the value of the variable, trimmed", () => {
    vi.stubEnv("TOY_KEY", " from-env\n");
    expect(resolveApiKey(" given\n", "TOY_KEY")).toEqual({ type: "key", key: "given" });
    expect(resolveApiKey(undefined, "TOY_KEY")).toEqual({ type: "key", key: "from-env" });
  });

  it("is missing if it is not configured or empty", () => {
    vi.stubEnv("TOY_KEY", "");
    expect(resolveApiKey(undefined, "TOY_KEY")).toEqual({ type: "missing" });
    expect(resolveApiKey(undefined, undefined)).toEqual({ type: "missing" });
    vi.stubEnv("TOY_KEY", "from-env");
    expect(resolveApiKey("", "TOY_KEY")).toEqual({ type: "missing" });
  });

  it("is invalid with characters that are not valid in a header", () => {
    expect(resolveApiKey("two words", undefined)).toEqual({ type: "invalid" });
    expect(resolveApiKey("schlüssel", undefined)).toEqual({ type: "invalid" });
  });
});

describe("the environment", () => {
  it("may be missing, as in a browser", () => {
    vi.stubGlobal("process", undefined);
    const value = environmentVariable("PATH");
    vi.unstubAllGlobals();
    expect(value).toBeUndefined();
  });

  it("has no variables from the prototype", () => {
    expect(environmentVariable("constructor")).toBeUndefined();
  });
});

describe("the secrets of a connection", () => {
  it("are the key, the values of headers, and the user and password of the URL", () => {
    const options = { baseURL: "https://ada:pass@toy.test/v1", headers: { "x-api-key": "header-key" } };
    expect(secretsOf(options, "some-key")).toEqual(["some-key", "header-key", "ada", "pass"]);
  });

  it("are also the credentials of a header without their scheme", () => {
    expect(secretsOf({ headers: { authorization: "Bearer token-1" } }, "")).toContain("token-1");
  });
});

describe("a header value", () => {
  it("is the text if it is valid in a header, otherwise a hash", () => {
    expect(headerValue("plan/1/2/1")).toBe("plan/1/2/1");
    expect(headerValue("ä")).toMatch(/^moora-[a-z0-9-]+$/);
    expect(headerValue("ä")).toBe(headerValue("ä"));
    expect(headerValue("ä")).not.toBe(headerValue("ö"));
    expect(headerValue("long ".repeat(100)).length).toBeLessThan(100);
  });
});

describe("the base URL of a provider", () => {
  it.each(["https://api.test/v1", "http://localhost:11434/v1", "HTTPS://user:pw@api.test"])(
    "may be %s",
    (url) => expect(baseUrlProblem(url)).toBeUndefined(),
  );

  it.each([
    ["localhost:11434/v1", "localhost:11434/v1"],
    ["api.test", "api.test"],
    ["", ""],
    ["/v1", "/v1"],
    ["ftp://api.test", "ftp://api.test"],
    ["http://", "http://"],
    ["user:secret@api.test/v1?key=secret", "api.test/v1"],
  ])("is rejected with a message that contains the URL without secrets: %j", (url, shown) =>
    expect(baseUrlProblem(url)).toBe(
      `baseURL must be an absolute URL with http:// or https://, got "${shown}".`,
    ),
  );
});
