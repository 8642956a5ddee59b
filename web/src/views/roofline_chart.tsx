/* SPDX-License-Identifier: Apache-2.0 */
/* The picture of a roofline: ops as circles whose area is their time, roofs with value and source. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { go } from '../data/place';
import type { Roof, Roofline } from '../data/types';
import { count, plural, rate, share, significant, THIN } from '../model/numbers';
import { pointsOf, rangesOf, roofLines, roofsOf, roofWords, type Point, type Range } from '../model/roofline';
import { shown } from '../model/cut';
import { sliderProps, type Slider } from '../ui/canvas';
import { onResize } from '../ui/size';
import { hideTip, showTip } from '../ui/tooltip';

const HEIGHT = 300;
const MARGIN = { left: 88, right: 16, top: 12, bottom: 34 };
const POINTS_MAX = 400;
const RADIUS_MAX = 26;
const RADIUS_MIN = 2.5;
/* A name stands beside what matters, of what is drawn. */
const NAMED_SHARE = 0.03;
const NAMED_MAX = 6;
const SLOPE_WORDS_AT = 0.6; // of the slope that is seen

interface Place {
  x: number;
  y: number;
}

function powers(range: Range, most: number): number[] {
  const step = Math.max(1, Math.ceil((range.to - range.from) / most));
  return Array.from(
    { length: Math.floor((range.to - range.from) / step) + 1 },
    (_, index) => range.from + index * step,
  );
}

/* Powers of ten, each with its unit: `100 GFLOP/s`, `0.01`. */
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];
const rateWords = (power: number): string => {
  const thousands = Math.floor(power / 3);
  return `${10 ** (power - 3 * thousands)}${THIN}${PREFIXES[thousands] ?? `e${3 * thousands}`}FLOP/s`;
};
const ratioWords = (power: number): string => (power >= 0 ? count(10 ** power) : (10 ** power).toFixed(-power));

function place(value: number, range: Range, from: number, to: number): number {
  return from + ((Math.log10(value) - range.from) / (range.to - range.from)) * (to - from);
}

function pointTip(point: Point): string {
  const { row } = point;
  const peak = row.peak_share === null ? '' : ` · ${share(row.peak_share)} of peak, bound by ${row.bound_by}`;
  const place = `${rate(point.rate, 'FLOP/s')} at ${significant(point.intensity)}${THIN}FLOP/B`;
  return `${shown(row.name)} · ${place} · ${share(point.share)} of the time${peak}`;
}

/* The words of a slope stand along it: above the fastest memory's, below the others'. */
function SlopeWords({ roof, from, to, isFirst }: { roof: Roof; from: Place; to: Place; isFirst: boolean }) {
  const angle = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
  const [x, y] = [from.x + (to.x - from.x) * SLOPE_WORDS_AT, from.y + (to.y - from.y) * SLOPE_WORDS_AT];
  return (
    <text
      class="roof-words"
      transform={`translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle.toFixed(2)})`}
      y={isFirst ? -5 : 13}
      text-anchor="middle"
      data-tip={roof.source}
    >
      {roofWords(roof)}
    </text>
  );
}

/* Labels that would lie on one another are left to hover. */
function labelled(points: readonly Point[], x: (point: Point) => number, y: (point: Point) => number): Set<Point> {
  const kept: Point[] = [];
  const drawn = points.reduce((sum, point) => sum + point.share, 0);
  for (const point of [...points].sort((a, b) => b.share - a.share)) {
    if (point.share < NAMED_SHARE * drawn || kept.length === NAMED_MAX) break;
    if (kept.every((other) => Math.abs(y(other) - y(point)) > 14 || Math.abs(x(other) - x(point)) > 140))
      kept.push(point);
  }
  return new Set(kept);
}

