/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time goes: shares of one whole, ops and the host's reasons together. */
import type { TopRow } from '../../../web/src/data/types';
import { whereRows } from '../../../web/src/model/where';

const op = (name: string, self_ps: number): TopRow =>
  ({ key: name, name, kind: 'compute', self_ps, count: 4, scope: null, source: null }) as TopRow;

/* Two steps of 10 ms on each of two hosts with two devices each. */
const whole = { wholePs: 40e9, number: 4, devicesPerHost: 2 };

describe('where the time goes', () => {
  test('an op is what one device does of it in one step', () => {
    const { rows, rest } = whereRows([op('dot', 40e9)], 40e9, [], whole);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({ name: 'dot', share: 0.5, timePs: 5e9, count: 4 });
    expect(rest).toBeNull();
  });
  test('what the host does while no op runs stands between the ops, the largest first', () => {
    const causes = [
      { cause: 'compile', kind: 'compile' as const, self_ps: 10e9, share: 0.25 },
      { cause: 'nothing recorded', kind: 'idle' as const, self_ps: 8e9, share: 0.2 },
      { cause: 'input', kind: 'input' as const, self_ps: 1e6, share: 0.000025 },
    ];
    const { rows } = whereRows([op('dot', 40e9), op('add', 4e9)], 44e9, causes, whole);
    expect(rows.map((row) => [row.name, row.when, row.share])).toEqual([
      ['dot', null, 0.5],
      ['compile', 'while no op runs', 0.25],
      ['idle', 'nothing recorded of the host', 0.2],
      ['add', null, 0.05],
    ]);
  });
  test('what is left out is one share, so that all add up', () => {
    const ops = Array.from({ length: 20 }, (_, index) => op(`op.${index}`, 1e9));
    const { rows, rest } = whereRows(ops, 72e9, [{ cause: 'python', kind: 'host', self_ps: 4e9, share: 0.1 }], whole);
    expect(rows).toHaveLength(12);
    const sum = rows.reduce((total, row) => total + row.share, rest!.share);
    expect(sum).toBeCloseTo(1, 9);
  });
});
