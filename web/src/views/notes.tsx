/* SPDX-License-Identifier: Apache-2.0 */
/* What people wrote of the run: a bar below the tabs, there where something was written or is being. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import {
  addTag,
  importNotes,
  removeNote,
  removeTag,
  shortLink,
  useAllNotes,
  useNotes,
  writeNote,
  type About,
  type UserNote,
} from '../data/notes';
import { query } from '../data/place';
import type { RunDetails } from '../data/types';
import { rangeOf } from '../model/address';
import { time, toBig } from '../model/numbers';
import { registerActions } from '../ui/keys';
import { Link } from '../ui/link';
import { say } from '../ui/said';
import { copyText, Name } from '../ui/text';

export const writing = signal(false);

const complain = (error: unknown): void => say(error instanceof Error ? error.message : 'It was not written.');

function Writer({ run }: { run: RunDetails }) {
  const [text, setText] = useState('');
  const range = rangeOf(query.value);
  const save = (): void => {
    const isTag = /^#[^\s,]+$/.test(text.trim());
    (isTag ? addTag(run.id, text.trim().slice(1)) : writeNote(run.id, text.trim(), range)).then(
      () => (writing.value = false),
      complain,
    );
  };
  return (
    <form
      class="note-writer"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') save();
      }}
    >
      <input
        type="text"
        aria-label="Note"
        maxLength={1000}
        placeholder="A note, or #tag"
        value={text}
        ref={(element) => element?.focus()}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') writing.value = false;
          event.stopPropagation();
        }}
      />
      <button class="framed">Write</button>
      <span class="faint">{range ? `of the range, ${time(range.end - range.start)}` : 'of the whole run'}</span>
    </form>
  );
}

function OneNote({ run, note }: { run: RunDetails; note: UserNote }) {
  const words = <Name text={note.text} />;
  return (
    <li class="note">
      {note.start_ps === null || note.end_ps === null ? (
        words
      ) : (
        <Link to={{ view: 'timeline', start_ps: String(note.start_ps), end_ps: String(note.end_ps) }}>
          {words} <span class="faint">{time(toBig(note.end_ps) - toBig(note.start_ps))}</span>
        </Link>
      )}
      {note.id === null ? (
        <span class="faint">from the bundle</span>
      ) : (
        <button
          aria-label={`Remove the note ${note.text}`}
          onClick={() => void removeNote(run.id, note.id!).catch(complain)}
        >
          ✕
        </button>
      )}
    </li>
  );
}

/* jview.json's words: the program's own, so nobody removes them here. */
function aboutWords(about: About): string[] {
  return [
    ...(about.name === null ? [] : [about.name]),
    ...(about.commit === null ? [] : [`commit ${about.commit}`]),
    ...about.tags.map((tag) => `#${tag}`),
    ...about.notes,
    ...about.metrics.map((metric) => `${metric.name} ${metric.value}`),
  ];
}

export function NotesBar({ run }: { run: RunDetails }) {
  const { data } = useNotes(run.content_id === null ? null : run.id);
  useEffect(
    () =>
      registerActions({
        note: () => void (writing.value = true),
        'short-link': () =>
          void shortLink(location.search).then(
            (link) => copyText(link).then(() => say('The short link is copied.')),
            complain,
          ),
      }),
    [],
  );
  const tags = data?.tags ?? [];
  const notes = data?.rows ?? [];
  const told = data?.about ? aboutWords(data.about) : [];
  if (run.content_id === null || (!writing.value && tags.length + notes.length + told.length === 0)) return null;
  return (
    <section class="bar notes" aria-label="Notes">
      {tags.length + notes.length + told.length > 0 && (
        <ul>
          {told.map((words) => (
            <li key={words} class="faint" data-tip="from jview.json">
              <Name text={words} />
            </li>
          ))}
          {tags.map(({ tag, origin }) => (
            <li key={tag} class="tag" data-tip={origin === 'bundle' ? 'from the bundle' : undefined}>
              <Name text={tag} />
              {origin === 'here' && (
                <button
                  aria-label={`Remove the tag ${tag}`}
                  onClick={() => void removeTag(run.id, tag).catch(complain)}
                >
                  ✕
                </button>
              )}
            </li>
          ))}
          {notes.map((note) => (
            <OneNote key={note.id ?? note.text} run={run} note={note} />
          ))}
        </ul>
      )}
      {[...tags, ...notes].some((one) => one.origin === 'bundle') && (
        <button onClick={() => void importNotes(run.id).catch(complain)}>Keep as mine</button>
      )}
      {writing.value ? <Writer run={run} /> : <button onClick={() => (writing.value = true)}>Add</button>}
    </section>
  );
}

/* In a list of runs: its tags, and that there are notes. */
export function RunTags({ content, name }: { content: string | null; name: string }) {
  const { data } = useAllNotes();
  if (content === null || !data) return null;
  const tags = data.tags.filter((one) => one.content_id === content);
  const count = data.rows.filter((note) => note.run === name).length;
  return (
    <>
      {tags.map(({ tag }) => (
        <span key={tag} class="tag">
          <Name text={tag} />
        </span>
      ))}
      {count > 0 && (
        <span class="faint" data-tip={`${count} ${count === 1 ? 'note' : 'notes'}`}>
          ✎
        </span>
      )}
    </>
  );
}
