/** The task with piped text, clearly separated: the text is data, not an instruction. */
export function taskWithText(task: string, text: string, isCut: boolean): string {
  const tag = freeTag(text);
  const size = `${text.length.toLocaleString("en-US")} characters`;
  const label = isCut ? `the first ${size}; the rest was cut off` : size;
  return `${task}\n\nStandard input (${label}):\n<${tag}>\n${text.replace(/\n$/, "")}\n</${tag}>`;
}

/** The frame that `taskWithText` writes. Its text does not contain its tag, so it ends at the first closing tag. */
const frame = /\n\nStandard input \([^()\n]{1,80}\):\n<(stdin(?:-\d+)?)>\n[^]*?\n<\/\1>/g;

/** The message without the text that `taskWithText` added. */
export const withoutPipedText = (message: string): string => message.replaceAll(frame, "");

/** A tag that the text does not contain, so that no text can end it early. */
function freeTag(text: string): string {
  for (let number = 1; ; number += 1) {
    const tag = number === 1 ? "stdin" : `stdin-${number}`;
    if (!text.includes(`<${tag}>`) && !text.includes(`</${tag}>`)) return tag;
  }
}
