/* SPDX-License-Identifier: Apache-2.0 */
/* A place in a source file: opens its lines below, where the server was given the sources, and
 * leads to the reader's editor. */
import { useState } from 'preact/hooks';
import { useJson } from '../data/resource';
import type { SourceReply } from '../data/types';
import { shortSource, shown } from '../model/cut';
import { editorLink, isEditor, placeOf, shortPlace } from '../model/source';
import { Link } from './link';
import { settings } from './settings';
import { Name } from './text';

interface Place {
  file: string;
  line?: number | null | undefined;
}

/* The lines around it, its own marked; why not where there are none. */
export function SourceLines({ file, line }: Place) {
  const source = useJson<SourceReply>('api/source', { file, line: line ?? 1, around: 4 });
  if (source.error) return <p class="quiet source-none">{source.error.message}</p>;
  if (!source.data) return null;
  const { first_line: first, lines } = source.data;
  return (
    <ol class="source-lines mono" start={first} aria-label={`Lines of ${shown(source.data.path)}`}>
      {lines.map((text, index) => (
        <li key={first + index} value={first + index} aria-current={first + index === line ? 'true' : undefined}>
          <code>{text.trim() ? shown(text) : ' '}</code>
        </li>
      ))}
    </ol>
  );
}

/* The file as it lies below a --source-root; where none has it, at the path that the profile names. */
export function EditorLink({ file, line }: Place) {
  const { editor } = settings.value;
  const { data } = useJson<SourceReply>(isEditor(editor) ? 'api/source' : null, { file, line: line ?? 1, around: 4 });
  const href = editorLink(editor, data?.file === file ? `${data.root.replace(/\/$/, '')}/${data.path}` : file, line);
  return href === null ? null : (
    <a href={href} rel="noreferrer">
      edit
    </a>
  );
}

/* `model.py:41 ▸`, and its lines when asked for. */
export function SourcePlace({ file, line }: Place) {
  const [open, setOpen] = useState(false);
  return (
    <span class="source-place">
      <button
        class="bare mono"
        data-tip={line ? `${file}:${line}` : file}
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {shown(shortPlace(file, line))} {open ? '▾' : '▸'}
      </button>{' '}
      <EditorLink file={file} line={line} />
      {open && <SourceLines file={file} line={line} />}
    </span>
  );
}

/* What the profile calls its source: a place that opens, where it is one. */
export function SourceText({ source }: { source: string }) {
  const place = placeOf(source);
  if (place) return <SourcePlace file={place.file} line={place.line} />;
  return (
    <span data-tip={source} class="mono">
      {shortSource(source)}
    </span>
  );
}

/* In a table: to all that this line made. */
export function SourceLink({ source }: { source: string }) {
  return (
    <Link to={{ view: 'ops', by: 'op', q: `source:"${source}"` }} title={source}>
      <Name text={shortSource(source)} mono />
    </Link>
  );
}
