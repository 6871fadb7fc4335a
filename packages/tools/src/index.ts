export { calculatorTool } from "./calculator.ts";
export { currentTimeTool } from "./current-time.ts";
export type { CurrentTimeOptions } from "./current-time.ts";
export { fetchUrlTool } from "./fetch-url.ts";
export type { FetchUrlOptions } from "./fetch-url.ts";
export { fileTools } from "./file-tools.ts";
export type { FileToolsOptions } from "./file-tools.ts";
export { excludeFromFileTools } from "./files/process-exclusions.ts";
