/* SPDX-License-Identifier: Apache-2.0 */
import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/table.css';
import './style/timeline.css';
import './style/pages.css';
import './style/hlo.css';
import './style/op_card.css';
import './style/memory.css';
import './style/op_tree.css';
import './style/collectives.css';
import './style/flame.css';
import './style/sql.css';
import './style/compiles.css';
import './style/roofline.css';
import './style/compare.css';
import './style/upload.css';
import './style/notes.css';
import './ui/settings';
import { render } from 'preact';
import { listen } from './data/events';
import { App } from './views/app';

render(<App />, document.getElementById('app')!);
listen();
