/* SPDX-License-Identifier: Apache-2.0 */
/* Values that are times, bytes or counts, as the page sets each of them. */
import type { Ps } from '../data/json';
import type { FlameNode } from '../data/types';
import {
  count,
  fixed,
  inScale,
  rateScale,
  size,
  sizeScale,
  time,
  timeExact,
  timeScale,
  THIN,
  toNumber,
  type Scale,
} from './numbers';

export interface Amount {
  unit: string; // "ps", "bytes", or what is counted
  title: string; // of a column
  noun: string; // "of device time", "of all bytes"
  say: (value: Ps) => string;
  exact: (value: Ps) => string;
  scale: (values: readonly (Ps | null | undefined)[]) => Scale;
}

const numbers = (values: readonly (Ps | null | undefined)[]): (number | null)[] =>
  values.map((value) => (value === null || value === undefined ? null : toNumber(value)));

export function amountOf(unit: string, counted = 'samples'): Amount {
  if (unit === 'ps') return { unit, title: 'time', noun: 'time', say: time, exact: timeExact, scale: timeScale };
  if (unit === 'bytes') {
    const signed = (value: Ps): string => (toNumber(value) < 0 ? `−${size(-toNumber(value))}` : size(toNumber(value)));
    return {
      unit,
      title: 'size',
      noun: 'memory',
      say: signed,
      exact: (value) => `${fixed(toNumber(value), 0)} bytes`,
      scale: (values) => sizeScale(numbers(values)),
    };
  }
  if (unit === 'flops') {
    const scaleOf = (values: readonly (Ps | null | undefined)[]): Scale => rateScale(numbers(values), 'FLOP');
    const say = (value: Ps): string => `${inScale(value, scaleOf([value]))}${THIN}${scaleOf([value]).unit}`;
    return {
      unit,
      title: 'FLOPs',
      noun: 'operations',
      say,
      exact: (value) => `${fixed(toNumber(value), 0)} FLOP`,
      scale: scaleOf,
    };
  }
  const plain = (value: Ps): string => count(toNumber(value));
  return {
    unit,
    title: unit === 'count' ? counted : unit,
    noun: counted,
    say: plain,
    exact: plain,
    scale: () => ({ unit: '', divisor: 1, decimals: 0 }),
  };
}

/* A change with its sign. */
export function signedIn(value: number, scale: Scale): string {
  return value > 0 ? `+${inScale(value, scale)}` : inScale(value, scale);
}

/* Nodes of another unit than times say so by their words; the layout knows one. */
interface Measured extends Omit<FlameNode, 'children'> {
  total?: Ps;
  self?: Ps;
  children: Measured[];
}

export function asWidths(node: Measured): FlameNode {
  if (node.total === undefined) return node as FlameNode;
  return { ...node, total_ps: node.total, self_ps: node.self ?? 0, children: node.children.map(asWidths) };
}
