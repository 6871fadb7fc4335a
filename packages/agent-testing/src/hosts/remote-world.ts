import type { HostWorld, WorkMoment } from "./world.ts";

/**
 * The world of a case for an agent in another process: each moment is a request to `url`, where `worldHandler` answers. A request
 * that fails rejects, and so does the work.
 */
export const remoteWorld = (url: string): HostWorld => ({
  async reach(moment) {
    const response = await fetch(url, { method: "POST", body: JSON.stringify(moment) });
    if (!response.ok) throw new Error(`The world of the case answered with status ${response.status}.`);
  },
});

/** Handles the requests of `remoteWorld`, for any server that has the `Request` and `Response` of the fetch standard. */
export const worldHandler =
  (world: HostWorld) =>
  async (request: Request): Promise<Response> => {
    const moment: unknown = await request.json();
    if (!isMoment(moment)) return new Response("Not a moment.", { status: 400 });
    await world.reach(moment);
    return new Response("ok");
  };

function isMoment(value: unknown): value is WorkMoment {
  if (typeof value !== "object" || value === null) return false;
  const { work, moment, key }: Readonly<Record<string, unknown>> = { ...value };
  return typeof work === "string" && typeof key === "string" && isName(moment);
}

const names: ReadonlySet<unknown> = new Set(["begin", "end", "aborted", "undone"]);

const isName = (moment: unknown): boolean => names.has(moment);
