/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as the page sets them: U+202F in thousands and before units, U+2212 for minus, three
 * significant digits in prose, one unit and one precision a column. */
import { signal } from '@preact/signals';
import type { Ps } from '../data/json';

export const THIN = '\u202f';
export const UNKNOWN = '–';

/* For elsewhere: without the page's spaces and signs. */
export function plainDigits(text: string): string {
  return text
    .replace(/(?<=\d)\u202f(?=\d)/g, '')
    .replaceAll(THIN, ' ')
    .replaceAll('−', '-');
}

export function toNumber(value: Ps): number {
  return typeof value === 'bigint' ? Number(value) : value;
}

export function toBig(value: Ps): bigint {
  return typeof value === 'bigint' ? value : BigInt(Math.round(value));
}

function grouped(digits: string): string {
  const [whole, fraction] = digits.split('.') as [string, string | undefined];
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return fraction === undefined ? spaced : `${spaced}.${fraction}`;
}

function signed(value: number, text: string): string {
  return value < 0 ? `−${text}` : text;
}

export function fixed(value: number, decimals: number): string {
  return signed(value, grouped(Math.abs(value).toFixed(decimals)));
}

/* Three significant digits, never fewer whole ones than there are: 54.1, 912, 1 140. */
export function significant(value: number): string {
  const size = Math.abs(value);
  const decimals = size === 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return fixed(value, decimals);
}

export function count(value: number): string {
  return fixed(Math.round(value), 0);
}

export function countInProse(value: number): string {
  return value >= 10_000_000 ? `${significant(value / 1e6)}${THIN}M` : count(value);
}

interface TimeUnit {
  word: string;
  ps: number;
}

const UNITS: TimeUnit[] = [
  { word: 'ps', ps: 1 },
  { word: 'ns', ps: 1e3 },
  { word: 'µs', ps: 1e6 },
  { word: 'ms', ps: 1e9 },
  { word: 's', ps: 1e12 },
];
const MINUTE_PS = 60e12;
const HOUR_PS = 3600e12;

function unitFor(size: number): TimeUnit {
  return UNITS.findLast((unit) => size >= unit.ps * 0.9995) ?? UNITS[0]!;
}

/* `54.1 ms`, `1.14 s`, `2 min 14 s`, `1 h 03 min`. */
export function time(value: Ps): string {
  const ps = toNumber(value);
  const size = Math.abs(ps);
  if (size === 0) return `0${THIN}s`;
  if (size >= HOUR_PS) {
    const minutes = Math.round(size / MINUTE_PS);
    return signed(
      ps,
      `${grouped(String(Math.floor(minutes / 60)))}${THIN}h ${String(minutes % 60).padStart(2, '0')}${THIN}min`,
    );
  }
  if (size >= MINUTE_PS) {
    const seconds = Math.round(size / 1e12);
    return signed(ps, `${Math.floor(seconds / 60)}${THIN}min ${String(seconds % 60).padStart(2, '0')}${THIN}s`);
  }
  const unit = unitFor(size);
  return unit.ps === 1 ? `${fixed(ps, 0)}${THIN}ps` : `${significant(ps / unit.ps)}${THIN}${unit.word}`;
}

/* To the picosecond, for hover and copy: `54.123 456 789 ms`. */
export function timeExact(value: Ps): string {
  const ps = toBig(value);
  const size = ps < 0n ? -ps : ps;
  const unit = unitFor(Number(size));
  const scale = BigInt(unit.ps);
  const digits = Math.round(Math.log10(unit.ps));
  const fraction = (size % scale).toString().padStart(digits, '0').slice(0, digits);
  const spaced = digits === 0 ? '' : `.${fraction.replace(/(\d{3})(?=\d)/g, `$1${THIN}`)}`;
  return `${ps < 0n ? '−' : ''}${grouped((size / scale).toString())}${spaced}${THIN}${unit.word}`;
}

/* Exact, without the zeros at its end: where a base is given once and differences follow. */
export function timeShortest(value: Ps): string {
  return timeExact(value).replace(/\.[\d\u202f]*(?=\u202f\D)/, (fraction) => fraction.replace(/[0\u202f.]+$/, ''));
}

export interface Scale {
  unit: string;
  divisor: number;
  decimals: number;
}

function decimalsFor(largest: number): number {
  return largest >= 100 ? 1 : largest >= 10 ? 2 : 3;
}

