import { emptyBodySchema, forkBodySchema } from "@moora/agent-webui-protocol";
import { runInputSchema } from "../chat/ag-ui-request.ts";
import { chatBodySchema } from "../chat/chat-request.ts";
import { mcpMessageSchema } from "../openapi/schemas.ts";
import { openApiOf } from "../openapi/document.ts";
import {
  bodyProblems,
  createProblems,
  incarnationParameter,
  open,
  route,
  type Operations,
  type ResponseDescription,
} from "./operation.ts";
import { postAgUi } from "./ag-ui-routes.ts";
import { postChat, readChat, resumeChat } from "./chat-routes.ts";
import { streamEvents } from "./event-routes.ts";
import { postFork } from "./fork-route.ts";
import { postMcp } from "./mcp-route.ts";
import { healthResponse, readInspector, readMetrics, readyResponse } from "./server-routes.ts";
import {
  postCancel,
  postData,
  postDecision,
  postMessage,
  postPause,
  postResume,
  postRetry,
  postSchedule,
  postUnschedule,
} from "./post-routes.ts";
import { json } from "./route.ts";
import {
  createSession,
  exportRoute,
  listAgents,
  listSessions,
  readFile,
  readSessionView,
  removeSession,
} from "./session-routes.ts";

const seq = { type: "integer", minimum: 0 } as const;

const uiStream = {
  description: "A UI message stream of the AI SDK, version 1.",
  mediaType: "text/event-stream",
  headers: ["x-vercel-ai-ui-message-stream", "moora-session"],
} as const satisfies ResponseDescription;

const nothingToResume = {
  description: "No answer is being written: the newest one is complete, or there is no message yet.",
};

const streamProblems = ["not-found", "session-incomplete", "too-many-streams"] as const;

