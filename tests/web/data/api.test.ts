/* SPDX-License-Identifier: Apache-2.0 */
import { Problem } from '../../../web/src/data/api';

test('what is being read comes by itself; what is busy is shown with what it says', () => {
  const detail = 'this question takes about 62 MiB of memory';
  expect(new Problem(503, { type: 'indexing', progress: 0.5 }).indexing).toBe(true);
  expect(new Problem(503, { type: 'stopping' }).indexing).toBe(true);
  const busy = new Problem(503, { type: 'busy', detail });
  expect([busy.indexing, busy.message]).toEqual([false, detail]);
});
