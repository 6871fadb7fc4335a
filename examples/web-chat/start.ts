/** Starts the server and the page of the example, and prints the address of the page. Ctrl+C ends both. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { createServer } from "vite";
import config from "./vite.config.ts";

const port = Number(process.env["PORT"] ?? 8787);
const server = spawn(
  process.execPath,
  [...process.execArgv, join(import.meta.dirname, "server.ts"), String(port)],
  {
    stdio: "inherit",
  },
);
const page = await createServer(config(`http://127.0.0.1:${port}`));
await page.listen();
console.log(`Chat: ${page.resolvedUrls?.local[0] ?? ""} (open it in two windows)`);

const stop = async (): Promise<void> => {
  server.kill();
  await page.close();
};
server.once("exit", () => void page.close());
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
