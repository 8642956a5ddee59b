/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges kept in the address: `mark=START-END:text,START-END:text`. */
import { formatSpan, parseSpan, type Span } from './address';

export interface Mark extends Span {
  text: string;
}

const TEXT_LETTERS_MAX = 80;

/* A comma parts marks, so a text has none. */
export function markText(text: string): string {
  return text
    .replace(/[,\s]+/g, ' ')
    .trim()
    .slice(0, TEXT_LETTERS_MAX);
}

export function parseMarks(value: string | undefined): Mark[] {
  return (value ?? '').split(',').flatMap((word) => {
    const colon = word.indexOf(':');
    const span = parseSpan(colon < 0 ? word : word.slice(0, colon));
    return span === null ? [] : [{ ...span, text: colon < 0 ? '' : word.slice(colon + 1) }];
  });
}

export function formatMarks(marks: readonly Mark[]): string | null {
  return marks.length === 0
    ? null
    : marks.map((mark) => `${formatSpan(mark)}${mark.text === '' ? '' : `:${markText(mark.text)}`}`).join(',');
}

/* A, B ... Z, 27, 28: the first that none has. */
export function nextMarkText(marks: readonly Mark[]): string {
  const used = new Set(marks.map((mark) => mark.text));
  for (let index = 0; ; index++) {
    const text = index < 26 ? String.fromCharCode(65 + index) : String(index + 1);
    if (!used.has(text)) return text;
  }
}
