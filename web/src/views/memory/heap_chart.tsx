/* SPDX-License-Identifier: Apache-2.0 */
/* A module's planned memory over its program, by what needs it.
 *
 *        ▾ peak 14.0 MiB
 *     ▁▃▆█▆▃▁          temporary, by scope, type or kind
 *   ███████████        fixed: inputs, outputs, constants
 *   0 ... position     a click on a buffer leads to its instruction, above them it chooses a place
 */
import { useMemo } from 'preact/hooks';
import { NAME_SLOT } from '../../model/colouring';
import { shortSource } from '../../model/cut';
import { heapAt, heapLayers, heightsOf, STACKS, type HeapLayer, type Stack } from '../../model/pictures/heap_layers';
import type { HeapReply, HeapRow } from '../../data/memory';
import { query } from '../../data/place';
import { count, share, size } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Name } from '../../ui/text';
import { LevelChart } from './level_chart';

const HEIGHT = 180;

function Tip({
  reply,
  index,
  layers,
  value,
}: {
  reply: HeapReply;
  index: number;
  layers: readonly HeapLayer[];
  value: number;
}) {
  const { position, instruction, bytes } = reply.points[index]!;
  const spot = heapAt(layers, index, value);
  return (
    <>
      {spot?.row && (
        <>
          <strong>
            <Name text={`${spot.row.name ?? 'no instruction'}${spot.row.part ?? ''}`} mono />
          </strong>
          <div>
            {size(spot.row.bytes)} {spot.row.class}, <Name text={spot.row.shape ?? 'shape unknown'} mono />
          </div>
          {spot.row.scope && (
            <div>
              <Name text={spot.row.scope} />
            </div>
          )}
          {spot.row.source && (
            <div>
              <Name text={shortSource(spot.row.source)} mono />
            </div>
          )}
          <div class="quiet">{`alive from instruction ${count(spot.row.first)} to ${count(spot.row.last)}`}</div>
        </>
      )}
      {spot && !spot.row && <div>{spot.layer.name}</div>}
      <div>
        {`${count(position)}${instruction ? ` ${instruction}` : ''}: ${size(bytes)} in all`}
        {spot && `, ${spot.layer.name} ${size(spot.layer.bytes[index]!)}`}
      </div>
    </>
  );
}

interface Props {
  reply: HeapReply;
  all: HeapReply | null; // with all buffers; null: they are on their way
  chosen: number | null;
  onPick: (position: number) => void;
  onOpen: (row: HeapRow) => void;
}

export function HeapChart({ reply, all, chosen, onPick, onOpen }: Props) {
  const { points, peak_bytes: peak, peak_position: peakAt } = reply;
  const stack: Stack = STACKS.find((one) => one === query.value.stack) ?? 'scope';
  const layers = useMemo(() => (all ? heapLayers(all, stack) : []), [all, stack]);
  const heights = useMemo(() => heightsOf(layers), [layers]);
  const at =
    peakAt === null
      ? 0
      : Math.max(
          0,
          points.findIndex((point) => point.position >= peakAt),
        );
  return (
    <>
      <div class="heap-head">
        <nav class="crumbs" aria-label="Colours by">
          by
          {STACKS.map((one) => (
            <Link key={one} to={{ stack: one === 'scope' ? null : one }} current={one === stack}>
              {one}
            </Link>
          ))}
        </nav>
        <ul class="legend" aria-label="At the peak">
          {layers.map((layer, index) => (
            <li key={layer.name}>
              <span class={`swatch name-${(index % 8) + 1}`} /> <Name text={layer.name} />{' '}
              <span class="number">{size(layer.bytes[at] ?? 0)}</span>{' '}
              <span class="faint">{peak > 0 && share((layer.bytes[at] ?? 0) / peak)}</span>
            </li>
          ))}
        </ul>
      </div>
      <LevelChart
        words={(index) => {
          const { position, instruction, bytes } = points[index]!;
          return `instruction ${count(position)}${instruction ? `, ${instruction}` : ''}: ${size(bytes)}`;
        }}
        label={`Memory of ${reply.module} over its program`}
        height={HEIGHT}
        tip={(index, value) => <Tip reply={reply} index={index} layers={layers} value={value} />}
        onPick={(index, value) => {
          const row = heapAt(layers, index, value)?.row;
          if (row?.name) onOpen(row);
          else onPick(points[index]!.position);
        }}
        scene={(tokens) => ({
          xs: points.map((point) => point.position),
          /* From the back to the front: the tallest sum first. */
          areas:
            heights.length > 0
              ? heights.map((values, index) => ({ values, fill: tokens.slots[NAME_SLOT + (index % 8)]!.css })).reverse()
              : [{ values: points.map((point) => point.bytes), fill: tokens.kinds[6]!.css[1] }],
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
    </>
  );
}
