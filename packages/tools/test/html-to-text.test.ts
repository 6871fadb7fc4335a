import { describe, expect, it } from "vitest";
import { htmlToText } from "../src/web/html-to-text.ts";

const base = new URL("https://example.org/a/");
const text = (html: string): string => htmlToText(html, base).text;

describe("a page as text", () => {
  it("has headings, paragraphs, lists, tables and preformatted text", () => {
    const html =
      "<h1>One   <b>big</b>\nthing</h1><p>Two<p>Three<br>four<ul><li>a<li>b</ul>" +
      "<table><tr><td>1<td>2<tr><td>3</table><pre>\n  x = 1\n    y</pre>end";
    expect(text(html)).toBe(
      "# One big thing\n\nTwo\n\nThree\nfour\n\n- a\n- b\n\n 1 2\n 3\n\n  x = 1\n    y\n\nend",
    );
  });

  it("decodes entities once", () => {
    expect(text("caf&eacute; &amp;lt; &#x1F600; &lt;b&gt;")).toBe("caf\u00e9 &lt; \u{1f600} <b>");
  });

  it("leaves out scripts, styles, images and alternative content", () => {
    const html =
      "<head><style>p{}</style><meta></head><script>if (1 < 2) evil('<p>no</p>')</script><p>yes" +
      "<svg><title>no</title><text>no</text></svg><noscript>no</noscript><template>no</template><!-- no -->";
    expect(text(html)).toBe("yes");
  });

  it("has the first title, but not the title of an image", () => {
    expect(htmlToText("<head><title> A\n page </title></head><svg><title>no</title></svg>", base).title).toBe(
      "A page",
    );
    expect(htmlToText("<p>no title", base).title).toBe("");
  });

  it("makes links absolute, and drops links without target or text", () => {
    expect(text('<a href="b?x=1&amp;y=2">B</a>')).toBe("[B](https://example.org/a/b?x=1&y=2)");
    expect(text('<a href="/"><img></a><a href="#top">top</a> <a href="javascript:x()">js</a>')).toBe(
      "top js",
    );
    expect(text('<a href="mailto:a@b.c">mail</a>')).toBe("mail");
  });

  it.each([
    ["spaces", `<pre>${" ".repeat(1_000_000)}`],
    ["brackets", "[](".repeat(300_000)],
    ["open links", "<a href=x>".repeat(100_000)],
    ["deep nesting", "<div>".repeat(200_000)],
    ["links in links", `${"<a href=x><p>".repeat(50_000)}${"</a>".repeat(50_000)}`],
    ["ampersands", "&".repeat(1_000_000)],
    ["angles", "<".repeat(500_000)],
    ["comments", "<!--".repeat(200_000)],
  ])("reads a page of many %s, and returns no more text than the page has", (_, html) => {
    expect(text(html).length).toBeLessThanOrEqual(html.length);
  });
});
