import { HttpProblem } from "../problem.ts";

/** The idempotency key of a request; undefined if it has none. Throws `invalid-request`. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const key = request.headers.get("idempotency-key");
  if (key === null) return undefined;
  if (/^[\x21-\x7e]{1,200}$/.test(key)) return key;
  throw new HttpProblem(
    "invalid-request",
    'Idempotency-Key must be 1 to 200 characters of ASCII from "!" to "~", without blanks.',
    {
      path: "Idempotency-Key",
    },
  );
}
