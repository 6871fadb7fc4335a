import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { build, defaultClientConditions } from "vite";
import { launchChromium } from "./chromium.ts";

/** What a {@link TestBrowser} serves besides its page. */
export interface TestSite {
  /** The modules of the site: the name of a script, such as `page`, and the path of its source. The page loads `page`. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Answers all other requests, with text. Default: with the status 404. */
  readonly answer?: (path: string) => Promise<string> | string | undefined;
}

const html = `<!doctype html><title>test</title><script type="module" src="/page.js"></script>`;

/** A headless Chromium with a site of its own: all its pages share one origin and its storage. */
export class TestBrowser implements AsyncDisposable {
  readonly url: string;
  readonly #server: Server;
  readonly #browser: Browser;
  readonly #context: BrowserContext;

  constructor(url: string, server: Server, browser: Browser, context: BrowserContext) {
    this.url = url;
    this.#server = server;
    this.#browser = browser;
    this.#context = context;
  }

  static async start(site: TestSite): Promise<TestBrowser> {
    const server = await serve(site);
    // A server on a port always has an address with a port.
    const { port } = server.address() as AddressInfo;
    const browser = await launchChromium();
    return new TestBrowser(`http://127.0.0.1:${port}/`, server, browser, await browser.newContext());
  }

  /** Opens a tab; resolves when its script has run. `onLog` receives what it logs. */
  async open(onLog?: (text: string) => void): Promise<Page> {
    const page = await this.#context.newPage();
    page.on("console", (message) => {
      if (message.type() === "log") onLog?.(message.text());
    });
    await page.goto(this.url, { waitUntil: "load" });
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }
}

async function serve({ scripts, answer }: TestSite): Promise<Server> {
  const files = new Map<string, string>([["/", html]]);
  for (const [name, path] of Object.entries(scripts)) files.set(`/${name}.js`, await bundle(path));
  const server = createServer((request, response) => {
    const path = request.url ?? "/";
    const respond = async (): Promise<void> => {
      const text = files.get(path) ?? (await answer?.(path));
      const type = path === "/" ? "text/html" : path.endsWith(".js") ? "text/javascript" : "text/plain";
      response.writeHead(text === undefined ? 404 : 200, { "content-type": type });
      response.end(text);
    };
    void respond();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** The script of an entry with everything that it imports, as an application has it. */
async function bundle(path: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["@moora/source", ...defaultClientConditions] },
    build: {
      write: false,
      minify: false,
      modulePreload: false,
      target: "es2024",
      rolldownOptions: {
        input: path,
        // Imported by modules of the same package that the page does not use.
        external: /^node:/,
        output: { format: "es", codeSplitting: false },
      },
    },
  });
  const outputs = Array.isArray(result) ? result : "output" in result ? [result] : [];
  return outputs.flatMap(({ output }) => output.map((file) => ("code" in file ? file.code : ""))).join("");
}
