/**
 * Starts the server and the page of the example, and prints the address of the page: `start.ts [PORT] [LOG]`. A server that a signal ends, such as
 * `kill -9`, is started again. Ctrl+C ends both.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createServer } from "vite";
import config from "./vite.config.ts";

const [port = process.env["PORT"] ?? "8787", ...log] = process.argv.slice(2);
const restartMs = 500;
let isStopping = false;

function startServer(): ChildProcess {
  const args = [...process.execArgv, join(import.meta.dirname, "server.ts"), port, ...log];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  console.log(`Server: process ${child.pid}`);
  child.once("exit", onExit);
  return child;
}

/** A server that ended on its own, such as one whose port is in use, would end again. */
function onExit(code: number | null, signal: NodeJS.Signals | null): void {
  if (isStopping) return;
  if (signal === null || signal === "SIGINT") return void stop(code ?? 0);
  console.log(`The server was ended by ${signal}. It is started again.`);
  setTimeout(() => void (isStopping || (server = startServer())), restartMs);
}

async function stop(code = 0): Promise<void> {
  isStopping = true;
  process.exitCode = code;
  server.kill();
  await page.close();
}

const page = await createServer(config(`http://127.0.0.1:${port}`));
let server = startServer();
await page.listen();
console.log(`Chat: ${page.resolvedUrls?.local[0] ?? ""} (open it in two windows)`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop());
