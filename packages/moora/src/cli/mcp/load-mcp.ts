import type * as mcp from "@moora/mcp";
import { UsageError } from "../usage-error.ts";

type Mcp = typeof mcp;

/** Loads `@moora/mcp`, which is installed only where it is used. Throws `UsageError` if it is not. */
export async function loadMcp(user: string): Promise<Mcp> {
  try {
    return await import("@moora/mcp");
  } catch {
    throw new UsageError(
      `${user} needs the package @moora/mcp.`,
      "Install it: npm install @moora/mcp @modelcontextprotocol/client @modelcontextprotocol/server",
    );
  }
}
