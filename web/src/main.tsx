import './style/tokens.css';
import { render } from 'preact';

render(<h1>jviewd</h1>, document.getElementById('app')!);
