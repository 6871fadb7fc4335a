export { inspectorFile, inspectorOfServer } from "./inspector-page.ts";
export type { InspectorFileOptions, InspectorPage } from "./inspector-page.ts";
