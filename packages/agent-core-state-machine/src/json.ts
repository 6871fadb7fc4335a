import type { Json } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";

/** A schema that accepts any value as JSON without a check: values from outside pass through `jsonCopy` first. */
export const jsonSchema: z.ZodMiniType<Json> = z.custom<Json>((value) => value !== undefined);
