import type { Page } from "playwright-core";

/** Selects all panels one after the other, and opens everything that can be opened in them. Runs in the page. */
export async function visitPanels(): Promise<readonly string[]> {
  const frame = (): Promise<number> => new Promise(requestAnimationFrame);
  const visited: string[] = [];
  for (const tab of document.querySelectorAll<HTMLElement>("[role=tab]")) {
    tab.click();
    await frame();
    // What is opened may contain more to open.
    for (let depth = 0; depth < 5; depth += 1) {
      const closed = [...document.querySelectorAll<HTMLDetailsElement>("main details:not([open])")];
      if (closed.length === 0) break;
      for (const details of closed.slice(0, 60)) details.open = true;
      await frame();
      await frame();
    }
    visited.push(tab.textContent);
  }
  return visited;
}

/** The elements that the page is made of. */
export const pageElements =
  "html head meta title link style script body header main nav section article div span p h1 h2 h3 h4 h5 h6 em strong del blockquote hr br ul ol li dl dt dd b small time code pre kbd svg path " +
  "circle rect text tspan g defs marker canvas button label input textarea select option form output progress details summary table caption thead tbody tr th td dialog";

/** What a page has that came from content: elements and attributes that are not of the page, and what a script of it has set. */
export const foreignParts = async (page: Page): Promise<readonly string[]> =>
  await page.evaluate((known) => {
    const names = new Set(known.split(" "));
    const found = "__x" in globalThis ? ["window.__x is set"] : [];
    const addresses = new Set([
      "href",
      "xlink:href",
      "src",
      "srcset",
      "srcdoc",
      "action",
      "formaction",
      "data",
      "poster",
      "background",
    ]);
    for (const element of document.querySelectorAll("*")) {
      if (!names.has(element.localName)) found.push(`element ${element.localName}`);
      for (const { name, value } of element.attributes) {
        const isIcon = element.localName === "link" && value === "data:,";
        if (name.startsWith("on") || (addresses.has(name) && !isIcon))
          found.push(`${element.localName} ${name}=${value}`);
        if (name === "style" && /url|position|image|;.*;/.test(value)) found.push(`style ${value}`);
      }
    }
    if (document.querySelectorAll("script").length > 4) found.push("a script");
    return found;
  }, pageElements);

/** Collects each element that is ever added and that is not one of the page, in `added`. Runs in the page before its scripts. */
export function watchElements(known: string): void {
  const names = new Set(known.split(" "));
  const added: string[] = [];
  const observer = new MutationObserver((changes) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes])) {
      if (!(node instanceof Element)) continue;
      for (const { localName } of [node, ...node.querySelectorAll("*")])
        if (!names.has(localName)) added.push(localName);
    }
  });
  observer.observe(document, { childList: true, subtree: true });
  Object.assign(globalThis, { added });
}
