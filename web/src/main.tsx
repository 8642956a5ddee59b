import './style/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/table.css';
import './style/timeline.css';
import './style/pages.css';
import './style/hlo.css';
import './style/memory.css';
import './style/collectives.css';
import './style/flame.css';
import './style/compiles.css';
import './style/roofline.css';
import './ui/settings';
import { render } from 'preact';
import { listen } from './data/events';
import { App } from './views/app';

render(<App />, document.getElementById('app')!);
listen();
