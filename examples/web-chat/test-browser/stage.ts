import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalJson } from "@moora/agent";
import type { Page } from "playwright-core";
import { build, preview, type PreviewServer } from "vite";
import config from "../vite.config.ts";
import { root } from "../../../scripts/workspace.ts";

/** The server of the example as a process of its own, on one port and one log. */
export class ServerProcess implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "moora-browser-"));
  readonly port: number;
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<ServerProcess> {
    const server = new ServerProcess(await freePort());
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const file = join(root, "examples/web-chat/server.ts");
    const args = ["--conditions=@moora/source", file, String(this.port), join(this.#folder, "log.db")];
    const { OPENAI_API_KEY: _, ...env } = process.env;
    const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
    this.#process = child;
    await once(child.stdout, "data");
  }

  /** Ends the process without a chance to finish anything. */
  async kill(): Promise<void> {
    if (this.#process === undefined) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    this.#process = undefined;
    await ended;
  }

  /** The state of a session at a record, as canonical JSON. */
  async stateOf(id: string, seq: number): Promise<string> {
    const response = await fetch(`${this.url}/sessions/${id}?at=${seq}`);
    const { state } = (await response.json()) as { state: unknown };
    return canonicalJson(state);
  }

  /** The inputs of a session. */
  async inputsOf(id: string, seq: number): Promise<readonly { readonly type: string }[]> {
    const ended = new AbortController();
    const response = await fetch(`${this.url}/sessions/${id}/events`, { signal: ended.signal });
    const inputs: { readonly type: string }[] = [];
    let text = "";
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      const frames = text.split("\n\n");
      text = frames.pop() ?? "";
      for (const frame of frames) {
        const [, data] = /^event: input\ndata: (.*)$/m.exec(frame) ?? [];
        if (data !== undefined) inputs.push((JSON.parse(data) as { input: { type: string } }).input);
      }
      if (inputs.length >= seq) break;
    }
    ended.abort();
    return inputs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A port that was free a moment ago: the server has to come back at the same one. */
async function freePort(): Promise<number> {
  const probe = createTcpServer();
  probe.listen(0, "127.0.0.1");
  await once(probe, "listening");
  // A server that listens on a port has an address with one.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  return port;
}

/** The page of the example, as it is built for users, but with the names of its components. */
export class ServedPage implements AsyncDisposable {
  readonly url: string;
  readonly #preview: PreviewServer;
  readonly #folder: string;

  private constructor(server: PreviewServer, folder: string) {
    this.#preview = server;
    this.#folder = folder;
    this.url = server.resolvedUrls?.local[0] ?? "";
  }

  static async of(server: ServerProcess): Promise<ServedPage> {
    const options = config(server.url);
    const outDir = mkdtempSync(join(tmpdir(), "moora-page-"));
    const built = { ...options.build, outDir, emptyOutDir: true, minify: false };
    await build({ ...options, build: built });
    // The proxy reports each lost connection.
    return new ServedPage(
      await preview({
        ...options,
        build: built,
        logLevel: "silent",
        preview: { ...options.preview, port: 0 },
      }),
      outDir,
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#preview.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** What the page puts on its global object, and the counter of renders. */
interface PageGlobals {
  readonly session: {
    readonly id: string;
    seq(): number;
    verify(): Promise<void>;
    current(): { readonly streaming: unknown };
    connection(): { readonly status: string };
  };
  readonly renders: Record<string, number>;
}

/** The session of a page: its id, its last record, and its state as JSON. */
export const sessionIn = (page: Page): Promise<{ id: string; seq: number; state: unknown }> =>
  page.evaluate(() => {
    // The page has put it there.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { session } = globalThis as unknown as PageGlobals;
    const { streaming: _, ...state } = session.current();
    return { id: session.id, seq: session.seq(), state };
  });

/** The number of renders of each component since the last call, by its name. */
export const rendersIn = (page: Page): Promise<Readonly<Record<string, number>>> =>
  page.evaluate(() => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { renders } = globalThis as unknown as PageGlobals;
    const counted = { ...renders };
    for (const name of Object.keys(renders)) delete renders[name];
    return counted;
  });
