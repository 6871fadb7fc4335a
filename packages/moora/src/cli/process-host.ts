import { systemClock } from "@moora/agent";
import type { CliHost } from "./cli-host.ts";
import { spawn } from "node:child_process";
import { userInfo } from "node:os";

/** This process as the host of the command line. */
export const processHost = (): CliHost => ({
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  onInterrupt(listener) {
    process.on("SIGINT", listener);
    return () => void process.off("SIGINT", listener);
  },
  onTerminate(listener) {
    for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, listener);
    return () => {
      for (const signal of ["SIGTERM", "SIGHUP"]) process.off(signal, listener);
    };
  },
  user: userName(),
  ...(process.stdout.isTTY ? { openBrowser } : {}),
});

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Opens an address in the browser of the user. Does nothing where there is no screen, or no browser. */
function openBrowser(url: string): void {
  const { platform, env } = process;
  const [command, ...args] = openers[platform] ?? [];
  const hasScreen = platform !== "linux" || (env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]) !== undefined;
  if (command === undefined || !hasScreen) return;
  const child = spawn(command, [...args, url], { detached: true, stdio: "ignore" });
  // The address is printed as well.
  child.on("error", () => undefined);
  child.unref();
}

/** The name of the user on this machine. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "user";
  }
}
