import { callsTools, type ScriptedToolCall } from "@moora/llm/testing";
import { call } from "../counting-agent.ts";
import { runs } from "./stages.ts";
import { inLoops, type Transcript } from "./transcript.ts";

const text = (name: string, of: string): ScriptedToolCall => ({ name, arguments: { text: of } });

const many = (name: string, count: number): readonly ScriptedToolCall[] =>
  Array.from({ length: count }, (_, index) => call(name, index + 1));

const withId = (id: string, of: number): ScriptedToolCall => ({ id, name: "pay", arguments: { of } });

const raw = (given: string, name = "look"): ScriptedToolCall => ({ name, arguments: given });

/** Tool calls: single, parallel, many and unusual ones, with their results. */
export const toolCalls: readonly Transcript[] = [
  inLoops("eight different calls at once", [
    [
      [
        call("look"),
        call("pay"),
        call("miss"),
        call("nothing"),
        call("picture"),
        text("echo", "hello"),
        text("task", "write"),
        call("edit"),
      ],
    ],
  ]),
  inLoops("three steps of three calls", [
    [many("pay", 3), many("look", 3), [call("pay", 4), call("look", 4), call("pay", 5)]],
  ]),
  inLoops("five calls, two at a time", [[many("pay", 5)]], { config: { toolCalls: { maxParallel: 2 } } }),
  inLoops("a tool that runs alone", [[[...many("single", 3), call("look")]]]),
  inLoops("a tool that throws", [[[call("throw"), call("look")]]]),
  inLoops("all calls of a turn fail", [[[call("throw"), call("miss"), call("throw", 2)]]]),
  inLoops("a tool that gives nothing", [[[call("nothing")], [call("nothing", 2)]]]),
  inLoops("a tool that gives a file", [[[call("picture"), call("picture", 2)]]]),
  inLoops("a tool that gives what is not JSON", [[[call("hidden")]]]),
  inLoops("a result that is cut", [[[call("big", 50)], [call("big", 5)]]], {
    extras: { runLimits: { maxResultLength: 100 } },
  }),
  inLoops("a tool that takes too long", [[[call("slow"), call("look")]]], {
    deeds: [{ name: "wait", when: runs("slow"), act: ({ clock }) => clock.advanceAsync(6_000) }],
  }),
  inLoops("a task given to others", [[[text("task", "find it")], [text("task", "write it down")]]]),
  inLoops("two tasks given to others at once", [[[text("task", "this"), text("task", "that")]]]),
  inLoops("the same call three times", [[[call("pay")], [call("pay")], [call("pay")]]]),
  inLoops("twenty steps", [many("pay", 20).map((one) => [one])]),
  inLoops("a tool that has to be called", [[[call("look")]]], { config: { toolChoice: "required" } }),
  inLoops("a tool that has to be called by name", [[[call("pay")]]], {
    config: { toolChoice: { name: "pay" } },
  }),
  inLoops("arguments that are not JSON", [
    [
      [
        raw('{"of":1,}'),
        raw("{'of':1}"),
        raw('{"of":1}{"of":2}'),
        raw('\uFEFF{"of":1}'),
        raw('{"of":NaN}'),
        raw('{"of":1'),
        raw('{/* one */"of":1}'),
        raw("of=1"),
      ],
    ],
  ]),
  inLoops("arguments that are JSON of another kind", [[[raw("[1]"), raw("1"), raw("null"), raw('"{}"')]]]),
  inLoops("arguments with a key twice", [[[raw('{"of":1,"of":2}'), raw('{"\\u006ff":1,"of":2}')]]]),
  inLoops("no arguments where some are needed", [[[raw(""), raw("  "), raw("{}")]]]),
  inLoops("arguments that do not fit", [
    [
      [raw('{"of":"one"}'), raw('{"off":1}'), { name: "echo", arguments: { text: { deep: true } } }],
      [call("look")],
    ],
  ]),
  inLoops("arguments with keys of Object.prototype", [
    [
      [
        raw('{"__proto__":{"polluted":true},"of":1}'),
        raw('{"constructor":{"prototype":{"polluted":true}}}', "nested"),
        raw('{"toString":"x","valueOf":1,"hasOwnProperty":null,"then":"y"}', "nested"),
      ],
    ],
  ]),
  inLoops("deep arguments", [[[raw(`{"a":${"[".repeat(60)}${"]".repeat(60)}}`, "nested")]]]),
  inLoops(
    "tools with names of Object.prototype",
    [
      [
        ["__proto__", "constructor", "toString", "hasOwnProperty", "then"].map((name) => ({
          name,
          arguments: {},
        })),
      ],
    ],
    { mayBeUnknown: true },
  ),
  inLoops("a tool without a name", [[[{ name: "", arguments: {} }]]], { mayBeUnknown: true }),
  inLoops("one provider id for two calls", [[[withId("call_1", 1), withId("call_1", 2)]]]),
  inLoops("one provider id in five turns", [[1, 2, 3, 4, 5].map((of) => [withId("call_1", of)])]),
  inLoops("empty provider ids", [[[withId("", 1), withId("", 2)]]]),
  inLoops("provider ids that look like numbers", [
    [["10", "2", "b", "a", "1e3"].map((id, index) => withId(id, index))],
  ]),
  inLoops("hostile provider ids", [[["__proto__", "1", "../..", "\u0000", "é".repeat(90)].map(withId)]]),
  inLoops(
    "calls that are priced",
    [[callsTools([call("pay")], { model: "large", usage: { inputTokens: 1_000_000 } })]],
    {
      extras: { prices: { large: { input: 3, output: 15 }, default: { input: 1, output: 1 } } },
    },
  ),
];
