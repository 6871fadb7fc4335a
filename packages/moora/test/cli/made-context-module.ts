export { agent } from "./context-module.ts";

export const context = (user: string | null): object => ({ user });
