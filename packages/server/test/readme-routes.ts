import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The routes in the list of the README, as OpenAPI writes them: `GET /sessions/{id}`. */
export function routesOfReadme(): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  const rows = text.matchAll(/^- (`(?:GET|POST|DELETE) .*?`): /gm);
  return [...rows].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+) ([^`?]+)[^`]*`/g)].map(
      ([, method = "", path = ""]) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
    ),
  );
}
