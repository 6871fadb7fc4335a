import { escapeHiddenCharacters } from "@moora/agent";
import type { JSX } from "react";

/** The properties of `PauseText`. */
export interface PauseTextProps {
  /** Absent if the session was paused without a reason. */
  readonly reason: string | undefined;
}

/** That a session is paused, and why, such as what a guardrail asks. Hidden characters are shown as escapes. */
export const PauseText = ({ reason }: PauseTextProps): JSX.Element => (
  <p role="status">{reason === undefined ? "Paused" : `Paused: ${escapeHiddenCharacters(reason)}`}</p>
);
