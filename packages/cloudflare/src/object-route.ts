import { Problem } from "./problem.ts";

const routes = /\/sessions\/([^/]+)(?:\/(\w+)(?:\/([\w-]+))?)?$/;

/** What a request asks of an object. */
export interface ObjectRoute {
  readonly id: string;
  /** The method and the resource, such as `GET events`. That of a session itself is the method alone. */
  readonly name: string;
  /** The digest of a file. */
  readonly digest: string | undefined;
  /** The last record that a viewer has. */
  readonly after: number | undefined;
}

/** The route of a request. Throws `invalid-request`. */
export function routeOf({ method, url }: Request): ObjectRoute {
  const { pathname, searchParams } = new URL(url);
  const [, encodedId = "", resource = "", digest] = routes.exec(pathname) ?? [];
  const id = decodedId(encodedId);
  return { id, name: `${method} ${resource}`.trimEnd(), digest, after: afterOf(searchParams) };
}

function decodedId(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch {
    throw new Problem(400, "invalid-request", "The id of the session is not valid in a URL.");
  }
}

function afterOf(params: URLSearchParams): number | undefined {
  const text = params.get("after");
  if (text === null) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new Problem(400, "invalid-request", "after must be an integer from 0.");
}
