/* SPDX-License-Identifier: Apache-2.0 */
/* What the table of collectives says first, and which executions its picture shows. */
import type { Arrival, CollectiveTable } from '../data/collectives';
import { plural, share, time, toNumber } from './numbers';
import { named, strong, type Sentence } from './sentence';

export function collectivesSentence(table: CollectiveTable): Sentence {
  const { rows } = table;
  const total = toNumber(table.total_ps);
  if (rows.length === 0 || total === 0) return [];
  const exposed = toNumber(table.exposed_ps);
  const waits = rows.filter((row) => row.wait_ps !== null);
  const wait = waits.reduce((sum, row) => sum + toNumber(row.wait_ps!), 0);
  const most = rows.reduce((a, b) => (toNumber(b.exposed_ps) > toNumber(a.exposed_ps) ? b : a));
  const sentence: Sentence = [
    'Devices communicate ',
    strong(time(total)),
    ' in all, ',
    strong(share(exposed / total)),
    ' of it exposed',
  ];
  if (rows.length > 1 && most.name !== null && exposed > 0)
    sentence.push(`: ${named(most.name)} has ${share(toNumber(most.exposed_ps) / exposed)} of that`);
  if (waits.length > 0) sentence.push('; ', strong(share(wait / total)), ' is waiting for the last device');
  const last = waits.reduce<(typeof rows)[number] | null>(
    (a, b) => (a === null || toNumber(b.wait_ps!) > toNumber(a.wait_ps!) ? b : a),
    null,
  );
  if (last?.last && (last.last_share ?? 0) > 0.5 && wait > 0.05 * total)
    sentence.push(`, most often ${named(last.last)}`);
  return [...sentence, '.'];
}

export interface Turn {
  turn: number;
  group: number | null;
  start: number; // ps, of the first to come
  length: number;
  arrivals: Arrival[]; // by host and device
  spread: number; // from first to last device
}

/* Executions of one collective, the most uneven first. */
export function turnsOf(rows: readonly Arrival[], most: number): Turn[] {
  const turns = new Map<string, Turn>();
  for (const row of rows) {
    const key = `${row.turn} ${row.group}`;
    const start = toNumber(row.start_ps);
    const found = turns.get(key) ?? { turn: row.turn, group: row.group, start, length: 0, arrivals: [], spread: 0 };
    found.start = Math.min(found.start, start);
    found.spread = Math.max(found.spread, toNumber(row.late_ps ?? 0));
    found.arrivals.push(row);
    turns.set(key, found);
  }
  for (const turn of turns.values())
    turn.length = Math.max(...turn.arrivals.map((row) => toNumber(row.start_ps) + toNumber(row.dur_ps) - turn.start));
  return [...turns.values()]
    .sort((a, b) => b.spread - a.spread || a.turn - b.turn)
    .slice(0, most)
    .sort((a, b) => a.turn - b.turn || (a.group ?? 0) - (b.group ?? 0));
}

export function laneOf(row: Arrival, hosts: number): string {
  return hosts > 1 ? `${row.host} device ${row.device}` : `device ${row.device}`;
}

/* Names of lanes, by host and device. */
export function lanesOf(rows: readonly Arrival[], lane: (row: Arrival) => string): string[] {
  const ordered = [...rows].sort((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : a.device - b.device));
  return [...new Set(ordered.map(lane))];
}

export function turnWords(turn: Turn, groups: number): string {
  return groups > 1 && turn.group !== null ? `${turn.turn}, group ${turn.group}` : String(turn.turn);
}

export function executionsWords(shown: number, all: number): string {
  return shown < all
    ? `the ${plural(shown, 'most uneven execution', 'most uneven executions')} of ${all}`
    : plural(all, 'execution');
}
