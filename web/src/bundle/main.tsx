/* SPDX-License-Identifier: Apache-2.0 */
/* A run as a page that stands alone: the UI's own views over answers that the file carries. */
import '../style/tokens.css';
import '../style/base.css';
import '../style/shell.css';
import '../style/table.css';
import '../style/timeline.css';
import '../style/pages.css';
import '../style/flame.css';
import '../style/notes.css';
import './bundle.css';
import '../ui/settings';
import { render } from 'preact';
import { askBy } from '../data/api';
import { parseExact } from '../data/json';
import { query, reachBy } from '../data/place';
import { RESTRICTION } from '../model/address';
import { giveTiles } from '../data/tile_store';
import { answerOf, bytesOf, type Contents } from './answers';
import { ENTRIES, Page } from './page';

const contents = parseExact(document.getElementById('answers')!.textContent!) as Contents;

askBy((address) => Promise.resolve(answerOf(contents, address)));
giveTiles(contents.tiles.map((one) => ({ ...one, bytes: bytesOf(one.bytes) })));

/* A page from disk has no history of addresses; where the reader is stays in the page. */
history.pushState = history.replaceState = () => undefined;
query.value = { ...query.value, run: contents.run };

/* Its answers are of the whole run: nothing narrows them, and there is no other run. */
const views = new Set<string>(ENTRIES.map((one) => one.view));
reachBy(
  (next) =>
    next.run === contents.run &&
    views.has(next.view ?? 'overview') &&
    [...RESTRICTION, 'a', 'b', 'slice', 'against'].every((key) => next[key] === undefined),
);

render(<Page contents={contents} />, document.getElementById('app')!);
