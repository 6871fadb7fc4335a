import type { Json } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

/** Trusts that the value is JSON: whatever comes from outside went through `jsonCopy` first. */
export const jsonSchema: z.ZodMiniType<Json> = z.custom<Json>((value) => value !== undefined);
