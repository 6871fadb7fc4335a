import { describe, expect, it } from "vitest";
import { escapeHiddenCharacters } from "../src/index.ts";

describe("a text that is shown with escapes", () => {
  it.each([
    ["a reversed part", "acct-\u202e321\u202c9", "acct-\\u202e321\\u202c9"],
    ["an isolated part", "\u2067abc\u2069", "\\u2067abc\\u2069"],
    ["marks of direction", "a\u200eb\u200fc\u061c", "a\\u200eb\\u200fc\\u061c"],
    [
      "characters of no width",
      "pay\u200b\u200c\u200d\u2060\ufeffpal",
      "pay\\u200b\\u200c\\u200d\\u2060\\ufeffpal",
    ],
    ["soft hyphens and fillers", "a\u00ad\u3164\u115f\u034fb", "a\\u00ad\\u3164\\u115f\\u034fb"],
    ["tags and variation selectors", "a\u{e0041}\ufe0f\u{e0100}", "a\\udb40\\udc41\\ufe0f\\udb40\\udd00"],
    ["controls", "\u001b[2K\u0007\u009b1m\u007f\u0000", "\\u001b[2K\\u0007\\u009b1m\\u007f\\u0000"],
    ["separators of lines", "a\u2028b\u2029", "a\\u2028b\\u2029"],
    ["a return without a line end", "a\rb", "a\\u000db"],
    ["half of a surrogate pair", "a\ud800b\udc00", "a\\ud800b\\udc00"],
  ])("has them for %s", (_what, text, shown) => {
    expect(escapeHiddenCharacters(text)).toBe(shown);
  });

  it.each([
    ["tabs and line ends", "a\tb\nc\r\nd"],
    [
      "letters of any script",
      "h\u00e9llo \u4e2d\u6587 \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627 e\u0301",
    ],
    [
      "emoji",
      "\u{1f600} \u2764\ufe0f 1\ufe0f\u20e3 \u{1f44d}\u{1f3fd} \u{1f468}\u200d\u{1f469}\u200d\u{1f467} \u{1f3f3}\ufe0f\u200d\u{1f308}",
    ],
    ["joiners of letters", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0915\u094d\u200d\u0937"],
    ["an emoji with a color of skin", "\u{1f469}\u{1f3fd}\u200d\u{1f680}"],
  ])("has none for %s", (_what, text) => {
    expect(escapeHiddenCharacters(text)).toBe(text);
  });

  it("is JSON of the same value", () => {
    const value = { to: "acct-\u202e321\u202c9\u{e0041}\u200b\u007f", "key\u2066": ["\ud800"] };
    expect(JSON.parse(escapeHiddenCharacters(JSON.stringify(value, null, 2)))).toEqual(value);
  });
});
