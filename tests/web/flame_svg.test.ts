import type { FlameNode } from '../../web/src/data/types';
import { layoutFlame, standingOf } from '../../web/src/model/flame_layout';
import { exactly, relationsOf } from '../../web/src/model/flame_relations';
import { lineSentence } from '../../web/src/model/flame_sentence';
import { escapeXml, flameSvg } from '../../web/src/model/flame_svg';
import { plainText } from '../../web/src/model/sentence';

const node = (name: string, total: number, children: FlameNode[] = [], file?: string): FlameNode => ({
  name, total_ps: total, self_ps: total - children.reduce((sum, child) => sum + Number(child.total_ps), 0), count: 1, children, ...(file ? { file, line: 1 } : {}),
});
const scene = (root: FlameNode, flipped = false) => ({
  layout: layoutFlame(root), part: { x: 0, width: 1 }, width: 1000, flipped, fill: () => '#123456', ink: '#000', background: '#fff',
});

test('hostile names are text in SVG', () => {
  const svg = flameSvg(scene(node('all', 100, [node('<script>alert(1)</script>', 60), node('"><img onerror=x>', 40)])));
  expect(svg).not.toMatch(/<script|<img/);
  expect(svg).toContain('&lt;script&gt;');
  expect(escapeXml('&<>"\'')).toBe('&amp;&lt;&gt;&quot;&#39;');
});

test('the root stands above, or below', () => {
  const rows = (flipped: boolean) => [...flameSvg(scene(node('all', 10, [node('a', 10)]), flipped)).matchAll(/<rect x="0.00" y="(\d+)"/g)].map((match) => Number(match[1]));
  expect(rows(false)).toEqual([0, 20]);
  expect(rows(true)).toEqual([20, 0]);
});

test('what is too narrow is left out', () => {
  expect([...flameSvg(scene(node('all', 1e6, [node('a', 1e6 - 1), node('b', 1)]))).matchAll(/<rect x/g)]).toHaveLength(2);
});

test('the line whose own ops take most', () => {
  const root = node('run', 100, [
    node('main (train.py:1)', 100, [
      node('mlp (model.py:9)', 60, [node('dot.1', 60)], 'model.py'),
      node('loss (loss.py:3)', 40, [node('mlp (model.py:9)', 10, [node('dot.2', 10)], 'model.py'), node('add.1', 30)], 'loss.py'),
    ], 'train.py'),
  ]);
  expect(plainText(lineSentence(root, 'device time')).replaceAll('\u202f', ' ')).toBe('mlp (model.py:9) takes 70 % of device time; next is loss (loss.py:3) with 30 %.');
  expect(lineSentence(node('run', 10, [node('x', 10)]), 'device time')).toEqual([]);
});

test('what has no line is told first where it is most', () => {
  const root = node('run', 100, [node('(no Python stack)', 96, [node('copy.1', 96)]), node('main (train.py:1)', 4, [node('add.1', 4)], 'train.py')]);
  expect(plainText(lineSentence(root, 'device time')).replaceAll('\u202f', ' ')).toBe('96 % of device time has no line in its stack; of the rest main (train.py:1) takes most, 4.0 % of all.');
});

test('where a node stands among its siblings', () => {
  const layout = layoutFlame(node('all', 100, [node('a', 60, [node('x', 60)]), node('b', 40)]));
  expect(standingOf(layout, 0)).toEqual({ level: 1, place: 1, of: 1 });
  expect(standingOf(layout, 3)).toEqual({ level: 2, place: 2, of: 2 });
});

test('sums of the uncut tree replace those of the cut one', () => {
  const layout = layoutFlame(node('all', 100, [node('a', 60, [node('x', 40)])]));
  const found = exactly(relationsOf(layout, 1), { places: 3, total: 90, self: 5, callers: [{ name: 'all', total: 90 }], callees: [{ name: 'x', total: 40 }, { name: 'y', total: 45 }] });
  expect(found).toMatchObject({ name: 'a', places: 3, totalPs: 90, selfPs: 5 });
  expect(found.callees.map((one) => [one.name, one.index])).toEqual([['x', 2], ['y', -1]]);
});
