import { defineTool, toolReply, type Clock, type Tool } from "@moora/agent-core-effects";
import { checkOptions, withMethods, type OptionForms } from "@moora/agent-core-effects/internal";
import { textAt } from "./tool-input.ts";

/** Options of `currentTimeTool`. */
export interface CurrentTimeOptions {
  /** `now()` returns milliseconds since 1970. Default: the clock of the machine. */
  readonly clock?: Pick<Clock, "now">;
  /** IANA name of the time zone for calls that do not name one. Default: that of the machine. */
  readonly timeZone?: string;
}

const forms: OptionForms<CurrentTimeOptions> = {
  clock: withMethods("a clock", "now"),
  timeZone: "string",
};

/** Creates `current_time`: the current date and time, in any IANA time zone. Low risk, `replay: "safe"`. */
export function currentTimeTool(options: CurrentTimeOptions = {}): Tool {
  checkOptions("currentTimeTool", options, forms);
  const { clock = Date, timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone } = options;
  return defineTool({
    name: "current_time",
    description:
      "Returns the current date, weekday and time (what time it is now, what day is today), here or in a time zone.",
    input: {
      type: "object",
      properties: {
        time_zone: {
          type: "string",
          description: `IANA name such as Europe/Oslo, or a city that names a zone. Default: ${timeZone}.`,
        },
      },
      additionalProperties: false,
    },
    risk: "low",
    approval: "never",
    replay: "safe",
    execute(input) {
      const asked = textAt(input, "time_zone", timeZone).trim();
      const zone = zoneOf(asked);
      if (zone !== undefined) return timeIn(zone, clock.now());
      return toolReply({
        content: `Unknown time zone "${asked.slice(0, 60)}". Use an IANA name, such as Europe/Oslo or UTC.`,
        isError: true,
      });
    },
  });
}

const timeIn = (zone: string, now: number): string =>
  `It is ${readable(zone, now)} in ${zone} (${isoIn(zone, now)}).`;

const readable = (timeZone: string, now: number): string =>
  new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "medium", timeZone }).format(now);

/** ISO 8601 with the offset of the zone at that time: Sweden writes dates and times as ISO 8601 does. */
function isoIn(timeZone: string, now: number): string {
  const local = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium", timeZone });
  const zone = new Intl.DateTimeFormat("en-US", { timeZone, timeZoneName: "longOffset" });
  const name = zone.formatToParts(now).find((part) => part.type === "timeZoneName")?.value ?? "GMT";
  return `${local.format(now).replace(" ", "T")}${name.slice("GMT".length) || "Z"}`;
}

/** The zone by its IANA name, or by the city at the end of one. */
function zoneOf(asked: string): string | undefined {
  const name = asked.replaceAll(/\s+/g, "_");
  try {
    const { timeZone } = new Intl.DateTimeFormat("en-US", { timeZone: name }).resolvedOptions();
    return name.includes("/") ? name : timeZone;
  } catch {
    const city = `/${name.toLowerCase()}`;
    return Intl.supportedValuesOf("timeZone").find((zone) => zone.toLowerCase().endsWith(city));
  }
}
