import type * as mcp from "@moora/mcp";
import { usageError } from "../cli-failure.ts";

type Mcp = typeof mcp;

/** Loads `@moora/mcp`, which is installed only where it is used. Throws `CliFailure` if it is not. */
export async function loadMcp(user: string): Promise<Mcp> {
  try {
    return await import("@moora/mcp");
  } catch {
    throw usageError(
      `${user} needs the package @moora/mcp.`,
      "Install it: npm install @moora/mcp @modelcontextprotocol/client @modelcontextprotocol/server",
    );
  }
}

/** Whether `@moora/mcp` has thrown an error. Its class is that of the installed package, so the error is recognized by its name. */
export const isMcpError = (error: unknown): error is Error =>
  error instanceof Error && error.name === "McpError";

/** Whether it was thrown because a package of the protocol's SDK is missing or broken. */
export const isNotInstalled = (error: unknown): error is Error & { readonly code: "not-installed" } =>
  isMcpError(error) && "code" in error && error.code === "not-installed";
