import { attempts } from "./attempts.ts";
import { chats } from "./chats.ts";
import { contexts } from "./contexts.ts";
import { data } from "./data.ts";
import { everyday } from "./everyday.ts";
import { failures } from "./failures.ts";
import { hostile } from "./hostile.ts";
import { inFlight } from "./in-flight.ts";
import { limits } from "./limits.ts";
import { long } from "./long.ts";
import { ownStates } from "./own-states.ts";
import { people } from "./people.ts";
import { stopping } from "./stopping.ts";
import { toolCalls } from "./tool-calls.ts";
import type { Transcript } from "./transcript.ts";

export { everyday, long };

/** Every transcript there is, short ones first. */
export const transcripts: readonly Transcript[] = [
  ...everyday,
  ...chats,
  ...toolCalls,
  ...people,
  ...stopping,
  ...inFlight,
  ...failures,
  ...limits,
  ...contexts,
  ...hostile,
  ...ownStates,
  ...data,
  ...attempts,
  ...long,
];

export const transcriptOf = (name: string): Transcript => {
  const found = transcripts.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no transcript "${name}".`);
  return found;
};
