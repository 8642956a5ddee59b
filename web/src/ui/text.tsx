/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a file, shown safely: isolated, without controls, cut where nobody would read on; in a
 * cell as long as the cell is wide. */
import { useContext } from 'preact/hooks';
import type { Sentence } from '../model/sentence';
import { shown } from '../model/cut';
import { piecesOf } from '../model/spoken';
import { fitText, RoomContext } from './fit';

/* Letters of a name that a table shows, roughly: of the window's width, where names have half of it, else less. */
export const nameRoom = (isWide: boolean): number => Math.round(Math.max(48, innerWidth / (isWide ? 14 : 26)));

export function Name({ text, mono = false }: { text: string | null | undefined; mono?: boolean }) {
  const room = useContext(RoomContext);
  const words = shown(text);
  return <bdi class={mono ? 'mono' : undefined}>{room === null ? words : fitText(words, room, mono)}</bdi>;
}

const CODE_WHOLE = 32;

export function Code({ text }: { text: string }) {
  if (text.length <= CODE_WHOLE) return <code class="mono whole">{text}</code>;
  return (
    <code class="mono long">{text.split(' ').map((word, at) => [at > 0 && ' ', <span key={at}>{word}</span>])}</code>
  );
}

/* A text of the server: what it sets in `backticks` is typed as it stands. */
export function Prose({ text }: { text: string }) {
  return <>{text.split('`').map((piece, index) => (index % 2 === 1 ? <Code key={index} text={piece} /> : piece))}</>;
}

/* Words of the server in a line: numbers in 600, code as code. */
export function Words({ text }: { text: string }) {
  return (
    <>
      {piecesOf(text).map((piece, index) =>
        piece.as === 'code' ? (
          <Code key={index} text={piece.text} />
        ) : piece.as === 'strong' ? (
          <strong key={index}>{piece.text}</strong>
        ) : (
          <bdi key={index}>{piece.text}</bdi>
        ),
      )}
    </>
  );
}

export function SentenceLine({ sentence }: { sentence: Sentence }) {
  return (
    <p class="sentence" aria-live="polite">
      {sentence.map((piece) => (typeof piece === 'string' ? piece : <strong>{piece.strong}</strong>))}
    </p>
  );
}

export async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
