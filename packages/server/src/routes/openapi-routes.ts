import { openApiOf } from "../openapi/document.ts";
import type { ServerParts } from "../server-parts.ts";
import { json } from "./route.ts";

/** The OpenAPI description of this server. */
export const describeApi = ({ context }: ServerParts): Response => json(openApiOf(context));