export function RooflineChart({ data, focused }: { data: Roofline; focused: string | null }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    return onResize(box.current!, () => setWidth(box.current!.clientWidth));
  }, []);
  const points = pointsOf(data.rows).slice(0, POINTS_MAX);
  const roofs = roofsOf(data);
  const ranges = rangesOf(points, roofs);
  const right = width - MARGIN.right;
  const bottom = HEIGHT - MARGIN.bottom;
  const x = (value: number): number => place(value, ranges.x, MARGIN.left, right);
  const y = (value: number): number =>
    Math.max(MARGIN.top, Math.min(bottom, place(value, ranges.y, bottom, MARGIN.top)));
  const xOf = (point: Point): number => x(point.intensity);
  const yOf = (point: Point): number => y(point.rate);
  const fastest = Math.max(...roofs.filter((roof) => roof.kind === 'memory').map((roof) => roof.per_s));
  const seen = (rate: number, roof: Roof): Place => ({ x: x(rate / roof.per_s), y: y(rate) });
  const names = labelled(points, xOf, yOf);
  const largest = Math.max(1e-9, ...points.map((point) => point.share));
  const radiusOf = (point: Point): number => Math.max(RADIUS_MIN, RADIUS_MAX * Math.sqrt(point.share / largest));
  const walked = [...points].sort((a, b) => b.share - a.share);
  const at = Math.max(
    0,
    walked.findIndex((point) => point.row.key === focused),
  );
  const slider: Slider = {
    at,
    count: walked.length,
    words: walked.length > 0 ? pointTip(walked[at]!) : '',
    onKey: (index, rect) => {
      const point = walked[index]!;
      go({ key: point.row.key }, 'replace');
      showTip(pointTip(point), rect.left + xOf(point), rect.top + yOf(point) + radiusOf(point));
    },
  };
  return (
    <div
      ref={box}
      class="roofline-chart"
      {...(walked.length > 0 && {
        ...sliderProps(slider),
        'aria-label':
          `${plural(points.length, 'op')} by arithmetic rate and intensity, longest first; ` +
          'the table below has the same numbers',
        onBlur: hideTip,
      })}
    >
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true">
          {powers(ranges.x, 10).map((power) => (
            <g key={`x${power}`}>
              <line class="grid" x1={x(10 ** power)} x2={x(10 ** power)} y1={MARGIN.top} y2={bottom} />
              <text
                class="tick"
                x={x(10 ** power)}
                y={bottom + 14}
                text-anchor={
                  x(10 ** power) > right - 20 ? 'end' : x(10 ** power) < MARGIN.left + 20 ? 'start' : 'middle'
                }
              >
                {ratioWords(power)}
              </text>
            </g>
          ))}
          {powers(ranges.y, 6).map((power) => (
            <g key={`y${power}`}>
              <line class="grid" x1={MARGIN.left} x2={right} y1={y(10 ** power)} y2={y(10 ** power)} />
              <text class="tick" x={MARGIN.left - 6} y={y(10 ** power) + 4} text-anchor="end">
                {rateWords(power)}
              </text>
            </g>
          ))}
          <text class="tick" x={right} y={HEIGHT - 4} text-anchor="end">
            FLOP/B, arithmetic per byte of memory
          </text>
          <clipPath id="roofline-inside">
            <rect
              x={MARGIN.left}
              y={MARGIN.top - 4}
              width={Math.max(0, right - MARGIN.left)}
              height={bottom - MARGIN.top + 4}
            />
          </clipPath>
          <g clip-path="url(#roofline-inside)">
            {roofLines(roofs, ranges).map(({ roof, from, to }) => (
              <line
                key={roof.name}
                class={`roof ${roof.kind}`}
                x1={x(from.intensity)}
                x2={x(to.intensity)}
                y1={place(from.rate, ranges.y, bottom, MARGIN.top)}
                y2={place(to.rate, ranges.y, bottom, MARGIN.top)}
              />
            ))}
            {points.map((point) => (
              <circle
                key={point.row.key}
                class={`kind-${point.row.kind ?? 'other'}${focused === point.row.key ? ' focused' : ''}`}
                cx={xOf(point)}
                cy={yOf(point)}
                r={radiusOf(point)}
                data-tip={pointTip(point)}
                onClick={() => go({ key: point.row.key }, 'replace')}
              />
            ))}
            {[...names].map((point) => (
              <text
                key={point.row.key}
                class="name"
                x={xOf(point) + (xOf(point) > right - 160 ? -4 - radiusOf(point) : 4 + radiusOf(point))}
                y={yOf(point) + 4}
                text-anchor={xOf(point) > right - 160 ? 'end' : 'start'}
              >
                {shown(point.row.name).slice(0, 24)}
              </text>
            ))}
          </g>
          {roofLines(roofs, ranges).map(({ roof, from, to }) =>
            roof.kind === 'compute' ? (
              <text
                key={roof.name}
                class="roof-words"
                x={right - 4}
                y={y(roof.per_s) - 4}
                text-anchor="end"
                data-tip={roof.source}
              >
                {roofWords(roof)}
              </text>
            ) : (
              <SlopeWords
                key={roof.name}
                roof={roof}
                isFirst={roof.per_s === fastest}
                from={seen(Math.max(from.rate, 10 ** ranges.y.from), roof)}
                to={seen(Math.min(to.rate, 10 ** ranges.y.to), roof)}
              />
            ),
          )}
        </svg>
      )}
    </div>
  );
}
