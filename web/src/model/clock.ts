/* SPDX-License-Identifier: Apache-2.0 */
/* Times of day, to match what other programs logged. `ps` counts from 1970 in UTC; the hours are
 * those of the reader's zone. */
const PS_PER_MS = 1_000_000_000n;

/* "10:41:52.2005": as many digits as `step` (ps) needs to tell two of them apart. */
export function wallTime(ps: bigint, step: number): string {
  const part = ((ps % 1_000_000_000_000n) + 1_000_000_000_000n) % 1_000_000_000_000n;
  const second = new Date(Number((ps - part) / PS_PER_MS));
  const two = (value: number): string => String(value).padStart(2, '0');
  const digits = Math.max(0, Math.min(12, 12 - Math.floor(Math.log10(Math.max(1, step)) + 1e-9)));
  const fraction = String(part).padStart(12, '0').slice(0, digits);
  const whole = [second.getHours(), second.getMinutes(), second.getSeconds()].map(two).join(':');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/* "2026-11-21 10:41:52.200549280 +01:00" */
export function wallDate(ps: bigint): string {
  const date = new Date(Number(ps / PS_PER_MS));
  const offset = -date.getTimezoneOffset();
  const two = (value: number): string => String(value).padStart(2, '0');
  const zone =
    offset === 0
      ? 'UTC'
      : `${offset < 0 ? '−' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${wallTime(ps, 1000)} ${zone}`;
}
