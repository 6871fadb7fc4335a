import { once } from "node:events";
import { createServer } from "node:net";

/** Below the ports that systems give to outgoing connections: a server that starts again finds its port free. */
const range = { first: 20_000, count: 10_000 } as const;

const given = new Set<number>();

/** A port of loopback that is free, and that this process has not given to another server. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = range.first + Math.floor(Math.random() * range.count);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
