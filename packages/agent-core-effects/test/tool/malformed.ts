/** A text that is not the JSON object that a tool expects, and what is wrong with it. */
export interface Malformed {
  readonly what: string;
  readonly text: string;
}

const whole = '{"city":"Oslo","days":[1,2.5,-3e4],"deep":{"on":true,"off":null,"text":"a\\"b\\u00e9"}}';

const cuts: readonly Malformed[] = Array.from({ length: whole.length - 1 }, (_, index) => ({
  what: `cut after ${index + 1} characters`,
  text: whole.slice(0, index + 1),
}));

const commas: readonly Malformed[] = [...whole.matchAll(/[}\]]/g)].map(({ index }) => ({
  what: `a comma before the bracket at ${index}`,
  text: `${whole.slice(0, index)},${whole.slice(index)}`,
}));

const signs: readonly Malformed[] = [...whole.matchAll(/[:,{}[\]]/g)].flatMap(({ 0: sign, index }) => [
  { what: `without the ${sign} at ${index}`, text: whole.slice(0, index) + whole.slice(index + 1) },
  { what: `with two ${sign} at ${index}`, text: whole.slice(0, index) + sign + whole.slice(index) },
]);

/** Two numbers without the comma between them are one number. */
const isMalformed = ({ text }: Malformed): boolean => text !== whole.replace("1,2.5", "12.5");

const comments: readonly Malformed[] = ["// no", "/* no */", "# no", "<!-- no -->"].flatMap((comment) => [
  { what: `${comment} before`, text: `${comment}\n${whole}` },
  { what: `${comment} inside`, text: whole.replace(",", `, ${comment}\n`) },
  { what: `${comment} after`, text: `${whole}\n${comment}` },
]);

const words: readonly Malformed[] = [
  "NaN",
  "Infinity",
  "-Infinity",
  "undefined",
  "True",
  "None",
  "0x10",
  "01",
  ".5",
  "5.",
  "+5",
  "1e",
  "'Oslo'",
  "`Oslo`",
  "Oslo",
  '"Os\nlo"',
  '"Os\tlo"',
  '"\\x41"',
  '"\\u12"',
  '"\\a"',
  "new Date()",
  "function(){}",
  "1n",
  "1_000",
  "--5",
  "[1,,2]",
].map((word) => ({ what: `the value ${JSON.stringify(word)}`, text: `{"city":${word}}` }));

const wholes: readonly Malformed[] = [
  { what: "single quotes", text: whole.replaceAll('"', "'") },
  { what: "keys without quotes", text: '{city:"Oslo"}' },
  { what: "a byte order mark", text: `\uFEFF${whole}` },
  { what: "a byte order mark at the end", text: `${whole}\uFEFF` },
  { what: "two values", text: `${whole}${whole}` },
  { what: "two values in lines", text: `${whole}\n${whole}` },
  { what: "two values with a comma", text: `${whole},${whole}` },
  { what: "a code fence", text: `\`\`\`json\n${whole}\n\`\`\`` },
  { what: "a word before", text: `Here: ${whole}` },
  { what: "a semicolon", text: `${whole};` },
  { what: "an assignment", text: `city="Oslo"` },
  { what: "XML", text: "<city>Oslo</city>" },
  { what: "NUL", text: `${whole}\u0000` },
  { what: "a no-break space", text: `\u00a0${whole}` },
  { what: "an array", text: `[${whole}]` },
  { what: "a string", text: JSON.stringify(whole) },
  { what: "a number", text: "7" },
  { what: "null", text: "null" },
  { what: "true", text: "true" },
  { what: "a key twice", text: '{"city":"Oslo","city":"Rome"}' },
  { what: "a key twice, once escaped", text: '{"city":"Oslo","c\\u0069ty":"Rome"}' },
  { what: "a key twice in an object within", text: '{"a":[{"b":1,"b":2}]}' },
  { what: "a key twice around an object", text: '{"a":{"a":1},"b":[],"a":2}' },
  { what: "the key __proto__", text: '{"__proto__":{"polluted":true}}' },
  { what: "the key __proto__ within", text: '{"a":[{"__proto__":1}]}' },
  { what: "the key __proto__, escaped", text: '{"\\u005f_proto__":1}' },
  { what: "an integer that a double cannot hold", text: '{"order":[9007199254740993]}' },
  { what: "a decimal that a double cannot hold", text: '{"euros":123456789012345.678}' },
  { what: "a lone surrogate", text: '{"city":"\\ud800"}' },
  { what: "a lone surrogate in a key", text: '{"\\udc00":1}' },
];

/** Arrays or objects in each other. */
export const nested = (depth: number, open: string, close: string): string =>
  `{"a":${open.repeat(depth)}1${close.repeat(depth)}}`;

const deep: readonly Malformed[] = [1_000, 10_000, 1_000_000].flatMap((depth) => [
  { what: `${depth} arrays in each other`, text: nested(depth, "[", "]") },
  { what: `${depth} objects in each other`, text: nested(depth, '{"a":', "}") },
  { what: `${depth} open arrays`, text: `{"a":${"[".repeat(depth)}` },
]);

const huge: readonly Malformed[] = [
  { what: "20 million characters", text: JSON.stringify({ city: "x".repeat(20_000_000) }) },
  { what: "20 million characters, cut", text: `{"city":"${"x".repeat(20_000_000)}` },
  { what: "a long text of many bytes, cut", text: `{"city":"${"世".repeat(5_000)}` },
  { what: "a long text of pairs, cut", text: `{"city":"${"😀".repeat(5_000)}` },
  { what: "a long key twice", text: `{"${"世".repeat(3_000)}":1,"${"世".repeat(3_000)}":2}` },
];

/** E08: made by rule, so that no kind of mistake is left out by chance. */
export const malformed: readonly Malformed[] = [
  ...cuts,
  ...commas,
  ...signs.filter(isMalformed),
  ...comments,
  ...words,
  ...wholes,
  ...deep,
  ...huge,
];
