import type { Options } from "./options.ts";
import { UsageError } from "./usage-error.ts";

/** Throws `UsageError` for an invalid value of `--allow-host` or `--allow-origin`. */
export function checkSites(options: Options, hasUsers: boolean): void {
  const hosts = options["allow-host"] ?? [];
  const invalidHost = hosts.find((host) => !isHost(host));
  if (invalidHost !== undefined) {
    throw new UsageError(
      `--allow-host must be a host such as agents.example.com, got "${invalidHost}".`,
      "It is compared with the header Host, which has the port unless it is the usual one.",
    );
  }
  if (hosts.length > 0 && !hasUsers) {
    throw new UsageError(
      "--allow-host needs users: a host that is allowed can be reached by others.",
      "Name them with --auth FILE, or export authorize from the module of --agent.",
    );
  }
  const invalidOrigin = (options["allow-origin"] ?? []).find((origin) => !isOrigin(origin));
  if (invalidOrigin !== undefined) {
    throw new UsageError(
      `--allow-origin must be an origin such as https://app.example.com, got "${invalidOrigin}".`,
      "",
    );
  }
}

/** Whether a text is a host as the header `Host` has it. A `*` in it would match nothing. */
const isHost = (text: string): boolean =>
  URL.parse(`http://${text}/`)?.host === text.toLowerCase() && !text.includes("*");

/** Whether a text is an origin as browsers write it. */
const isOrigin = (text: string): boolean =>
  URL.parse(text)?.origin === text && text !== "null" && !text.includes("*");
