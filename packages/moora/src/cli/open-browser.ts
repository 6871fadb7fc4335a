import { spawn } from "node:child_process";

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [command: string, ...args: string[]]>>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Opens an address in the browser of the user. Does nothing where there is no screen, or no browser. */
export function openBrowser(url: string): void {
  const { platform, env } = process;
  const [command, ...args] = openers[platform] ?? [];
  const hasScreen = platform !== "linux" || (env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]) !== undefined;
  if (command === undefined || !hasScreen) return;
  const child = spawn(command, [...args, url], { detached: true, stdio: "ignore" });
  // The address is printed as well.
  child.on("error", () => undefined);
  child.unref();
}
