import { readJson } from "../body.ts";
import { RequestSessions } from "../mcp/request-sessions.ts";
import { pathNotFound } from "../problem.ts";
import type { Route } from "./route.ts";

/** Answers a request of the Model Context Protocol. It counts among the streams of its user until its answer has ended. */
export const postMcp: Route = async ({ parts, request, access }) => {
  const { mcp, context } = parts;
  if (mcp === undefined) throw pathNotFound();
  const body = await readJson(request, context);
  const uncount = parts.streams.add(access.user);
  try {
    const { method, headers, signal, url } = request;
    const bodiless = new Request(url, { method, headers, signal });
    const response = await mcp.fetch(bodiless, new RequestSessions(parts, access), body);
    return withEnd(response, uncount);
  } catch (error) {
    uncount();
    throw error;
  }
};

/** The same response, which calls back when its body has ended, or when its reader has left. */
function withEnd(response: Response, onEnd: () => void): Response {
  const reader = response.body?.getReader();
  if (reader === undefined) {
    onEnd();
    return new Response(null, response);
  }
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
