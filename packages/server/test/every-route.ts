import { mcpOfServer } from "@moora/mcp";
import type { Scene, SceneOptions } from "@moora/testbed/server/scene";

/** A request: its method, its path, and the body of a post. */
export type RouteRequest = readonly [method: string, path: string, body?: object | undefined];

type Requests = (id: string) => readonly RouteRequest[];

const message = { id: "m1", role: "user", parts: [{ type: "text", text: "Hi" }] };

const call = (session: string): object => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "helper", arguments: { task: "Hi", session } },
});

/** The requests to each route of the description, about a session or a chat of this id. */
const requests: Readonly<Record<string, Requests>> = {
  "GET /sessions/{id}": (id) => [
    ["GET", `/sessions/${id}`],
    ["GET", `/sessions/${id}?at=1`],
  ],
  "GET /sessions/{id}/export": (id) => [["GET", `/sessions/${id}/export`]],
  "GET /sessions/{id}/events": (id) => [["GET", `/sessions/${id}/events`]],
  "GET /sessions/{id}/files/{digest}": (id) => [["GET", `/sessions/${id}/files/${"a".repeat(43)}`]],
  "DELETE /sessions/{id}": (id) => [["DELETE", `/sessions/${id}`]],
  "POST /sessions/{id}/messages": (id) => [["POST", `/sessions/${id}/messages`, { content: "Hi" }]],
  "POST /sessions/{id}/decisions": (id) => [
    ["POST", `/sessions/${id}/decisions`, { toolCallId: "a", digest: "b", decision: "approve" }],
  ],
  "POST /sessions/{id}/cancel": (id) => [["POST", `/sessions/${id}/cancel`, {}]],
  "POST /sessions/{id}/data": (id) => [
    ["POST", `/sessions/${id}/data`, { patches: [{ op: "remove", path: "/x" }] }],
  ],
  "POST /sessions/{id}/retry": (id) => [["POST", `/sessions/${id}/retry`, {}]],
  "POST /sessions/{id}/pause": (id) => [["POST", `/sessions/${id}/pause`, {}]],
  "POST /sessions/{id}/resume": (id) => [["POST", `/sessions/${id}/resume`, {}]],
  "POST /sessions/{id}/schedule": (id) => [
    ["POST", `/sessions/${id}/schedule`, { everyMs: 60_000, message: "Report." }],
  ],
  "POST /sessions/{id}/unschedule": (id) => [["POST", `/sessions/${id}/unschedule`, { id: "report" }]],
  "POST /sessions/{id}/fork": (id) => [
    ["POST", `/sessions/${id}/fork`, {}],
    ["POST", `/sessions/${id}/fork`, { at: 1 }],
  ],
  "GET /agents/{agent}/chat/{id}": (id) => [["GET", `/agents/helper/chat/${id}`]],
  "GET /agents/{agent}/chat/{id}/stream": (id) => [["GET", `/agents/helper/chat/${id}/stream`]],
  "POST /agents/{agent}/chat": (id) => [
    ["POST", "/agents/helper/chat", { id, messages: [message], trigger: "submit-message" }],
  ],
  "POST /agents/{agent}/ag-ui": (id) => [
    [
      "POST",
      "/agents/helper/ag-ui",
      {
        threadId: id,
        runId: "r1",
        messages: [{ id: "m2", role: "user", content: "Hi" }],
        tools: [],
        context: [],
      },
    ],
  ],
  "POST /mcp": (id) => [["POST", "/mcp", call(id)]],
  "POST /agents/{agent}/sessions": () => [["POST", "/agents/helper/sessions", {}]],
  "GET /agents": () => [["GET", "/agents"]],
  "GET /sessions": () => [["GET", "/sessions"]],
  "GET /metrics": () => [["GET", "/metrics"]],
  "GET /health": () => [["GET", "/health"]],
  "GET /ready": () => [["GET", "/ready"]],
  "GET /openapi.json": () => [["GET", "/openapi.json"]],
  "GET /inspector/": () => [["GET", "/inspector/"]],
};

/** The options of a server that has every route. */
export const everyRoute: SceneOptions = {
  metrics: true,
  mcp: mcpOfServer(),
  inspector: async () => ({ html: "", contentSecurityPolicy: "default-src 'none'" }),
};

/** A route in the description of a server. */
interface DescribedRoute {
  readonly name: string;
  /** Whether it needs a user. */
  readonly isRestricted: boolean;
  /** The text that names its problems. */
  readonly problems: string;
}

interface DescribedOperation {
  readonly security?: unknown;
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** The routes in the description of a server. */
export async function describedRoutes(scene: Scene): Promise<readonly DescribedRoute[]> {
  const { body } = await scene.as("ada").get("/openapi.json");
  const paths = Object.entries<Readonly<Record<string, DescribedOperation>>>(body.paths);
  return paths.flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security, responses }]) => ({
      name: `${method.toUpperCase()} ${path}`,
      isRestricted: security !== undefined,
      problems: Object.values(responses)
        .map(({ description }) => description)
        .join(" "),
    })),
  );
}

/** The names of the routes that have requests here. */
export const requestedRoutes: readonly string[] = Object.keys(requests);

/** The requests to routes, in the order of the list above. Throws for a route without one. */
export const requestsTo = (names: readonly string[], id: string): readonly RouteRequest[] =>
  names
    .toSorted((one, other) => requestedRoutes.indexOf(one) - requestedRoutes.indexOf(other))
    .flatMap((name) => {
      const of = requests[name];
      if (of === undefined) throw new Error(`The route ${name} has no request in every-route.ts.`);
      return of(id);
    });

/** The requests whose path names a session. */
export const routesOfSession = (id: string): readonly RouteRequest[] =>
  requestsTo(
    requestedRoutes.filter((name) => name.includes(" /sessions/{id}")),
    id,
  );
