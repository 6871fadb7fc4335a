import { describe, expect, it } from "vitest";
import { SecretFilter } from "../../src/cli/terminal/secret-filter.ts";
import { FakeProvider, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

const key = 'sk-canary/7f3a+q?x"y';
const forms = [
  key,
  encodeURIComponent(key),
  Buffer.from(key).toString("base64").replace(/=+$/, ""),
  JSON.stringify(key).slice(1, -1),
];

/** What is shown of pieces that arrive one after the other. */
function shown(filter: SecretFilter, pieces: readonly string[]): string {
  return pieces.map((piece) => filter.push(piece)).join("") + filter.flush();
}

describe("a secret is not printed", () => {
  it.each(forms)("as %s, however the text is cut", (form) => {
    const text = `before ${form} after`;
    for (let at = 0; at <= text.length; at += 1) {
      expect(shown(new SecretFilter([key]), [text.slice(0, at), text.slice(at)])).toBe(
        "before [secret] after",
      );
    }
    expect(shown(new SecretFilter([key]), text.split(""))).toBe("before [secret] after");
    expect(new SecretFilter([key]).clean(text)).toBe("before [secret] after");
  });

  it("where one secret is the beginning of another", () => {
    const filter = new SecretFilter(["canary", "canary-long"]);
    expect(shown(filter, ["canary", "-long, canary", ", canary-lo"])).toBe("[secret], [secret], [secret]-lo");
  });

  it("where its beginning repeats", () => {
    expect(shown(new SecretFilter(["abab"]), ["ab", "ab", "a"])).toBe("[secret]a");
    expect(shown(new SecretFilter(["aab!"]), ["aaa", "b!"])).toBe("a[secret]");
  });
});

describe("other text", () => {
  it("is printed completely, and as soon as it cannot be a secret", () => {
    const filter = new SecretFilter([key]);
    expect(filter.push("a sk-ca")).toBe("a ");
    expect(filter.push("t sk")).toBe("sk-cat ");
    expect(filter.flush()).toBe("sk");
    expect(new SecretFilter([]).push("anything")).toBe("anything");
  });

  it("is not searched for very short values", () => {
    expect(new SecretFilter(["a", "abc"]).clean("abc a")).toBe("abc a");
  });
});

describe("an answer that repeats a secret", () => {
  const canary = "sk-canary 7f3a";

  it.each([["run"], ["run", "--json"], ["run", "--trace"]])("%s %s does not show it", async (...args) => {
    // The provider streams a piece up to each space: the secret comes in two.
    await using provider = await FakeProvider.start(says(`The key is ${canary} indeed.`));
    const host = new TestHost({ env: { OPENAI_API_KEY: canary } });
    expect(await host.run([...args, "x", ...provider.options])).toBe(0);
    expect(host.stdout.text + host.stderr.text).not.toContain("7f3a");
    expect(host.stdout.text).toContain("[secret]");
    expect(host.stdout.text).toContain("indeed.");
  });
});
