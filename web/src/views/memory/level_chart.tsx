/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over something, as levels: told under the pointer, a click or keys choose a place. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { levelAt, levelValue, paintLevels, type LevelScene } from '../../draw/levels';
import { readTokens, type Tokens } from '../../draw/tokens';
import { fixed, sizeScale, THIN } from '../../model/numbers';
import { Canvas } from '../../ui/canvas';
import { hideTip, showTip } from '../../ui/tooltip';

interface Props {
  label: string;
  height: number;
  scene: (tokens: Tokens) => Omit<LevelScene, 'yWords'>;
  tip: (index: number, value: number) => ComponentChildren; // `value`: the height in bytes
  words: (index: number) => string; // of a place, where keys lead to it
  onPick: (index: number, value: number) => void;
}

/* The point that is chosen, else that of the peak. */
function placeOf(scene: Omit<LevelScene, 'yWords'>): number {
  const x = scene.chosen ?? scene.peak?.x ?? null;
  const at = x === null ? -1 : scene.xs.findIndex((one) => one >= x);
  return Math.max(0, at);
}

/* As many as it takes to write every tick exactly. */
export function decimalsOf(ticks: readonly number[], divisor: number): number {
  const exact = (decimals: number): boolean =>
    ticks.every(
      (tick) => Math.abs((tick / divisor) * 10 ** decimals - Math.round((tick / divisor) * 10 ** decimals)) < 1e-6,
    );
  return [0, 1, 2].find(exact) ?? 3;
}

export function LevelChart({ label, height, scene, tip, words, onPick }: Props) {
  const [width, setWidth] = useState(0);
  const now = scene(readTokens());
  const { xs, top } = now;
  const at = placeOf(now);
  const bytes = sizeScale([top / 1.2]);
  const yWords = (ticks: readonly number[]) =>
    ticks.map((tick) =>
      tick === 0 ? '0' : `${fixed(tick / bytes.divisor, decimalsOf(ticks, bytes.divisor))}${THIN}${bytes.unit}`,
    );
  return (
    <Canvas
      height={height}
      label={label}
      onSize={setWidth}
      {...(xs.length > 1 && {
        slider: { at, count: xs.length, words: words(at), onKey: (index) => onPick(index, Infinity) },
      })}
      paint={(canvas, at) =>
        paintLevels(canvas, { ...scene(readTokens()), yWords }, at, height, devicePixelRatio, readTokens())
      }
      onMove={(x, y, event) => {
        const index = levelAt({ xs }, x, width);
        if (index < 0) hideTip();
        else showTip(tip(index, levelValue(top, y, height)), event.clientX, event.clientY);
      }}
      onLeave={() => hideTip()}
      onClick={(x, y) => {
        const index = levelAt({ xs }, x, width);
        if (index >= 0) onPick(index, levelValue(top, y, height));
      }}
    />
  );
}
