/* SPDX-License-Identifier: Apache-2.0 */
/* One allocator over time by who holds it: layers that sum to what is in use. */
import type { Allocator, LayersReply, MemoryLayer } from '../../data/memory';
import { go } from '../../data/place';
import { NAME_SLOT } from '../../model/colouring';
import { heightsOf } from '../../model/pictures/heap_layers';
import { fixed, size, THIN, time, timeScale, toNumber } from '../../model/numbers';
import { Link } from '../../ui/link';
import { Name } from '../../ui/text';
import { limitInSight, type Span } from './chart';
import { decimalsOf, LevelChart } from './level_chart';

const HUES = 8;

const isNeutral = ({ row_kind: kind }: MemoryLayer): boolean => kind === 'before' || kind === 'reserved';

/* What has no owner is neutral; owners have a hue each, the others one more. */
function fillAt(layers: readonly MemoryLayer[], at: number): number {
  return layers.slice(0, at).filter((one) => one.row_kind === 'owner').length % HUES;
}

function layerAt(layers: readonly MemoryLayer[], moment: number, value: number): MemoryLayer | null {
  let above = 0;
  for (const layer of layers) {
    above += layer.bytes[moment]!;
    if (value < above) return layer;
  }
  return null;
}

interface Props {
  allocator: Allocator;
  reply: LayersReply;
  height: number;
  at: string | null;
  span: Span;
  onPick: (at: string) => void;
}

export function OwnerChart({ allocator, reply, height, at, span, onPick }: Props) {
  const { peak_bytes: peak, peak_at_ps: peakAt } = allocator;
  const moments = reply.moments_ps!;
  /* From the bottom: what was there before, then the largest owner. */
  const order = ['before', 'owner', 'others', 'reserved'];
  const layers = order.flatMap((kind) => reply.layers!.filter((layer) => layer.row_kind === kind));
  const limit = limitInSight(allocator);
  const heights = heightsOf(layers);
  const times = timeScale([...span]);
  const highest = heights.at(-1)?.reduce((most, value) => Math.max(most, value), 1) ?? 1;
  const last = moments.length - 1;
  const peakMoment = moments.findIndex((moment) => peakAt !== null && toNumber(moment) >= toNumber(peakAt));
  return (
    <>
      <ul class="legend" aria-label="Who holds it at the peak">
        {layers.map((layer, index) => (
          <li key={layer.name}>
            <span class={`swatch ${isNeutral(layer) ? 'reserved' : `name-${fillAt(layers, index) + 1}`}`} />{' '}
            {layer.slice ? (
              <Link to={{ view: 'timeline', slice: layer.slice, by: null, allocator: null, at: null }}>
                <Name text={layer.name} />
              </Link>
            ) : (
              <Name text={layer.name} />
            )}{' '}
            <span class="number">{size(layer.bytes[peakMoment < 0 ? last : peakMoment] ?? 0)}</span>
          </li>
        ))}
      </ul>
      <LevelChart
        label={`Memory of ${allocator.name} over time, by owner`}
        height={height}
        tip={(index, value) => {
          const moment = Math.min(index, last);
          const layer = layerAt(layers, moment, value);
          return (
            <>
              {layer && (
                <strong>
                  <Name text={layer.name} />
                </strong>
              )}
              {layer && <div>{size(layer.bytes[moment]!)}</div>}
              <div>{`${time(moments[moment]!)}: ${size(reply.in_use_bytes![moment]!)} in use`}</div>
            </>
          );
        }}
        words={(index) => {
          const moment = Math.min(index, last);
          return `${time(moments[moment]!)}: ${size(reply.in_use_bytes![moment]!)} in use`;
        }}
        onPick={(index, value) => {
          const moment = Math.min(index, last);
          const layer = layerAt(layers, moment, value);
          if (layer?.slice && layer.row_kind === 'owner') go({ view: 'timeline', slice: layer.slice }, 'push');
          else onPick(String(moments[moment]));
        }}
        scene={(tokens) => ({
          xs: [...moments.map(toNumber), Math.max(span[1], toNumber(moments[last]!))],
          areas: heights
            .map((values, index) => ({
              values: [...values, values[last]!],
              fill: isNeutral(layers[index]!) ? tokens.bg3 : tokens.slots[NAME_SLOT + fillAt(layers, index)]!.css,
            }))
            .reverse(),
          top: Math.max(highest, limit ?? 0, (peak ?? 0) * 1.15) * 1.02,
          xWords: (ticks) =>
            ticks.map((tick, index) => {
              const figure = fixed(tick / times.divisor, decimalsOf(ticks, times.divisor));
              return index === 0 ? `${figure}${THIN}${times.unit}` : figure;
            }),
          peak: peak === null || peakAt === null ? null : { x: toNumber(peakAt), y: peak, words: `peak ${size(peak)}` },
          limit: limit === null ? null : { y: limit, words: `limit ${size(limit)}` },
          chosen: at === null ? null : Number(at),
        })}
      />
    </>
  );
}
