/* SPDX-License-Identifier: Apache-2.0 */
/* The filter of tables: `scope:mlp self>1ms -copy "exact"`.
 *
 *   word        a part of the name          -word       not that
 *   "exact"     the whole name              column:word a part of that column
 *   step=3..9   from 3 to 9
 *   self>1ms    compare a number; units ps ns µs us ms s % k M KiB MiB GiB
 */

export type Cell = string | number | null;
export type Lookup = (column: string) => Cell;
export type Predicate = (name: string, lookup: Lookup) => boolean;

export interface Filter {
  test: Predicate;
  empty: boolean;
}

export interface FilterFault {
  from: number;
  to: number;
  message: string;
}

const FACTORS: Record<string, number> = {
  '': 1,
  ps: 1,
  ns: 1e3,
  us: 1e6,
  µs: 1e6,
  ms: 1e9,
  s: 1e12,
  '%': 0.01,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
};

const TOKEN = /-?(?:[\w.]+(?::|!?[=~]))?"[^"]*"?|\S+/g;
const COMPARE = /^(-?)([a-z_]\w*)(<=|>=|<|>|=)(-?[\d.]+)([a-zµ%A-Z]*)$/;
const BETWEEN = /^(-?)([a-z_]\w*)=(\d+)\.\.(\d+)$/;
const TEXTUAL = /^(-?)([a-z_]\w*)(!?[=~])(.*)$/s;

function compare(operator: string, a: number, b: number): boolean {
  if (operator === '<') return a < b;
  if (operator === '>') return a > b;
  if (operator === '<=') return a <= b;
  if (operator === '>=') return a >= b;
  return a === b;
}

function comparison(match: RegExpExecArray, columns: readonly string[], to: number): Predicate | FilterFault {
  const [, minus, column, operator, digits, unit] = match as unknown as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const from = to - match[0].length;
  if (!columns.includes(column))
    return { from, to, message: `there is no column "${column}"; there are ${columns.join(', ')}` };
  const factor = FACTORS[unit];
  if (factor === undefined) return { from, to, message: `"${unit}" is not a unit; times use ps ns µs ms s` };
  const wanted = Number(digits) * factor;
  if (Number.isNaN(wanted)) return { from, to, message: `"${digits}" is no number` };
  return (_name, lookup) => {
    const value = lookup(column);
    const fits =
      typeof value === 'number' ? compare(operator, value, wanted) : operator === '=' && value === digits + unit;
    return fits !== (minus === '-');
  };
}

/* Parts in their order, `*` between them; no pattern can run away. */
function globbed(text: string, parts: readonly string[]): boolean {
  let from = 0;
  return parts.every((part) => {
    const at = text.indexOf(part, from);
    from = at + part.length;
    return at >= 0;
  });
}

function between(match: RegExpExecArray, columns: readonly string[], to: number): Predicate | FilterFault {
  const [, minus, column, low, high] = match as unknown as [string, string, string, string, string];
  if (!columns.includes(column))
    return {
      from: to - match[0].length,
      to,
      message: `there is no column "${column}"; there are ${columns.join(', ')}`,
    };
  return (_name, lookup) => {
    const value = lookup(column);
    const number = value === null ? NaN : Number(value);
    return (number >= Number(low) && number <= Number(high)) !== (minus === '-');
  };
}

/* `kind=copy`, `name!~a*b`: of words, where a comparison is of numbers. */
function textual(match: RegExpExecArray, columns: readonly string[], to: number): Predicate | FilterFault {
  const [, minus, column, operator, given] = match as unknown as [string, string, string, string, string];
  const from = to - match[0].length;
  if (!columns.includes(column))
    return { from, to, message: `there is no column "${column}"; there are ${columns.join(', ')}` };
  if (given.startsWith('"') && (given.length < 2 || !given.endsWith('"')))
    return { from, to, message: 'the quotation mark is not closed' };
  const text = (given.startsWith('"') ? given.slice(1, -1) : given).toLowerCase();
  const parts = text.split('*');
  const not = operator.startsWith('!') !== (minus === '-');
  return (name, lookup) => {
    const value = column === 'name' ? (lookup('name') ?? name) : lookup(column);
    const words = value === null ? null : String(value).toLowerCase();
    const is = words !== null && (operator.endsWith('=') ? words === text : globbed(words, parts));
    return is !== not;
  };
}

function word(token: string, columns: readonly string[], to: number): Predicate | FilterFault {
  const minus = token.startsWith('-') && token.length > 1;
  const bare = minus ? token.slice(1) : token;
  const parts = /^(\w+):(.*)$/s.exec(bare);
  const column = parts && columns.includes(parts[1]!) ? parts[1]! : null;
  const text = column === null ? bare : parts![2]!;
  if (text.startsWith('"')) {
    if (text.length < 2 || !text.endsWith('"'))
      return { from: to - token.length, to, message: 'the quotation mark is not closed' };
    const exact = text.slice(1, -1);
    return (name, lookup) => ((column === null ? name : lookup(column)) === exact) !== minus;
  }
  const part = text.toLowerCase();
  return (name, lookup) => {
    const value = column === null ? name : lookup(column);
    return (value !== null && String(value).toLowerCase().includes(part)) !== minus;
  };
}

export function parseFilter(text: string, columns: readonly string[]): Filter | FilterFault {
  const tests: Predicate[] = [];
  for (const match of text.matchAll(TOKEN)) {
    const to = match.index + match[0].length;
    const relation = COMPARE.exec(match[0]);
    const range = BETWEEN.exec(match[0]);
    const words = relation || range ? null : TEXTUAL.exec(match[0]);
    const test = range
      ? between(range, columns, to)
      : relation
        ? comparison(relation, columns, to)
        : words
          ? textual(words, columns, to)
          : word(match[0], columns, to);
    if (typeof test !== 'function') return test;
    tests.push(test);
  }
  return { test: (name, lookup) => tests.every((one) => one(name, lookup)), empty: tests.length === 0 };
}

export function isFault(filter: Filter | FilterFault): filter is FilterFault {
  return 'message' in filter;
}
