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
  if (response.body !== null) return new Response(watchedBody(response.body, onEnd), response);
  onEnd();
  return response;
}

/** The same body, which calls back when it has ended, or when its reader has left. */
function watchedBody(body: ReadableStream<Uint8Array>, onEnd: () => void): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      const read = await reader.read().catch((error: unknown) => {
        onEnd();
        throw error;
      });
      if (!read.done) return controller.enqueue(read.value);
      controller.close();
      onEnd();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
}
