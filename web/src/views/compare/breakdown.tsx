/* SPDX-License-Identifier: Apache-2.0 */
/* Both steps by kind, one above the other in one scale: A hollow, B full; beneath, the differences. */
import type { Diff, DiffSide } from '../../data/diff';
import { KINDS, type Kind } from '../../data/types';
import { change, changeExact, changeInScale, sideShort } from '../../model/compare';
import { inScale, share, time, timeExact, timeScale, toBig, toNumber } from '../../model/numbers';
import { Name } from '../../ui/text';

const WORD_SHARE = 0.09; // of the longer bar: room for the kind's name

const partOf = (side: DiffSide, kind: Kind): number =>
  toNumber(side.breakdown.find((part) => part.kind === kind)?.self_ps ?? 0);

function Bar({
  side,
  hollow,
  longest,
  kinds,
}: {
  side: DiffSide;
  hollow: boolean;
  longest: number;
  kinds: readonly Kind[];
}) {
  return (
    <div class={hollow ? 'stack hollow' : 'stack'} aria-hidden="true">
      {kinds.map((kind) => {
        const size = Math.max(0, partOf(side, kind));
        if (size === 0) return null;
        return (
          <div
            key={kind}
            class={`kind-${kind}`}
            style={{ width: `${(size / longest) * 100}%` }}
            data-tip={`${kind} ${time(size)}, ${share(size / toNumber(side.mean_ps))} of ${side.name}`}
          >
            {size / longest >= WORD_SHARE && kind}
          </div>
        );
      })}
    </div>
  );
}

export function Breakdown({ diff, a, b }: { diff: Diff; a: string; b: string }) {
  const kinds = KINDS.filter((kind) => partOf(diff.a, kind) !== 0 || partOf(diff.b, kind) !== 0);
  const scale = timeScale([diff.a.mean_ps, diff.b.mean_ps]);
  const longest = Math.max(
    1,
    ...[diff.a, diff.b].map((side) =>
      Math.max(
        toNumber(side.mean_ps),
        kinds.reduce((sum, kind) => sum + Math.max(0, partOf(side, kind)), 0),
      ),
    ),
  );
  const line = (side: DiffSide, words: string, letter: string) => (
    <tr>
      <th scope="row">
        <span class="faint">{letter}</span> <Name text={words} />
      </th>
      <td data-tip={timeExact(side.mean_ps)}>{inScale(side.mean_ps, scale)}</td>
      {kinds.map((kind) => (
        <td key={kind} data-tip={timeExact(partOf(side, kind))}>
          {inScale(partOf(side, kind), scale)}
        </td>
      ))}
    </tr>
  );
  const isNoise = diff.step?.verdict === 'not told apart';
  const delta = (ps: bigint) => (
    <td class={isNoise ? 'quiet' : ps > 0n ? 'slower' : ps < 0n ? 'faster' : undefined} data-tip={changeExact(ps)}>
      {changeInScale(ps, scale)}
    </td>
  );
  return (
    <div class="compare-kinds">
      <div class="compare-bars">
        <span class="faint">A</span>
        <Bar side={diff.a} hollow longest={longest} kinds={kinds} />
        <span class="faint">B</span>
        <Bar side={diff.b} hollow={false} longest={longest} kinds={kinds} />
      </div>
      <table aria-label="The mean step by kind">
        <thead>
          <tr>
            <td />
            <th scope="col">{`${diff.step ? 'step' : 'capture'} (${scale.unit})`}</th>
            {kinds.map((kind) => (
              <th key={kind} scope="col" class={`kind-${kind}`}>
                <span class="swatch" />
                {kind}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {line(diff.a, sideShort(a), 'A')}
          {line(diff.b, sideShort(b), 'B')}
          <tr>
            <th scope="row">change</th>
            {delta(toBig(diff.b.mean_ps) - toBig(diff.a.mean_ps))}
            {kinds.map((kind) => delta(BigInt(Math.round(partOf(diff.b, kind) - partOf(diff.a, kind)))))}
          </tr>
        </tbody>
      </table>
      <span class="hidden-text">{`The mean step changes by ${change(diff.total_delta_ps)}.`}</span>
    </div>
  );
}