/* The unit that every column of times has where the reader chose one; null: what suits the values. */
export const TIME_UNITS: readonly string[] = UNITS.map((unit) => unit.word);
export const unitChoice = signal<string | null>(null);
const DECIMALS_MAX = 9;

/* Three digits of the largest value, however small the unit makes it. */
function scaleIn(unit: TimeUnit, largest: number): Scale {
  const value = largest / unit.ps;
  const decimals =
    value === 0 || value >= 1 ? decimalsFor(value) : Math.min(DECIMALS_MAX, 3 - Math.ceil(Math.log10(value)));
  return { unit: unit.word, divisor: unit.ps, decimals: unit.ps === 1 ? 0 : decimals };
}

/* The unit of the largest value, milliseconds up to ten seconds and where there is none. */
export function timeScale(values: readonly (Ps | null | undefined)[]): Scale {
  let largest = 0;
  for (const value of values)
    if (value !== null && value !== undefined) largest = Math.max(largest, Math.abs(toNumber(value)));
  const chosen = UNITS.find((one) => one.word === unitChoice.value);
  if (chosen) return scaleIn(chosen, largest);
  const unit = largest === 0 || (largest >= 1e12 && largest < 10e12) ? UNITS[3]! : unitFor(largest);
  return { unit: unit.word, divisor: unit.ps, decimals: unit.ps === 1 ? 0 : decimalsFor(largest / unit.ps) };
}

const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function sizeScale(values: readonly (number | null | undefined)[]): Scale {
  const largest = Math.max(0, ...values.map((value) => Math.abs(value ?? 0)));
  const power = Math.min(BINARY.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, largest)) / 10)));
  const divisor = 1024 ** power;
  return { unit: BINARY[power]!, divisor, decimals: power === 0 ? 0 : decimalsFor(largest / divisor) === 3 ? 2 : 1 };
}

const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P'];

export function rateScale(values: readonly (number | null | undefined)[], unit: string): Scale {
  const largest = Math.max(0, ...values.map((value) => Math.abs(value ?? 0)));
  const power = Math.min(DECIMAL.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, largest)) / 3)));
  return {
    unit: `${DECIMAL[power]}${unit}`,
    divisor: 1000 ** power,
    decimals: decimalsFor(largest / 1000 ** power) === 3 ? 2 : 1,
  };
}

/* A cell: `18.20`, `<0.01` (not zero), `0` (measured), `–` (unknown). */
export function inScale(value: Ps | null | undefined, scale: Scale): string {
  if (value === null || value === undefined) return UNKNOWN;
  const scaled = toNumber(value) / scale.divisor;
  if (scaled === 0) return '0';
  const least = 10 ** -scale.decimals;
  if (Math.abs(scaled) < least / 2) return `<${least.toFixed(scale.decimals)}`;
  return fixed(scaled, scale.decimals);
}

export function size(bytes: number): string {
  const scale = sizeScale([bytes]);
  return `${scale.divisor === 1 ? count(bytes) : significant(bytes / scale.divisor)}${THIN}${scale.unit}`;
}

export function share(value: number): string {
  if (value === 0) return `0${THIN}%`;
  const percent = value * 100;
  if (Math.abs(percent) < 0.1) return `<0.1${THIN}%`;
  if (percent >= 99.95 && percent < 100 - 1e-9) return `>99.9${THIN}%`; // what is not all does not read so
  return `${fixed(percent, Math.abs(percent) < 9.95 || (percent >= 99.5 && percent < 99.95) ? 1 : 0)}${THIN}%`;
}

/* One precision for a whole column. */
export function shareCell(value: number | null | undefined): string {
  if (value === null || value === undefined) return UNKNOWN;
  if (value === 0) return `0${THIN}%`;
  return value < 0.0005 ? `<0.1${THIN}%` : `${fixed(value * 100, 1)}${THIN}%`;
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${countInProse(number)} ${number === 1 ? one : many}`;
}

export function ago(then: Date, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - then.getTime()) / 1000));
  if (seconds < 10) return 'now';
  if (seconds < 60) return `${seconds}${THIN}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}${THIN}min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}${THIN}h ago`;
  if (seconds < 86_400 * 60) return plural(Math.floor(seconds / 86_400), 'day') + ' ago';
  return then.toISOString().slice(0, 10);
}

/* `989 TFLOP/s`, `1.64 TB/s`: three digits. */
export function rate(value: number, unit: string): string {
  const scale = rateScale([value], unit);
  return `${significant(value / scale.divisor)}${THIN}${scale.unit}`;
}
