import type { CliHost } from "./cli-host.ts";

const secretNames = /_API_KEY$|^AWS_(BEARER_TOKEN_BEDROCK|SECRET_ACCESS_KEY|SESSION_TOKEN)$/i;

/** Values of the environment that no output may show: every API key, and the password in MOORA_LOG. */
export const environmentSecrets = (env: CliHost["env"]): readonly string[] => [
  ...Object.entries(env).flatMap(([name, value]) =>
    secretNames.test(name) && value !== undefined ? [value.trim()] : [],
  ),
  ...urlPasswords(env["MOORA_LOG"] ?? ""),
];

/** User name and password of a URL: some providers expect the key as the user name. */
export const urlSecrets = (text: string): readonly string[] => [
  URL.parse(text)?.username ?? "",
  ...urlPasswords(text),
];

/** The password of a URL. */
export const urlPasswords = (text: string): readonly string[] => [URL.parse(text)?.password ?? ""];
