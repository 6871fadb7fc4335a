import type * as z from "zod/mini";
import type { SchemaName } from "../openapi/schemas.ts";
import type { ProblemCode } from "../problem.ts";
import type { ServerParts } from "../server-parts.ts";
import type { ServerContext } from "../server-options.ts";
import type { Route } from "./route.ts";

/** A successful response: its body is JSON of a schema, a text of a media type, one of both, or empty. */
export interface ResponseDescription {
  readonly description: string;
  readonly schema?: SchemaName;
  readonly mediaType?: string;
  readonly headers?: readonly ("location" | "moora-session" | "x-vercel-ai-ui-message-stream")[];
}

/** What the description says of an operation, and which servers have it. */
export interface OperationDescription {
  readonly summary: string;
  /** Default: every server. */
  readonly isOn?: (context: Pick<ServerContext, "metrics" | "inspector" | "mcp">) => boolean;
  /** One of the schemas that the description has. */
  readonly body?: z.ZodMiniType;
  /** Whether the body may be missing. Default: false. */
  readonly isBodyOptional?: boolean;
  readonly query?: Readonly<Record<string, { readonly description: string; readonly schema: object }>>;
  readonly requestHeaders?: readonly ("idempotency-key" | "last-event-id")[];
  readonly responses: Readonly<Record<number, ResponseDescription>>;
  /** The problems beside those that every operation of a user has. */
  readonly problems?: readonly ProblemCode[];
}

/** A method and a path, in which `:name` is a parameter. */
export type Address = `${"GET" | "POST" | "DELETE"} /${string}`;

/** Answers a request without authentication. */
export type OpenRoute = (parts: ServerParts) => Response | Promise<Response>;

/** One row of the table of routes: `handle` answers users, `handleOpen` everyone. */
export type Operation = OperationDescription & { readonly method: string; readonly path: string } & (
    | { readonly handle: Route; readonly handleOpen?: never }
    | { readonly handleOpen: OpenRoute; readonly handle?: never }
  );

/** The table of the routes of a server, by the names of their operations, which clients that are generated from the description use. */
export type Operations = Readonly<Record<string, Operation>>;

/** The problems of a body without which nothing is created, and those of every other body. */
export const createProblems = [
  "invalid-request",
  "body-timeout",
  "body-too-large",
  "unsupported-media-type",
] as const satisfies readonly ProblemCode[];

export const bodyProblems = [...createProblems, "refused"] as const;

export const incarnationParameter = {
  description:
    "The `incarnation` of the session that the client knows. Another one is refused as `history-changed`.",
  schema: { type: "string" },
} as const;

function addressOf(address: Address): Pick<Operation, "method" | "path"> {
  const [method = "", path = ""] = address.split(" ");
  return { method, path };
}

/** A route of users. */
export const route = (address: Address, handle: Route, description: OperationDescription): Operation => ({
  ...description,
  ...addressOf(address),
  handle,
});

/** A route that is answered without authentication. */
export const open = (address: Address, handle: OpenRoute, description: OperationDescription): Operation => ({
  ...description,
  ...addressOf(address),
  handleOpen: handle,
});

/** The operations that a server has. */
export const operationsOn = (
  operations: Operations,
  context: Pick<ServerContext, "metrics" | "inspector" | "mcp">,
): readonly (readonly [name: string, Operation])[] =>
  Object.entries(operations).filter(([, { isOn }]) => isOn?.(context) !== false);

/** Whether a path is at an operation. */
export function isAt({ path }: Operation, actual: string): boolean {
  const names = path.split("/");
  const parts = actual.split("/");
  return (
    names.length === parts.length &&
    names.every((name, index) => name === parts[index] || (name.startsWith(":") && parts[index] !== ""))
  );
}
