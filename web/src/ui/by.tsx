/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of a table are: a list to choose from. */
interface Props {
  value: string;
  words: readonly string[] | Readonly<Record<string, string>>; // or what people read, by key; the usual one is first
  onChoose: (by: string | null) => void; // null: the usual one
}

export function By({ value, words, onChoose }: Props) {
  const choices = Array.isArray(words) ? words.map((word: string) => [word, word] as const) : Object.entries(words);
  const usual = choices[0]?.[0];
  return (
    <label>
      by
      <select
        value={value}
        onChange={(event) => onChoose(event.currentTarget.value === usual ? null : event.currentTarget.value)}
      >
        {choices.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
