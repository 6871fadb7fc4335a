export { planner, Planner } from "./planner.ts";
