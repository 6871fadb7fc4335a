import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { StdioServer } from "@moora/mcp";

/** A server of the protocol's project, from its package. */
export const npmServer = (name: keyof typeof npmServerFiles, ...args: readonly string[]): StdioServer => ({
  command: process.execPath,
  args: [npmServerFile(name), ...args],
});

const npmServerFiles = {
  everything: import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  memory: import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"),
};

const npmServerFile = (name: keyof typeof npmServerFiles): string => fileURLToPath(npmServerFiles[name]);

interface ListedTool {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** A tool of the hostile server, with an input that takes anything. */
export const listed = (name: string, fields: object = {}): ListedTool => ({
  name,
  inputSchema: { type: "object" },
  ...fields,
});

/** A server that misbehaves; each list of tools is the one after another change. */
export const hostileServer = (...lists: readonly (readonly ListedTool[])[]): StdioServer => ({
  command: process.execPath,
  args: [fileURLToPath(new URL("hostile-server.ts", import.meta.url)), JSON.stringify(lists)],
});

/** A hostile server whose list of tools has no end: each page is these tools, with another page after it. */
export const endlessServer = (...page: readonly ListedTool[]): StdioServer => {
  const { args = [], ...server } = hostileServer(page);
  return { ...server, args: [...args, "endless"] };
};

/** A server at a URL of this machine, until it is disposed. */
export interface RunningServer extends AsyncDisposable {
  readonly url: string;
}

/** Serves HTTP on a free port. */
export async function serveHttp(listener: RequestListener): Promise<RunningServer> {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The server `everything` over HTTP, on a free port. */
export async function everythingOverHttp(): Promise<RunningServer> {
  const free = await serveHttp(() => undefined);
  const { port } = new URL(free.url);
  await free[Symbol.asyncDispose]();
  const server = spawn(process.execPath, [npmServerFile("everything"), "streamableHttp"], {
    env: { ...process.env, PORT: port },
    stdio: ["ignore", "ignore", "pipe"],
  });
  for await (const line of createInterface({ input: server.stderr })) if (line.includes("listening")) break;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async [Symbol.asyncDispose]() {
      const ended = once(server, "exit");
      server.kill("SIGKILL");
      await ended;
    },
  };
}
