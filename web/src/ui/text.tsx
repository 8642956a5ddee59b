/* Words of a file, shown safely: isolated, without controls, cut where nobody would read on. */
import type { Sentence } from '../model/sentence';
import { shown } from '../model/cut';

export function Name({ text, mono = false }: { text: string | null | undefined; mono?: boolean }) {
  return <bdi class={mono ? 'mono' : undefined}>{shown(text)}</bdi>;
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
