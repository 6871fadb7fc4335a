export { inspectorFile, inspectorOfServer } from "./inspector-page.ts";
export type { InspectorPage } from "./inspector-page.ts";