/** The routes of a server: their addresses, what answers them, and what the description says of them. */
export const operations: Operations = {
  listAgents: route("GET /agents", listAgents, {
    summary: "Lists the agents of which the user may create sessions, ordered by name.",
    responses: { 200: { description: "The agents.", schema: "AgentList" } },
  }),
  createSession: route("POST /agents/:agent/sessions", createSession, {
    summary: "Creates a session.",
    body: emptyBodySchema,
    isBodyOptional: true,
    requestHeaders: ["idempotency-key"],
    responses: { 201: { description: "The session.", schema: "SessionSummary", headers: ["location"] } },
    problems: [...createProblems, "forbidden", "not-found"],
  }),
  listSessions: route("GET /sessions", listSessions, {
    summary: "Lists the own sessions, ordered by id, in pages, with their titles, states and times.",
    query: {
      limit: {
        description: "The length of a page.",
        schema: { type: "integer", minimum: 1, maximum: 200, default: 50 },
      },
      after: { description: "The `next` of the page before.", schema: { type: "string" } },
    },
    responses: { 200: { description: "One page.", schema: "SessionPage" } },
    problems: ["invalid-request"],
  }),
  readSession: route("GET /sessions/:id", readSessionView, {
    summary: "Reads a session: its state and its open questions.",
    query: { at: { description: "The record whose state is read. Default: the last one.", schema: seq } },
    responses: { 200: { description: "The session.", schema: "SessionView" } },
    problems: ["invalid-request", "cursor-beyond-end", "not-found", "session-incomplete"],
  }),
  exportSession: route("GET /sessions/:id/export", exportRoute, {
    summary: "Exports a session: its header, its records with their digests, and a seal.",
    responses: { 200: { description: "Lines of JSON.", mediaType: "application/jsonl" } },
    problems: ["not-found", "session-incomplete"],
  }),
  removeSession: route("DELETE /sessions/:id", removeSession, {
    summary: "Removes a session with all its records, and the sessions of its sub-agents.",
    responses: { 204: { description: "The session was removed." } },
    problems: ["forbidden", "not-found", "refused"],
  }),
  postMessage,
  postDecision,
  postCancel,
  postData,
  postRetry,
  postPause,
  postResume,
  postSchedule,
  postUnschedule,
  forkSession: route("POST /sessions/:id/fork", postFork, {
    summary:
      "Creates a session of the user from the records of another one. Work that is open at the last of them gets the result that the original session has.",
    body: forkBodySchema,
    isBodyOptional: true,
    query: { incarnation: incarnationParameter },
    requestHeaders: ["idempotency-key"],
    responses: { 201: { description: "The new session.", schema: "SessionSummary", headers: ["location"] } },
    problems: [
      ...createProblems,
      "cursor-beyond-end",
      "history-changed",
      "forbidden",
      "not-found",
      "session-incomplete",
      "refused",
      "idempotency-key-reused",
    ],
  }),
  readFile: route("GET /sessions/:id/files/:digest", readFile, {
    summary:
      "Reads a file of a session that is stored by the digest of its bytes: `ni:///sha-256;DIGEST` in its state.",
    responses: { 200: { description: "The bytes, with their media type.", mediaType: "*/*" } },
    problems: ["not-found", "session-incomplete"],
  }),
  streamEvents: route("GET /sessions/:id/events", streamEvents, {
    summary: "Streams the events of a session after a record.",
    query: {
      after: { description: "The record after which the stream begins. Default: 0.", schema: seq },
      incarnation: incarnationParameter,
      digest: {
        description:
          "The `digest` of the record after which the stream begins. Another one is refused as `history-changed`.",
        schema: { type: "string" },
      },
    },
    requestHeaders: ["last-event-id"],
    responses: {
      200: {
        description:
          "Server-sent events. `input`: a record, whose id is its number; the data is an `InputEvent`. `chunk`: what a model or a tool streams, without an id; the data is a `ChunkEvent`.",
        mediaType: "text/event-stream",
      },
    },
    problems: ["invalid-cursor", "cursor-beyond-end", "history-changed", ...streamProblems],
  }),
  postAgUi: route("POST /agents/:agent/ag-ui", postAgUi, {
    summary: "Runs an agent for a client of AG-UI 1.0.",
    body: runInputSchema,
    responses: {
      200: {
        description: "The events of the run.",
        mediaType: "text/event-stream",
        headers: ["moora-session"],
      },
    },
    problems: [...bodyProblems, "forbidden", ...streamProblems],
  }),
  postChat: route("POST /agents/:agent/chat", postChat, {
    summary:
      "Answers a message of `useChat`, once more if it asks for that, or continues after its approvals.",
    body: chatBodySchema,
    responses: { 200: uiStream },
    problems: [...bodyProblems, "forbidden", ...streamProblems],
  }),
  readChat: route("GET /agents/:agent/chat/:id", readChat, {
    summary:
      "Reads the messages of a chat, as `useChat` takes them. A chat that has no message yet has none.",
    responses: { 200: { description: "The chat.", schema: "ChatView" } },
    problems: ["forbidden", "not-found", "session-incomplete"],
  }),
  resumeChat: route("GET /agents/:agent/chat/:id/stream", resumeChat, {
    summary:
      "Resumes the stream of a chat from the beginning of its newest answer, also a complete one that the page may lack.",
    responses: { 200: uiStream, 204: nothingToResume },
    problems: ["forbidden", ...streamProblems],
  }),
  postMcp: route("POST /mcp", postMcp, {
    isOn: ({ mcp }) => mcp !== undefined,
    summary: "Takes a message of the Model Context Protocol, whose tools are the agents (streamable HTTP).",
    body: mcpMessageSchema,
    responses: {
      200: { description: "The answer.", schema: "McpMessage", mediaType: "text/event-stream" },
      202: { description: "The message was a notification." },
    },
    problems: [...createProblems, "not-found", "too-many-streams"],
  }),
  readMetrics: route("GET /metrics", readMetrics, {
    isOn: ({ metrics }) => metrics === true,
    summary: "Reads the metrics of the server.",
    responses: { 200: { description: "The text format of Prometheus.", mediaType: "text/plain" } },
    problems: ["forbidden"],
  }),
  readHealth: open("GET /health", healthResponse, {
    summary: "Answers while the process runs.",
    responses: { 200: { description: "The process runs.", schema: "Health" } },
  }),
  readReadiness: open("GET /ready", readyResponse, {
    summary: "Whether the server takes requests and can read its log.",
    responses: {
      200: { description: "It is ready.", schema: "Health" },
      503: { description: "It is closing, or the log cannot be read.", schema: "Health" },
    },
  }),
  readInspector: open("GET /inspector/", readInspector, {
    isOn: ({ inspector }) => inspector !== undefined,
    summary: "The inspector, a page that shows the sessions of its user.",
    responses: { 200: { description: "The page.", mediaType: "text/html" } },
    problems: ["not-found"],
  }),
  describeApi: open("GET /openapi.json", ({ context }) => json(openApiOf(operations, context)), {
    summary: "Describes all routes.",
    responses: { 200: { description: "An OpenAPI 3.1 document.", mediaType: "application/json" } },
  }),
};
