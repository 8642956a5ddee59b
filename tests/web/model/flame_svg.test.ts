/* SPDX-License-Identifier: Apache-2.0 */
import type { FlameNode } from '../../../web/src/data/types';
import { layoutFlame, standingOf } from '../../../web/src/model/flame_layout';
import { exactly, relationsOf } from '../../../web/src/model/flame_relations';
import { lineSentence } from '../../../web/src/model/flame_sentence';
import { plainText } from '../../../web/src/model/sentence';
import { escapeXml, SvgPen, svgFile } from '../../../web/src/model/svg';

const node = (name: string, total: number, children: FlameNode[] = [], file?: string): FlameNode => ({
  name,
  total_ps: total,
  self_ps: total - children.reduce((sum, child) => sum + Number(child.total_ps), 0),
  count: 1,
  children,
  ...(file ? { file, line: 1 } : {}),
});
const pen = () => new SvgPen('a-', { measure: (text) => text.length * 6, pixels: () => 'data:image/png;base64,AA' });

test('hostile names are text in SVG', () => {
  const drawn = pen();
  drawn.titled('<script>alert(1)</script>', () => drawn.fillText('"><img onerror=x>', 4, 10));
  drawn.fillStyle = '"/><script>';
  drawn.fillRect(0, 0, 1, 1);
  const svg = svgFile(100, 20, '#fff', [{ x: 0, y: 0, width: 100, height: 20, text: drawn.text() }]);
  expect(svg).not.toMatch(/<script|<img/);
  expect(svg).toContain('&lt;script&gt;');
  expect(escapeXml('&<>"\'\u0000')).toBe('&amp;&lt;&gt;&quot;&#39;\ufffd');
});

test('every group that is opened is closed, and a clip ends with what was saved', () => {
  const drawn = pen();
  drawn.save();
  drawn.beginPath();
  drawn.rect(0, 0, 10, 10);
  drawn.clip();
  drawn.globalAlpha = 0.5;
  drawn.fillRect(0, 0, 5, 5);
  drawn.restore();
  drawn.fillRect(5, 5, 5, 5);
  const parts = drawn.text().split('\n');
  expect(parts.map((part) => part.slice(0, 5))).toEqual(['<clip', '<rect', '</g>', '<rect']);
  expect(parts[1]).toContain('fill-opacity="0.5"');
  expect(parts[3]).not.toContain('opacity');
});

test('what has no size is not drawn; pixels come as pictures', () => {
  const drawn = pen();
  drawn.fillRect(0, 0, 0, 10);
  drawn.stroke();
  drawn.drawImage({} as CanvasImageSource, 0, 3, 80, 1, 0, 20, 80, 18);
  expect(drawn.text()).toBe(
    '<image x="0" y="20" width="80" height="18" preserveAspectRatio="none" ' +
      'style="image-rendering:pixelated" href="data:image/png;base64,AA"/>',
  );
});

test('the line whose own ops take most', () => {
  const root = node('run', 100, [
    node(
      'main (train.py:1)',
      100,
      [
        node('mlp (model.py:9)', 60, [node('dot.1', 60)], 'model.py'),
        node(
          'loss (loss.py:3)',
          40,
          [node('mlp (model.py:9)', 10, [node('dot.2', 10)], 'model.py'), node('add.1', 30)],
          'loss.py',
        ),
      ],
      'train.py',
    ),
  ]);
  expect(plainText(lineSentence(root, 'device time')).replaceAll('\u202f', ' ')).toBe(
    'mlp (model.py:9) takes 70 % of device time; next is loss (loss.py:3) with 30 %.',
  );
  expect(lineSentence(node('run', 10, [node('x', 10)]), 'device time')).toEqual([]);
});

test('what has no line is told first where it is most', () => {
  const root = node('run', 100, [
    node('(no Python stack)', 96, [node('copy.1', 96)]),
    node('main (train.py:1)', 4, [node('add.1', 4)], 'train.py'),
  ]);
  expect(plainText(lineSentence(root, 'device time')).replaceAll('\u202f', ' ')).toBe(
    '96 % of device time has no line in its stack; of the rest main (train.py:1) takes most, 4.0 % of all.',
  );
});

test('where a node stands among its siblings', () => {
  const layout = layoutFlame(node('all', 100, [node('a', 60, [node('x', 60)]), node('b', 40)]));
  expect(standingOf(layout, 0)).toEqual({ level: 1, place: 1, of: 1 });
  expect(standingOf(layout, 3)).toEqual({ level: 2, place: 2, of: 2 });
});

test('sums of the uncut tree replace those of the cut one', () => {
  const layout = layoutFlame(node('all', 100, [node('a', 60, [node('x', 40)])]));
  const found = exactly(relationsOf(layout, 1), {
    places: 3,
    total: 90,
    self: 5,
    callers: [{ name: 'all', total: 90 }],
    callees: [
      { name: 'x', total: 40 },
      { name: 'y', total: 45 },
    ],
  });
  expect(found).toMatchObject({ name: 'a', places: 3, totalPs: 90, selfPs: 5 });
  expect(found.callees.map((one) => [one.name, one.index])).toEqual([
    ['x', 2],
    ['y', -1],
  ]);
});
