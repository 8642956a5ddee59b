/* SPDX-License-Identifier: Apache-2.0 */
/* A module's planned memory over its program: what is fixed below, what is temporary upon it.
 *
 *        ▾ peak 14.0 MiB
 *     ▁▃▆█▆▃▁          temporary, as it begins and ends
 *   ███████████        fixed: inputs, outputs, constants
 *   0 ... position     a click chooses a place
 */
import type { HeapReply } from '../../data/memory';
import { count, size } from '../../model/numbers';
import { LevelChart } from './level_chart';

const HEIGHT = 180;

interface Props {
  reply: HeapReply;
  chosen: number | null;
  onPick: (position: number) => void;
}

export function HeapChart({ reply, chosen, onPick }: Props) {
  const { points, peak_bytes: peak, peak_position: peakAt } = reply;
  const tip = (index: number): string => {
    const { position, instruction, bytes } = points[index]!;
    return `${count(position)}${instruction ? ` ${instruction}` : ''}: ${size(bytes)}`;
  };
  return (
    <LevelChart
      label={`Memory of ${reply.module} over its program`}
      height={HEIGHT}
      tip={tip}
      onPick={(index) => onPick(points[index]!.position)}
      scene={(tokens) => ({
        xs: points.map((point) => point.position),
        areas: [
          { values: points.map((point) => point.bytes), fill: tokens.kinds[6]!.css[1] },
          { values: points.map(() => reply.fixed_bytes), fill: tokens.bg3 },
        ],
        top: Math.max(peak * 1.17, 1),
        xWords: (ticks) =>
          ticks.map((tick, index) =>
            Number.isInteger(tick) ? `${index === 0 ? 'instruction ' : ''}${count(tick)}` : '',
          ),
        peak: peakAt === null ? null : { x: peakAt, y: peak, words: `peak ${size(peak)}` },
        limit: null,
        chosen,
      })}
    />
  );
}
