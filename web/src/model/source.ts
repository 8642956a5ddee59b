/* SPDX-License-Identifier: Apache-2.0 */
/* Places in source files: how they are shown, and how an editor is told of them. */

export const EDITORS = [
  'vscode://file/{file}:{line}',
  'cursor://file/{file}:{line}',
  'zed://file/{file}:{line}',
  'idea://open?file={file}&line={line}',
  'txmt://open?url=file://{file}&line={line}',
];

/* Schemes that would run or fetch something here, not open an editor. */
const REFUSED = /^(javascript|data|vbscript|blob|https?|ftp|about|view-source|file):/i;

export function isEditor(template: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(template) && !REFUSED.test(template) && template.includes('{file}');
}

/* null: no editor is set, or it is none. */
export function editorLink(template: string, file: string, line: number | null | undefined): string | null {
  if (!isEditor(template)) return null;
  const path = encodeURI(file).replace(/[?#&]/g, encodeURIComponent);
  return template
    .replace(/(?<=\w)\/(?=\{file\})/g, path.startsWith('/') ? '' : '/')
    .replaceAll('{file}', path)
    .replaceAll('{line}', String(line ?? 1));
}

/* "/a/b/model.py:41" -> file and line; null where there is no line. */
export function placeOf(source: string): { file: string; line: number } | null {
  const match = /^(.+):(\d{1,9})$/.exec(source);
  return match ? { file: match[1]!, line: Number(match[2]) } : null;
}

export function shortPlace(file: string, line: number | null | undefined): string {
  const name = file.slice(file.lastIndexOf('/') + 1);
  return line ? `${name}:${line}` : name;
}
