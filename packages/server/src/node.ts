export { serve } from "./node/serve.ts";
export type { ServeOptions, ServedAgents } from "./node/serve.ts";
