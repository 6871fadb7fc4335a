import { protocolVersion } from "@moora/agent-webui-protocol";
import { problems, type ProblemCode } from "../problem.ts";
import { operationsOn, type Operation, type Operations } from "../routes/operation.ts";
import type { ServerContext } from "../server-options.ts";
import { schemaComponents, schemaRef } from "./schemas.ts";

/** An OpenAPI 3.1 document. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: object;
}

/** The description of a server: its routes, bodies, responses and problems. */
export function openApiOf(
  operations: Operations,
  context: Pick<ServerContext, "authorize" | "basePath" | "metrics" | "inspector" | "mcp">,
): OpenApiDocument {
  const { authorize, basePath } = context;
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, operation] of operationsOn(operations, context)) {
    const { method, path } = operation;
    const template = path.replaceAll(/:(\w+)/g, "{$1}");
    paths[template] = {
      ...paths[template],
      [method.toLowerCase()]: operationObject(name, operation, authorize !== undefined),
    };
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Moora agents",
      version: String(protocolVersion),
      description: "Sessions of agents: posts, event streams, chats. Errors are problem details (RFC 9457).",
    },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    paths,
    components: {
      schemas: schemaComponents(),
      headers: headerComponents,
      ...(authorize === undefined ? {} : { securitySchemes: { authorization: bearer } }),
    },
  };
}

const bearer = {
  type: "http",
  scheme: "bearer",
  description: "What `authorize` of the server expects. It may accept other credentials, such as cookies.",
} as const;

function operationObject(name: string, operation: Operation, isAuthorized: boolean): object {
  const { summary, body, isBodyOptional = false } = operation;
  const parameters = parametersOf(operation);
  const isRestricted = isAuthorized && operation.handle !== undefined;
  return {
    operationId: name,
    summary,
    ...(isRestricted ? { security: [{ authorization: [] }] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: !isBodyOptional,
            content: { "application/json": { schema: schemaRef(body) } },
          },
        }),
    responses: { ...problemResponses(operation, isAuthorized), ...successResponses(operation) },
  };
}

const headerDescriptions = {
  "idempotency-key": {
    description:
      '1 to 200 characters of ASCII from "!" to "~", without blanks. A repeated request with the same key and body is applied once.',
    schema: { type: "string", pattern: "^[\\x21-\\x7e]{1,200}$" },
  },
  "last-event-id": {
    description: "The record after which the stream begins. It counts before `after`.",
    schema: { type: "integer", minimum: 0 },
  },
} as const;

const protocolHeader = {
  name: "moora-protocol",
  in: "header",
  description:
    "The version of the protocol that the client speaks. Another one than that of the server is refused.",
  schema: { type: "string", const: String(protocolVersion) },
} as const;

function parametersOf({ path, query = {}, requestHeaders = [], handle }: Operation): readonly object[] {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name);
  return [
    ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
    ...Object.entries(query).map(([name, value]) => ({ name, in: "query", ...value })),
    ...requestHeaders.map((name) => ({ name, in: "header", ...headerDescriptions[name] })),
    ...(handle === undefined ? [] : [protocolHeader]),
  ];
}

const headerComponents = {
  location: { description: "The path of the new session.", schema: { type: "string" } },
  "moora-session": {
    description: "The id of the session of the chat, encoded as in a path.",
    schema: { type: "string" },
  },
  "x-vercel-ai-ui-message-stream": {
    description: "The version of the stream.",
    schema: { type: "string", const: "v1" },
  },
  "retry-after": { description: "Seconds until a retry is useful.", schema: { type: "integer" } },
} as const;

const headerRefs = (names: readonly (keyof typeof headerComponents)[]): object =>
  names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) };

const successResponses = ({ responses }: Operation): Readonly<Record<string, object>> =>
  Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [
      status,
      {
        description: response.description,
        ...headerRefs(response.headers ?? []),
        ...contentOf(response),
      },
    ]),
  );

function contentOf({
  schema,
  mediaType,
}: Pick<Operation["responses"][number], "schema" | "mediaType">): object {
  if (schema === undefined && mediaType === undefined) return {};
  const json = schema === undefined ? {} : { "application/json": { schema: schemaRef(schema) } };
  const text = mediaType === undefined ? {} : { [mediaType]: { schema: textOf(mediaType) } };
  return { content: { ...json, ...text } };
}

const textOf = (mediaType: string): object => ({
  type: mediaType === "application/json" ? "object" : "string",
});

/** The problems of every operation, and those of every operation of a user. */
const commonProblems: readonly ProblemCode[] = [
  "unsupported-protocol",
  "host-not-allowed",
  "origin-not-allowed",
  "internal",
];
const userProblems: readonly ProblemCode[] = ["too-many-requests", "unavailable"];

/** The responses with a problem, by status. */
function problemResponses(
  { handle, problems: own = [] }: Operation,
  isAuthorized: boolean,
): Readonly<Record<string, object>> {
  const codes = [
    ...commonProblems,
    ...(handle === undefined ? [] : userProblems),
    ...(handle === undefined || !isAuthorized ? [] : (["unauthorized"] as const)),
    ...own,
  ];
  const byStatus = Map.groupBy(codes, (code) => problems[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, ofStatus]) => [
      String(status),
      {
        description: `Problem: ${ofStatus.map((code) => `\`${code}\``).join(", ")}.`,
        ...headerRefs(status === 429 || status === 503 ? ["retry-after"] : []),
        content: { "application/problem+json": { schema: schemaRef("Problem") } },
      },
    ]),
  );
}
