/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences that open the pages of compiles and transfers. */
import { compilesSentence, type CompileRow } from '../../../web/src/model/compiles';
import { transfersSentence, type TransferRow } from '../../../web/src/model/transfers';
import type { Sentence } from '../../../web/src/model/sentence';

const said = (sentence: Sentence): string =>
  sentence
    .map((piece) => (typeof piece === 'string' ? piece : piece.strong))
    .join('')
    .replaceAll('\u202f', ' ');

const compile = (more: Partial<CompileRow>): CompileRow => ({
  function: 'train_step',
  module: null,
  host: 'a',
  slice: '0-1',
  start_ps: 0,
  total_ps: 2.3e12,
  share: 1,
  trace_ps: 1e11,
  lower_ps: null,
  cache_ps: null,
  passes_ps: 1.9e12,
  codegen_ps: 2e11,
  autotune_ps: null,
  compiler_ps: 1e11,
  other_ps: 0,
  backend_ps: 2.2e12,
  change: null,
  changed: null,
  count: 3,
  reasons: {},
  ...more,
});

const transfer = (more: Partial<TransferRow>): TransferRow => ({
  key: 'h2d',
  direction: 'h2d',
  host: 'a',
  slice: '0-1',
  start_ps: 0,
  bytes: 1 << 30,
  bytes_per_s: 12.4e9,
  overlapped_ps: 0,
  overlapped_share: null,
  count: 16,
  total_ps: 1.57e12,
  reasons: {},
  ...more,
});

test('compiles', () => {
  expect(said(compilesSentence([compile({})], 2.3e12))).toBe(
    'train_step was compiled 3 times in 2.30 s, 83 % of it in XLA passes.',
  );
  expect(
    said(
      compilesSentence(
        [
          compile({ count: 1, total_ps: 1e9, passes_ps: null, codegen_ps: 9e8, trace_ps: 1e8, compiler_ps: 0 }),
          compile({ function: null }),
        ],
        2.4e12,
      ),
    ),
  ).toBe(
    'A function without a name was compiled 3 times in 2.30 s, 83 % of it in XLA passes; all 2 functions took 2.40 s.',
  );
  expect(said(compilesSentence([compile({ count: 1 })], 2.3e12))).toMatch(/compiled once in/);
});

test('transfers', () => {
  expect(said(transfersSentence([transfer({})]))).toBe('16 transfers to devices take 1.57 s (1.00 GiB at 12.4 GB/s).');
  expect(
    said(
      transfersSentence([
        transfer({ bytes: null, bytes_per_s: null, overlapped_share: 0.25 }),
        transfer({ direction: 'd2h', count: 2, total_ps: 1e12 }),
      ]),
    ),
  ).toBe('16 transfers to devices take 1.57 s; 25 % of it while the device computes; 2 to the host take 1.00 s.');
  expect(said(transfersSentence([transfer({ direction: null })]))).toMatch(/of unknown direction/);
});
