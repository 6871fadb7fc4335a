/** The method and the path of an operation, in which `:name` is a parameter. */
export interface Address {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
}

/** The operations of authenticated users. */
export type UserOperation =
  | "listAgents"
  | "createSession"
  | "listSessions"
  | "readSession"
  | "exportSession"
  | "removeSession"
  | "postMessage"
  | "postDecision"
  | "postCancel"
  | "postData"
  | "postRetry"
  | "postPause"
  | "postResume"
  | "forkSession"
  | "readFile"
  | "streamEvents"
  | "postAgUi"
  | "postChat"
  | "readChat"
  | "resumeChat"
  | "postMcp"
  | "readMetrics";

/** The operations that are answered without authentication. */
export type PublicOperation = "readHealth" | "readReadiness" | "describeApi" | "readInspector";

export type Operation = UserOperation | PublicOperation;

/** The address of each operation. */
export const addresses: Readonly<Record<Operation, Address>> = {
  listAgents: { method: "GET", path: "/agents" },
  createSession: { method: "POST", path: "/agents/:agent/sessions" },
  listSessions: { method: "GET", path: "/sessions" },
  readSession: { method: "GET", path: "/sessions/:id" },
  exportSession: { method: "GET", path: "/sessions/:id/export" },
  removeSession: { method: "DELETE", path: "/sessions/:id" },
  postMessage: { method: "POST", path: "/sessions/:id/messages" },
  postDecision: { method: "POST", path: "/sessions/:id/decisions" },
  postCancel: { method: "POST", path: "/sessions/:id/cancel" },
  postData: { method: "POST", path: "/sessions/:id/data" },
  postRetry: { method: "POST", path: "/sessions/:id/retry" },
  postPause: { method: "POST", path: "/sessions/:id/pause" },
  postResume: { method: "POST", path: "/sessions/:id/resume" },
  forkSession: { method: "POST", path: "/sessions/:id/fork" },
  readFile: { method: "GET", path: "/sessions/:id/files/:digest" },
  streamEvents: { method: "GET", path: "/sessions/:id/events" },
  postAgUi: { method: "POST", path: "/agents/:agent/ag-ui" },
  postChat: { method: "POST", path: "/agents/:agent/chat" },
  readChat: { method: "GET", path: "/agents/:agent/chat/:id" },
  resumeChat: { method: "GET", path: "/agents/:agent/chat/:id/stream" },
  postMcp: { method: "POST", path: "/mcp" },
  readMetrics: { method: "GET", path: "/metrics" },
  readHealth: { method: "GET", path: "/health" },
  readReadiness: { method: "GET", path: "/ready" },
  describeApi: { method: "GET", path: "/openapi.json" },
  readInspector: { method: "GET", path: "/inspector/" },
};

const publicOperations: ReadonlySet<Operation> = new Set([
  "readHealth",
  "readReadiness",
  "describeApi",
  "readInspector",
]);

/** Whether an operation is answered without authentication. */
export const isPublic = (operation: Operation): operation is PublicOperation =>
  publicOperations.has(operation);

/** The methods that a path takes; empty for an unknown path. */
export const methodsOf = (path: string): readonly string[] =>
  Object.values(addresses).flatMap((address) => (isAt(address, path) ? [address.method] : []));

function isAt({ path }: Address, actual: string): boolean {
  const names = path.split("/");
  const parts = actual.split("/");
  return (
    names.length === parts.length &&
    names.every((name, index) => name === parts[index] || (name.startsWith(":") && parts[index] !== ""))
  );
}
