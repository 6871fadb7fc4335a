/**
 * A text with escapes, such as `\u202e`, in place of the characters that are not seen or that change how others are seen. Show with it what a
 * person approves: without it, arguments can look like others. JSON stays JSON of the same value.
 */
export const escapeHiddenCharacters = (text: string): string =>
  text.replaceAll((form ??= newForm()), (found: string, hidden?: string) =>
    hidden === undefined ? found : unitEscapes(found),
  );

function unitEscapes(character: string): string {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

let form: RegExp | undefined;

/** Matches the characters that are hidden, as its group, and those like them that stay. */
function newForm(): RegExp {
  const letters = joining.map((script) => String.raw`\p{Script=${script}}`).join("");
  const kept = [
    String.raw`\t|\r?\n`,
    // The parts of an emoji.
    String.raw`(?<=\p{Extended_Pictographic}\p{Emoji_Modifier}?)(?:\ufe0f\u200d?|\u200d)(?=\p{Extended_Pictographic})`,
    String.raw`(?<=\p{Extended_Pictographic})\ufe0f|\ufe0f(?=\u20e3)`,
    String.raw`(?<=[${letters}])[\u200c\u200d]`,
  ];
  // Controls, halves of surrogate pairs, separators of lines, and what is ignored where it is not supported: spaces of no width,
  // fillers, tags, and marks that reverse or isolate a text.
  const hidden = String.raw`([\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}])`;
  return new RegExp([...kept, hidden].join("|"), "gu");
}

/** Scripts whose letters take another form before or after a joiner, which is a part of their spelling. */
const joining = [
  "Arabic",
  "Syriac",
  "Mongolian",
  "Devanagari",
  "Bengali",
  "Gurmukhi",
  "Gujarati",
  "Oriya",
  "Tamil",
  "Telugu",
  "Kannada",
  "Malayalam",
  "Sinhala",
  "Khmer",
  "Myanmar",
];
