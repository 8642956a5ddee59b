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
import { query } from '../data/place';
import { giveTiles } from '../data/tile_store';
import { answerOf, bytesOf, type Contents } from './answers';
import { Page } from './page';

const contents = parseExact(document.getElementById('answers')!.textContent!) as Contents;

askBy((address) => Promise.resolve(answerOf(contents, address)));
giveTiles(contents.tiles.map((one) => ({ ...one, bytes: bytesOf(one.bytes) })));

/* A page from disk has no history of addresses; where the reader is stays in the page. */
history.pushState = history.replaceState = () => undefined;
query.value = { ...query.value, run: contents.run };

render(<Page contents={contents} />, document.getElementById('app')!);
