import { userInfo } from "node:os";

/** The name of the user on this machine. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "user";
  }
}
