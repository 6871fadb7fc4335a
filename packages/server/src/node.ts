export { ListenError } from "@moora/agent";
export { serve } from "./node/serve.ts";
export type { ServeOptions, ServedAgents } from "./node/serve.ts";
