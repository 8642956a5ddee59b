/* SPDX-License-Identifier: Apache-2.0 */
import { editorLink, isEditor, placeOf, shortPlace } from '../../../web/src/model/source';

test.each([
  ['vscode://file/{file}:{line}', '/a/b.py', 7, 'vscode://file/a/b.py:7'],
  ['vscode://file/{file}:{line}', 'C:/a/b.py', 7, 'vscode://file/C:/a/b.py:7'],
  ['txmt://open?url=file://{file}&line={line}', '/a/b.py', 7, 'txmt://open?url=file:///a/b.py&line=7'],
  ['idea://open?file={file}&line={line}', '/a b/c&d.py', 1, 'idea://open?file=/a%20b/c%26d.py&line=1'],
  ['javascript:alert("{file}")', '/a.py', 1, null],
  ['JavaScript:alert("{file}")', '/a.py', 1, null],
  ['data:text/html,{file}', '/a.py', 1, null],
  ['https://elsewhere.example/?{file}', '/a.py', 1, null],
  ['vscode://file/', '/a.py', 1, null],
  ['', '/a.py', 1, null],
])('an editor is told by %s', (template, file, line, link) => {
  expect(editorLink(template, file, line)).toBe(link);
  expect(isEditor(template)).toBe(link !== null);
});

test('a place is a file and a line', () => {
  expect(placeOf('/a/model.py:41')).toEqual({ file: '/a/model.py', line: 41 });
  expect(placeOf('C:\\a\\model.py:41')).toEqual({ file: 'C:\\a\\model.py', line: 41 });
  expect(placeOf('no line')).toBeNull();
  expect(shortPlace('/a/model.py', 41)).toBe('model.py:41');
  expect(shortPlace('model.py', null)).toBe('model.py');
});
