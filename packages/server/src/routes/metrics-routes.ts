import { HttpProblem } from "../problem.ts";
import type { Route } from "./route.ts";

/** The metrics of this server, in the text format of Prometheus. */
export const readMetrics: Route = async ({ parts, access }) => {
  if (!access.mayReadMetrics) throw new HttpProblem("forbidden", "You may not read the metrics.");
  return new Response(parts.metricsText(), {
    headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" },
  });
};
