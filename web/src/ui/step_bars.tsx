/* SPDX-License-Identifier: Apache-2.0 */
/* Step bars: the pointer or an arrow key tells, a click or Enter goes to that step on the timeline. */
import { useState } from 'preact/hooks';
import { go } from '../data/place';
import { KINDS, type StepRow } from '../data/types';
import { barAt, barsLayout, barsWidth, paintBars } from '../draw/step_bars';
import { readTokens } from '../draw/tokens';
import { formatSpan } from '../model/address';
import { shown } from '../model/cut';
import { share, time, toBig, toNumber } from '../model/numbers';
import { Canvas } from './canvas';
import { hideTip, showTip } from './tooltip';

export { barsWidth };

export function stepWindow(step: Pick<StepRow, 'start_ps' | 'dur_ps'>): string {
  const start = toBig(step.start_ps);
  const size = toBig(step.dur_ps);
  return formatSpan({ start: start - size / 20n, end: start + size + size / 20n });
}

function Tip({ step, host }: { step: StepRow; host: boolean }) {
  const parts = KINDS.map((kind) => step.breakdown.find((part) => part.kind === kind)).filter(
    (part) => part && toNumber(part.self_ps) > 0,
  );
  return (
    <>
      <strong>
        step {step.step}
        {host && step.host && ` on ${shown(step.host)}`}: {time(step.dur_ps)}
      </strong>
      {step.warmup && ', warm-up, left out'}
      {parts.map((part) => (
        <div key={part!.kind} class={`kind-${part!.kind}`}>
          <span class="swatch" />
          {part!.kind} {time(part!.self_ps)}, {share(toNumber(part!.self_ps) / toNumber(step.dur_ps))}
        </div>
      ))}
    </>
  );
}

export function StepBars({
  steps,
  medianPs,
  height,
  focus = null,
}: {
  steps: readonly StepRow[];
  medianPs: number | null;
  height: number;
  focus?: number | null;
}) {
  const [hover, setHover] = useState<number | null>(null);
  const [width, setWidth] = useState(0);
  const layout = barsLayout(steps, width, height);
  const hosts = new Set(steps.map((step) => step.host)).size;
  const at = Math.min(hover ?? 0, steps.length - 1);
  const goTo = (index: number): void => {
    hideTip();
    go({ view: 'timeline', window: stepWindow(steps[index]!) });
  };
  const wordsOf = ({ step, host, dur_ps }: StepRow): string =>
    `step ${step}${hosts > 1 && host ? ` on ${shown(host)}` : ''}: ${time(dur_ps)}`;
  return (
    <Canvas
      height={height}
      label={`Time of ${steps.length} steps, stacked by kind; the same figures are in the table of steps`}
      onSize={setWidth}
      slider={{
        at,
        count: steps.length,
        words: wordsOf(steps[at]!),
        onKey: (index, box) => {
          setHover(index);
          const x = box.left + layout.left + index * layout.pitch;
          showTip(<Tip step={steps[index]!} host={hosts > 1} />, x, box.top + layout.top);
        },
        onEnter: () => goTo(at),
      }}
      paint={(canvas, wide) =>
        paintBars(canvas, {
          steps,
          medianPs,
          layout: barsLayout(steps, wide, height),
          width: wide,
          height,
          ratio: devicePixelRatio,
          hover,
          focus,
          tokens: readTokens(),
        })
      }
      onMove={(x, _y, event) => {
        const index = barAt(layout, steps.length, x);
        setHover(index);
        if (index === null) hideTip();
        else showTip(<Tip step={steps[index]!} host={hosts > 1} />, event.clientX, event.clientY);
      }}
      onLeave={() => {
        setHover(null);
        hideTip();
      }}
      onClick={(x) => {
        const index = barAt(layout, steps.length, x);
        if (index !== null) goTo(index);
      }}
    />
  );
}
