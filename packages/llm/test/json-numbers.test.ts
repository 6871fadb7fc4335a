import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lostInJson, lostNumber } from "@moora/llm/internal";

describe("a number that a double cannot hold", () => {
  it.each([
    ["9007199254740993", "", "9007199254740992"],
    ['{"order":9007199254740993}', "order", "9007199254740992"],
    ['{"a":[1,{"x y":[0,-12345678901234567890]}]}', "a.1.x y.1", "-12345678901234567000"],
    ['{"n":9007199254740993.0}', "n", "9007199254740992"],
    ['{"n":123456789012345.678}', "n", "123456789012345.67"],
    ['{"n":1e-400}', "n", "0"],
    ['{"\\u006e":1e400}', "n", "Infinity"],
  ])("is found in %s", (text, path, becomes) => {
    expect(lostNumber(text)).toMatchObject({ path, becomes });
  });

  it.each([
    "1.0",
    "1e3",
    "1E+3",
    "0.10",
    "-0.0",
    "100000000000000000000",
    "1.50e-7",
    "0.1e-6",
    "-0.1E-6",
    "123e-20",
    "1.0e3",
    "0.0000001",
    '"9007199254740993"',
    '{"9007199254740993":1}',
  ])("is not %s", (text) => expect(lostNumber(text)).toBeUndefined());

  it("is never one that JSON.stringify has written", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(lostNumber(JSON.stringify(value))).toBeUndefined();
      }),
    );
  });

  it("is never another spelling of a double", () => {
    fc.assert(
      fc.property(
        // `-0` is refused.
        fc.double({ noNaN: true, noDefaultInfinity: true }).filter((number) => !Object.is(number, -0)),
        fc.nat({ max: 30 }),
        (number, shift) => {
          const [mantissa = "", exponent = "0"] = String(number).split("e");
          const [whole = "0", fraction = ""] = mantissa.split(".");
          const digits = `${whole}${fraction}${"0".repeat(shift)}`.replace(/^(-?)0+(?=\d)/, "$1");
          const spelling = `${digits}e${Number(exponent) - fraction.length - shift}`;
          expect(Number(spelling)).toBe(number);
          expect(lostNumber(`[${spelling}]`)).toBeUndefined();
        },
      ),
    );
  });

  it("is each integer whose shortest double has other digits", () => {
    fc.assert(
      fc.property(fc.bigInt(-(10n ** 25n), 10n ** 25n), (number) => {
        const [digits = "", zeros = "0"] = String(Number(number)).replace(".", "").split("e+");
        const kept = zeros === "0" ? digits : digits.padEnd(Number(zeros) + (number < 0n ? 2 : 1), "0");
        expect(lostNumber(`[${number}]`) === undefined).toBe(kept === String(number));
      }),
    );
  });

  it("is named with its place and with what to send", () => {
    expect(lostInJson('{"order":9007199254740993}')).toBe(
      "The number 9007199254740993 at order cannot be kept: it would become 9007199254740992. Send it as a string.",
    );
  });
});
